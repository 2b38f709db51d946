"""Frames: the inputs of assignments, rows and columns with features of their pairs; and checks of outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex

ColumnNumbers = NDArray[np.int64]  # the column of every row, -1 if it stays alone


class Frames(NamedTuple):
    """Features of n rows and m columns to be matched, such as the objects in two frames of a film.

    Attributes
    ----------
    pairs : array of shape (n, m, F)
        Features of every pair.
    rows : array of shape (n, R) or None
        Features of rows that stay alone, besides a constant.
    columns : array of shape (m, S) or None
        Features of columns that stay alone, besides a constant.

    See Also
    --------
    Links : The task whose inputs these are.
    maxmargin.Assigner : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> tasks.Frames(np.zeros((2, 3, 4))).sizes  # two rows and three columns, four features per pair
    (2, 3)
    """

    pairs: Any
    rows: Any = None
    columns: Any = None

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers n of rows and m of columns."""
        return self.pairs.shape[0], self.pairs.shape[1]

    @property
    def widths(self) -> tuple[int, int, int]:
        """The numbers F, R and S of features."""
        return self.pairs.shape[2], self.rows.shape[1], self.columns.shape[1]


def read_frames(x: Any, i: int, features: Callable[[Any, Any], Any] | None) -> Frames:
    """Read example i as three arrays of finite numbers."""
    if features is not None:
        if not isinstance(x, tuple | list) or len(x) != 2:
            raise ValueError(
                f"example {i} is {x!r}; expected two lists of items, (rows, columns), for features(rows, columns)"
            )
        try:
            made = features(*x)
        except Exception as error:
            error.add_note(f"maxmargin: raised by features(rows, columns) on example {i}")
            raise
    else:
        made = x
    given = made if isinstance(made, Frames) else Frames(made)
    pairs = _numbers(given.pairs, 3, i, "pairs", "(rows, columns, features)")
    n, m, _ = pairs.shape
    if features is not None and (n, m) != (len(x[0]), len(x[1])):
        raise ValueError(
            f"example {i} has {len(x[0])} rows and {len(x[1])} columns, but features for {n} and {m}; expected "
            "features(rows, columns) to return an array (rows, columns, features)"
        )
    sides = []
    for name, side, size in (("rows", given.rows, n), ("columns", given.columns, m)):
        matrix = np.zeros((size, 0)) if side is None else _numbers(side, 2, i, name, f"({size}, features)")
        if len(matrix) != size:
            raise ValueError(f"example {i}: features of {name} have shape {matrix.shape}; expected ({size}, features)")
        sides.append(matrix)
    return Frames(pairs, *sides)


def read_columns(y: Any, n: int, m: int | None, name: str) -> ColumnNumbers:
    """Return the column of every row after checking that no column occurs twice."""
    given = np.asarray(y)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(f"{name} is {y!r}; expected the number of a column for every row, or -1")
    if len(given) != n:
        raise ValueError(f"{name} has {len(given)} columns; expected {n}, one for every row")
    columns = given.astype(np.int64)
    for row, column in enumerate(columns.tolist()):
        if column < -1 or (m is not None and column >= m):
            most = "a column" if m is None else f"a column from 0 to {m - 1}"
            raise ValueError(
                f"{name}: row {row} has the column {column}; expected {most}, or -1 for a row that stays alone"
            )
    linked = columns[columns >= 0]
    if len(np.unique(linked)) < len(linked):
        twice = int(np.flatnonzero(np.bincount(linked) > 1)[0])
        rows = " and ".join(map(str, np.flatnonzero(columns == twice)[:2]))
        raise ValueError(f"{name}: the rows {rows} both have the column {twice}; expected each column once")
    return columns


def _numbers(given: Any, ndim: int, i: int, what: str, expected: str) -> Array:
    refuse_complex(f"the {what} of example {i}", given)
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"example {i}: features of {what} are not numbers; expected an array {expected}") from None
    if array.ndim != ndim:
        raise ValueError(f"example {i}: features of {what} have shape {array.shape}; expected {expected}")
    if not np.isfinite(array).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"example {i}: features of {what} have {array[at]} at {at}; expected finite numbers")
    return array
