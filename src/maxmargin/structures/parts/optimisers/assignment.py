"""Assignment: the minimum-cost bipartite matching of rows and columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.structures.parts.optimisers.base import MOST_NODES, Optimiser


class Assignment(Optimiser):
    """Minimum-cost assignment of rows to columns, each in at most one pair (bipartite matching).

        min Σ_{pairs} c_ij + Σ_{rows alone} d_i + Σ_{columns alone} b_j                                              (1)

    Without births and deaths there are no d and b: the shorter side is paired completely, and the rest of the longer
    side is free. With deaths, rows may stay alone at the cost d_i; with births, columns at the cost b_j; the other side
    is then paired completely. With both, any matching is possible, as in tracking. Parts are numbered in this order:
    pairs (i, j), row by row; rows alone, if there are deaths; columns alone, if there are births.

    (1) is Σ d_i + Σ b_j plus c_ij - d_i - b_j for every pair, an assignment problem for scipy's linear_sum_assignment;
    with births and deaths, pairs that would add to the cost are dropped.

    Parameters
    ----------
    rows, columns : int
        Their numbers.
    births, deaths : bool
        Whether columns, or rows, may stay alone at a cost. Deaths alone need rows >= columns, births alone columns >=
        rows.

    See Also
    --------
    maxmargin.Assigner : Learns to match rows and columns from features.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> optimisers.Assignment(2, 2)([1.0, 5.0, 5.0, 1.0])
    array([1., 0., 0., 1.])
    """

    saved: ClassVar[Fields] = {"rows": Whole(1, MOST_NODES), "columns": Whole(1, MOST_NODES)}

    def __init__(self, rows: int, columns: int, births: bool = False, deaths: bool = False):
        self.rows = rows
        self.columns = columns
        self.births = births
        self.deaths = deaths
        check_whole("rows", rows, least=1)
        check_whole("columns", columns, least=1)
        if deaths and not births and rows < columns:
            raise ValueError(f"{columns} columns cannot all be paired with {rows} rows; expected births=True")
        if births and not deaths and columns < rows:
            raise ValueError(f"{rows} rows cannot all be paired with {columns} columns; expected deaths=True")
        self.n_parts = rows * columns + rows * bool(deaths) + columns * bool(births)
        self.same_size = not (births and deaths)

    def solve(self, costs: Array) -> Array:
        pairs, alone_rows, alone_columns = self._split(costs)
        gains = pairs - (alone_rows[:, None] if self.deaths else 0.0) - (alone_columns if self.births else 0.0)
        if self.births and self.deaths:
            i, j = linear_sum_assignment(np.minimum(gains, 0.0))
            better = gains[i, j] < 0
            i, j = i[better], j[better]
        else:
            i, j = linear_sum_assignment(gains)
        z = np.zeros(len(costs))
        paired, alone_rows, alone_columns = self._split(z)
        paired[i, j] = 1.0
        if self.deaths:
            alone_rows[:] = 1.0 - paired.sum(axis=1)
        if self.births:
            alone_columns[:] = 1.0 - paired.sum(axis=0)
        return z

    def check(self, z: Any) -> None:
        self._chosen(z)
        paired, alone_rows, alone_columns = self._split(np.asarray(z, dtype=np.float64))
        # every row and column must be chosen once, or at most once on the longer side if staying alone is free
        for name, times, free in (
            ("row", paired.sum(axis=1) + (alone_rows if self.deaths else 0), self.rows > self.columns),
            ("column", paired.sum(axis=0) + (alone_columns if self.births else 0), self.columns > self.rows),
        ):
            least = 0 if free and not (self.births or self.deaths) else 1
            for k in np.flatnonzero((times < least) | (times > 1)):
                raise ValueError(f"{name} {k} is chosen {times[k]:.0f} times; expected once{' or never' * (not least)}")
        if not (self.births or self.deaths) and paired.sum() < min(paired.shape):
            raise ValueError(f"z has {paired.sum():.0f} pairs; expected {min(paired.shape)}")

    def _split(self, parts: Array) -> tuple[Array, Array, Array]:
        """Return views of the pairs, the rows alone and the columns alone; the last two may be empty."""
        pairs = parts[: self.rows * self.columns].reshape(self.rows, self.columns)
        rows = parts[pairs.size : pairs.size + self.rows * bool(self.deaths)]
        return pairs, rows, parts[pairs.size + len(rows) :]
