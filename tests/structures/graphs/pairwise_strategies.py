"""Pairwise models that hypothesis draws: few nodes, any edges, small integer scores."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from strategies import whole

from maxmargin.inference import PairwiseModel


@st.composite
def edge_lists(draw, n_nodes, most_edges=8):
    """Edges in both directions; two nodes may share several."""
    if n_nodes < 2:
        return np.empty((0, 2), dtype=np.int32)
    pairs = st.tuples(st.integers(0, n_nodes - 1), st.integers(1, n_nodes - 1))
    drawn = draw(st.lists(pairs, max_size=most_edges))
    return np.array([(i, (i + step) % n_nodes) for i, step in drawn], dtype=np.int32).reshape(-1, 2)


@st.composite
def forest_edges(draw, n_nodes):
    """Edges of a forest, in any direction and order, between nodes in any order."""
    names = draw(st.permutations(range(n_nodes)))
    edges = []
    for node in range(1, n_nodes):
        parent = draw(st.integers(-1, node - 1))
        if parent >= 0:
            edges.append([names[node], names[parent]] if draw(st.booleans()) else [names[parent], names[node]])
    return np.array(draw(st.permutations(edges)), dtype=np.int32).reshape(-1, 2)


@st.composite
def models(draw, most_nodes=5, labels=(1, 3), edges=edge_lists):
    """A model with any edges, or with edges drawn by another strategy."""
    n_nodes, n_labels = draw(st.integers(0, most_nodes)), draw(st.integers(*labels))
    drawn = draw(edges(n_nodes))
    return PairwiseModel.of(draw(whole((n_nodes, n_labels))), drawn, draw(whole((len(drawn), n_labels, n_labels))))


@st.composite
def two_label_models(draw, most_nodes=6, prefer_equal=False):
    """Two labels; with prefer_equal, no edge has a lower sum on the diagonal."""
    model = draw(models(most_nodes=most_nodes, labels=(2, 2)))
    if not prefer_equal:
        return model
    lower = model.pair.trace(axis1=1, axis2=2) < model.pair[:, :, ::-1].trace(axis1=1, axis2=2)
    return model._replace(pair=np.where(lower[:, None, None], model.pair[:, :, ::-1], model.pair).copy())


def grids(n_nodes, width=3):
    """The edges of a grid, so that there are many cycles."""
    right = [(i, i + 1) for i in range(n_nodes) if (i + 1) % width and i + 1 < n_nodes]
    down = [(i, i + width) for i in range(n_nodes) if i + width < n_nodes]
    return st.just(np.array(right + down, dtype=np.int32).reshape(-1, 2))
