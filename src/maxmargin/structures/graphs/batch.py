"""GraphBatch: labelled graphs, packed for training, and their search."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.base.search import Search
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.problem.contract.capabilities.missing_labels import MissingLabels
from maxmargin.problem.contract.capabilities.resumable_searches import ResumableSearches
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.graphs.found_before import FoundBefore
from maxmargin.structures.graphs.graph_space import PlainShape
from maxmargin.structures.graphs.graph_sums import SumOrders
from maxmargin.structures.graphs.inference.junction_sums import labelling_sum
from maxmargin.structures.graphs.inference.model import PairwiseModel, Relaxed
from maxmargin.structures.graphs.packed_graph import PackedGraph
from maxmargin.structures.graphs.rows import LabellingRows
from maxmargin.structures.graphs.scored import ScoredGraphs


class GraphBatch(AtomBatch, MissingLabels, ResumableSearches, Smooth):
    """A batch of labelled graphs over shared atoms.

    The only state that changes is a cache of earlier searches: the messages with which the last relaxation of each
    graph ended, where the next one begins, and its last planes, which show how much of an answer is new and so how
    accurate it must be. The cache makes searches faster and may change their answers within their tolerance. An example
    is always searched by the same worker, so results do not depend on the placement.
    """

    call_cost = 300.0  # measured on superpixels; it makes little difference

    def __init__(self, task: Any, atoms: Atoms, graphs: list[PackedGraph], has_labels: NDArray[np.bool_]):
        super().__init__(task, len(graphs), atoms)
        self.graphs, self.has_labels = graphs, has_labels
        # over all graphs, also for a batch of some of them
        self.exact = all(graph.plan.kind is Search.EXACT for graph in graphs)
        self._before = [FoundBefore() for _ in graphs]
        self._orders = SumOrders()

    def informative(self) -> Index:
        return np.flatnonzero(self.has_labels[self.ids])

    @property
    def search(self) -> Search:
        """The common guarantee of all plans; planes say which relaxations were fractional."""
        return Search.worst({self.graphs[g].plan.kind for g in self.ids})

    @property
    def method(self) -> str:
        """A description of how many graphs are searched by which method, and of the kernel."""
        counts = Counter(self.graphs[g].plan.title for g in self.ids)
        if len(counts) == 1:
            ways = [next(iter(counts))]
        else:
            ways = [f"{name} on {n} graph{'' if n == 1 else 's'}" for name, n in counts.most_common()]
        return ", ".join([*ways, *filter(None, [self.atoms.about])])

    def search_states(self) -> list[Any]:
        return [self._before[g].plain for g in self.ids]

    def restore_searches(self, states: list[Any]) -> None:
        direct, n_labels = self.atoms.arrays.direct, self.atoms.arrays.n_labels
        for g, each in zip(self.ids, states, strict=True):
            graph = self.graphs[g]
            messages = (len(graph.edges), 2, n_labels)
            self._before[g] = FoundBefore.read(each, messages, direct + len(graph.units) * n_labels)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """Return the planes of labellings or, if a relaxation is fractional, of its solution.

        `relaxed` marks these, and labellings that are not proved to be optimal, unless all searches are exact.
        """
        lam = self.loss_weights(augment)
        cuts = not isinstance(augment, np.ndarray) and augment == 1.0  # not a search over λ, whose planes are different
        scored, rows = self.scored(), LabellingRows(self.atoms, self.task.edge_weights_)
        edge_weights = w[: self.atoms.arrays.direct]
        loss, upper, relaxed = np.zeros(len(self)), np.empty(len(self)), np.zeros(len(self), dtype=bool)
        for j, g in enumerate(self.ids):
            graph, before, scores = self.graphs[g], self._before[g], scored.scores_of(j, w)
            known = before.highest(edge_weights, scores.unary) if cuts else np.inf
            search = scored.searched(j, scores, float(lam[j]), known, before.messages)
            before.messages = search.answer.messages
            loss[j] = scored.add_row(rows, j, search.found)
            if cuts and graph.plan.method == "relaxation":
                before.add(*rows.last(graph), loss[j])
            upper[j] = search.upper - search.truth
            if graph.plan.kind is not Search.EXACT:
                best = search.answer._replace(value=max(search.truth, search.answer.value))
                relaxed[j] = search.answer.relaxed is not None or not best.proved
        bounded = any(self.graphs[g].plan.kind is not Search.EXACT for g in self.ids) and np.isfinite(upper).any()
        return Planes(rows.stacked(), loss, upper if bounded else None, None if self.exact else relaxed)

    def scored(self) -> ScoredGraphs:
        """Return these graphs with their truths, ready for scoring and search."""
        graphs = [self.graphs[g] for g in self.ids]
        names = self.task.names([PlainShape(len(graph.units)) for graph in graphs])
        return ScoredGraphs.of_packed(self.atoms, self.task.edge_weights_, graphs, names, self.ids.tolist())

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Add the tangents, by the sums of graph_sums.py at b times the scores; E z replaces a relaxed solution."""
        (b, margin), edge_weights, K = softness, self.task.edge_weights_, self.task.n_labels_
        rows = LabellingRows(self.atoms, edge_weights)
        slacks, sizes, steps = np.empty(len(self)), np.empty(len(self)), np.empty(len(self))
        largest, mass, tables = self.atoms.largest(w), 0.0, np.abs(w[: self.atoms.arrays.direct])
        for j, g in enumerate(self.ids):
            graph = self.graphs[g]
            order = self._orders.of(graph.plan, int(g))
            scores = self.atoms.scores(w, graph.units)
            model = PairwiseModel(scores, graph.edges, edge_weights.pair_scores(w, graph.edge_features))
            right = model.value(graph.truth)
            raised = model._replace(unary=b * (scores + margin * graph.prices), pair=b * model.pair)
            found = labelling_sum(raised, order)
            rows.add_relaxed(graph, Relaxed(found.nodes, found.edges, found.log_z))
            slacks[j] = found.log_z / b - right
            edges = float(np.abs(graph.edge_features).sum())
            sizes[j] = len(graph.units) * largest + margin * graph.most + edges * 4 * float(tables.max(initial=0.0))
            steps[j] = len(graph.units)
            mass += weights[j] * (2 * float(self.atoms.lengths[graph.units].sum()) + 4 * edges)
        rows.stacked().add_to(total, weights)
        # Every step adds a few tables and K exponentials; its numbers are sums of absolute values of at most `sizes`.
        # An error of a score causes a relative error of the same size in a probability.
        terms = self.atoms.terms + self.task.n_edge_features_ + 2 * K + 32
        errors = 4 * gamma(terms) * (sizes + steps * (sizes + 1 / b))
        off = 8 * b * float(np.max(errors, initial=0.0)) / UNIT + 8.0 * (K + 8) * float(np.max(steps, initial=0.0))
        return Tangents(slacks, errors, mass, off + float(steps.sum()))
