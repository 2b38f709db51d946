"""GraphSpace: labellings of the nodes of graphs, searched by the scores of labels at nodes and at edges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.search import Search
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.score_capabilities import SoftOutputs
from maxmargin.problem.contract.scored import BestOutputs, checked_scores, inner, need_truth
from maxmargin.structures.graphs.graph_sums import GraphSums, SumOrders
from maxmargin.structures.graphs.inference.junction_sums import labelling_sum
from maxmargin.structures.graphs.inference.model import Answer, PairwiseModel, Relaxed
from maxmargin.structures.graphs.inference.plan import Plan, plan
from maxmargin.structures.graphs.searches import accuracy, solved, tolerance


class GraphScores(NamedTuple):
    """Scores of the labellings of a graph with N nodes, E edges and K labels; all are finite."""

    unary: Array  # (N, K): the score of label k at node i
    pair: Array  # (E, K, K): the score of label k at the first node of an edge and label l at its second node


class TrueNodes(NamedTuple):
    """The true labels of the nodes of a graph, and the cost of every label at every node."""

    labels: Labels  # (N,)
    prices: Array  # (N, K): the cost of label k at node i


class NodeNames(NamedTuple):
    """The labels of nodes by number and by name, and the shapes of labellings."""

    classes: NDArray[Any]  # (K,): the labels
    numbers: dict[Hashable, int]  # the number of each label
    shapes: Sequence[Any]  # one object per graph, with n_nodes and label_shape


class PlainShape(NamedTuple):
    """The shape of the labellings of a graph that is not a grid."""

    n_nodes: int

    @property
    def label_shape(self) -> tuple[int, ...]:
        """The shape of a labelling, which is a list."""
        return (self.n_nodes,)


class SearchedGraph(NamedTuple):
    """The result of the search of one graph."""

    found: Labels | Relaxed  # a labelling, or the fractional solution of a relaxation
    value: float  # the value of `found`
    upper: float  # no labelling has a higher value
    truth: float  # the value of the true labels; -inf if they are not known
    answer: Answer  # the result of the method


class GraphSpace:
    """The labellings of n graphs, as a ScoreSpace (problem/contract/scored.py).

    Scores are a list of GraphScores, one for every graph. Found outputs are a list with an int32 array (N,) of labels
    for every graph. If the search is a relaxation and its solution is fractional, it is that solution instead
    (inference.Relaxed: the shares of labels at nodes and of pairs of labels at edges), and `upper` bounds the values of
    all labellings.

    Parameters
    ----------
    plans : sequence of Plan
        The search plan of every graph (inference.plan), with its edges.
    most : sequence of float
        The largest loss of every graph; relaxations are solved up to a small share of it.
    names : NodeNames
        The labels.
    truths : sequence of TrueNodes or None
        The true labels and the costs of mistakes; None if they are not known.
    ids : sequence of int or None
        The numbers of the graphs, for messages; None stands for 0, 1, ….
    """

    def __init__(
        self,
        plans: Sequence[Plan],
        most: Sequence[float],
        names: NodeNames,
        truths: Sequence[TrueNodes] | None = None,
        ids: Sequence[int] | None = None,
    ):
        self.plans, self.most, self.names, self.truths = plans, most, names, truths
        self.ids = range(len(plans)) if ids is None else ids

    @classmethod
    def of_graphs(
        cls, graphs: Sequence[Any], n_labels: int, truth: Any = None, cost: Any = None, method: str = "auto"
    ) -> GraphSpace:
        """Make the space of graphs (number of nodes, edges), whose labels are 0 … n_labels - 1.

        truth : None, or the true labels of the nodes of every graph
        cost : None (every mistake costs 1), or an (n_labels, n_labels) array cost[true, found]
        method : the search method, as in GraphLabeler
        """
        plans = [plan(int(n), edges, n_labels, method) for n, edges in graphs]
        prices = 1.0 - np.eye(n_labels) if cost is None else np.array(cost, dtype=float)
        if prices.shape != (n_labels, n_labels):
            raise ValueError(f"cost has shape {prices.shape}; expected ({n_labels}, {n_labels})")
        shapes = [PlainShape(each.n_nodes) for each in plans]
        names = NodeNames(np.arange(n_labels), {k: k for k in range(n_labels)}, shapes)
        if truth is None:
            return cls(plans, [each.n_nodes * float(prices.max()) for each in plans], names)
        truths = []
        for i, (each, y) in enumerate(zip(plans, truth, strict=True)):
            labels = np.array(y, dtype=np.int32)
            if labels.shape != (each.n_nodes,) or not ((labels >= 0) & (labels < n_labels)).all():
                raise ValueError(f"truth[{i}] is {y!r}; expected {each.n_nodes} whole numbers from 0 to {n_labels - 1}")
            truths.append(TrueNodes(labels, prices[labels]))
        return cls(plans, [float(own.prices.max(axis=1).sum()) for own in truths], names, truths)

    def __len__(self) -> int:
        return len(self.plans)

    @property
    def truth(self) -> list[Labels] | None:
        """The true labels of every graph."""
        return None if self.truths is None else [own.labels for own in self.truths]

    def best(self, scores: Sequence[GraphScores], augment: float | Array = 0.0) -> BestOutputs:
        """Return the labelling with the highest score + augment · loss of every graph, or a relaxation of it."""
        lam = np.full(len(self), augment, dtype=float)
        each = [self.searched(j, self._checked(j, own), float(lam[j])) for j, own in enumerate(scores)]
        values, upper = (np.array([own[k] for own in each], dtype=float) for k in (1, 2))
        exact = all(own.kind is Search.EXACT for own in self.plans)
        return BestOutputs([own.found for own in each], values, None if exact else upper)

    def searched(
        self, j: int, scores: GraphScores, lam: float, known: float = np.inf, warm: Array | None = None
    ) -> SearchedGraph:
        """Search graph j with lam times the loss added to the scores.

        known : the highest known value of an output, minus the value of the truth
        warm : the messages with which the last search of this graph ended
        """
        how, exact = self.plans[j], self.plans[j].kind is Search.EXACT
        if self.truths is None:
            if lam:
                need_truth(None)
            model = PairwiseModel(scores.unary, how.edges, scores.pair)
            answer = solved(how, model, tolerance(self.most[j]), self.ids[j], warm)
            found = answer.relaxed or answer
            shown = answer.labels if answer.relaxed is None else answer.relaxed
            return SearchedGraph(shown, found.value, max(answer.upper, found.value), -np.inf, answer)
        labels, prices = self.truths[j]
        model = PairwiseModel(scores.unary + lam * prices, how.edges, scores.pair)
        truth = model.value(labels)
        answer = solved(how, model, accuracy(self.most[j], lam, truth, truth + known), self.ids[j], warm)
        found = answer.relaxed or answer
        upper = max(answer.upper, truth, found.value)
        if found.value < truth and not exact:  # a search may miss even the truth
            return SearchedGraph(labels, truth, upper, truth, answer)
        shown = answer.labels if answer.relaxed is None else answer.relaxed
        return SearchedGraph(shown, found.value, upper, truth, answer)

    def losses(self, found: Sequence[Labels | Relaxed]) -> Array:
        """Return the loss of every labelling; like scores, it is linear in the shares of a fractional one."""
        need_truth(self.truths)
        assert self.truths is not None
        losses = []
        for (_, prices), z in zip(self.truths, found, strict=True):
            if isinstance(z, Relaxed):
                losses.append(float(np.vdot(prices, z.nodes)))
            else:
                losses.append(float(prices[np.arange(len(prices)), z].sum()))
        return np.array(losses, dtype=float)

    def indicator(self, found: Sequence[Labels | Relaxed], weights: Array | None = None) -> list[GraphScores]:
        """Return how often each score is used, or the shares of a fractional labelling, times weights[j]."""
        counts, n_labels = [], len(self.names.classes)
        for j, (how, z) in enumerate(zip(self.plans, found, strict=True)):
            each = 1.0 if weights is None else float(weights[j])
            if isinstance(z, Relaxed):
                counts.append(GraphScores(each * z.nodes, each * z.edges))
                continue
            one = np.eye(n_labels)[z]
            pair = one[how.edges[:, 0], :, None] * one[how.edges[:, 1], None, :]
            counts.append(GraphScores(each * one, each * pair))
        return counts

    def sums(self, scores: Sequence[GraphScores]) -> GraphSums:
        """Return the distributions of the labellings of every graph: of forests, and of small junction trees."""
        orders = SumOrders()
        order = [orders.of(how, i) for i, how in enumerate(self.plans)]
        models = [
            PairwiseModel(own.unary, how.edges, own.pair)
            for own, how in zip((self._checked(j, own) for j, own in enumerate(scores)), self.plans, strict=True)
        ]
        return GraphSums(self.names, models, order)

    def totals(self, scores: Sequence[GraphScores], found: Sequence[Labels | Relaxed]) -> Array:
        """Return the score of every labelling."""
        used = self.indicator(found)
        return np.array([inner(counts, own) for counts, own in zip(used, scores, strict=True)], dtype=float)

    def soft_best(
        self,
        scores: Sequence[GraphScores],
        augment: float | Array = 0.0,
        sharpness: float = 1.0,
        weights: Array | None = None,
    ) -> SoftOutputs:
        """Return the smooth maxima over labellings, and the probabilities of labels and of pairs of labels."""
        lam, orders, b = np.full(len(self), augment, dtype=float), SumOrders(), sharpness
        if lam.any():
            need_truth(self.truths)
        values, counts = np.empty(len(self)), []
        for j, (how, own) in enumerate(zip(self.plans, scores, strict=True)):
            unary, pair = self._checked(j, own)
            if self.truths is not None:
                unary = unary + lam[j] * self.truths[j].prices
            found = labelling_sum(PairwiseModel(b * unary, how.edges, b * pair), orders.of(how, j))
            each = 1.0 if weights is None else float(weights[j])
            values[j] = found.log_z / b
            counts.append(GraphScores(each * found.nodes, each * found.edges))
        return SoftOutputs(values, counts)

    def _checked(self, j: int, scores: GraphScores) -> GraphScores:
        how, K = self.plans[j], len(self.names.classes)
        checked: GraphScores = checked_scores(scores, ((how.n_nodes, K), (len(how.edges), K, K)))
        if not all(np.isfinite(each).all() for each in checked):
            raise ValueError(f"graph {j}: all scores must be finite")
        return checked
