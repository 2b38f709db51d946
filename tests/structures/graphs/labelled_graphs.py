"""What hypothesis draws for graph labelling: small graphs with small integers for features, so that ties are common."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from strategies import costs, whole

from maxmargin.structures.graphs.task import Graph
from maxmargin.tasks import Nodes, Weighted


class Labelled(NamedTuple):
    """A task that is set up, its data and weights."""

    task: Graph
    X: list
    Y: list
    w: np.ndarray


@st.composite
def edges_of(draw, n_nodes, form):
    """Edges either way round: of a forest, a cycle (with what else a forest leaves over), or any."""
    if form == "forest":
        parents = [draw(st.integers(-1, i - 1)) for i in range(n_nodes)]
        edges = [(parent, i) for i, parent in enumerate(parents) if parent >= 0]
        order = draw(st.permutations(range(n_nodes)))
        edges = [(order[i], order[j]) for i, j in edges]
    elif form == "cycle":
        order = draw(st.permutations(range(n_nodes)))
        edges = [(order[i], order[(i + 1) % n_nodes]) for i in range(n_nodes)]
    else:
        every = list(combinations(range(n_nodes), 2))
        edges = draw(st.permutations(every))[: draw(st.integers(0, min(len(every), 7)))]
    return [edge[::-1] if draw(st.booleans()) else edge for edge in edges]


@st.composite
def labelled(draw, form="any", n_labels=None, most_nodes=4, most_graphs=3, **options):
    """Graphs of this form with labels, the first one with all labels."""
    n_labels = draw(st.integers(2, 3)) if n_labels is None else n_labels
    n_features, n_edge_features = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    as_sparse, least = draw(st.booleans()), 0 if options.get("attractive") else -3
    X, Y = [], []
    for first in [True] + [False] * draw(st.integers(0, most_graphs - 1)):
        n_nodes = draw(st.integers(3 if first or form == "cycle" else 1, most_nodes))
        edges = draw(edges_of(n_nodes, form))
        features = draw(whole((n_nodes, n_features)))
        x = Nodes(
            sparse.csr_array(features) if as_sparse else features,
            edges,
            draw(whole((len(edges), n_edge_features), least)) if edges or draw(st.booleans()) else None,
        )
        y = [draw(st.sampled_from("abc"[:n_labels])) for _ in range(n_nodes)]
        if first:
            y[:n_labels] = "abc"[:n_labels]
        X.append(x)
        Y.append(Weighted(y, draw(whole(n_nodes, 0, 2)).tolist()) if draw(st.booleans()) else y)
    known = next((x.edge_features.shape[1] for x in X if len(x.edges)), X[0].edge_features.shape[1])
    pairwise = options.pop("pairwise", None) or draw(st.sampled_from(["full", "full", "potts"]))
    lists = st.lists(st.booleans(), min_size=known, max_size=known)
    directed = draw(st.one_of(st.booleans(), lists) if pairwise == "full" else st.booleans())
    task = Graph(costs=draw(st.one_of(st.none(), costs(n_labels))), pairwise=pairwise, directed=directed, **options)
    task.setup(X, Y)
    return Labelled(task, X, Y, draw(whole(task.dim)))
