"""ScoredGraphs: graphs whose nodes and edges have features, scored by the weights of a Graph task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.scored import need_truth
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.graphs.edge_weights import EdgeWeights
from maxmargin.structures.graphs.graph_space import GraphScores, GraphSpace, NodeNames, TrueNodes
from maxmargin.structures.graphs.inference.model import Relaxed
from maxmargin.structures.graphs.inference.plan import Plan
from maxmargin.structures.graphs.packed_graph import PackedGraph
from maxmargin.structures.graphs.rows import LabellingRows


class GraphFeatures(NamedTuple):
    """The features of one graph: the rows of its nodes among the atoms, and the features (E, G) of its edges."""

    units: NDArray[np.int64]
    edge_features: Array


class ScoredGraphs(GraphSpace):
    """A GraphSpace whose scores come from features and weights.

    atoms, edge_weights : the features of all nodes, and the weights of edges
    features : the features of every graph
    packed : every graph with its truth, for rows of planes; None if truths are not known
    """

    def __init__(
        self,
        atoms: Atoms,
        edge_weights: EdgeWeights,
        features: Sequence[GraphFeatures],
        plans: Sequence[Plan],
        most: Sequence[float],
        names: NodeNames,
        packed: Sequence[PackedGraph] | None = None,
        ids: Sequence[int] | None = None,
    ):
        truths = None if packed is None else [TrueNodes(graph.truth, graph.prices) for graph in packed]
        super().__init__(plans, most, names, truths, ids)
        self.atoms, self.edge_weights, self.features, self.packed = atoms, edge_weights, features, packed

    @classmethod
    def of_packed(
        cls,
        atoms: Atoms,
        edge_weights: EdgeWeights,
        packed: Sequence[PackedGraph],
        names: NodeNames,
        ids: Sequence[int],
    ) -> ScoredGraphs:
        """Make the space from graphs with their truths, and their numbers."""
        features = [GraphFeatures(graph.units, graph.edge_features) for graph in packed]
        plans, most = [graph.plan for graph in packed], [graph.most for graph in packed]
        return cls(atoms, edge_weights, features, plans, most, names, packed, ids)

    def scores(self, w: Array) -> list[GraphScores]:
        """Return the scores of all labels at nodes and of all pairs of labels at edges, at the weights w."""
        return [self.scores_of(j, w) for j in range(len(self))]

    def scores_of(self, j: int, w: Array) -> GraphScores:
        """Return the scores of graph j at the weights w."""
        units, edge_features = self.features[j]
        return GraphScores(self.atoms.scores(w, units), self.edge_weights.pair_scores(w, edge_features))

    def planes_of(self, found: Sequence[Labels | Relaxed]) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these labellings."""
        rows = LabellingRows(self.atoms, self.edge_weights)
        loss = np.array([self.add_row(rows, j, z) for j, z in enumerate(found)], dtype=float)
        return Planes(rows.stacked(), loss)

    def add_row(self, rows: LabellingRows, j: int, found: Labels | Relaxed) -> float:
        """Add the row of graph j with this labelling, and return its loss."""
        need_truth(self.packed)
        assert self.packed is not None
        graph = self.packed[j]
        return rows.add_relaxed(graph, found) if isinstance(found, Relaxed) else rows.add_labelling(graph, found)
