"""The edges of a graph, sorted by node, for traversals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.graphs.inference.model import checked_edges

Indices = NDArray[np.int32]


class SortedArcs(NamedTuple):
    """Every edge as two arcs, one from each of its nodes; the arcs of a node are consecutive.

    The arcs of node i are bounds[i] … bounds[i + 1] - 1. Arc a leads to node head[a], along edge edge[a], and
    reverse[a] is the arc of the same edge from there. forward[e] is the arc of edge e that starts at its first node.
    """

    bounds: Indices  # (N + 1,)
    head: Indices  # (2E,)
    edge: Indices  # (2E,)
    reverse: Indices  # (2E,)
    forward: Indices  # (E,)

    @classmethod
    def of(cls, n_nodes: int, edges: Any) -> SortedArcs:
        """Sort the edges of a graph. The result does not depend on scores, so that it is computed once per graph."""
        edges = checked_edges(n_nodes, edges)
        n_edges = len(edges)
        tails, heads = (
            edges.T.ravel(),
            edges[:, ::-1].T.ravel(),
        )  # arc e is edge e from its first node, e + E its second
        order = np.argsort(tails, kind="stable")
        place = np.empty(2 * n_edges, dtype=np.int32)
        place[order] = np.arange(2 * n_edges, dtype=np.int32)
        bounds = np.zeros(n_nodes + 1, dtype=np.int32)
        np.cumsum(np.bincount(tails, minlength=n_nodes), out=bounds[1:])
        turned = np.append(place[n_edges:], place[:n_edges])
        return cls(
            bounds,
            np.ascontiguousarray(heads[order]),
            (order % max(n_edges, 1)).astype(np.int32),
            np.ascontiguousarray(turned[order]),
            place[:n_edges].copy(),
        )
