"""Motif: whether a string has a short pattern somewhere, learnt without knowing where (Yu and Joachims 2009, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.batch import Batch
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.motifs.letters import Alphabet, Numbers, Strings, markov_size
from maxmargin.structures.motifs.start import first_motif
from maxmargin.task import Task

Places = NDArray[np.int64]

LARGEST_TABLE = 512  # words in a table of the search: 4 letters of DNA, 2 of proteins; larger ones leave the fast cache
MOST_FEATURES = 10**7


class Occurrence(NamedTuple):
    """An output: whether the string has the motif, and if so, where its window begins and on which strand it reads."""

    has: bool
    start: int = -1
    strand: int = 0  # 1, or -1 for the reverse complement; 0 where there is no motif


ABSENT = Occurrence(False)


class Motif(Task):
    """x is a string, y says whether it has the motif, and z = (has, start, strand) says where.

    Ψ counts, for z with the motif in the window [start, start + length), the letter at every position of the motif
    (as read from the strand) and the background outside the window; without the motif, the background of the whole
    string (Yu and Joachims 2009, section 5.1). The background is a Markov chain: every letter together with the `order`
    letters before it, whether or not these are in the window. Letters with fewer letters before them, at the beginning
    of a string or after an unknown letter, have features of their own. So the features of two outputs differ only in
    their windows. Δ is 1 where the class is wrong.

    length : how many letters the motif has.
    order : of the Markov chain, 0 to 3 for DNA; None leaves the background out.
    strands : 2 also looks for the motif on the other strand, as the reverse complement of the window (DNA and RNA).
    alphabet : the letters, in any case.
    unknown : "error", or "skip" for strings with letters outside the alphabet (such as N): windows that contain one
        cannot hold the motif, and it is not part of the background.
    start : how training guesses where motifs are, before there are weights. "windows": anywhere, as in the paper.
        "words": where a motif fits best that was made from a word of these strings; see start.py.
        Both differ from restart to restart.
    """

    latent = True

    def __init__(
        self,
        length: int = 11,
        order: int | None = 3,
        strands: int = 2,
        alphabet: str = "ACGT",
        unknown: str = "error",
        start: str = "words",
    ):
        self.length = length
        self.order = order
        self.strands = strands
        self.alphabet = alphabet
        self.unknown = unknown
        self.start = start

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.letters_ = Alphabet(self.alphabet)
        check_whole("length", self.length, 1)
        if self.order is not None:
            check_whole("order", self.order, 0, " (or None for no background)")
        if self.unknown not in ("error", "skip"):
            raise ValueError(f"unknown must be 'error' or 'skip', got {self.unknown!r}")
        if self.start not in ("words", "windows"):
            raise ValueError(f"start must be 'words' or 'windows', got {self.start!r}")
        if isinstance(self.strands, bool) or self.strands not in (1, 2):
            raise ValueError(f"strands must be 1 or 2, got {self.strands!r}")
        if self.strands == 2 and self.letters_.complement is None:
            raise ValueError(
                f"strands=2 needs letters that have complements, ACGT or ACGU, and the alphabet is "
                f"{self.letters_.letters}; use strands=1"
            )
        size = len(self.letters_)
        self.n_background_ = 0 if self.order is None else markov_size(size, self.order)
        self.dim = self.length * size + self.n_background_
        if self.dim > MOST_FEATURES:
            raise ValueError(
                f"a motif of {self.length} and a background of order {self.order} over {size} letters have {self.dim} "
                f"weights, more than {MOST_FEATURES}; use a lower order"
            )
        complement = self.letters_.complement
        self.complement_ = np.zeros(size, dtype=np.int32) if complement is None else complement
        self.width_ = 1
        while self.width_ < self.length and size ** (self.width_ + 1) <= LARGEST_TABLE:
            self.width_ += 1
        self.word_places_ = np.arange(-(-self.length // self.width_), dtype=np.int64) * self.width_
        self.word_places_[-1] = self.length - self.width_

    # --- one example, for everybody to read

    def psi(self, x: str, z: Occurrence) -> tuple[Places, Array]:
        data = self.windows([x])
        outside = np.ones(len(x), dtype=bool)
        parts = []
        if z.has:
            outside[z.start : z.start + self.length] = False
            window = data.strings.codes[z.start : z.start + self.length]
            if len(window) < self.length or z.start < 0 or window.min() < 0:
                raise ValueError(f"no motif of length {self.length} can begin at {z.start} of a string of {len(x)}")
            read = window if z.strand > 0 else self.complement_[window[::-1]]
            parts.append(np.arange(self.length) * len(self.letters_) + read)
        if self.n_background_:
            parts.append(self.length * len(self.letters_) + data.contexts[outside & (data.strings.codes >= 0)])
        numbers, counts = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]), return_counts=True)
        return numbers, counts.astype(float)

    def loss(self, y: bool, z: Occurrence) -> float:
        return float(bool(y) != z.has)

    def label(self, z: Occurrence) -> bool:
        return z.has

    def outputs(self, x: str) -> list[Occurrence]:
        """No motif, then every window of known letters on every strand."""
        starts = self.windows([x]).starts(0)
        return [ABSENT, *(Occurrence(True, int(h), s) for h in starts for s in (1, -1)[: self.strands])]

    def argmax(self, w: Array, x: str, y: bool | None = None) -> Occurrence:
        found = self.found(w, self.windows([x]))
        absent, present = (0.0, 0.0) if y is None else (float(bool(y)), float(not y))
        return self._occurrence(found, 0) if found.gains[0] + present > absent else ABSENT

    def complete(self, w: Array, x: str, y: bool) -> Occurrence:
        return self._occurrence(self.found(w, self.windows([x])), 0) if y else ABSENT

    def guess(self, rng: np.random.Generator, x: str, y: bool) -> Occurrence:
        """Any window, all equally likely: one string alone says nothing about words."""
        if not y:
            return ABSENT
        starts = self.windows([x]).starts(0)
        return Occurrence(True, int(rng.choice(starts)), int(rng.choice((1, -1)[: self.strands])))

    # --- many at once

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> MotifBatch:
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} strings but there are {len(Y)} labels")
        labels = np.zeros(len(Y), dtype=bool)
        for i, y in enumerate(Y):
            if not isinstance(y, bool | np.bool_):
                raise ValueError(f"the label of sequence {i} is {y!r}; expected True (it has the motif) or False")
            labels[i] = y
        nowhere = np.full(len(Y), -1, dtype=np.int64)
        batch = MotifBatch(self.windows(X), labels, nowhere, np.zeros(len(Y), dtype=np.int64), np.arange(len(Y)))
        return self._anywhere(np.random.default_rng(0), batch)

    def windows(self, X: Sequence[Any], name: str = "sequence") -> Windows:
        """The strings as kernels want them; each must have a window of known letters."""
        codes = [self.letters_.codes(x, f"{name} {i}", self.unknown) for i, x in enumerate(X)]
        data = Windows(Strings(codes), self)
        if data.counts.min(initial=1) < 1:
            i = int(np.argmin(data.counts))
            found = "is empty" if not len(codes[i]) else f"has {len(codes[i])} letters"
            if len(codes[i]) >= self.length:
                found += f" but no {self.length} known ones in a row"
            raise ValueError(f"{name} {i} {found}; expected {self.length} or more, the length of the motif")
        return data

    def found(self, w: Array, data: Windows, ids: Places | None = None) -> Found:
        """The best window of every string."""
        from maxmargin.structures.motifs.compiled.motif import best_windows, fill_tables

        ids = np.arange(len(data.strings)) if ids is None else ids
        background = np.append(w[self.length * len(self.letters_) :], 0.0)  # the last: of what has no feature
        tables = np.empty((len(self.word_places_), len(self.letters_) ** self.width_, self.strands))
        fill_tables(self.readings(w), self.word_places_, self.width_, tables)
        found = Found(np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int64), np.empty(len(ids)))
        best_windows(
            ids, data.strings.runs, data.strings.run_bounds, data.words, data.contexts,
            tables, self.word_places_, background, self.length, *found,
        )  # fmt: skip
        return found

    def readings(self, w: Array) -> Array:
        """(strands, length, letters): the weights of the motif, as they meet the letters of a window on each strand."""
        motif = w[: self.length * len(self.letters_)].reshape(self.length, -1)
        return np.stack([motif, motif[::-1, self.complement_]][: self.strands])

    def gains(self, w: Array, x: str) -> Array:
        """(strands, len(x) - length + 1): ⟨w, Ψ⟩ of every window less that of no motif; -inf over unknown letters."""
        data = self.windows([x])
        background = np.append(w[self.length * len(self.letters_) :], 0.0)
        total = np.append(0.0, np.cumsum(background[data.contexts]))
        n = len(x) - self.length + 1
        gains = np.tile(total[:n] - total[self.length :], (self.strands, 1))
        for s, motif in enumerate(self.readings(w)):
            for j in range(self.length):
                gains[s] += motif[j, data.strings.codes[j : n + j]]
        gains[:, np.setdiff1d(np.arange(n), data.starts(0))] = -np.inf
        return gains

    def decode(self, w: Array, X: Sequence[Any]) -> list[Occurrence]:
        data = self.windows(X)
        found = self.found(w, data)
        return [
            self._occurrence(found, i, int(begin)) if gain > 0 else ABSENT
            for i, (begin, gain) in enumerate(zip(data.strings.begins[:-1], found.gains, strict=True))
        ]

    def planes(self, w: Array, batch: MotifBatch, augment: float | Array = 1.0) -> Planes:
        found = self.found(w, batch.data, batch.ids)
        labels = batch.labels[batch.ids]
        present = found.gains + np.where(labels, -1.0, 1.0) * augment > 0
        return self._planes(batch, found, present)

    def rescaled_planes(self, w: Array, batch: MotifBatch, formulation: Formulation) -> Planes:
        """Losses are 0 and 1: squared slacks change nothing, and rescaled ones make wrong classes all that counts."""
        if formulation.rescaling == "margin":
            return self.planes(w, batch)
        found = self.found(w, batch.data, batch.ids)
        labels = batch.labels[batch.ids]
        right = self._differences(batch.data, batch.truth, _nowhere(len(labels))) @ w  # 0 of negative examples
        wrong = np.where(labels, 0.0, found.gains)
        violated = 1 - (right - wrong) > 0
        truth = batch.truth
        starts = np.where(violated, np.where(labels, -1, found.starts), truth.starts)
        strands = np.where(violated, np.where(labels, 0, found.strands), truth.strands)
        return Planes(self._differences(batch.data, truth, Spots(starts, strands)), violated.astype(float))

    def completed(self, w: Array, batch: MotifBatch) -> MotifBatch:
        positive = batch.ids[batch.labels[batch.ids]]
        found = self.found(w, batch.data, positive)
        return batch.with_truth(positive, found.starts, found.strands)

    def guessed(self, rng: np.random.Generator, batch: MotifBatch) -> MotifBatch:
        if self.start == "windows" or not batch.labels[batch.ids].any():
            return self._anywhere(rng, batch)
        return self.completed(first_motif(self, batch, rng), batch)

    def _anywhere(self, rng: np.random.Generator, batch: MotifBatch) -> MotifBatch:
        """Any window of every string that has a motif, all equally likely."""
        positive = batch.ids[batch.labels[batch.ids]]
        number = rng.integers(batch.data.counts[positive])
        return batch.with_truth(
            positive, batch.data.nth(positive, number), rng.integers(self.strands, size=len(positive))
        )

    def shifts(self, before: MotifBatch, after: MotifBatch) -> AtomRows:
        return self._differences(after.data, after.truth, before.truth)

    def _planes(self, batch: MotifBatch, found: Found, present: NDArray[np.bool_]) -> Planes:
        spots = Spots(np.where(present, found.starts, -1), np.where(present, found.strands, 0))
        loss = (present != batch.labels[batch.ids]).astype(float)
        return Planes(self._differences(batch.data, batch.truth, spots), loss)

    def _differences(self, data: Windows, first: Spots, second: Spots) -> AtomRows:
        """Ψ(x, first) - Ψ(x, second) of every example."""
        from maxmargin.structures.motifs.compiled.motif import window_differences

        n = len(first.starts)
        indptr = np.zeros(n + 1, dtype=np.int32)
        indices = np.empty(4 * self.length * n, dtype=np.int32)
        values = np.empty(4 * self.length * n)
        window_differences(
            *first, *second, data.strings.codes, data.contexts, self.complement_, len(self.letters_), self.length,
            self.n_background_, indptr, indices, values,
        )  # fmt: skip
        return AtomRows(Atoms.coordinates(self.dim), indptr, indices[: indptr[-1]], values[: indptr[-1]])

    def _occurrence(self, found: Found, i: int, begin: int = 0) -> Occurrence:
        return Occurrence(True, int(found.starts[i]) - begin, 1 if found.strands[i] == 0 else -1)


class Spots(NamedTuple):
    """Windows in the flat arrays: where they begin (-1: no motif), and the number of the strand, 0 or 1."""

    starts: Places
    strands: Places


class Found(NamedTuple):
    """The best windows, and their ⟨w, Ψ⟩ less that of the string without a motif."""

    starts: Places
    strands: Places
    gains: Array


class Windows:
    """Strings with what the search reads of them, and how many windows each of them has."""

    def __init__(self, strings: Strings, task: Motif):
        size = len(task.letters_)
        self.strings = strings
        self.words: Numbers = strings.words(size, task.width_)
        if task.order is None:
            self.contexts: Numbers = np.zeros(len(strings.codes), dtype=np.uint32)
        else:
            self.contexts = strings.contexts(size, task.order)
        self.in_runs = np.maximum(strings.runs[:, 1] - strings.runs[:, 0] - task.length + 1, 0)
        self.before = np.append(0, np.cumsum(self.in_runs))  # windows in all earlier runs
        self.counts = np.diff(self.before[strings.run_bounds])

    def starts(self, i: int) -> Places:
        """Where the windows of a string begin in the flat arrays."""
        return self.nth(np.full(self.counts[i], i), np.arange(self.counts[i]))

    def nth(self, ids: Places, number: Places) -> Places:
        """Where the window of this number in each of these strings begins in the flat arrays."""
        number = number + self.before[self.strings.run_bounds[ids]]
        run = np.searchsorted(self.before, number, side="right") - 1
        return self.strings.runs[run, 0] + number - self.before[run]


class MotifBatch(Batch):
    """Strings, their labels, and the windows that are taken for the motif's at present."""

    def __init__(self, data: Windows, labels: NDArray[np.bool_], starts: Places, strands: Places, ids: Places):
        self.data, self.labels, self.starts, self.strands, self.ids = data, labels, starts, strands, ids

    def take(self, index: NDArray[np.intp]) -> MotifBatch:
        return MotifBatch(self.data, self.labels, self.starts, self.strands, self.ids[index])

    @property
    def truth(self) -> Spots:
        """Of the examples of this batch."""
        return Spots(self.starts[self.ids], self.strands[self.ids])

    def with_truth(self, ids: Places, starts: Places, strands: Places) -> MotifBatch:
        """The same with other windows in the examples of these numbers."""
        all_starts, all_strands = self.starts.copy(), self.strands.copy()
        all_starts[ids], all_strands[ids] = starts, strands
        return MotifBatch(self.data, self.labels, all_starts, all_strands, self.ids)


def check_whole(name: str, value: Any, least: int, or_else: str = "") -> int:
    """The number, unless it is no whole one or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}{or_else}, got {value!r}")
    return int(value)


def _nowhere(n: int) -> Spots:
    return Spots(np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64))
