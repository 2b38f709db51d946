"""Sums over all labellings of a graph of small width, by the node elimination of junction_tree.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.inference.junction_tree import Elimination
from maxmargin.structures.graphs.inference.model import PairwiseModel


class LabellingSum(NamedTuple):
    """The distribution p(z) = exp(score of z) / Z of labellings: its normaliser, marginals and entropy."""

    log_z: float  # log Z, where Z = Σ_z exp(score of z)
    nodes: Array  # (N, K) probabilities of the labels of every node
    edges: Array  # (E, K, K) probabilities of the label pairs of every edge
    entropy: float  # in nats


def log_partition(model: PairwiseModel, elimination: Elimination) -> float:
    """Return log Σ_z exp(score of z); node scores may be -inf, unlike in `labelling_sum`."""
    return _messages(model, elimination)[0]


def labelling_sum(model: PairwiseModel, elimination: Elimination) -> LabellingSum:
    """Return log Z, the marginals and the entropy; all scores must be finite."""
    from maxmargin.structures.graphs.compiled.elimination_sums import share_out

    log_z, scores, (offsets, digits, row) = _messages(model, elimination)
    counts = np.zeros_like(scores)
    entropy = share_out(scores, model.n_labels, elimination.tables, offsets, digits, row, counts)
    n, m = model.unary.size, model.pair.size
    nodes, edges = counts[:n].reshape(model.unary.shape), counts[n : n + m].reshape(model.pair.shape)
    return LabellingSum(log_z, nodes, edges, float(entropy))


def drawn_labellings(
    model: PairwiseModel, elimination: Elimination, rng: np.random.Generator, n: int
) -> NDArray[np.int32]:
    """Draw n independent labellings; returns an (n, N) array."""
    from maxmargin.structures.graphs.compiled.elimination_sums import draw_labels

    _, scores, (offsets, _, row) = _messages(model, elimination)
    labels = np.empty((n, model.n_nodes), dtype=np.int32)
    draw_labels(scores, model.n_labels, elimination.tables, offsets, row, rng.random(labels.shape), labels)
    return labels


def _messages(model: PairwiseModel, elimination: Elimination) -> tuple[float, Array, tuple[Any, Any, Array]]:
    """Return log Z, the scores followed by all messages, and scratch arrays."""
    from maxmargin.structures.graphs.compiled.elimination_sums import sum_out

    n_labels, tables = model.n_labels, elimination.tables
    messages = np.empty(elimination.n_entries // n_labels)
    scores = np.concatenate([model.unary.ravel(), model.pair.ravel(), messages])
    scratch = (
        np.empty(len(tables.base), dtype=np.int64),
        np.empty(max(elimination.width, 1), dtype=np.int64),
        np.empty(n_labels),
    )
    return float(sum_out(scores, n_labels, tables, *scratch)), scores, scratch
