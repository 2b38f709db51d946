"""Vocabulary: feature names and their numbers, in arrays.

Data sets name features millions of times. Looking up Python objects needs several accesses to distant memory each;
instead, many names are joined first, which Python does fast, and looked up by a kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.files.fields import Raw
from maxmargin.base.files.objects import Fields

END = b"\0"  # terminator of a name
ESCAPED = b"\xc0\x80"  # a zero inside a name; nothing else is encoded by these bytes


class Names(NamedTuple):
    """Names as rows of words (see compiled/names.py): name e is words[begins[e] : begins[e + 1]]."""

    words: NDArray[np.uint64]
    begins: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of names."""
        return len(self.begins) - 1

    @classmethod
    def of(cls, lists: Iterable[Collection[str]]) -> Names:
        """Return the names in some collections, one after another; raise TypeError if one is not a string."""
        filled = list(filter(None, lists))
        n = sum(map(len, filled))
        # One list at a time, because making one list of all takes as long.
        read = cls._split("\0".join(map("\0".join, filled)).encode("utf-8", "surrogatepass"), n)
        if read is None:  # an end inside a name
            read = cls._split(END.join(map(_escaped, chain.from_iterable(filled))), n)
        assert read is not None
        return read

    @classmethod
    def of_text(cls, text: bytes) -> Names:
        """Return the names of a `text`."""
        read = cls._split(text[:-1], text.count(END))
        assert read is not None
        return read

    @classmethod
    def _split(cls, text: bytes, n: int) -> Names | None:
        from maxmargin.inputs.tokens.compiled.names import split_names

        padded = np.frombuffer(text + END * (16 - len(text) % 8), dtype=np.uint64)
        words, begins = np.empty(len(padded) + n, dtype=np.uint64), np.empty(n + 1, dtype=np.int64)
        read = split_names(padded, words, begins)
        return cls(words[: begins[-1]], begins) if n == 0 or read == len(text) + 1 else None

    def some(self, first: int, end: int) -> Names:
        """Return the names with the numbers first … end - 1."""
        return Names(self.words, self.begins[first : end + 1])

    def where(self, chosen: NDArray[np.bool_]) -> Names:
        """Return the chosen names, in the same order."""
        lengths = np.diff(self.begins)
        words = self.words[self.begins[0] : self.begins[-1]][np.repeat(chosen, lengths)]
        return Names(words, np.concatenate([[0], np.cumsum(lengths[chosen])]))

    def text(self) -> bytes:
        """Return all names as bytes, each with a terminator."""
        first, end = self.begins[[0, -1]]
        used = self.words[first:end].view(np.uint8)
        kept = used != 0
        kept[1:] |= used[:-1] != 0  # the first zero byte of each name stays as its terminator
        kept[8 * (self.begins[:-1] - first)] = True  # also for empty names
        return used[kept].tobytes()

    def strings(self) -> list[str]:
        """Return the names as a list of strings."""
        text = self.text()
        if ESCAPED not in text:
            return text.decode("utf-8", "surrogatepass").split("\0")[:-1]
        names = (name.replace(ESCAPED, END) for name in text.split(END)[:-1])
        return [name.decode("utf-8", "surrogatepass") for name in names]


class Vocabulary:
    """Different names, numbered in order of appearance."""

    saved: ClassVar[Fields] = {"text": Raw()}
    saved_as: ClassVar[str] = "of_text"

    def __init__(self, names: Names | None = None) -> None:
        given = 0 if names is None else names.size
        self._make(words=0 if names is None else len(names.words), slots=2 << given.bit_length())
        if names is not None:
            self._numbers(names, learn=True)

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Vocabulary):
            return self is other
        return all(map(np.array_equal, self.names, other.names))

    __hash__ = None  # type: ignore[assignment]  # it grows

    @property
    def text(self) -> bytes:
        """All names as bytes, each with a terminator."""
        return self.names.text()

    @classmethod
    def of_text(cls, text: bytes) -> Vocabulary:
        """Make a vocabulary from its `text`; raise a ValueError if it is malformed."""
        if text and not text.endswith(END):
            raise ValueError("the last name is not terminated")
        text.replace(ESCAPED, b"0").decode("utf-8", "surrogatepass")  # names must be texts
        found, n = cls(Names.of_text(text)) if text else cls(), text.count(END)
        if len(found) != n:
            raise ValueError(f"only {len(found)} of {n} names are different")
        return found

    def __getstate__(self) -> dict[str, bytes]:
        return {"names": self.text}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        self.__init__(Names.of_text(state["names"]))  # type: ignore[misc]

    @property
    def names(self) -> Names:
        """All names, in order."""
        begins = self._begins[: self._count + 1]
        return Names(self._words[: begins[-1]], begins)

    def look_up(self, names: Names) -> NDArray[np.int32]:
        """Return the number of every name, -1 for unknown ones."""
        return self._numbers(names, learn=False)

    def learn(self, names: Names) -> NDArray[np.int32]:
        """Return the number of every name; new names are added."""
        words, count = int(self._begins[self._count]) + len(names.words), self._count + names.size
        if words >= len(self._words) or count >= len(self._begins):
            known, slots = self.names, len(self._slots)
            while count > slots // 2:
                slots *= 2
            self._make(max(words, 4 * len(known.words)), slots)  # untouched memory is not allocated
            self._numbers(known, learn=True)
        return self._numbers(names, learn=True)

    def _make(self, words: int, slots: int) -> None:
        """Make empty tables for `words` words of names, with a power of two of hash slots."""
        self._count = 0
        self._words = np.empty(words + 1, dtype=np.uint64)
        self._begins = np.zeros(slots // 2 + 1, dtype=np.int64)  # a higher load would slow down look-ups
        self._slots = np.zeros(slots, dtype=np.uint64)

    def _numbers(self, names: Names, learn: bool) -> NDArray[np.int32]:
        from maxmargin.inputs.tokens.compiled.names import number_names

        numbers = np.empty(names.size, dtype=np.int32)
        known = (self._words, self._begins, self._slots, self._count)
        self._count = number_names(*names, learn, *known, np.empty((2, names.size), dtype=np.uint64), numbers)
        return numbers


def _escaped(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass").replace(END, ESCAPED)
