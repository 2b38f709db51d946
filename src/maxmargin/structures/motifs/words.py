"""The initial motif of training: a word of the strings that have the motif, and its best matches.

Latent training descends to the local optimum near its start, and random windows are near no useful one. Here some
hundred words are compared by how well they distinguish strings with and without the motif; the best ones are refined by
alternately finding the best windows and counting their letters (the hard version of the EM algorithm for motifs of
Bailey and Elkan 1995), and by shifting all windows together by a few letters.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.motifs.scored_windows import ScoredWindows
from maxmargin.structures.motifs.windows import ChosenWindows, IntArray, Windows

WORDS = 200  # words that are compared
STRINGS = 200  # strings of each class on which they are compared
REFINED = 5  # words that are refined
TURNS = 4  # rounds of searching and counting
MOVES = 4  # letters by which all windows may shift together


def first_motif(
    task: ScoredWindows, data: Windows, positive: IntArray, negative: IntArray, rng: np.random.Generator
) -> Array:
    """Return weights that score letters at the positions of a motif; background weights are 0.

    positive, negative : the numbers of strings with and without the motif; at least one has it.
    """
    search = WordSearch(task, data, positive, negative, rng)
    candidates = sorted((search.word(start) for start in search.random_windows(WORDS)), key=lambda pair: -pair[0])
    return max((search.refined(*pair) for pair in candidates[:REFINED]), key=lambda pair: pair[0])[1]


class WordSearch:
    """Search for motifs that distinguish a sample of strings with the motif from one without."""

    def __init__(
        self, task: ScoredWindows, data: Windows, positive: IntArray, negative: IntArray, rng: np.random.Generator
    ):
        self.task, self.data, self.rng = task, data, rng
        self.positive, self.negative = self._some(positive), self._some(negative)
        codes = self.data.strings.codes
        counts = np.bincount(codes[codes >= 0], minlength=len(task.alphabet_)) + 1.0
        self.frequencies = counts / counts.sum()

    def _some(self, ids: IntArray) -> IntArray:
        return np.sort(self.rng.choice(ids, min(len(ids), STRINGS), replace=False)) if len(ids) else ids

    def random_windows(self, n: int) -> IntArray:
        """Return n random windows of positive strings."""
        owners = self.rng.choice(self.positive, n)
        return self.data.nth(owners, self.rng.integers(self.data.counts[owners]))

    def word(self, start: int) -> tuple[float, Array]:
        """Return the value and the weights of a window as a motif; rare letters weigh more."""
        length = self.task.length
        letters = self.data.strings.codes[start : start + length]
        w = np.zeros(self.task.dim)
        self.task.split_weights(w).motif[np.arange(length), letters] = -np.log(self.frequencies[letters])
        return self.value(w)[0], w

    def refined(self, value: float, w: Array) -> tuple[float, Array]:
        """Alternate searching and counting as long as the value improves, and return the best value and weights."""
        best, chosen = value, w
        windows = self.value(w)[1]
        for _ in range(TURNS):
            tried = [self.counted(windows, step) for step in range(-MOVES, MOVES + 1)]
            value, windows, w = max(((*self.value(w), w) for w in tried), key=lambda each: each[0])
            if value <= best:
                break
            best, chosen = value, w
        return best, chosen

    def value(self, w: Array) -> tuple[float, ChosenWindows]:
        """Return the difference of the classes' mean gains, in units of their spread, and the positive windows."""
        windows, gains = self.task.best_windows(w, self.data, self.positive)
        if not len(self.negative):
            return float(gains.mean()), windows
        others = self.task.best_windows(w, self.data, self.negative).gains
        spread = np.sqrt(gains.var() + others.var())
        return float((gains.mean() - others.mean()) / (spread + 1e-9)), windows

    def counted(self, windows: ChosenWindows, step: int) -> Array:
        """Return the log-odds of the letters in these windows, shifted by `step` within the limits of the strings."""
        length, size = self.task.length, len(self.task.alphabet_)
        reverse = windows.strands == 1
        starts = windows.starts + np.where(reverse, -step, step)
        codes = self.data.strings.codes
        begins = self.data.strings.begins[self.positive]
        ends = self.data.strings.begins[self.positive + 1]
        starts = np.clip(starts, begins, ends - length)
        letters = codes[starts[:, None] + np.arange(length)]
        letters[reverse] = np.where(letters >= 0, self.task.complement_[letters], -1)[reverse, ::-1]
        numbers = (np.arange(length) * size + letters)[letters >= 0]
        counts = np.bincount(numbers, minlength=length * size).reshape(length, size) + self.frequencies
        w = np.zeros(self.task.dim)
        self.task.split_weights(w).motif[:] = np.log(counts / counts.sum(axis=1, keepdims=True) / self.frequencies)
        return w
