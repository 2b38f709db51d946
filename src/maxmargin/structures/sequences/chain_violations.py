"""Scores of given label sequences, and label sequences with the highest violation of slack rescaling."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.score_capabilities import Violation
from maxmargin.structures.sequences.links import ChainLinks


def chain_totals(unary: Array, links: ChainLinks, bounds: NDArray[np.int64], labels: Labels) -> Array:
    """Return the score of the labels of every sequence bounds[j]:bounds[j + 1]; an empty one has the score 0."""
    T, s, f = links
    filled, owners = np.diff(bounds) > 0, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    each = unary[np.arange(len(labels)), labels]
    inner = np.ones(len(labels), dtype=bool)
    inner[bounds[:-1][filled]] = False
    t = np.flatnonzero(inner)
    each[t] += T[labels[t - 1], labels[t]]
    first, last = bounds[:-1][filled], bounds[1:][filled] - 1
    each[first] += s[labels[first]]
    each[last] += f[labels[last]]
    return np.asarray(np.bincount(owners, each, len(bounds) - 1), dtype=float)


def most_violated_labels(
    unary: Array, links: ChainLinks, bounds: NDArray[np.int64], truth: Labels, prices: Array, violation: Violation
) -> Labels:
    """Return the labels with the highest violation(loss, margin) of every sequence.

    prices : (positions, K) the loss of every label at every position, whole numbers
    """
    whole = np.rint(prices).astype(np.int64)
    if not np.array_equal(whole, prices):
        raise ValueError("the exact search of slack rescaling needs costs that are whole numbers, but some are not")
    labels = np.empty(len(truth), dtype=np.int32)
    for a, b in pairwise(bounds.tolist()):
        if a < b:
            labels[a:b] = _most_violated(unary[a:b], links, whole[a:b], truth[a:b], violation)
    return labels


def _most_violated(
    scores: Array, links: ChainLinks, price: NDArray[np.int64], truth: Labels, violation: Violation
) -> Labels:
    """Return the labels with the highest violation for one sequence, from a table over all its possible losses."""
    from maxmargin.structures.sequences.compiled import chain

    T, s, f = links
    most = int(price.max(axis=1).sum())
    table, best = np.empty((*price.shape, most + 1)), np.empty(most + 1)
    chain.best_per_loss(scores, T, s, f, price, table, best)
    right = s[truth[0]] + f[truth[-1]] + T[truth[:-1], truth[1:]].sum() + scores[np.arange(len(truth)), truth].sum()
    possible = np.flatnonzero(np.isfinite(best))
    loss = possible[np.argmax(violation(possible.astype(float), right - best[possible]))]
    labels = np.empty(len(truth), dtype=np.int32)
    chain.trace_loss(T, f, price, table, loss, labels)
    return labels
