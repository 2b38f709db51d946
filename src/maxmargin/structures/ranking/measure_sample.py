"""MeasureSample: a sample of two classes as one structural example."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import plain
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.structures.ranking.groups import Groups, Indices
from maxmargin.structures.ranking.measures import Measure
from maxmargin.structures.ranking.row_labels import WeightedRows

MOST_ROWS = 10**8  # rows that repeating examples by their weights may make


class MeasureSample(NamedTuple):
    """Rows that a measure is trained on, with their labels."""

    rows: Groups  # one group of all rows that count; a constant feature, if there is one, is the last column
    labels: Array | WeightedRows  # 1 for rows of the positive class, 0 for others
    n_features: int  # without the constant feature

    def seen(self, constant: bool) -> Groups:
        """Return the rows, with the constant feature or without it."""
        rows = self.rows
        if constant or rows.matrix.shape[1] == self.n_features:
            return rows
        return Groups(rows.matrix[:, : self.n_features], rows.rows, rows.bounds)

    def part(self, chosen: NDArray[np.bool_], constant: bool) -> tuple[Groups, Array | WeightedRows]:
        """Return the chosen rows and their labels."""
        seen, labels = self.seen(constant), self.labels
        rows = Groups(seen.matrix, seen.rows[chosen], np.array([0, np.count_nonzero(chosen)]))
        if isinstance(labels, WeightedRows):
            return rows, WeightedRows(labels.labels[chosen], labels.weights[chosen])
        return rows, labels[chosen]

    @property
    def weighted_labels(self) -> WeightedRows:
        """The labels with their weights, which are 1 if none were given."""
        return WeightedRows.of(self.labels)


def two_classes(y: Any, pos_label: Any) -> Any:
    """Return the two labels in sorted order; ValueError if there are not two, or if `pos_label` is none of them."""
    if type_of_target(y, input_name="y") != "binary":
        raise ValueError(
            "Only binary classification is supported. "
            f"The type of the target is {type_of_target(y)}; OneVsRestClassifier turns it into binary problems"
        )
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {plain(classes[0])!r}; a measure needs positive and negative examples")
    if pos_label is not None and pos_label not in classes.tolist():
        raise ValueError(f"pos_label={pos_label!r} is not one of the classes {classes.tolist()}")
    return classes


def counted_rows(sample_weight: Any, n: int, measure: Measure | str, name: Any) -> tuple[Indices, Array | None]:
    """Return the numbers of the rows that count, each as often as it does; and their weights, unless all are equal.

    name : the name of the measure, for errors.
    """
    if sample_weight is None:
        return np.arange(n), None
    weights = normalised_weights(sample_weight, n)
    if measure == "roc_auc" or (not isinstance(measure, str) and measure.separable):
        rows = np.flatnonzero(weights)
        return rows, weights[rows]
    return np.repeat(np.arange(n), _repetitions(sample_weight, name)), None


def _repetitions(sample_weight: Any, name: Any) -> NDArray[np.int64]:
    """Return how many times each example counts."""
    given = np.asarray(sample_weight, dtype=float)
    broken = np.flatnonzero(given != np.floor(given))
    if len(broken) and np.ptp(given) > 0:
        raise ValueError(
            f"measure {name!r} counts examples, so sample_weight must hold whole numbers; "
            f"sample_weight[{broken[0]}] is {given[broken[0]]}"
        )
    if len(broken):
        return np.ones(len(given), dtype=np.int64)
    if given.sum() > MOST_ROWS:
        raise ValueError(
            f"measure {name!r} counts an example as often as its weight says, which makes {given.sum():.3g} examples, "
            f"more than {MOST_ROWS:.0g}; divide the weights by a common factor"
        )
    return given.astype(np.int64)
