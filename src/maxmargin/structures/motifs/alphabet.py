"""Alphabet: the letters of strings, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]

COMPLEMENTS = {"A": "T", "C": "G", "G": "C", "T": "A"}  # for DNA; RNA has U instead of T


class Alphabet:
    """Letters with their numbers; upper and lower case are the same letter.

    letters : str, such as "ACGT".
    """

    def __init__(self, letters: Any):
        if not isinstance(letters, str) or not letters:
            raise ValueError(f"the alphabet is {letters!r}; expected a string of letters such as 'ACGT'")
        self.letters = letters.upper()
        for letter in letters:
            if not (letter.isascii() and letter.isprintable() and not letter.isspace()):
                raise ValueError(f"the alphabet {letters!r} has {letter!r}; expected visible ASCII characters")
            if self.letters.count(letter.upper()) > 1:
                raise ValueError(f"the alphabet {letters!r} has {letter!r} twice; upper and lower case are one letter")
        self.numbers = np.full(128, -1, dtype=np.int32)
        for number, letter in enumerate(self.letters):
            self.numbers[[ord(letter), ord(letter.lower())]] = number

    def __len__(self) -> int:
        return len(self.letters)

    @cached_property
    def complement(self) -> Codes | None:
        """The number of the complement of every letter, or None if letters have none, as in proteins."""
        pairs = COMPLEMENTS
        if set(self.letters) == set("ACGU"):
            pairs = {"A": "U", "C": "G", "G": "C", "U": "A"}
        elif set(self.letters) != set("ACGT"):
            return None
        return np.array([self.letters.index(pairs[letter]) for letter in self.letters], dtype=np.int32)

    def codes(self, text: Any, name: str, unknown: str = "error") -> Codes:
        """Return the numbers of the letters of a string; -1 for unknown letters if `unknown` is "skip"."""
        if not isinstance(text, str):
            raise ValueError(f"{name} is {_described(text)}; expected a string of the letters {self.letters}")
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        codes = self.numbers[np.minimum(points, 127)]
        if unknown == "error" and codes.min(initial=0) < 0:
            i = int(np.argmin(codes))
            raise ValueError(
                f"{name} has {text[i]!r} at position {i} (counted from 0), which is not one of the letters "
                f"{self.letters}; unknown='skip' ignores unknown letters"
            )
        return np.ascontiguousarray(codes)

    def text(self, codes: Iterable[int]) -> str:
        """Return the string of these numbers."""
        return "".join(self.letters[code] for code in codes)

    def read(self, codes: Codes, strand: int) -> Codes:
        """Return the letters of a window on a strand: strand 0 as they are, 1 as their reverse complement."""
        if strand == 0:
            return codes
        assert self.complement is not None  # otherwise there is no second strand
        return self.complement[codes[::-1]]


def _described(value: Any) -> str:
    return f"of type {type(value).__name__}" if not isinstance(value, int | float) else repr(value)
