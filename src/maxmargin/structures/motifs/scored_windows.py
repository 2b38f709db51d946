"""ScoredWindows: the layout of the weights of a motif, and the search for the best window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.task import Task
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.strings import Strings
from maxmargin.structures.motifs.windows import BestWindows, ChosenWindows, IntArray, Windows


class MotifWeights(NamedTuple):
    """Weights of the motif and of the background, as views of w."""

    motif: Array  # (length, letters)
    background: Array  # (contexts, letters): weight of every letter after each context, see strings.context_names


class ScoredWindows(Task):
    """The base class of tasks.Motif, which scores windows; `setup` of the subclass sets the sizes."""

    length: int
    strands: int
    background_order: int | None
    unknown: str
    start: Any
    alphabet_: Alphabet
    complement_: NDArray[np.int32]
    n_motif_: int
    n_background_: int
    word_width_: int
    word_places_: NDArray[np.int64]
    first_weights_: Array | None

    def split_weights(self, w: Array) -> MotifWeights:
        """Split w into the weights of the motif and of the background, as views."""
        size = len(self.alphabet_)
        return MotifWeights(w[: self.n_motif_].reshape(-1, size), w[self.n_motif_ :].reshape(-1, size))

    def context_weights(self, w: Array) -> Array:
        """Return the background weights by the numbers of `Strings.contexts`; the last, for unknown letters, is 0."""
        return np.append(self.split_weights(w).background, 0.0)

    def windows(self, X: Sequence[Any], name: str = "sequence") -> Windows:
        """Return the strings in the form of the search; each must have a window of known letters."""
        codes = [self.alphabet_.codes(x, f"{name} {i}", self.unknown) for i, x in enumerate(X)]
        data = Windows(Strings(codes), len(self.alphabet_), self.length, self.background_order, self.word_width_)
        if data.counts.min(initial=1) < 1:
            i = int(np.argmin(data.counts))
            found = "is empty" if not len(codes[i]) else f"has {len(codes[i])} letters"
            if len(codes[i]) >= self.length:
                found += f" but no {self.length} consecutive known ones"
            raise ValueError(f"{name} {i} {found}; expected {self.length} or more, the length of the motif")
        return data

    def best_windows(self, w: Array, data: Windows, ids: IntArray | None = None) -> BestWindows:
        """Return the best window of every string, or of those with these numbers."""
        from maxmargin.structures.motifs.compiled.motif import best_windows, fill_tables

        ids = np.arange(len(data.strings)) if ids is None else ids
        tables = np.empty((len(self.word_places_), len(self.alphabet_) ** self.word_width_, self.strands))
        fill_tables(self.readings(w), self.word_places_, self.word_width_, tables)
        windows, gains = ChosenWindows.none(len(ids)), np.empty(len(ids))
        best_windows(
            ids, data.strings.runs, data.strings.run_bounds, data.words, data.contexts,
            tables, self.word_places_, self.context_weights(w), self.length, *windows, gains,
        )  # fmt: skip
        return BestWindows(windows, gains)

    def readings(self, w: Array) -> Array:
        """Return the (strands, length, letters) weights of the motif for the letters of a window on each strand."""
        motif = self.split_weights(w).motif
        return np.stack([motif, motif[::-1, self.complement_]][: self.strands])

    def gains(self, w: Array, x: str) -> Array:
        """Return the (strands, len(x) - length + 1) gains of all windows over no motif; -inf with unknown letters."""
        data = self.windows([x])
        total = np.append(0.0, np.cumsum(self.context_weights(w)[data.contexts]))
        n = len(x) - self.length + 1
        gains = np.tile(total[:n] - total[self.length :], (self.strands, 1))
        for s, motif in enumerate(self.readings(w)):
            for j in range(self.length):
                gains[s] += motif[j, data.strings.codes[j : n + j]]
        gains[:, np.setdiff1d(np.arange(n), data.starts(0))] = -np.inf
        return gains

    def differences(self, data: Windows, first: ChosenWindows, second: ChosenWindows) -> AtomRows:
        """Return Ψ(x, first) - Ψ(x, second) of every example."""
        from maxmargin.structures.motifs.compiled.motif import window_differences

        n = len(first.starts)
        indptr = np.zeros(n + 1, dtype=np.int32)
        indices = np.empty(4 * self.length * n, dtype=np.int32)
        values = np.empty(4 * self.length * n)
        letters, size = (data.strings.codes, data.contexts, self.complement_), len(self.alphabet_)
        rows = indptr, indices, values
        window_differences(first, second, letters, size, self.length, self.n_background_, *rows)
        return AtomRows(Atoms.coordinates(self.dim), indptr, indices[: indptr[-1]], values[: indptr[-1]])
