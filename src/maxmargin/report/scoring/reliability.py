"""How often a model is right where it is so sure: bins of confidence, and the expected calibration error."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole


class Reliability(NamedTuple):
    """Predictions in bins of equal width, by how probable the model says that they are."""

    confidence: Array  # the mean in every bin; NaN where it is empty
    accuracy: Array  # the share of right ones
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Σ |accuracy - confidence| over bins, weighted by their counts (Naeini, Cooper, Hauskrecht 2015)."""
        filled = self.counts > 0
        off = np.abs(self.accuracy[filled] - self.confidence[filled])
        return float(np.average(off, weights=self.counts[filled])) if filled.any() else 0.0


def reliability(Y: Any, probabilities: Any, classes: Sequence[Hashable], bins: int = 15) -> Reliability:
    """Of the most probable labels of all positions, or of all examples.

    Y : the true labels: lists of them, one per sequence, or one list. None is not known, and does not count.
    probabilities : as `predict_proba` returns them: arrays of (positions, K), one per sequence, or one array.
    classes : the labels of the columns.
    """
    bins = check_whole("bins", bins, least=1)
    if isinstance(probabilities, np.ndarray) and probabilities.ndim == 2:
        Y, probabilities = [Y], [probabilities]
    if len(Y) != len(probabilities):
        raise ValueError(f"there are {len(Y)} lists of labels but {len(probabilities)} of probabilities")
    sure, right = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    for i, (labels, p) in enumerate(zip(Y, probabilities, strict=True)):
        p = np.asarray(p, dtype=float).reshape(len(p), len(classes))
        if len(labels) != len(p):
            raise ValueError(f"sequence {i} has {len(labels)} labels but {len(p)} rows of probabilities")
        known = [t for t, label in enumerate(labels) if label is not None]
        best = p.argmax(axis=1)
        sure.append(p.max(axis=1, initial=0.0)[known])
        right.append(np.array([bool(classes[best[t]] == labels[t]) for t in known], dtype=bool))
    return reliability_of(np.concatenate(sure), np.concatenate(right), bins)


def reliability_of(confidence: Array, hits: NDArray[np.bool_], bins: int = 15) -> Reliability:
    """Of predictions of any kind: how probable the model says each is, and whether it is right."""
    place = np.clip((confidence * bins).astype(int), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = np.bincount(place, confidence, bins) / counts, np.bincount(place, hits, bins) / counts
    return Reliability(*means, counts)


def calibration_error(Y: Any, probabilities: Any, classes: Sequence[Hashable], bins: int = 15) -> float:
    """The expected calibration error of labels: 0 where the model is right just as often as it is sure."""
    return reliability(Y, probabilities, classes, bins).error
