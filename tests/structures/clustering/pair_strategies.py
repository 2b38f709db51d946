"""What hypothesis draws for clustering: items with candidate pairs and small integers for features, so that ties are
common."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from strategies import whole

from maxmargin.structures.clustering.agglomeration import PairGains, partitions
from maxmargin.tasks import Pairs


@st.composite
def graphs(draw, most_items=5, most_edges=7):
    """(n_items, edges): some pairs of items in any order, each of them either way round."""
    n_items = draw(st.integers(1, most_items))
    every = list(combinations(range(n_items), 2))
    edges = draw(st.permutations(every))[: draw(st.integers(0, min(len(every), most_edges)))]
    return n_items, [edge[::-1] if draw(st.booleans()) else edge for edge in edges]


@st.composite
def clustered(draw, most=3, packed=None):
    """X, Y and F: examples with labels, of which one pair at least is inside of a cluster."""
    n_features = draw(st.integers(1, 3))
    as_sparse = draw(st.booleans()) if packed is None else packed
    X, Y = [], []
    for n_items, edges in draw(st.lists(graphs(), min_size=1, max_size=most)):
        X.append(pairs_of(n_items, edges, draw(whole((len(edges), n_features))), as_sparse))
        Y.append(draw(st.lists(st.sampled_from("abc"), min_size=n_items, max_size=n_items)))
    n_items, edges = draw(graphs().filter(lambda graph: graph[1]))
    X.append(pairs_of(n_items, edges, draw(whole((len(edges), n_features))), as_sparse))
    Y.append(draw(st.lists(st.sampled_from("abc"), min_size=n_items, max_size=n_items)))
    Y[-1][edges[0][0]] = Y[-1][edges[0][1]]
    return X, Y, n_features


@st.composite
def pair_gains(draw, most_items=6):
    """What pairs gain by being together, for some or all pairs."""
    n_items, edges = draw(graphs(most_items, 15))
    ends = np.array(edges, dtype=np.int32).reshape(-1, 2)
    first, second = (np.ascontiguousarray(ends[:, side]) for side in (0, 1))
    return PairGains(n_items, first, second, draw(whole(len(edges))))


def best_total(gains):
    """The highest total of a clustering, by listing all of them."""
    return max(map(gains.total, partitions(gains.n_items)))


def pairs_of(n_items, edges, features, as_sparse):
    return Pairs(n_items, np.array(edges).reshape(-1, 2), sparse.csr_array(features) if as_sparse else features)


def complete_graph(n, n_features=1):
    """n items and all of their pairs, with different features each."""
    pairs = np.column_stack(np.triu_indices(n, 1))
    return Pairs(n, pairs, np.arange(len(pairs) * n_features, dtype=float).reshape(-1, n_features))
