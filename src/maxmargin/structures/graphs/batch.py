"""GraphBatch: labelled graphs, packed for training, and their search."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array, Index
from maxmargin.atoms import Atoms
from maxmargin.kernels.units import AtomBatch
from maxmargin.planes import Planes
from maxmargin.search import Search
from maxmargin.structures.graphs.inference.model import PairwiseModel
from maxmargin.structures.graphs.packed_graph import PackedGraph
from maxmargin.structures.graphs.rows import LabellingRows
from maxmargin.structures.graphs.searches import pair_scores, refined, tolerance


class GraphBatch(AtomBatch):
    """Graphs over shared atoms.

    The only thing that ever changes is a cache: the messages with which each graph's last relaxation ended. The next
    one begins there, which makes it faster and may move its answer inside of its tolerance. An example is always
    searched at one place, so that results do not depend on where that is.
    """

    call_cost = 300.0  # measured on superpixels; it makes little difference

    def __init__(self, task: Any, atoms: Atoms, graphs: list[PackedGraph], has_labels: NDArray[np.bool_]):
        super().__init__(task, len(graphs), atoms)
        self.graphs, self.has_labels = graphs, has_labels
        self.exact = all(graph.plan.kind is Search.EXACT for graph in graphs)  # of all graphs, whichever are taken
        self._messages: list[Array | None] = [None] * len(graphs)

    def informative(self) -> Index:
        return np.flatnonzero(self.has_labels[self.ids])

    @property
    def search(self) -> Search:
        """Of all plans together; which relaxations were fractional is said by their planes."""
        return Search.worst({self.graphs[g].plan.kind for g in self.ids})

    @property
    def method(self) -> str:
        """How many graphs are searched in which way, and what stands for a kernel."""
        counts = Counter(self.graphs[g].plan.title for g in self.ids)
        if len(counts) == 1:
            ways = [next(iter(counts))]
        else:
            ways = [f"{name} on {n} graph{'' if n == 1 else 's'}" for name, n in counts.most_common()]
        return ", ".join([*ways, *filter(None, [self.atoms.about])])

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """Of labellings or, where a relaxation is fractional, of its solution.

        `relaxed` tells these, and labellings that are not proved to be the best, unless all searches are exact.
        """
        lam = self.each(augment)
        W, rows = w[self.task.places_], LabellingRows(self.atoms, self.task.places_)
        loss, upper, relaxed = np.zeros(len(self)), np.empty(len(self)), np.zeros(len(self), dtype=bool)
        for j, g in enumerate(self.ids):
            graph = self.graphs[g]
            exact = graph.plan.kind is Search.EXACT
            scores = self.atoms.scores(w, graph.units) + lam[j] * graph.prices
            model = PairwiseModel(scores, graph.edges, pair_scores(W, graph.edge_features))
            truth = model.value(graph.truth)
            answer = refined(graph.plan, model, tolerance(graph.most, lam[j]), g, self._messages[g], truth)
            self._messages[g] = answer.messages
            found = answer.relaxed or answer
            if found.value < truth and not exact:  # a search may miss even the truth
                rows.add_truth()
            elif answer.relaxed is None:
                loss[j] = rows.add_labelling(graph, answer.labels)
            else:
                loss[j] = rows.add_relaxed(graph, answer.relaxed)
            upper[j] = max(answer.upper, truth, found.value) - truth
            if not exact:
                best = answer._replace(value=max(truth, answer.value))
                relaxed[j] = answer.relaxed is not None or not best.proved
        bounded = any(self.graphs[g].plan.kind is not Search.EXACT for g in self.ids) and np.isfinite(upper).any()
        return Planes(rows.stacked(), loss, upper if bounded else None, None if self.exact else relaxed)
