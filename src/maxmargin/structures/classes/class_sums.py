"""ClassSums: the distribution of classes p(k | x) ∝ exp score(k), for many inputs at once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array


class ClassSums:
    """The distributions of the classes of n inputs, as `Sums` (problem/contract/sums.py). Classes are numbers.

    scores : (n, K) the score of every class; at least one score of every input is finite
    """

    def __init__(self, scores: Array):
        self.scores = scores

    @cached_property
    def log_partitions(self) -> Array:
        """The log partition log Σ_k exp score(k) of every input."""
        highest = self.scores.max(axis=1)
        return np.asarray(highest + np.log(np.exp(self.scores - highest[:, None]).sum(axis=1)))

    @cached_property
    def probabilities(self) -> Array:
        """The probability (n, K) of every class."""
        return np.exp(self._logs)

    @property
    def entropies(self) -> Array:
        """The entropy of every input, in nats."""
        p, terms = self.probabilities, np.zeros_like(self.scores)
        np.multiply(p, self._logs, out=terms, where=p > 0)
        return np.maximum(-terms.sum(axis=1), 0.0)

    def marginals(self) -> list[Array]:
        """Return the probabilities (K,) of the classes of every input."""
        return list(self.probabilities)

    def log_probabilities(self, Y: Any) -> Array:
        """Return the log-probability of a class of every input.

        Y : (n,) class numbers
        """
        labels = np.asarray(Y, dtype=np.intp)
        if labels.shape != (len(self.scores),):
            raise ValueError(f"the classes have shape {labels.shape}; expected ({len(self.scores)},)")
        if len(labels) and not (labels.min() >= 0 and labels.max() < self.scores.shape[1]):
            raise ValueError(f"classes must be whole numbers from 0 to {self.scores.shape[1] - 1}")
        return np.asarray(self._logs[np.arange(len(labels)), labels])

    def sample(self, rng: np.random.Generator, n: int) -> list[list[int]]:
        """Draw n classes of every input."""
        ends = np.cumsum(self.probabilities, axis=1)
        drawn = rng.random((len(ends), n)) * ends[:, -1:]
        return [np.searchsorted(own, each, side="right").tolist() for own, each in zip(ends, drawn, strict=True)]

    @cached_property
    def _logs(self) -> Array:
        """The log-probability of every class, which is at most 0 up to rounding."""
        return np.minimum(self.scores - self.log_partitions[:, None], 0.0)
