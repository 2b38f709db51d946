"""ChainLinks: the weights of neighbouring labels, and of the first and the last label of a sequence."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.base.arrays import Array


class ChainLinks(NamedTuple):
    """The weights, or the scores, of the links of label sequences over K labels; -inf forbids a link."""

    transitions: Array  # (K, K): of label k after label j, at [j, k]
    start: Array  # (K,): of a first label
    end: Array  # (K,): of a last label


def link_count(n_labels: int) -> int:
    """Return the number of links of so many labels."""
    return n_labels**2 + 2 * n_labels


def cut_links(w: Array, n_labels: int) -> ChainLinks:
    """Return views of the links, with which w begins."""
    K = n_labels
    return ChainLinks(w[: K * K].reshape(K, K), w[K * K : K * K + K], w[K * K + K : K * K + 2 * K])
