"""Markov chains of letters, as models of strings without a motif."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maxmargin.structures.motifs.alphabet import Codes
from maxmargin.structures.motifs.strings import Strings, markov_size


class MarkovChain:
    """Markov chain of letters given the `order` letters before them, with the frequencies of some strings.

    Every context has one additional pseudo-count, shared equally by all letters.
    """

    def __init__(self, strings: Strings, size: int, order: int):
        self.size, self.order = size, order
        self.chances = []  # cumulative probabilities of letters after 0, 1, … letters: (size ** depth, size) each
        for depth in range(order + 1):
            first = markov_size(size, depth - 1)
            counts = np.bincount(strings.contexts(size, depth), minlength=markov_size(size, depth) + 1)[first:-1]
            table = counts.reshape(-1, size) + 1 / size
            self.chances.append(np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1))

    def draw(self, lengths: Sequence[int], rng: np.random.Generator) -> list[Codes]:
        """Draw strings of these lengths."""
        longest = max(lengths, default=0)
        letters = np.zeros((len(lengths), longest), dtype=np.int32)
        context = np.zeros(len(lengths), dtype=np.int64)
        for t in range(longest):
            depth = min(t, self.order)
            below = rng.random(len(lengths))[:, None] > self.chances[depth][context]
            letters[:, t] = np.minimum(below.sum(axis=1), self.size - 1)
            context = (context * self.size + letters[:, t]) % self.size ** min(t + 1, self.order)
        return [row[:length] for row, length in zip(letters, lengths, strict=True)]
