"""What a measure says of the scores of held-out rows: where it cuts them, and which are better."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.ranking.measures import Measure
from maxmargin.structures.ranking.threshold import Cut, JudgedRows, balanced_rate, best_cut, cut_after, standard_error


class Judge(NamedTuple):
    """A measure, and the rows whose scores it judges fold by fold: those of two folds come from two models."""

    measure: Measure | str  # "roc_auc" and "average_precision" are of the order of scores alone
    rows: JudgedRows

    def cut(self, scores: Array) -> Cut:
        """The cut that suits the measure, and what it is worth in every fold.

        Measures of classes have the cut with the highest mean. Those at k say how many rows are above it, and those of
        the order nothing: there the cut is the one with the fewest balanced errors.
        """
        if isinstance(self.measure, str):
            return Cut(best_cut(scores, self.rows, balanced_rate).at, self._values(scores))
        if self.measure.size is None:
            return best_cut(scores, self.rows, self.measure.worth)
        size = self.measure.size(int(self.rows.truth.sum()))
        return Cut(cut_after(scores, size), self._values(scores))

    def _values(self, scores: Array) -> Array:
        truth, weights, fold = self.rows
        own = [fold == k for k in range(int(fold.max()) + 1)]
        return np.array([judged(self.measure, truth[k] > 0, scores[k], weights[k], np.mean(k)) for k in own])


def clearly_better(other: Cut, than: Cut) -> bool:
    """Whether the mean over folds is higher by more than its standard error."""
    more = other.values - than.values
    return bool(more.mean() > standard_error(more))


def judged(measure: Measure | str, truth: Any, scores: Array, weights: Array, share: Any = 1.0) -> float:
    """The measure of these rows: higher is better, and a loss counts negative.

    Measures at k look at the rows with the highest scores, and take tied ones in the worst order. `share` : of the
    sample that these rows are; k is as small a part of them as of the sample, but at least one.
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
