"""Columns: named properties of every position of a sequence.

A sequence is a string, which is the column "residue", or a dict of columns of equal length:

    {"residue": "ACDE", "ss": "HHH-"}            a string, or a list of any hashable letters
    {"residue": "ACDE", "profile": (4, 20) array}    numbers: one row per position

Letters are numbered in the order of the alphabet found in training, or of the given one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.base.files.fields import Each, LabelList, Mapped, Text, Texts, Whole
from maxmargin.base.files.objects import Derived, Dropped, Fields
from maxmargin.inputs.labels.labels import in_order, plain

Codes: TypeAlias = NDArray[np.int64]
MOST_WIDTH = 2**20  # the most numbers per position
RESIDUE = "residue"
SIDES = ("first", "second")
COLUMN = "letters (a string or a list), or a (positions, numbers) array"  # description of a column in errors


class EncodedSequence:
    """A sequence in numbers: codes of the letters (-1 for an unknown one), and rows of numbers."""

    def __init__(self, length: int, codes: dict[str, Codes], numbers: dict[str, Array]):
        self.length, self.codes, self.numbers = length, codes, numbers


class Columns:
    """The alphabets and widths of columns, set by `fit`.

    alphabet : None, {column: its alphabet}, or the alphabet of the column "residue".
    unknown : "error" or "ignore", the treatment of unknown letters. An ignored letter has no features.
    """

    saved: ClassVar[Fields] = {
        "given": Dropped(),  # used by fit only
        "unknown": Text("ignore", "error"),
        "widths": Mapped(Text(), Whole(1, MOST_WIDTH)),
        "names": Each(Texts(different=True), size=2, kind=tuple),
        "alphabets": Mapped(Text(), LabelList()),
        "codes": Derived(lambda columns: letter_codes(columns.alphabets)),
        "tables": Derived(lambda columns: character_tables(columns.alphabets)),
    }

    def __init__(self, alphabet: Any = None, unknown: str = "error"):
        if unknown not in ("ignore", "error"):
            raise ValueError(f"unknown must be 'ignore' or 'error', got {unknown!r}")
        self.given = _given_alphabets(alphabet)
        self.unknown = unknown

    def _check_saved(self) -> None:
        for name in (*self.names[0], *self.names[1]):
            if (name in self.widths) == (name in self.alphabets):
                raise ValueError(f"the column {name!r} has neither letters nor numbers, or both")

    def fit(self, X: Sequence[Any]) -> Columns:
        """Learn the alphabets of all columns, of both sequences together, and the widths of numeric columns."""
        if len(X) == 0:
            raise ValueError("no examples given: at least one pair of sequences is needed")
        found: dict[str, dict[Hashable, None]] = {}  # the letters of every column, in the order of the data
        self.widths: dict[str, int] = {}
        self.names: tuple[list[str], list[str]] = ([], [])
        for i, x in enumerate(X):
            for number, side in enumerate(sides_of(x, i)):
                place = _place(i, number)
                read = read_columns(side, place)
                if i == 0:
                    self.names[number].extend(read)
                self._check_names(read, number, place)
                for name, column in read.items():
                    self._learn(name, column, found, place)
        for name in self.given:
            if name not in found:
                raise ValueError(f"alphabet names the column {name!r}; the sequences have {_listed(found)}")
        alphabets = {name: self.given.get(name) or in_order(letters) for name, letters in found.items()}
        self.alphabets: dict[str, list[Hashable]] = alphabets
        self.codes, self.tables = letter_codes(alphabets), character_tables(alphabets)
        return self

    def width(self, name: str) -> int:
        """Return how many letters a column has, or how many numbers per position."""
        self.check(name)
        return len(self.alphabets[name]) if name in self.alphabets else self.widths[name]

    def check(self, name: str, number: int | None = None) -> None:
        """Raise a ValueError unless there is such a column (in sequence `number`, if it is given)."""
        known = [*self.names[0], *self.names[1]] if number is None else self.names[number]
        if name not in known:
            where = "the sequences have" if number is None else f"the {SIDES[number]} sequences have"
            raise ValueError(f"there is no column {name!r}; {where} {_listed(known)}")

    def encode(self, x: Any, i: int) -> tuple[EncodedSequence, EncodedSequence]:
        """Return both sequences of example i in numbers."""
        first, second = (self._encoded(side, i, number) for number, side in enumerate(sides_of(x, i)))
        return first, second

    def _encoded(self, side: Any, i: int, number: int) -> EncodedSequence:
        place = _place(i, number)
        read = read_columns(side, place)
        self._check_names(read, number, place)
        codes: dict[str, Codes] = {}
        numbers: dict[str, Array] = {}
        for name, column in read.items():
            if isinstance(column, np.ndarray):
                if self.widths.get(name) != column.shape[1]:
                    expected = f"{self.widths[name]} numbers" if name in self.widths else "letters"
                    raise ValueError(
                        f"{place}: {name!r} has {column.shape[1]} numbers per position; expected {expected}"
                    )
                numbers[name] = column
            else:
                if name not in self.codes:
                    raise ValueError(
                        f"{place}: {name!r} has letters; expected {self.widths[name]} numbers per position"
                    )
                codes[name] = self._numbered(column, name, place)
        return EncodedSequence(len(column), codes, numbers)

    def _numbered(self, column: Sequence[Hashable], name: str, place: str) -> Codes:
        known, table = self.codes[name], self.tables[name]
        if isinstance(column, str) and table is not None:
            points = np.frombuffer(column.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
            found = table[np.minimum(points, len(table) - 1)]
        else:
            found = np.fromiter((known.get(letter, -1) for letter in column), dtype=np.int64, count=len(column))
        if self.unknown == "error" and (found < 0).any():
            p = int(np.argmax(found < 0))
            raise ValueError(
                f"{place} has {plain(column[p])!r} at position {p} of {name!r}; expected one of {_listed(known)}. "
                "unknown='ignore' gives unknown letters no weight"
            )
        return found

    def _check_names(self, read: Mapping[str, Any], number: int, place: str) -> None:
        if set(read) != set(self.names[number]):
            raise ValueError(
                f"{place} has the columns {_listed(read)}; expected {_listed(self.names[number])}, as example 0"
            )

    def _learn(self, name: str, column: Any, found: dict[str, dict[Hashable, None]], place: str) -> None:
        if isinstance(column, np.ndarray):
            width = self.widths.setdefault(name, column.shape[1])
            if name in found or width != column.shape[1]:
                expected = "letters" if name in found else f"{width} of them"
                raise ValueError(f"{place}: {name!r} has {column.shape[1]} numbers per position; expected {expected}")
        else:
            if name in self.widths:
                raise ValueError(f"{place}: {name!r} has letters; expected {self.widths[name]} numbers per position")
            found.setdefault(name, {}).update(dict.fromkeys(column))


def sides_of(x: Any, i: int) -> tuple[Any, Any]:
    """Return the two sequences of an example."""
    if not isinstance(x, tuple | list) or len(x) != 2:
        found = f"{type(x).__name__} of {len(x)}" if isinstance(x, tuple | list) else type(x).__name__
        raise ValueError(f"example {i} is a {found}; expected a pair (a, b) of sequences")
    return x[0], x[1]


def read_columns(side: Any, place: str) -> dict[str, Any]:
    """Return the columns of a sequence: letters as a string, list or tuple, numbers as a (length, width) array."""
    if isinstance(side, str):
        side = {RESIDUE: side}
    if not isinstance(side, Mapping) or not side:
        raise ValueError(f"{place} is {_shown(side)}; expected a string, or a dict of columns")
    columns = {name: _column(values, f"{place}, column {name!r}") for name, values in side.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            raise ValueError(f"{place}: {name!r} has {length} positions but {first!r} has {lengths[first]}")
    if lengths[first] == 0:
        raise ValueError(f"{place} is empty; leave out sequences without residues")
    return columns


def _column(values: Any, place: str) -> Any:
    if isinstance(values, str):
        return values
    if isinstance(values, np.ndarray) and values.ndim == 2:
        refuse_complex(place, values)
        try:
            numbers = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{place}: got an array of {values.dtype}; expected numbers") from None
        if not np.isfinite(numbers).all():
            p, k = np.argwhere(~np.isfinite(numbers))[0]
            raise ValueError(f"{place} has {numbers[p, k]} at position {p}, number {k}; expected finite numbers")
        return numbers
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind != "f":
        values = values.tolist()
    if not isinstance(values, list | tuple):
        raise ValueError(f"{place} is {_shown(values)}; expected {COLUMN}")
    for p, letter in enumerate(values):
        if isinstance(letter, float | np.floating):
            raise ValueError(f"{place} has the number {plain(letter)!r} at position {p}; expected {COLUMN}")
    try:
        hash(tuple(values))
    except TypeError:
        raise ValueError(f"{place} has letters that cannot be hashed; numbers are given as an array") from None
    return values


def _given_alphabets(given: Any) -> dict[str, list[Hashable]]:
    if given is None:
        return {}
    named = given if isinstance(given, Mapping) else {RESIDUE: given}
    found: dict[str, list[Hashable]] = {}
    for name, alphabet in named.items():
        if not isinstance(alphabet, Iterable) or not (chosen := list(alphabet)):
            raise ValueError(f"the alphabet of column {name!r} is {alphabet!r}; expected a string or list of letters")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"the alphabet of column {name!r} names a letter twice: {alphabet!r}")
        found[name] = chosen
    return found


def letter_codes(alphabets: Mapping[str, Sequence[Hashable]]) -> dict[str, dict[Hashable, int]]:
    """Return the number of every letter of every column."""
    return {name: {letter: k for k, letter in enumerate(letters)} for name, letters in alphabets.items()}


def character_tables(alphabets: Mapping[str, Sequence[Hashable]]) -> dict[str, Codes | None]:
    """Return the codes by the number of a character, for columns whose letters are all single characters."""
    return {name: _character_table(letters) for name, letters in alphabets.items()}


def _character_table(letters: Sequence[Hashable]) -> Codes | None:
    """Return a table of codes by code points, whose last entry is for all higher ones; None for longer letters."""
    characters = [letter for letter in letters if isinstance(letter, str) and len(letter) == 1]
    if len(characters) < len(letters):
        return None
    points = [ord(letter) for letter in characters]
    table = np.full(max(points) + 2, -1, dtype=np.int64)
    table[points] = np.arange(len(points))
    return table


def _place(i: int, number: int) -> str:
    return f"example {i}, {SIDES[number]} sequence"


def _listed(names: Iterable[Any]) -> str:
    listed = [repr(plain(name)) for name in dict.fromkeys(names)]
    return ", ".join(listed[:30]) + (", …" if len(listed) > 30 else "") if listed else "none"


def _shown(value: Any) -> str:
    shape = f" of shape {value.shape}, {value.dtype}" if isinstance(value, np.ndarray) else ""
    return f"{type(value).__name__}{shape}" if shape or not isinstance(value, dict) else "an empty dict"
