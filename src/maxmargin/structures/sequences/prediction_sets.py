"""Prediction sets of label sequences and of labels, whose coverage held-out sequences determine (conformal.py).

The distance of a label sequence z is how far its score is below the best one, and the distance of label k at position t
is the smallest distance of a label sequence that has it there:

    d(x, z) = max_u score(x, u) - score(x, z),        d_t(x, k) = min {d(x, z) : z_t = k}                           (1)

A set contains everything up to some distance. Distances are differences of scores at temperature 1: the temperature is
fitted to the same held-out sequences, and a threshold that depended on it would not be valid for small samples. It is
not needed, either, because all sets stay the same if all scores are multiplied by a positive number.

The promise holds in exact arithmetic. Scores that are computed for different batches, or in another order, differ by
rounding; therefore calibration adds a bound on its own rounding to every distance, and prediction adds another one to
the threshold. Sets become larger by that, never smaller.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.sequences.forbidden_labels import deny_impossible
from maxmargin.training.conformal import allowed_distance, allowed_risk_distance
from maxmargin.training.probabilistic import Calibration

ROUNDING = 1e-9  # relative to the sum of the absolute values of all scores of a sequence


class SearchedSequences:
    """Sequences with the scores of their labels, and the best score of each; a ValueError if one has no valid labels.

    Parameters
    ----------
    task : Chain
        The space that scores and searches the sequences.
    w : array
        The weights.
    X : list of sequences
        The inputs.
    """

    def __init__(self, task: Any, w: Array, X: Any):
        self.names, self.scored = task.names, task.scored(X)
        self.scores = self.scored.scores(w)
        self.best: Array = self.scored.best(self.scores).values
        deny_impossible(self.best, task.pruned_)
        self.rounding: Array = ROUNDING * self.scored.magnitudes(self.scores)

    @property
    def bounds(self) -> NDArray[np.int64]:
        """The first position of every sequence, and the number of all positions."""
        bounds: NDArray[np.int64] = self.scored.bounds
        return bounds

    @property
    def owners(self) -> NDArray[np.intp]:
        """The sequence that every position belongs to."""
        return np.repeat(np.arange(len(self.best)), np.diff(self.bounds))

    def distances_of(self, allowed: NDArray[np.bool_]) -> Array:
        """Return (n,): the smallest distance of a label sequence with allowed (positions, K) labels only; or inf."""
        agreeing = self.scores._replace(unary=np.where(allowed, self.scores.unary, -np.inf))
        return np.maximum(self.best - self.scored.best(agreeing).values, 0.0)

    def label_distances(self) -> Array:
        """Return (positions, K): the distance of every label; inf for a label that no label sequence has there."""
        return np.maximum(self.best[self.owners, None] - self.scored.best_through(self.scores), 0.0)


def calibrated_distances(task: Any, w: Array, X: Any, Y: Any) -> Calibration:
    """Return the distances of the true label sequences and of the true labels.

    Where Y leaves labels open, the distance is the smallest one of all that agree with Y. Positions without a label do
    not count, and neither do sequences without any label.
    """
    found = SearchedSequences(task, w, X)
    allowed, owners, n = found.names.allowed(Y, found.bounds), found.owners, len(found.best)
    labelled = ~allowed.all(axis=1)
    numbers = np.bincount(owners, labelled, n)
    of_labels = np.where(allowed, found.label_distances(), np.inf).min(axis=1, initial=np.inf) + found.rounding[owners]
    return Calibration(
        distances=(found.distances_of(allowed) + found.rounding)[numbers > 0],
        label_distances=of_labels[labelled],
        shares=1 / numbers[owners[labelled]],
    )


def joined(calibrations: list[Calibration]) -> Calibration:
    """Return one calibration from the measurements of several models, each on its own examples."""
    return Calibration(*map(np.concatenate, zip(*calibrations, strict=True)))


class NearBest(NamedTuple):
    """The label sequences of one x that are near the best one."""

    labels: list[list[Hashable]]  # best first
    complete: bool  # False if there may be more of them


def sequence_sets(task: Any, w: Array, X: Any, known: Calibration, coverage: float, most: int) -> list[NearBest]:
    """Return, for every x, all label sequences up to the distance that the coverage needs, but `most` at most."""
    distance = allowed_distance(known.distances, coverage)
    if not np.isfinite(distance):
        share = np.mean(np.isinf(known.distances))
        raise ValueError(
            f"no set of label sequences has a coverage of {coverage:g}: {share:.1%} of the sequences that calibration "
            "saw have labels that the model cannot predict"
        )
    rounding = SearchedSequences(task, w, X).rounding  # all at once first, so that errors name the right sequence
    return [_near_best(task, w, x, distance + each, most) for x, each in zip(X, rounding.tolist(), strict=True)]


def label_sets(task: Any, w: Array, X: Any, known: Calibration, coverage: float) -> list[list[set[Hashable]]]:
    """Return, for every x, the set of labels of each position up to the distance that the coverage needs."""
    distance = allowed_risk_distance(known.label_distances, known.shares, len(known.distances), coverage)
    if not np.isfinite(distance):
        share = np.sum(known.shares[np.isinf(known.label_distances)]) / len(known.distances)
        raise ValueError(
            f"no sets of labels have a coverage of {coverage:g}: {share:.1%} of the labels that calibration saw are "
            "labels that the model cannot predict where they are"
        )
    found = SearchedSequences(task, w, X)
    inside = found.label_distances() <= (distance + found.rounding)[found.owners, None]
    names = np.array([*found.names.classes, None], dtype=object)[:-1]
    sets = [set(names[row]) for row in inside]
    return [sets[a:b] for a, b in zip(found.bounds[:-1], found.bounds[1:], strict=True)]


def _near_best(task: Any, w: Array, x: Any, distance: float, most: int) -> NearBest:
    n = min(8, most)
    while True:
        listed = task.n_best(w, x, n)
        near = [labels for labels, score in listed if score >= listed[0][1] - distance]
        if len(near) < len(listed) or len(listed) < n:
            return NearBest(near, True)
        if n == most:
            return NearBest(near, False)
        n = min(4 * n, most)
