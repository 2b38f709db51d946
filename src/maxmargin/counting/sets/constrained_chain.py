"""Moments of the counts of labels and of adjacent labels over all sequences that satisfy constraints.

If some labels may not follow each other, begin or end a sequence, a uniform sequence is still a Markov chain, whose
steps depend on the position: b follows a with probability (number of continuations from b) / (number from a).
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from maxmargin.base.arrays import Array

ROWS = 256  # rows that are processed at once


class ConstrainedChain:
    """All sequences of a length whose steps are allowed.

    T : (K, K), start, end : (K,); 0 if a step is allowed, -inf if it is not.
    """

    def __init__(self, length: int, T: Array, start: Array, end: Array):
        self.length, self.n_labels = length, len(T)
        self.steps = np.zeros((length - 1, *T.shape))  # [t, a, b]: P(y_{t+1} = b | y_t = a)
        ways, self.log_size = end, 0.0  # ways: log of the number of continuations from a label, minus a common term
        for t in range(length - 2, -1, -1):
            onward = T + ways
            ways = np.asarray(logsumexp(onward, axis=1))
            possible = np.isfinite(ways)
            self.steps[t, possible] = _normalised(np.exp(onward[possible] - ways[possible, None]))
            common = float(ways[possible].max(initial=0.0))  # subtracted, because large logarithms have large errors
            self.log_size, ways = self.log_size + common, ways - common
        last = float(logsumexp(start + ways))
        if last == -np.inf:
            raise ValueError(f"no sequence of length {length} avoids all forbidden transitions; forbid fewer of them")
        self.log_size += last
        self.at = np.empty((length, len(T)))  # [t, a]: P(y_t = a)
        self.at[0] = _normalised(np.exp(start + ways - last))
        for t in range(length - 1):
            self.at[t + 1] = _normalised(self.at[t] @ self.steps[t])
        self.pairs = self.at[:-1, :, None] * self.steps  # [t, a, b]: P(y_t = a, y_{t+1} = b)
        self.mean = np.concatenate([self.at.sum(0), self.pairs.sum(0).ravel()])

    def cov_apply(self, F: Array) -> Array:
        """Return F S in O(L K²) per row, from expected scores of the rest of a sequence given one or two labels."""
        parts = [self._cov_apply(F[begin : begin + ROWS]) for begin in range(0, len(F), ROWS)]
        return np.concatenate(parts) if parts else np.empty((0, F.shape[1]))

    def sample(self, rng: np.random.Generator) -> list[int]:
        """Draw a uniform sequence."""
        labels = [_drawn(self.at[0], rng)]
        for step in self.steps:
            labels.append(_drawn(step[labels[-1]], rng))
        return labels

    def _cov_apply(self, F: Array) -> Array:
        K, L, n = self.n_labels, self.length, len(F)
        u, T = np.ascontiguousarray(F[:, :K]), F[:, K:].reshape(n, K, K)
        here = u - (u @ self.at.T).T[:, :, None]  # [t, i, a]: scores are centred to avoid cancellation
        links = np.einsum("iab,tab->ti", T, self.pairs)
        before, after = np.zeros((L, n, K)), np.zeros((L, n, K))
        for t in range(L - 1):
            arriving = np.einsum("ia,ab->ib", before[t] + here[t], self.pairs[t]) + np.einsum(
                "iab,ab->ib", T - links[t, :, None, None], self.pairs[t]
            )
            np.divide(arriving, self.at[t + 1], out=before[t + 1], where=self.at[t + 1] > 0)
        for t in range(L - 2, -1, -1):
            after[t] = (after[t + 1] + here[t + 1]) @ self.steps[t].T + np.einsum(
                "iab,ab->ia", T - links[t, :, None, None], self.steps[t]
            )
        labels = np.einsum("tia,ta->ia", before + here + after, self.at)
        neighbours = (
            T * self.pairs.sum(0)
            - np.einsum("ti,tab->iab", links, self.pairs)
            + np.einsum("tia,tab->iab", (before + here)[:-1], self.pairs)
            + np.einsum("tib,tab->iab", (after + here)[1:], self.pairs)
        )
        return np.concatenate([labels, neighbours.reshape(n, K * K)], axis=1)


def _normalised(rows: Array) -> Array:
    return rows / rows.sum(-1, keepdims=True)


def _drawn(probabilities: Array, rng: np.random.Generator) -> int:
    sums = np.cumsum(probabilities)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
