"""Message passing: an upper bound on the score of every labelling, and good labellings found on the way."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs
from maxmargin.structures.graphs.inference.model import Accuracy, Answer, Labels, PairwiseModel

Numbers = NDArray[np.int64]


class PassedMessages(NamedTuple):
    """The result of message passing: the answer, the messages that prove its bound, and how it was found."""

    answer: Answer
    messages: Array  # (E, 2, K), see PairwiseModel.bound
    trace: Array  # (sweeps, 2) the bound after every sweep, and the best score so far


def pass_messages(
    model: PairwiseModel,
    messages: Array | None = None,
    sweeps: int = 1000,
    tol: float | Accuracy = 1e-9,
    stall: float = 1e-6,
    labels: Labels | None = None,
) -> PassedMessages:
    """Lower the dual bound of the LP relaxation by sweeps over the nodes, forth and back (Kolmogorov 2006, TRW-S).

    The dual of the relaxation over the local polytope is to choose messages with the least bound (PairwiseModel.bound).
    A sweep never raises it. On trees it falls to the score of the best labelling. On other graphs sweeps can get stuck
    above the value of the relaxation, because they change the messages of one node at a time; `best_relaxation`
    continues from there.

    Parameters
    ----------
    model : PairwiseModel
        The model.
    messages : array or None
        Where to begin, for example the last messages of the same graph with other scores; not changed. None: 0.
    sweeps : int
        The most sweeps; forth and back are two.
    tol : float or Accuracy
        Stop when the bound is this close to the score of the best labelling found.
    stall : float
        Stop when ten sweeps lowered the bound by no more than this share of that distance.
    labels : array of int or None
        The best known labelling, if any.

    Returns
    -------
    PassedMessages.
    """
    plain = canonical(model)
    messages = start_messages(model, messages)
    n, n_labels = model.unary.shape
    from maxmargin.structures.graphs.compiled.messages import add_up, run_sweeps

    graph = NodeLinks.of(n, plain.edges)
    labels_now = np.zeros(n, dtype=np.int32)
    best_labels, known = (labels_now.copy(), -np.inf) if labels is None else (labels.copy(), model.value(labels))
    belief, given = np.empty(n_labels), np.empty(n_labels)
    trace = np.empty((max(1, sweeps), 2))
    accuracy = tol if isinstance(tol, Accuracy) else Accuracy(tol)
    made = run_sweeps(
        plain, graph, messages, belief, given, labels_now, best_labels, known, tuple(accuracy), stall, trace
    )
    upper = add_up(*plain, messages, np.empty((n, n_labels)))
    value = model.value(best_labels)
    return PassedMessages(Answer(best_labels, value, max(float(upper), value)), messages, trace[:made])


def levelled(model: PairwiseModel, messages: Array, rounds: int) -> Array:
    """Return messages with no higher bound, in which nodes and edges share the deficits of labels equally.

    The deficit of a label is its difference to the best label.
    """
    from maxmargin.structures.graphs.compiled.messages import level

    unary, edges, pair = canonical(model)
    first_link, _, links, _, order = NodeLinks.of(model.n_nodes, edges)
    back = np.ascontiguousarray(order[::-1])
    messages = start_messages(model, messages)
    for number in range(rounds):
        level(unary, pair, first_link, links, back if number % 2 else order, messages, np.empty(model.n_labels))
    return messages


class NodeLinks(NamedTuple):
    """The edges at every node, and an order of the nodes in which neighbours are close: see compiled/messages.py."""

    first_link: Numbers  # (N + 1,): where the links of each node begin in `links`
    middle: Numbers  # (N,): the end of the links to nodes of lower rank, which come first
    links: Numbers  # (2 E,): 2e + side, for the end of edge e at edges[e, side]
    others: Numbers  # (2 E,): the node at the other end of each link
    order: Numbers  # (N,): the nodes in the order of their ranks

    @classmethod
    def of(cls, n_nodes: int, edges: NDArray[np.int32]) -> NodeLinks:
        """Return the links of a graph; recent graphs are cached, because training needs them in every search."""
        return _links(n_nodes, edges.tobytes())


@lru_cache(maxsize=512)
def _links(n_nodes: int, edge_bytes: bytes) -> NodeLinks:
    from maxmargin.structures.graphs.compiled.messages import rank_nodes

    edges = np.frombuffer(edge_bytes, dtype=np.int32).reshape(-1, 2).copy()
    arcs = SortedArcs.of(n_nodes, edges)
    second = arcs.forward[arcs.edge] != np.arange(2 * len(edges))
    first_link, links = arcs.bounds.astype(np.int64), 2 * arcs.edge.astype(np.int64) + second
    rank, order = np.empty(n_nodes, dtype=np.int64), np.empty(n_nodes, dtype=np.int64)
    rank_nodes(edges, first_link, links, rank, order)
    others = edges[links >> 1, 1 - (links & 1)].astype(np.int64)
    owner = np.repeat(np.arange(n_nodes), np.diff(first_link))
    before = rank[others] < rank[owner]
    sorted_ = np.lexsort((~before, owner))
    middle = first_link[:-1] + np.bincount(owner[before], minlength=n_nodes)
    return NodeLinks(first_link, middle, links[sorted_], others[sorted_], order)


def improved(model: PairwiseModel, labels: Labels) -> Labels:
    """Return the labelling that results from improving single nodes as long as that is possible."""
    from maxmargin.structures.graphs.compiled.messages import improve_labels

    unary, edges, pair = canonical(model)
    better = np.array(labels, dtype=np.int32)
    improve_labels(unary, edges, pair, NodeLinks.of(model.n_nodes, edges), np.empty(model.n_labels), better)
    return better


def canonical(model: PairwiseModel) -> PairwiseModel:
    """Return the arrays in the form that compiled functions take, without copying if possible."""
    return PairwiseModel(
        np.require(model.unary, np.float64, ["C", "A", "W"]),
        np.require(model.edges, np.int32, ["C", "A", "W"]),
        np.require(model.pair, np.float64, ["C", "A", "W"]),
    )


def start_messages(model: PairwiseModel, messages: Array | None) -> Array:
    """Return a copy of the messages, or zeros; raise a ValueError if they do not fit the model."""
    expected = model.n_edges, 2, model.n_labels
    if messages is None:
        return np.zeros(expected)
    if messages.shape != expected:
        raise ValueError(f"messages have shape {messages.shape}; expected {expected}, (edges, 2, labels)")
    if not np.isfinite(messages).all():
        raise ValueError("messages must be finite")
    return np.array(messages, dtype=np.float64, order="C")
