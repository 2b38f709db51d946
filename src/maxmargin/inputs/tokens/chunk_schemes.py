"""Chunk schemes (BIO, BILOU, IOBES): which labels may follow each other, and how to repair those that may not.

A label is "O", or a letter and a type, such as "B-PER": B begins a chunk and I continues it. In BILOU and IOBES, L or E
ends a chunk of several positions, and U or S is a chunk of one. In IOB1 chunks begin with I, and with B only directly
after another chunk of the same type.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from sys import intern
from typing import Any, NamedTuple


class ChunkScheme(NamedTuple):
    """The letters of a scheme; without `last` and `unit` a chunk ends where the next label does not continue it."""

    last: str = ""
    unit: str = ""

    def may_follow(self, before: Any, after: Any) -> bool:
        """Return whether one label may directly follow the other; None stands for the start or the end."""
        was, now, goes_on = self._read(before), self._read(after), self.goes_on(before, after)
        if not self.last:
            return goes_on or not now.continues
        return goes_on or not (was.open or now.continues)

    def goes_on(self, before: Any, after: Any) -> bool:
        """Return whether the second of two adjacent labels continues the chunk of the first."""
        was, now = self._read(before), self._read(after)
        return bool(was.open and now.continues and was.type == now.type)

    def chunks(self, labels: Sequence[Hashable]) -> list[tuple[int, int, str]]:
        """Return the chunks (first position, end, type); a label that cannot continue a chunk begins one."""
        found, begin = [], 0
        for t, label in enumerate(labels):
            kind = self._read(label).type
            if kind and not (t > 0 and self.goes_on(labels[t - 1], label)):
                begin = t
            if kind and not (t + 1 < len(labels) and self.goes_on(label, labels[t + 1])):
                found.append((begin, t + 1, kind[1:]))
        return found

    def well_formed_chunks(self, labels: Sequence[Hashable]) -> list[tuple[int, int, str]]:
        """Return the chunks that are labelled exactly as this scheme writes them; others do not count."""
        return [
            (begin, end, kind)
            for begin, end, kind in self.chunks(labels)
            if list(labels[begin:end]) == self._written(f"-{kind}", end - begin)
        ]

    def labels(self, n: int, chunks: Iterable[tuple[int, int, str]]) -> list[Any]:
        """Return the labels of n positions that have these chunks, which do not overlap."""
        return self._with(["O"] * n, chunks)

    def repaired(self, labels: Sequence[Hashable]) -> list[Hashable]:
        """Return valid labels for the same chunks; a label that cannot continue a chunk begins one, as in conlleval."""
        return self._with(labels, self.chunks(labels))

    def rewritten(self, labels: Sequence[Hashable]) -> list[Any]:
        """Return the chunks of labels of any scheme as labels of this one; other labels stay as they are."""
        return self._with(labels, ANY.chunks(labels))

    def _with(self, labels: Sequence[Hashable], chunks: Iterable[tuple[int, int, str]]) -> list[Hashable]:
        right = list(labels)
        for begin, end, kind in chunks:
            # Interned, so that equal labels share memory.
            right[begin:end] = map(intern, self._written(f"-{kind}", end - begin))
        return right

    def knows(self, label: Hashable) -> bool:
        """Return whether this is a label of the scheme."""
        return label == "O" or bool(self._read(label).type)

    def fits(self, labels: Sequence[Hashable]) -> bool:
        """Return whether all are labels of this scheme, with valid transitions."""
        return all(map(self.knows, labels)) and all(self.may_follow(*pair) for pair in pairwise([None, *labels, None]))

    def _written(self, kind: str, length: int) -> list[str]:
        letters = ["B", *"I" * (length - 1)]
        if self.last:
            letters = [self.unit] if length == 1 else [*letters[:-1], self.last]
        return [letter + kind for letter in letters]

    def _read(self, label: Any) -> Mark:
        if not isinstance(label, str) or label[1:2] != "-" or label[0] not in f"BI{self.last}{self.unit}":
            return OUTSIDE
        return Mark(label[1:], label[0] in "BI", label[0] in f"I{self.last}")


class Mark(NamedTuple):
    """The meaning of a label for its chunk."""

    type: str  # including the hyphen; empty outside of chunks
    open: bool  # whether the chunk may continue
    continues: bool  # whether the chunk began earlier


OUTSIDE = Mark("", False, False)

SCHEMES = {"BIO": ChunkScheme(), "BILOU": ChunkScheme("L", "U"), "IOBES": ChunkScheme("E", "S")}
ANY = ChunkScheme("LE", "US")  # reads the labels of all schemes, including IOB1


def named_scheme(name: str) -> ChunkScheme:
    """Return the scheme of this name; raise a ValueError if there is none."""
    if name not in SCHEMES:
        raise ValueError(f"{name!r} is not a chunk scheme that can be written; expected one of {', '.join(SCHEMES)}")
    return SCHEMES[name]


def scheme_of(Y: Iterable[Sequence[Hashable]]) -> str | None:
    """Return the chunk scheme that label sequences follow, or None.

    Parameters
    ----------
    Y : iterable
        The label sequences.

    Returns
    -------
    str or None, the first of "BIO", "BILOU", "IOBES" and "IOB1" that all sequences follow.

    Examples
    --------
    >>> from maxmargin.formats import scheme_of
    >>> scheme_of([["B-PER", "L-PER", "O", "U-LOC"]])
    'BILOU'

    See Also
    --------
    maxmargin.metrics.chunk_f1 : scores chunks.
    """
    different = set(map(tuple, Y))
    for name, scheme in SCHEMES.items():
        if all(map(scheme.fits, different)):
            return name
    return "IOB1" if all(map(_fits_iob1, different)) else None


def _fits_iob1(labels: Sequence[Hashable]) -> bool:
    """Return whether B occurs only between two chunks of one type."""
    scheme = SCHEMES["BIO"]
    for before, label in pairwise([None, *labels]):
        mark = scheme._read(label)
        if not scheme.knows(label):
            return False
        if mark.type and not mark.continues and scheme._read(before).type != mark.type:
            return False
    return True
