"""The problem of finding the best labelling of a graph, with its relaxation and the answers of methods.

    maximise  Σ_i unary[i, z_i] + Σ_{e = (i, j)} pair[e, z_i, z_j]      over labellings z of the nodes

All scores are finite; forbidden labels are not supported. Two nodes may share several edges; no edge leads from a node
to itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

Labels = NDArray[np.int32]
Edges = NDArray[np.int32]

ROUNDING = 1e-9  # differences of values that count as rounding errors; losses are of the order of 1


class PairwiseModel(NamedTuple):
    """The scores of labellings of N nodes with K labels; arrays are C-contiguous (`of` converts and checks them).

    Attributes
    ----------
    unary : array of shape (N, K)
        Scores of labels at nodes.
    edges : array of shape (E, 2)
        The node numbers of the ends of every edge.
    pair : array of shape (E, K, K)
        Scores of labels at the ends of edges.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import PairwiseModel
    >>> PairwiseModel.of([[1.0, 0.0], [0.0, 0.2]], [(0, 1)], [np.eye(2)]).value([0, 0])
    2.0

    See Also
    --------
    plan : chooses a method that finds the best labelling.
    """

    unary: Array  # (N, K) score of label k at node i
    edges: Edges  # (E, 2) the two nodes of every edge
    pair: Array  # (E, K, K) pair[e, k, l]: score of label k at edges[e, 0] together with label l at edges[e, 1]

    @classmethod
    def of(cls, unary: Any, edges: Any, pair: Any) -> PairwiseModel:
        """Convert scores to this form; raise a ValueError if they do not fit together."""
        unary = np.require(unary, np.float64, ["C", "A", "W"])
        pair = np.require(pair, np.float64, ["C", "A", "W"])
        if unary.ndim != 2 or not unary.shape[1]:
            raise ValueError(f"unary has shape {unary.shape}; expected (nodes, labels) with at least one label")
        edges = checked_edges(len(unary), edges)
        expected = len(edges), unary.shape[1], unary.shape[1]
        if pair.shape != expected:
            raise ValueError(f"pair has shape {pair.shape}; expected {expected}, which is (edges, labels, labels)")
        for name, scores in (("unary", unary), ("pair", pair)):
            if not np.isfinite(scores).all():
                place = tuple(int(each) for each in np.argwhere(~np.isfinite(scores))[0])
                raise ValueError(f"{name}{list(place)} is {scores[place]}; all scores must be finite")
        return cls(unary, edges, pair)

    @property
    def n_nodes(self) -> int:
        """The number of nodes N."""
        return len(self.unary)

    @property
    def n_edges(self) -> int:
        """The number of edges E."""
        return len(self.edges)

    @property
    def n_labels(self) -> int:
        """The number of labels K."""
        return self.unary.shape[1]

    def value(self, labels: Any) -> float:
        """Return the score of a labelling."""
        labels = np.asarray(labels)
        nodes = self.unary[np.arange(self.n_nodes), labels]
        links = self.pair[np.arange(self.n_edges), labels[self.edges[:, 0]], labels[self.edges[:, 1]]]
        return float(nodes.sum() + links.sum())

    def relaxed_value(self, nodes: Array, edges: Array) -> float:
        """Return the score of a point of the local polytope."""
        return float(np.vdot(self.unary, nodes) + np.vdot(self.pair, edges))

    def bound(self, messages: Array) -> float:
        """Return an upper bound on the value of all labellings and of the relaxation, from (E, 2, K) `messages`.

        messages[e, 0, k] is moved from the scores of edge e to label k of its first node, messages[e, 1, l] to label l
        of its second node. This changes the value of no labelling, so the sum of the maxima of all nodes and edges is a
        bound for any messages, even inaccurate ones. The lowest such bound is the value of the relaxation (linear
        programming duality).
        """
        from maxmargin.structures.graphs.compiled.messages import add_up

        messages = np.require(messages, np.float64, ["C", "A", "W"])
        expected = self.n_edges, 2, self.n_labels
        if messages.shape != expected:
            raise ValueError(f"messages have shape {messages.shape}; expected {expected}, (edges, 2, labels)")
        return float(add_up(*self, messages, np.empty_like(self.unary)))


class Relaxed(NamedTuple):
    """A point of the local polytope and its value.

    The local polytope is a relaxation of the set of labellings: nodes[i] are numbers >= 0 with sum 1, and for an edge
    e = (i, j) the table edges[e] has numbers >= 0, row sums nodes[i] and column sums nodes[j].
    """

    nodes: Array  # (N, K) the share of each label at each node
    edges: Array  # (E, K, K) the share of each label pair at each edge
    value: float  # the score of this point


class Accuracy(NamedTuple):
    """The accuracy of a search, which ends when its result is proved to be close enough to the optimum:

        upper - value <= max(least, news · (value - known), min(most, near · (value - base))).

    Attributes
    ----------
    most : float
        An absolute limit of the gap between the bound `upper` and the value.
    base, near : float
        The gap may be at most the share `near` of the part of the value that exceeds `base`.
    known, news : float
        The value of a point found earlier, and the share of the improvement on it that the gap may be.
    least : float
        The size of rounding errors, a gap that is always allowed.
    """

    most: float
    base: float = -np.inf
    near: float = 1.0
    known: float = np.inf
    news: float = 1.0
    least: float = 0.0

    def allowed(self, value: float) -> float:
        """Return the largest gap between the bound and this value at which the search may end."""
        from maxmargin.structures.graphs.compiled.messages import allowed

        return float(allowed(tuple(self), value))


class Answer(NamedTuple):
    """The labelling that a method found, with its value and a bound."""

    labels: Labels  # (N,) the best integral labelling found
    value: float  # the score of `labels`
    upper: float  # a proved upper bound on the score of every labelling; equal to `value` if `labels` are optimal
    relaxed: Relaxed | None = None  # the solution of the method's relaxation, if it is fractional
    messages: Array | None = None  # the final messages of a relaxation, a warm start for the next search

    @property
    def proved(self) -> bool:
        """True if it is proved that no labelling is better, up to rounding."""
        return self.upper <= self.value + ROUNDING * max(1.0, abs(self.value))


def checked_edges(n_nodes: int, edges: Any) -> Edges:
    """Return edges as an (E, 2) array of node numbers; raise a ValueError if they are invalid."""
    given = np.asarray(edges)
    if given.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"edges have shape {given.shape} and type {given.dtype}; expected integers of shape (edges, 2)"
        )
    wrong = np.flatnonzero((given < 0).any(axis=1) | (given >= n_nodes).any(axis=1))
    if len(wrong):
        pair = tuple(given[wrong[0]].tolist())
        raise ValueError(f"edge {wrong[0]} links the nodes {pair}; expected numbers from 0 to {n_nodes - 1}")
    loops = np.flatnonzero(given[:, 0] == given[:, 1])
    if len(loops):
        raise ValueError(
            f"edge {loops[0]} links node {given[loops[0], 0]} to itself; add its score to the score of the node"
        )
    return np.require(given, np.int32, ["C", "A", "W"])
