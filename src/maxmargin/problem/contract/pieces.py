"""Pieces: Ψ(x, z) as entries, each of which belongs to a unit of the output, such as a position or an arc.

A task may define

    pieces(x, z) -> Pieces

whose entries sum to Ψ(x, z). Explanations then say to which part of the output a contribution belongs; for other tasks
all entries belong to the whole output.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array

UnitPlace = int | tuple[int, ...] | None


class Unit(NamedTuple):
    """A part of an output to which features belong: a position, a pair of neighbours, an arc, a segment, …

    Attributes
    ----------
    kind : str
        What it is.
    place : int, tuple of int or None
        The number of an element of the output, or the numbers of several; None: the whole output.
    elements : tuple or range of int, or None
        The elements that it touches; None: those of `place`.

    See Also
    --------
    Pieces : Features by units.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> segment = tasks.Unit("segment", (2, 5), range(2, 5))
    >>> str(segment), segment.touches(4), segment.touches(5)
    ('segment 2–5', True, False)
    """

    kind: str
    place: UnitPlace = None
    elements: Sequence[int] | None = None

    def __str__(self) -> str:
        if self.place is None:
            return self.kind
        numbers = self.place if isinstance(self.place, tuple) else (self.place,)
        return f"{self.kind} {'–'.join(map(str, numbers))}"

    def touches(self, element: int) -> bool:
        """Return whether this unit depends on an element of the output, given by its number."""
        if self.elements is not None:
            return element in self.elements
        return element in self.place if isinstance(self.place, tuple) else element == self.place


WHOLE = Unit("output")


class Pieces(NamedTuple):
    """The features Ψ(x, z) as entries that belong to units of the output, for explanations.

    Coordinate j of Ψ(x, z) is the sum of values[e] over the entries e with indices[e] = j.

    Attributes
    ----------
    units : sequence of Unit
        The units of the output.
    owners : array of int
        The number of the unit to which each entry belongs.
    indices : array of int
        The coordinate of each entry.
    values : array of float
        Its value.

    See Also
    --------
    Unit : A part of an output.
    maxmargin.Explanation : What `explain` makes of them.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> first, second = tasks.Unit("position", 0), tasks.Unit("position", 1)
    >>> pieces = tasks.Pieces.of([(first, ([0, 2], [1.0, 1.0])), (second, ([0], [0.5]))])
    >>> pieces.indices.tolist(), pieces.values.tolist(), pieces.owners.tolist()
    ([0, 2, 0], [1.0, 1.0, 0.5], [0, 0, 1])
    """

    units: Sequence[Unit]
    owners: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: Array

    @classmethod
    def of(cls, entries: Iterable[tuple[Unit, Any]]) -> Pieces:
        """Return the pieces of several units, each with its Ψ: a dense vector, or (indices, values)."""
        units, indices, values = [], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for unit, features in entries:
            at, numbers = sparse_features(features)
            units.append(unit)
            indices.append(at)
            values.append(numbers)
        lengths = [len(each) for each in indices[1:]]
        owners = np.repeat(np.arange(len(units), dtype=np.int64), lengths)
        return cls(units, owners, np.concatenate(indices), np.concatenate(values))

    @classmethod
    def of_rows(cls, units: Sequence[Unit], rows: Any, columns: NDArray[np.int64] | None = None) -> Pieces:
        """Return the pieces of units whose Ψ are the rows of a matrix.

        columns : the coordinate of each column; None: 0, 1, …
        """
        entries = sparse.coo_array(rows)
        at = entries.coords[1].astype(np.int64)
        return cls(units, entries.coords[0].astype(np.int64), at if columns is None else columns[at], entries.data)

    def joined(self, others: Pieces) -> Pieces:
        """Return the pieces of both."""
        owners = np.concatenate([self.owners, others.owners + len(self.units)])
        indices, values = np.concatenate([self.indices, others.indices]), np.concatenate([self.values, others.values])
        return Pieces([*self.units, *others.units], owners, indices, values)

    def psi(self) -> tuple[NDArray[np.int64], Array]:
        """Return Ψ(x, z) as (indices, values); an index may occur several times."""
        return self.indices, self.values


@runtime_checkable
class InPieces(Protocol):
    """A task whose Ψ is a sum over units of the output."""

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) in pieces."""


def pieces_of(task: Any, x: Any, z: Any) -> Pieces:
    """Return Ψ(x, z) in pieces, of which there is only one if the task does not define them."""
    if isinstance(task, InPieces):
        return task.pieces(x, z)
    return Pieces.of([(WHOLE, task.psi(x, z))])


def sparse_features(features: Any) -> tuple[NDArray[np.int64], Array]:
    """Return Ψ as (indices, values), for both of its forms."""
    if isinstance(features, tuple):
        indices, values = features
        return np.asarray(indices, dtype=np.int64), np.asarray(values, dtype=float)
    dense = np.asarray(features, dtype=float)
    nonzero = np.flatnonzero(dense)
    return nonzero.astype(np.int64), dense[nonzero]
