"""A first motif, to begin training with: a word of the strings that have the motif, and what is found near it.

Training of hidden parts descends to the local optimum near its beginning, and among random windows there is none to
descend to. Here some hundred words are compared by how well they tell strings with and without the motif apart; the
best ones are refined by turns of looking for the best windows and counting their letters (the hard version of the EM
algorithm for motifs of Bailey and Elkan 1995), and by moving all windows together by a few letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array

if TYPE_CHECKING:
    from maxmargin.structures.motifs.task import Found, Motif, MotifBatch

WORDS = 200  # that are compared
STRINGS = 200  # of each class, that they are compared on
REFINED = 5  # of the words
TURNS = 4  # of looking and counting
MOVES = 4  # letters by which all windows may move together


def first_motif(task: Motif, batch: MotifBatch, rng: np.random.Generator) -> Array:
    """Weights that score letters at the positions of a motif; the background's are 0."""
    search = _Search(task, batch, rng)
    candidates = sorted((search.word(place) for place in search.places(WORDS)), key=lambda pair: -pair[0])
    return max((search.refined(*pair) for pair in candidates[:REFINED]), key=lambda pair: pair[0])[1]


class _Search:
    """Motifs and how well they tell some of the strings apart."""

    def __init__(self, task: Motif, batch: MotifBatch, rng: np.random.Generator):
        self.task, self.data, self.rng = task, batch.data, rng
        labels = batch.labels[batch.ids]
        self.positive = self._some(batch.ids[labels])
        self.negative = self._some(batch.ids[~labels])
        codes = self.data.strings.codes
        counts = np.bincount(codes[codes >= 0], minlength=len(task.letters_)) + 1.0
        self.frequencies = counts / counts.sum()

    def _some(self, ids: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.sort(self.rng.choice(ids, min(len(ids), STRINGS), replace=False)) if len(ids) else ids

    def places(self, n: int) -> NDArray[np.int64]:
        """Windows of positive strings."""
        owners = self.rng.choice(self.positive, n)
        return self.data.nth(owners, self.rng.integers(self.data.counts[owners]))

    def word(self, place: int) -> tuple[float, Array]:
        """The letters of a window; rare ones count more, as they agree less by chance."""
        length, size = self.task.length, len(self.task.letters_)
        letters = self.data.strings.codes[place : place + length]
        w = np.zeros(self.task.dim)
        w[np.arange(length) * size + letters] = -np.log(self.frequencies[letters])
        return self._value(w)[0], w

    def refined(self, value: float, w: Array) -> tuple[float, Array]:
        """Turns of looking and counting, as long as they lead to something better."""
        best, chosen = value, w
        found = self._value(w)[1]
        for _ in range(TURNS):
            tried = [self._counted(found, step) for step in range(-MOVES, MOVES + 1)]
            value, found, w = max(((*self._value(w), w) for w in tried), key=lambda each: each[0])
            if value <= best:
                break
            best, chosen = value, w
        return best, chosen

    def _value(self, w: Array) -> tuple[float, Found]:
        """By how much the best windows of both classes differ, in units of their spread; those of the positive ones."""
        found = self.task.found(w, self.data, self.positive)
        if not len(self.negative):
            return float(found.gains.mean()), found
        others = self.task.found(w, self.data, self.negative).gains
        spread = np.sqrt(found.gains.var() + others.var())
        return float((found.gains.mean() - others.mean()) / (spread + 1e-9)), found

    def _counted(self, found: Found, step: int) -> Array:
        """Log-odds of the letters in these windows, moved by a step along the motif where there is room."""
        length, size = self.task.length, len(self.task.letters_)
        reverse = found.strands == 1
        starts = found.starts + np.where(reverse, -step, step)
        codes = self.data.strings.codes
        begins = self.data.strings.begins[self.positive]
        ends = self.data.strings.begins[self.positive + 1]
        starts = np.clip(starts, begins, ends - length)
        letters = codes[starts[:, None] + np.arange(length)]
        letters[reverse] = np.where(letters >= 0, self.task.complement_[letters], -1)[reverse, ::-1]
        numbers = (np.arange(length) * size + letters)[letters >= 0]
        counts = np.bincount(numbers, minlength=length * size).reshape(length, size) + self.frequencies
        w = np.zeros(self.task.dim)
        w[: length * size] = np.log(counts / counts.sum(axis=1, keepdims=True) / self.frequencies).ravel()
        return w
