"""GridPath: the shortest monotone path through a grid."""

from __future__ import annotations

from typing import Any, ClassVar

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.structures.parts.optimisers.base import MOST_NODES, Optimiser
from maxmargin.structures.parts.optimisers.dag_path import DagPath


class GridPath(Optimiser):
    """Shortest path through a grid from the top left to the bottom right corner, going right or down.

    Parts are the steps between neighbouring nodes; a path has rows + columns - 2 of them. Steps are numbered row by
    row: first those within a row from left to right, then those down to the next row. That is the order of the
    shortest-path benchmark of SPO+ and PyEPO, whose grid of 5 × 5 nodes has 40 steps. Costs may have any sign
    (DagPath).

    Parameters
    ----------
    rows, columns : int
        The numbers of nodes from top to bottom and from left to right.

    See Also
    --------
    DagPath : Paths in any acyclic graph.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> optimisers.GridPath(2, 2)([1.0, 5.0, 1.0, 1.0])  # right, down, down, right
    array([1., 0., 1., 0.])
    """

    same_size = True

    saved: ClassVar[Fields] = {"rows": Whole(1, MOST_NODES), "columns": Whole(1, MOST_NODES)}

    def __init__(self, rows: int = 5, columns: int = 5):
        self.rows = rows
        self.columns = columns
        check_whole("rows", rows, least=1)
        check_whole("columns", columns, least=1)
        if rows * columns == 1:
            raise ValueError("a grid of 1 row and 1 column has no steps; expected at least two nodes")
        self._paths = DagPath(self.arcs, (0, 0), (rows - 1, columns - 1))
        self.n_parts = self._paths.n_parts

    @property
    def arcs(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Every step as a pair of nodes, which are pairs (row, column)."""
        steps = []
        for i in range(self.rows):
            steps += [((i, j), (i, j + 1)) for j in range(self.columns - 1)]
            if i + 1 < self.rows:
                steps += [((i, j), (i + 1, j)) for j in range(self.columns)]
        return steps

    def solve(self, costs: Array) -> Array:
        return self._paths.solve(costs)

    def solve_rows(self, costs: Array) -> Array:
        return self._paths.solve_rows(costs)

    def check(self, z: Any) -> None:
        self._paths.check(z)
