"""ChainLinks: the weights of neighbouring labels, and of the first and the last label of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.base.arrays import Array


class ChainLinks(NamedTuple):
    """The weights, or the scores, of the links of label sequences over K labels; -inf forbids a link."""

    transitions: Array  # (K, K): the score of label k after label j, at [j, k]
    start: Array  # (K,): scores of the first label
    end: Array  # (K,): scores of the last label

    def allows(self, labels: Sequence[int]) -> bool:
        """Return whether no link of these labels is forbidden."""
        T, s, f = self
        return bool(np.isfinite(s[labels[0]] + f[labels[-1]] + sum(T[a, b] for a, b in pairwise(labels))))


def link_count(n_labels: int) -> int:
    """Return the number of links of n_labels labels."""
    return n_labels**2 + 2 * n_labels


def cut_links(w: Array, n_labels: int) -> ChainLinks:
    """Return views of the links, which are the beginning of w."""
    K = n_labels
    return ChainLinks(w[: K * K].reshape(K, K), w[K * K : K * K + K], w[K * K + K : K * K + 2 * K])
