"""Reliability: accuracy in bins of confidence, and the expected calibration error."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole


class Reliability(NamedTuple):
    """The reliability of predictions, in bins of equal width by their predicted probability.

    Attributes
    ----------
    confidence : array
        The mean confidence of every bin; NaN if it is empty.
    accuracy : array
        The share of correct predictions of every bin.
    counts : array of int
        The number of predictions of every bin.
    error : float
        The expected calibration error.
    """

    confidence: Array  # the mean of every bin; NaN if it is empty
    accuracy: Array  # the share of correct predictions
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error: Σ `|accuracy - confidence|`, weighted by counts (Naeini et al. 2015)."""
        filled = self.counts > 0
        off = np.abs(self.accuracy[filled] - self.confidence[filled])
        return float(np.average(off, weights=self.counts[filled])) if filled.any() else 0.0


def reliability(Y: Any, probabilities: Any, classes: Sequence[Hashable], bins: int = 15) -> Reliability:
    """Return the reliability of the most probable labels of all positions, or of all examples.

    Parameters
    ----------
    Y : sequence
        The true labels: lists of them, one per sequence, or one list. None stands for an unknown label and is ignored.
    probabilities : array or list of arrays
        The result of `predict_proba`: (positions, K) arrays, one per sequence, or one array.
    classes : sequence
        The labels of the columns.
    bins : int
        The number of bins.

    Returns
    -------
    Reliability.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.metrics import reliability
    >>> found = reliability(["a", "b"], np.array([[0.9, 0.1], [0.6, 0.4]]), ["a", "b"], bins=2)
    >>> found.counts.tolist(), found.accuracy[1]
    ([0, 2], np.float64(0.5))

    See Also
    --------
    calibration_error : a single number.   maxmargin.plotting.ReliabilityDisplay : a plot.
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
    """Return the reliability of predictions of any kind, given their probabilities and whether they are correct."""
    place = np.clip((confidence * bins).astype(int), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = np.bincount(place, confidence, bins) / counts, np.bincount(place, hits, bins) / counts
    return Reliability(*means, counts)


def calibration_error(Y: Any, probabilities: Any, classes: Sequence[Hashable], bins: int = 15) -> float:
    """Return the expected calibration error of labels, which is 0 if accuracy equals confidence in every bin.

    Parameters
    ----------
    Y : sequence
        The true labels: lists of them, one per sequence, or one list. None stands for an unknown label and is ignored.
    probabilities : array or list of arrays
        The result of `predict_proba`: (positions, K) arrays, one per sequence, or one array.
    classes : sequence
        The labels of the columns.
    bins : int
        The number of bins.

    Returns
    -------
    float between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.metrics import calibration_error
    >>> round(calibration_error(["a", "b"], np.array([[0.9, 0.1], [0.2, 0.8]]), ["a", "b"]), 3)
    0.15

    See Also
    --------
    reliability : the bins behind it.
    """
    return reliability(Y, probabilities, classes, bins).error
