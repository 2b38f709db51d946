"""Motif: whether a string has a short pattern somewhere, learnt without knowing where (Yu and Joachims 2009, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.checks import check_whole, is_whole
from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.batch import MotifBatch
from maxmargin.structures.motifs.start import given_weights
from maxmargin.structures.motifs.strings import Strings, markov_size
from maxmargin.structures.motifs.windows import BestWindows, ChosenWindows, Places, Windows
from maxmargin.task import Task

LARGEST_TABLE = 512  # words in a table of the search: 4 letters of DNA, 2 of proteins; larger ones leave the fast cache
MOST_FEATURES = 10**7


class Occurrence(NamedTuple):
    """An output: whether the string has the motif, and if so, where its window begins and on which strand it reads."""

    has: bool
    start: int = -1
    strand: int = 0  # 1, or -1 for the reverse complement; 0 where there is no motif


ABSENT = Occurrence(False)
STRANDS = (1, -1)  # of an Occurrence, by their numbers in compiled code


class MotifWeights(NamedTuple):
    """The weights by meaning: views of w."""

    motif: Array  # (length, letters)
    background: Array  # (contexts, letters): of every letter after each context, see strings.context_names


class Motif(Task):
    """x is a string, y says whether it has the motif, and z = (has, start, strand) says where.

    Ψ counts, for z with the motif in the window [start, start + length), the letter at every position of the motif
    (as read from the strand) and the background outside the window; without the motif, the background of the whole
    string (Yu and Joachims 2009, section 5.1). The background is a Markov chain of order k: every letter together with
    the k letters before it, whether or not these are in the window. Letters with fewer letters before them, at the
    beginning of a string or after an unknown letter, have features of their own. So the features of two outputs differ
    only in their windows. Δ is 1 where the class is wrong.

    length : how many letters the motif has.
    background_order : k, the order of the Markov chain: 0 to 3 for DNA; None leaves the background out.
    strands : 2 also looks for the motif on the other strand, as the reverse complement of the window (DNA and RNA).
    alphabet : the letters, in any case.
    unknown : "error", or "skip" for strings with letters outside the alphabet (such as N): windows that contain one
        cannot hold the motif, and it is not part of the background.
    start : where training begins, before there are weights: "words" (or None) or "windows", which are ways to guess the
        motif's places; a pattern that the motif may look like, as a string or a matrix; or an array of all weights. See
        start.py.
    """

    latent = True

    def __init__(
        self,
        length: int = 11,
        background_order: int | None = 3,
        strands: int = 2,
        alphabet: str = "ACGT",
        unknown: str = "error",
        start: Any = None,
    ):
        self.length = length
        self.background_order = background_order
        self.strands = strands
        self.alphabet = alphabet
        self.unknown = unknown
        self.start = start

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.alphabet_ = Alphabet(self.alphabet)
        check_whole("length", self.length, least=1)
        order, complement = self.background_order, self.alphabet_.complement
        if order is not None and not (is_whole(order) and order >= 0):
            raise ValueError(f"background_order must be a whole number >= 0 (or None for no background), got {order!r}")
        if self.unknown not in ("error", "skip"):
            raise ValueError(f"unknown must be 'error' or 'skip', got {self.unknown!r}")
        if isinstance(self.strands, bool) or self.strands not in (1, 2):
            raise ValueError(f"strands must be 1 or 2, got {self.strands!r}")
        if self.strands == 2 and complement is None:
            raise ValueError(
                f"strands=2 needs letters that have complements, ACGT or ACGU, and the alphabet is "
                f"{self.alphabet_.letters}; use strands=1"
            )
        size = len(self.alphabet_)
        self.n_motif_ = self.length * size
        self.n_background_ = 0 if order is None else markov_size(size, order)
        self.dim = self.n_motif_ + self.n_background_
        if self.dim > MOST_FEATURES:
            raise ValueError(
                f"a motif of {self.length} and a background of order {order} over {size} letters have {self.dim} "
                f"weights, more than {MOST_FEATURES}; use a lower order"
            )
        self.complement_ = np.zeros(size, dtype=np.int32) if complement is None else complement
        self.word_width_ = 1
        while self.word_width_ < self.length and size ** (self.word_width_ + 1) <= LARGEST_TABLE:
            self.word_width_ += 1
        self.word_places_ = np.arange(-(-self.length // self.word_width_), dtype=np.int64) * self.word_width_
        self.word_places_[-1] = self.length - self.word_width_
        self.first_weights_ = given_weights(self)

    def parts(self, w: Array) -> MotifWeights:
        """The weights of the motif and of the background."""
        size = len(self.alphabet_)
        return MotifWeights(w[: self.n_motif_].reshape(-1, size), w[self.n_motif_ :].reshape(-1, size))

    def context_weights(self, w: Array) -> Array:
        """The weights of the background by the numbers of `Strings.contexts`; the last is 0, of what has no feature."""
        return np.append(self.parts(w).background, 0.0)

    # --- one example, for everybody to read

    def psi(self, x: str, z: Occurrence) -> tuple[Places, Array]:
        data = self.windows([x])
        outside = np.ones(len(x), dtype=bool)
        parts: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
        if z.has:
            outside[z.start : z.start + self.length] = False
            window = data.strings.codes[z.start : z.start + self.length]
            if len(window) < self.length or z.start < 0 or window.min() < 0:
                raise ValueError(f"no motif of length {self.length} can begin at {z.start} of a string of {len(x)}")
            if z.strand not in STRANDS[: self.strands]:
                raise ValueError(f"a motif on strand {z.strand}; expected one of {STRANDS[: self.strands]}")
            read = self.alphabet_.read(window, STRANDS.index(z.strand))
            parts.append(np.arange(self.length) * len(self.alphabet_) + read)
        if self.n_background_:
            parts.append(self.n_motif_ + data.contexts[outside & (data.strings.codes >= 0)])
        numbers, counts = np.unique(np.concatenate(parts), return_counts=True)
        return numbers, counts.astype(float)

    def loss(self, y: bool, z: Occurrence) -> float:
        return float(bool(y) != z.has)

    def label(self, z: Occurrence) -> bool:
        return z.has

    def outputs(self, x: str) -> list[Occurrence]:
        """No motif, then every window of known letters on every strand."""
        starts = self.windows([x]).starts(0)
        return [ABSENT, *(Occurrence(True, int(h), s) for h in starts for s in STRANDS[: self.strands])]

    def argmax(self, w: Array, x: str, y: bool | None = None) -> Occurrence:
        windows, gains = self.best_windows(w, self.windows([x]))
        absent, present = (0.0, 0.0) if y is None else (float(bool(y)), float(not y))
        return _occurrence(windows, 0) if gains[0] + present > absent else ABSENT

    def complete(self, w: Array, x: str, y: bool) -> Occurrence:
        return _occurrence(self.best_windows(w, self.windows([x])).windows, 0) if y else ABSENT

    def guess(self, rng: np.random.Generator, x: str, y: bool) -> Occurrence:
        """Any window, all equally likely, unless weights are given: one string alone says nothing about words."""
        if not y:
            return ABSENT
        if self.first_weights_ is not None:
            return self.complete(self.first_weights_, x, y)
        starts = self.windows([x]).starts(0)
        return Occurrence(True, int(rng.choice(starts)), int(rng.choice(STRANDS[: self.strands])))

    # --- many at once

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> MotifBatch:
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} strings but there are {len(Y)} labels")
        has = np.zeros(len(Y), dtype=bool)
        for i, y in enumerate(Y):
            if not isinstance(y, bool | np.bool_):
                raise ValueError(f"the label of sequence {i} is {y!r}; expected True (it has the motif) or False")
            has[i] = y
        return MotifBatch(self, self.windows(X), has).anywhere(np.random.default_rng(0))

    def windows(self, X: Sequence[Any], name: str = "sequence") -> Windows:
        """The strings as the search reads them; each must have a window of known letters."""
        codes = [self.alphabet_.codes(x, f"{name} {i}", self.unknown) for i, x in enumerate(X)]
        data = Windows(Strings(codes), len(self.alphabet_), self.length, self.background_order, self.word_width_)
        if data.counts.min(initial=1) < 1:
            i = int(np.argmin(data.counts))
            found = "is empty" if not len(codes[i]) else f"has {len(codes[i])} letters"
            if len(codes[i]) >= self.length:
                found += f" but no {self.length} known ones in a row"
            raise ValueError(f"{name} {i} {found}; expected {self.length} or more, the length of the motif")
        return data

    def best_windows(self, w: Array, data: Windows, ids: Places | None = None) -> BestWindows:
        """The best window of every string, or of those with these numbers."""
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
        """(strands, length, letters): the weights of the motif, as they meet the letters of a window on each strand."""
        motif = self.parts(w).motif
        return np.stack([motif, motif[::-1, self.complement_]][: self.strands])

    def gains(self, w: Array, x: str) -> Array:
        """(strands, len(x) - length + 1): ⟨w, Ψ⟩ of every window less that of no motif; -inf over unknown letters."""
        data = self.windows([x])
        total = np.append(0.0, np.cumsum(self.context_weights(w)[data.contexts]))
        n = len(x) - self.length + 1
        gains = np.tile(total[:n] - total[self.length :], (self.strands, 1))
        for s, motif in enumerate(self.readings(w)):
            for j in range(self.length):
                gains[s] += motif[j, data.strings.codes[j : n + j]]
        gains[:, np.setdiff1d(np.arange(n), data.starts(0))] = -np.inf
        return gains

    def decode(self, w: Array, X: Sequence[Any]) -> list[Occurrence]:
        data = self.windows(X)
        windows, gains = self.best_windows(w, data)
        return [
            _occurrence(windows, i, int(begin)) if gain > 0 else ABSENT
            for i, (begin, gain) in enumerate(zip(data.strings.begins[:-1], gains, strict=True))
        ]

    def differences(self, data: Windows, first: ChosenWindows, second: ChosenWindows) -> AtomRows:
        """Ψ(x, first) - Ψ(x, second) of every example."""
        from maxmargin.structures.motifs.compiled.motif import window_differences

        n = len(first.starts)
        indptr = np.zeros(n + 1, dtype=np.int32)
        indices = np.empty(4 * self.length * n, dtype=np.int32)
        values = np.empty(4 * self.length * n)
        window_differences(
            *first, *second, data.strings.codes, data.contexts, self.complement_, len(self.alphabet_), self.length,
            self.n_background_, indptr, indices, values,
        )  # fmt: skip
        return AtomRows(Atoms.coordinates(self.dim), indptr, indices[: indptr[-1]], values[: indptr[-1]])


def _occurrence(windows: ChosenWindows, i: int, begin: int = 0) -> Occurrence:
    """The i-th of these windows, in a string that begins at `begin` of the flat arrays."""
    return Occurrence(True, int(windows.starts[i]) - begin, STRANDS[windows.strands[i]])
