"""Assignment: the cheapest pairs of rows and columns, and what stays alone."""

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
    """Parts are the pairs (i, j) of a row and a column; every row and every column is in one pair at most.

        min Σ_{pairs} c_ij + Σ_{rows alone} d_i + Σ_{columns alone} b_j                                              (1)

    Without births and deaths there are no d and b: everything of the shorter side is paired, and of the longer side
    what is left over is free. With deaths, rows may stay alone at the cost d_i, with births, columns at the cost b_j;
    all of the other side are paired. With both, any pairing will do, as in tracking. Parts are numbered so: the pairs,
    row by row; the rows alone, if there are deaths; the columns alone, if there are births.

    (1) is Σ d_i + Σ b_j and, for every pair, c_ij - d_i - b_j: an assignment of rows × columns, for scipy's
    linear_sum_assignment, in which with both births and deaths pairs that would add something stay alone.

    rows, columns : how many there are.
    births, deaths : whether columns, or rows, may stay alone at a cost. Deaths alone need rows >= columns, births alone
        columns >= rows.
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
        # How often everyone must be, and may be: free are those of the longer side, where nobody pays for them.
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
        """Views of the pairs, the rows alone and the columns alone; the last two are empty if there are none."""
        pairs = parts[: self.rows * self.columns].reshape(self.rows, self.columns)
        rows = parts[pairs.size : pairs.size + self.rows * bool(self.deaths)]
        return pairs, rows, parts[pairs.size + len(rows) :]
