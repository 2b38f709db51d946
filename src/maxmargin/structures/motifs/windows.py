"""Windows: the positions of strings that can hold a motif."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.motifs.strings import Numbers, Strings

IntArray = NDArray[np.int64]


class ChosenWindows(NamedTuple):
    """One window per string."""

    starts: IntArray  # the first index of each window in the flat arrays; -1 if the string has no motif
    strands: IntArray  # the number of its strand, 0 or 1

    @classmethod
    def none(cls, n: int) -> ChosenWindows:
        """Return no motif for n strings."""
        return cls(np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64))

    def where(self, chosen: NDArray[np.bool_]) -> ChosenWindows:
        """Return these windows where `chosen` is true, and no motif elsewhere."""
        return ChosenWindows(np.where(chosen, self.starts, -1), np.where(chosen, self.strands, 0))


class BestWindows(NamedTuple):
    """The best windows of some strings."""

    windows: ChosenWindows
    gains: Array  # the score ⟨w, Ψ⟩ of each string with this window, minus its score without a motif


class Windows:
    """Strings with the arrays that the search for a motif of one length needs.

    size : the number of letters.
    order : the order of the background; None if there is no background.
    width : the number of letters of words in search tables.
    counts : (n,) the number of windows of each string.
    """

    def __init__(self, strings: Strings, size: int, length: int, order: int | None, width: int):
        self.strings = strings
        self.words: Numbers = strings.words(size, width)
        if order is None:
            self.contexts: Numbers = np.zeros(len(strings.codes), dtype=np.uint32)
        else:
            self.contexts = strings.contexts(size, order)
        in_runs = np.maximum(strings.runs[:, 1] - strings.runs[:, 0] - length + 1, 0)
        self.before = np.append(0, np.cumsum(in_runs))  # number of windows in all earlier runs
        self.counts = np.diff(self.before[strings.run_bounds])

    def starts(self, i: int) -> IntArray:
        """Return the beginnings of the windows of a string in the flat arrays."""
        return self.nth(np.full(self.counts[i], i), np.arange(self.counts[i]))

    def nth(self, ids: IntArray, number: IntArray) -> IntArray:
        """Return the beginning, in the flat arrays, of the window of this number in each of these strings."""
        number = number + self.before[self.strings.run_bounds[ids]]
        run = np.searchsorted(self.before, number, side="right") - 1
        return self.strings.runs[run, 0] + number - self.before[run]
