"""Strings: strings of an alphabet in flat arrays, with their runs of known letters, Markov contexts and words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.motifs.alphabet import Codes

Numbers = NDArray[np.uint32]


class Strings:
    """Concatenated strings in flat arrays; known letters form runs.

    begins : (n + 1,) the beginning of each string.
    codes : (N,) the numbers of the letters, -1 if unknown.
    runs, run_bounds : string i has the runs [begin, end) in the rows run_bounds[i] : run_bounds[i + 1].
    """

    def __init__(self, codes: Sequence[Codes]):
        self.begins = np.append(0, np.cumsum([len(each) for each in codes])).astype(np.int64)
        self.codes = np.concatenate([*codes, np.empty(0, dtype=np.int32)])
        known = self.codes >= 0
        fresh, last = np.zeros_like(known), np.zeros_like(known)  # whether a run begins, or ends, at each letter
        if len(known):
            inner = self.begins[:-1][np.diff(self.begins) > 0]
            first, final = np.zeros_like(known), np.zeros_like(known)  # the ends of a letter's string
            first[inner] = True
            final[np.append(inner[1:], len(known)) - 1] = True
            fresh = known & (first | ~np.append(False, known[:-1]))
            last = known & (final | ~np.append(known[1:], False))
        self.runs = np.ascontiguousarray(np.column_stack([np.flatnonzero(fresh), np.flatnonzero(last) + 1]))
        self.run_bounds = np.searchsorted(self.runs[:, 0], self.begins).astype(np.int64)

    def __len__(self) -> int:
        return len(self.begins) - 1

    def depths(self) -> NDArray[np.int64]:
        """Return for each letter the number of letters before it in the same run, (N,)."""
        lengths = self.runs[:, 1] - self.runs[:, 0]
        depths = np.zeros(len(self.codes), dtype=np.int64)
        depths[self.codes >= 0] = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return depths

    def contexts(self, size: int, order: int) -> Numbers:
        """Return the (N,) numbers of every letter together with up to `order` letters before it.

        Letters with c < order letters before them in their run have separate, lower numbers, which begin at
        markov_size(size, c - 1). Unknown letters have the last number, markov_size(size, order).
        """
        depths = np.minimum(self.depths(), order)
        numbers = np.zeros(len(self.codes), dtype=np.int64)
        for back in range(min(order, len(self.codes) - 1) + 1):
            reached = np.flatnonzero(depths >= back)
            numbers[reached] += size**back * self.codes[reached - back]
        starts = np.array([markov_size(size, depth - 1) for depth in range(order + 1)])
        numbers += starts[depths]
        numbers[self.codes < 0] = markov_size(size, order)
        return numbers.astype(np.uint32)

    def words(self, size: int, width: int) -> Numbers:
        """Return the (N,) numbers of the `width` letters that begin at every position; 0 if the run is too short."""
        numbers = np.zeros(len(self.codes), dtype=np.int64)
        ends = np.zeros(len(self.codes), dtype=np.int64)
        ends[self.codes >= 0] = np.repeat(self.runs[:, 1], self.runs[:, 1] - self.runs[:, 0])
        whole = np.flatnonzero(ends - np.arange(len(self.codes)) >= width)
        for offset in range(width):
            numbers[whole] = size * numbers[whole] + self.codes[whole + offset]
        return numbers.astype(np.uint32)


def markov_size(size: int, order: int) -> int:
    """Return the number size + size² + … of pairs of a letter and a context of 0 to `order` letters; 0 for order -1."""
    return sum(size ** (depth + 1) for depth in range(order + 1))


def context_names(letters: str, order: int) -> list[str]:
    """Return the contexts of 0 to `order` letters in the order of their numbers: "", "A", "C", …, "AA", "AC", …"""
    return ["".join(context) for depth in range(order + 1) for context in product(letters, repeat=depth)]
