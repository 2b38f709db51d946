"""The value of a measure for scores of rows, and the cut of the scores that suits the measure."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.ranking.measures import Measure
from maxmargin.structures.ranking.threshold import (
    Cut,
    FoldRows,
    balanced_rate,
    best_cut,
    cut_after,
    nested_cuts,
    standard_error,
)


class FoldMeasure(NamedTuple):
    """Measure of scores by fold, because the scores of two folds come from two models."""

    measure: Measure | str  # "roc_auc" and "average_precision" are measures of the order of scores alone
    rows: FoldRows

    def cut(self, scores: Array) -> Cut:
        """Return the cut that suits the measure, and the values of the measure in every fold.

        Measures of classes take the cut with the highest mean. Measures at k fix the number of rows above the cut.
        Measures of the order do not depend on a cut, so the one with the lowest balanced error is taken.
        """
        if isinstance(self.measure, str):
            return self._independent(scores, best_cut(scores, self.rows, balanced_rate).at)
        if self.measure.size is not None:
            return self._independent(scores, cut_after(scores, self.measure.size(int(self.rows.truth.sum()))))
        at, values = best_cut(scores, self.rows, self.measure.worth)
        if len(values) == 1:  # no other fold can choose a cut
            return Cut(at, values, values)
        cuts = nested_cuts(scores, self.rows, self.measure.worth)
        return Cut(at, values, self._values(scores - cuts[self.rows.fold]))

    def _independent(self, scores: Array, at: float) -> Cut:
        """Return a cut with the values of a measure that does not depend on it."""
        values = self._values(scores)
        return Cut(at, values, values)

    def _values(self, scores: Array) -> Array:
        """Return the measure in every fold; measures of classes predict rows with positive scores to be positive."""
        truth, weights, fold = self.rows
        values = []
        for number in range(int(fold.max()) + 1):
            own = fold == number
            values.append(measured(self.measure, truth[own] > 0, scores[own], weights[own], np.mean(own)))
        return np.array(values)


def clearly_better(other: Cut, than: Cut) -> bool:
    """Return whether the mean over folds is higher by more than its standard error."""
    more = other.values - than.values
    return bool(more.mean() > standard_error(more))


def measured(measure: Measure | str, truth: Any, scores: Array, weights: Array, share: Any = 1.0) -> float:
    """Return the measure of these rows: higher is better, and a loss counts negative.

    Measures at k use the rows with the highest scores, and take tied ones in the worst order.

    share : the share of the sample in these rows. k is reduced in proportion, but is at least one.
    """
    if isinstance(measure, str):
        from sklearn.metrics import average_precision_score, roc_auc_score  # slow to import

        of_order = roc_auc_score if measure == "roc_auc" else average_precision_score
        return float(of_order(truth, scores, sample_weight=weights))
    found = scores > 0
    if measure.size is not None:
        size = max(1, round(measure.size(round(truth.sum() / share)) * share))
        order = np.lexsort((truth, -scores))
        found = np.isin(np.arange(len(truth)), order[:size])
    kinds = (truth & found, ~truth & found, truth & ~found, ~truth & ~found)
    table = [np.array([np.dot(weights, kind)]) for kind in kinds]  # a user's function expects arrays
    return float(measure.worth(*table)[0])
