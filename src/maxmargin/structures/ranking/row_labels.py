"""Labels of the rows of groups: a level for every row, and optionally a weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.ranking.groups import Groups


class WeightedRows(NamedTuple):
    """Labels of a group's rows, with a weight for each row.

    Attributes
    ----------
    labels : array of shape (n,)
        The level or the class of every row.
    weights : array of shape (n,)
        The weight of every row.

    See Also
    --------
    Contingency, Ranking : Tasks that take them as labels.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> tasks.WeightedRows.of([0, 1]).weights
    array([1., 1.])
    """

    labels: Any
    weights: Any

    @classmethod
    def of(cls, y: Any) -> WeightedRows:
        """Return labels with weights; plain labels get weights of 1."""
        return y if isinstance(y, cls) else cls(y, np.ones(np.shape(y)))


def levels_and_weights(X: Any, Y: Sequence[Any], unit: str) -> tuple[list[Array], list[Array] | None]:
    """Return the levels of the rows of every group, and their weights if labels are `WeightedRows`.

    unit : the name of a group in messages.
    """
    levels, weights = [], []
    for g, (y, size) in enumerate(zip(Y, Groups.of(X).sizes.tolist(), strict=True)):
        given = WeightedRows.of(y)
        values, own = (np.asarray(each, dtype=float) for each in given)
        if values.shape != (size,):
            raise ValueError(f"{unit} {g} has {size} rows but labels of shape {values.shape}; expected ({size},)")
        if not np.isfinite(values).all():
            i = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"{unit} {g}, row {i}: the label is {values[i]}; expected a finite number")
        if own.shape != (size,):
            raise ValueError(f"{unit} {g} has {size} rows but weights of shape {own.shape}; expected ({size},)")
        good = np.isfinite(own) & (own > 0)
        if not good.all():
            i = int(np.argmin(good))
            raise ValueError(f"{unit} {g}, row {i}: the weight is {own[i]}; expected a positive finite number")
        levels.append(values)
        weights.append(own)
    return levels, weights if any(isinstance(y, WeightedRows) for y in Y) else None


def binary_levels(X: Any, Y: Any, unit: str) -> tuple[list[Array], list[Array] | None]:
    """Return the same after checking that all levels are 0 or 1."""
    levels, weights = levels_and_weights(X, Y, unit)
    for g, y in enumerate(levels):
        other = np.flatnonzero((y != 0) & (y != 1))
        if len(other):
            raise ValueError(f"{unit} {g}, row {other[0]}: the label is {y[other[0]]:g}; expected 0 or 1")
    return levels, weights
