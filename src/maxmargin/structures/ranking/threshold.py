"""Thresholds ("cuts") of the scores of a sample, from which classes are predicted: always midway between two scores."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.ranking.groups import Indices


class FoldRows(NamedTuple):
    """Rows of a sample, in folds, for which a threshold of scores is chosen."""

    truth: Array  # 1 for positive rows, 0 for others
    weights: Array  # the weight of each row
    fold: Indices  # the fold in which a row is held out; all 0 for scores of training


class ChosenCut(NamedTuple):
    """Threshold above which rows are predicted positive, with the values of a measure in the folds."""

    at: float  # the threshold
    values: Array  # at the cut with the highest mean; the folds choose it themselves, so that these are too high


class Cut(NamedTuple):
    """Threshold that suits a measure, with the values of the measure by which objectives are compared."""

    at: float  # the threshold
    values: Array  # the values of ChosenCut, or of a measure that does not depend on the cut
    held_out: Array  # the same, where the other folds choose the cut of a fold

    @property
    def mean(self) -> float:
        """The mean over folds of the measure, each at the cut that the other folds choose."""
        return float(self.held_out.mean())


def standard_error(values: Array) -> float:
    """Return the standard error of the mean of values, one per fold; 0 for a single value, which says nothing of it."""
    return float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0


def best_cut(scores: Array, rows: FoldRows, value: Callable[..., Any]) -> ChosenCut:
    """Return the middle one of the cuts whose mean over folds of value(tp, fp, fn, tn) is near the best.

    There is one cut for all folds, because the final model will have one. Each of the n + 1 cuts is tried: O(n log n),
    and O(n) per fold. Near means within a standard error of the highest mean: if a few positive rows decide, the best
    cut is best by chance among many equally good ones. With a single fold it is the best cut itself; ties go to the
    first, with the fewest rows above it.

    value : a function of arrays.
    """
    order, separated = _sorted(scores)
    truth, weights, fold = (each[order] for each in rows)
    n_folds = int(fold.max()) + 1
    values = np.empty((n_folds, len(scores) + 1))
    for number in range(n_folds):
        own = weights * (fold == number)
        tp, fp = (np.append(0.0, np.cumsum(own * kind)) for kind in (truth, 1 - truth))
        values[number] = value(tp, fp, np.maximum(tp[-1] - tp, 0), np.maximum(fp[-1] - fp, 0))
    mean = np.where(separated, values.mean(axis=0), -np.inf)
    rounding = 1e-9 * np.abs(mean[separated]).max()
    best = int(np.argmax(mean >= mean.max() - rounding))  # the first of equal ones, however they were rounded
    near = np.flatnonzero(mean >= mean[best] - standard_error(values[:, best])) if n_folds > 1 else np.array([best])
    return ChosenCut(_after(scores, order, int(near[(len(near) - 1) // 2])), values[:, best])


def nested_cuts(scores: Array, rows: FoldRows, value: Callable[..., Any]) -> Array:
    """Return, for every fold, the cut that best_cut chooses on the rows of all other folds; there are at least two."""
    cuts = []
    for number in range(int(rows.fold.max()) + 1):
        truth, weights, fold = (each[rows.fold != number] for each in rows)
        others = FoldRows(truth, weights, fold - (fold > number))  # numbered without a gap
        cuts.append(best_cut(scores[rows.fold != number], others, value).at)
    return np.array(cuts)


def cut_after(scores: Array, size: int) -> float:
    """Return the cut with `size` rows above it, and with those whose scores equal the last of these up to rounding."""
    order, separated = _sorted(scores)
    return _after(scores, order, size + int(np.argmax(separated[size:])))


def balanced_rate(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Return the sum of the shares of positive and of negative rows that are predicted correctly."""
    return tp / (tp + fn) + tn / (fp + tn)


def _sorted(scores: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows from the highest score down, and whether a cut fits after the first 0, 1, … of them."""
    order = np.argsort(-scores, kind="stable")
    separated = -np.diff(scores[order]) > 1e-9 * np.abs(scores).max()
    return order, np.concatenate([[True], separated, [True]])


def _after(scores: Array, order: NDArray[np.int64], above: int) -> float:
    ends = np.concatenate([[scores[order[0]] + 2], scores[order], [scores[order[-1]] - 2]])
    return float(ends[above] + ends[above + 1]) / 2
