"""Labels that mark the chunks of a sequence: which may follow each other, and how to repair those that do not.

A label is "O", or a letter and a type, such as "B-PER": B begins a chunk and I goes on. In BILOU and IOBES, L or E ends
a chunk of several positions, and U or S is a chunk of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple


class ChunkScheme(NamedTuple):
    """The letters of a scheme; without `last` and `unit` a chunk ends where the next label does not go on with it."""

    last: str = ""
    unit: str = ""

    def may_follow(self, before: Any, after: Any) -> bool:
        """Whether one label may come directly after the other; None stands for the start or the end."""
        was, now, goes_on = self._read(before), self._read(after), self.goes_on(before, after)
        if not self.last:
            return goes_on or not now.continues
        return goes_on or not (was.open or now.continues)

    def goes_on(self, before: Any, after: Any) -> bool:
        """Whether the second of two neighbouring labels goes on with the chunk of the first."""
        was, now = self._read(before), self._read(after)
        return bool(was.open and now.continues and was.type == now.type)

    def chunks(self, labels: Sequence[Hashable]) -> list[tuple[int, int, str]]:
        """The chunks (first position, one past the last, type): where a label cannot go on, a chunk begins."""
        found, begin = [], 0
        for t, label in enumerate(labels):
            kind = self._read(label).type
            if kind and not (t > 0 and self.goes_on(labels[t - 1], label)):
                begin = t
            if kind and not (t + 1 < len(labels) and self.goes_on(label, labels[t + 1])):
                found.append((begin, t + 1, kind[1:]))
        return found

    def repaired(self, labels: Sequence[Hashable]) -> list[Hashable]:
        """The same chunks in right labels: one that cannot go on begins a chunk, as conlleval has it."""
        right = list(labels)
        for begin, end, kind in self.chunks(labels):
            right[begin:end] = self._written(f"-{kind}", end - begin)
        return right

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
    """What a label says of its chunk."""

    type: str  # with the hyphen; empty outside of chunks
    open: bool  # whether the chunk may go on
    continues: bool  # whether it has begun before


OUTSIDE = Mark("", False, False)

SCHEMES = {"BIO": ChunkScheme(), "BILOU": ChunkScheme("L", "U"), "IOBES": ChunkScheme("E", "S")}
