"""Views: the features of a single position of a sequence, made from its columns.

    Column("residue")                       its letter, one weight per letter; or its row of numbers
    Column("residue", offset=1)             the letter of the next position (none beyond the end)
    Product("residue", "ss")                both letters together, one weight per combination
    Window("residue", 2)                    the letters of five positions, side by side
    Average("residue", 3)                   the mean over seven positions: local composition

A view of sequence a and one of sequence b make a feature map of aligned pairs (substitution.py) or of gaps (gaps.py).
A string can be given instead of its Column everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole, is_whole
from maxmargin.base.files.fields import Each, Part, Text, Whole, afford
from maxmargin.base.files.objects import Fields
from maxmargin.structures.alignment.columns import Codes, Columns, EncodedSequence

Entries: TypeAlias = tuple[NDArray[np.int64], Array]  # feature numbers and values; numbers may repeat


class LetterFeatures:
    """Features of n positions with at most r features of value 1 each: (n, r) numbers, -1 for none."""

    def __init__(self, codes: Codes, width: int):
        self.codes, self.width = codes, width
        self.missing = codes < 0 if codes.min(initial=0) < 0 else None

    def dense(self) -> Array:
        """Return (n, width) rows of zeros and ones."""
        rows = np.zeros((len(self.codes), self.width))
        i, k = np.nonzero(self.codes >= 0)
        rows[i, self.codes[i, k]] = 1.0
        return rows

    def times(self, W: Array) -> ScoreRows:
        """Return features @ W."""
        if self.codes.shape[1] == 1 and self.width < len(self.codes):  # rows of W repeat
            if self.missing is None:
                return ScoreRows(W, self.codes[:, 0])
            padded = np.vstack([W, np.zeros((1, W.shape[1]))])
            return ScoreRows(padded, np.where(self.missing, self.width, self.codes)[:, 0])
        return ScoreRows(self._summed(lambda codes: W[codes], 0), None)

    def spread(self, L: Array) -> Array:
        """Return L @ features.T."""
        return self._summed(lambda codes: np.take(L, codes, axis=1), 1)

    def _summed(self, looked_up: Callable[[Codes], Array], axis: int) -> Array:
        """Return Σ_k looked_up(codes[:, k]), with positions on `axis`."""
        total: Any = 0.0
        for k in range(self.codes.shape[1]):
            rows = looked_up(self.codes[:, k])
            if self.missing is not None:
                rows[(slice(None),) * axis + (self.missing[:, k],)] = 0.0
            total = rows if k == 0 else np.add(total, rows, out=total)
        return total


class NumberFeatures:
    """Features of n positions as rows of a matrix."""

    def __init__(self, matrix: Array):
        self.matrix, self.width = matrix, matrix.shape[1]

    def dense(self) -> Array:
        return self.matrix

    def times(self, W: Array) -> ScoreRows:
        return ScoreRows(self.matrix @ W, None)

    def spread(self, L: Array) -> Array:
        return L @ self.matrix.T


class ScoreRows(NamedTuple):
    """A matrix that stores equal rows once."""

    rows: Array  # the distinct rows
    row_of: Codes | None  # for each row of the matrix, its number among the distinct rows; None if all rows differ

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.rows) if self.row_of is None else len(self.row_of), *self.rows.shape[1:])

    def full(self) -> Array:
        return self.rows if self.row_of is None else self.rows[self.row_of]


PositionFeatures: TypeAlias = "LetterFeatures | NumberFeatures"


def outer_sum(A: PositionFeatures, i: Codes, B: PositionFeatures, j: Codes) -> Entries:
    """Return Σ_k A[i_k] ⊗ B[j_k]; feature (p, q) has the number p · B.width + q, which may occur several times."""
    if isinstance(A, LetterFeatures):
        if isinstance(B, LetterFeatures):
            first, second = A.codes[i][:, :, None], B.codes[j][:, None, :]
            numbers = (first * B.width + second)[(first >= 0) & (second >= 0)]
            return numbers, np.ones(len(numbers))
        kinds, sums = _summed_by_letter(A.codes[i], B.matrix[j])
        return (kinds[:, None] * B.width + np.arange(B.width)).ravel(), sums.ravel()
    if isinstance(B, LetterFeatures):
        kinds, sums = _summed_by_letter(B.codes[j], A.matrix[i])
        return (kinds[:, None] + np.arange(A.width) * B.width).ravel(), sums.ravel()
    return np.arange(A.width * B.width), (A.matrix[i].T @ B.matrix[j]).ravel()


def _summed_by_letter(codes: Codes, rows: Array) -> tuple[Codes, Array]:
    """Return the different letters, and for each the sum of its rows."""
    which, column = np.nonzero(codes >= 0)
    letters = codes[which, column]
    order = np.argsort(letters, kind="stable")
    kinds, starts = np.unique(letters[order], return_index=True)
    if not len(kinds):
        return kinds, np.zeros((0, rows.shape[1]))
    return kinds, np.add.reduceat(rows[which[order]], starts, axis=0)


class View:
    """The features of a position; `features` computes them for all positions of a sequence."""

    def names(self, columns: Columns) -> list[Any]:
        """Return the meaning of each feature: its letter, or a tuple."""
        raise NotImplementedError

    def count(self, columns: Columns) -> int:
        """Return the number of features."""
        return len(self.names(columns))

    def columns(self) -> list[str]:
        """Return the columns that the view reads."""
        raise NotImplementedError

    def features(self, side: EncodedSequence, columns: Columns) -> PositionFeatures:
        """Return the features, one row per position."""
        raise NotImplementedError


@dataclass(frozen=True)
class Column(View):
    """The letter or the numbers of one column, at this position or at an offset.

    Parameters
    ----------
    name : str
        The name of the column.
    offset : int
        The distance of the position that is read.

    Examples
    --------
    >>> from maxmargin.tasks import Column
    >>> Column("residue", offset=1)
    Column(name='residue', offset=1)
    """

    name: str
    offset: int = 0

    saved: ClassVar[Fields] = {"name": Text(), "offset": Whole(-(2**31), 2**31)}
    saved_as: ClassVar[str] = "__init__"

    def __post_init__(self) -> None:
        if not is_whole(self.offset):
            raise ValueError(f"offset must be a whole number, got {self.offset!r}")

    def __str__(self) -> str:
        return f"{self.name}{self.offset:+d}" if self.offset else self.name

    def names(self, columns: Columns) -> list[Any]:
        width = columns.width(self.name)
        return list(columns.alphabets.get(self.name, [(self.name, k) for k in range(width)]))

    def columns(self) -> list[str]:
        return [self.name]

    def features(self, side: EncodedSequence, columns: Columns) -> PositionFeatures:
        if self.name in side.codes:
            return LetterFeatures(_shifted(side.codes[self.name], self.offset, -1)[:, None], columns.width(self.name))
        return NumberFeatures(_shifted(side.numbers[self.name], self.offset, 0.0))


@dataclass(frozen=True, init=False)
class Product(View):
    """The combination of the letters of several columns, which is one feature if all letters are known.

    Parameters
    ----------
    parts : str or Column
        Names of columns, or Column views.

    Examples
    --------
    >>> from maxmargin.tasks import Product
    >>> Product("residue", "ss").columns()
    ['residue', 'ss']
    """

    parts: tuple[Column, ...]

    saved: ClassVar[Fields] = {"parts": Each(Part(Column), kind=tuple)}
    saved_as: ClassVar[str] = "of"

    def __init__(self, *parts: str | Column):
        object.__setattr__(self, "parts", tuple(as_view(part) for part in parts))
        if len(self.parts) < 2 or not all(isinstance(part, Column) for part in self.parts):
            raise ValueError(f"a Product needs two or more columns, got {parts!r}")

    @classmethod
    def of(cls, parts: Sequence[Column]) -> Product:
        """Return the product of these columns."""
        return cls(*parts)

    def __str__(self) -> str:
        return "·".join(map(str, self.parts))

    def names(self, columns: Columns) -> list[Any]:
        return list(product(*(part.names(columns) for part in self.parts)))

    def count(self, columns: Columns) -> int:
        return prod(columns.width(part.name) for part in self.parts)

    def columns(self) -> list[str]:
        return [name for part in self.parts for name in part.columns()]

    def features(self, side: EncodedSequence, columns: Columns) -> PositionFeatures:
        codes, width, known = np.zeros(side.length, dtype=np.int64), 1, np.ones(side.length, dtype=bool)
        for part in self.parts:
            letters = part.features(side, columns)
            if not isinstance(letters, LetterFeatures):
                raise ValueError(f"the Product {self} needs letters, but {part.name!r} has numbers")
            codes = codes * letters.width + letters.codes[:, 0]
            known &= letters.codes[:, 0] >= 0
            width *= letters.width
        return LetterFeatures(np.where(known, codes, -1)[:, None], width)


@dataclass(frozen=True, init=False)
class Neighbourhood(View):
    """A view of the positions from -radius to +radius."""

    view: View
    radius: int

    saved: ClassVar[Fields] = {"view": Part(View), "radius": Whole(0, 2**16)}
    saved_as: ClassVar[str] = "__init__"

    def __init__(self, view: str | View, radius: int):
        object.__setattr__(self, "view", as_view(view))
        object.__setattr__(self, "radius", check_whole("radius", radius, least=0))

    def columns(self) -> list[str]:
        return self.view.columns()


@dataclass(frozen=True, init=False)
class Window(Neighbourhood):
    """A view of the positions from -radius to +radius, side by side; beyond the ends there are no features."""

    def __str__(self) -> str:
        return f"{self.view}±{self.radius}"

    def names(self, columns: Columns) -> list[Any]:
        offsets = range(-self.radius, self.radius + 1)
        return list(product(offsets, self.view.names(columns)))

    def count(self, columns: Columns) -> int:
        return (2 * self.radius + 1) * self.view.count(columns)

    def features(self, side: EncodedSequence, columns: Columns) -> PositionFeatures:
        features = self.view.features(side, columns)
        offsets = range(-self.radius, self.radius + 1)
        if isinstance(features, NumberFeatures):
            return NumberFeatures(np.hstack([_shifted(features.matrix, d, 0.0) for d in offsets]))
        shifted = [_shifted(features.codes, d, -1) for d in offsets]
        codes = [np.where(codes < 0, -1, codes + k * features.width) for k, codes in enumerate(shifted)]
        return LetterFeatures(np.hstack(codes), len(offsets) * features.width)


@dataclass(frozen=True, init=False)
class Average(Neighbourhood):
    """The mean of a view over the positions from -radius to +radius (fewer at the ends)."""

    def __str__(self) -> str:
        return f"mean({self.view}±{self.radius})"

    def names(self, columns: Columns) -> list[Any]:
        return self.view.names(columns)

    def count(self, columns: Columns) -> int:
        return self.view.count(columns)

    def features(self, side: EncodedSequence, columns: Columns) -> PositionFeatures:
        rows = self.view.features(side, columns).dense()
        n, total = side.length, np.vstack([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
        begin, end = (np.clip(np.arange(n) + d, 0, n) for d in (-self.radius, self.radius + 1))
        return NumberFeatures((total[end] - total[begin]) / (end - begin)[:, None])


def as_view(view: Any) -> Any:
    """Return a view, or the column of that name."""
    if isinstance(view, str):
        return Column(view)
    if not isinstance(view, View):
        raise ValueError(f"expected a view (Column, Product, Window, Average) or a column's name, got {view!r}")
    return view


def view_width(view: View, columns: Columns, numbers: Sequence[int] = (0, 1)) -> int:
    """Return the number of features of a view; raise a ValueError unless the sequences `numbers` have its columns."""
    for name in view.columns():
        for number in numbers:
            columns.check(name, number)
    n_features = view.count(columns)
    afford(n_features, f"features of {view}")
    return n_features


def _shifted(values: Any, offset: int, fill: float) -> Any:
    """Return an array in which position p has the value of p + offset."""
    if offset == 0:
        return values
    moved = np.full_like(values, fill)
    n = len(values)
    if abs(offset) < n:
        moved[max(0, -offset) : n - max(0, offset)] = values[max(0, offset) : n - max(0, -offset)]
    return moved
