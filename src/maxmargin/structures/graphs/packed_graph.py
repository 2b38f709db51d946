"""PackedGraph: one graph of the training data with its true labels, in the form that searches read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels
from maxmargin.structures.graphs.inference.model import Edges
from maxmargin.structures.graphs.inference.plan import Plan
from maxmargin.structures.graphs.nodes import Nodes


class PackedGraph(NamedTuple):
    """A graph with its true labels."""

    units: NDArray[np.int64]  # the rows of its nodes among the atoms
    edges: Edges  # (E, 2) indices into `units`
    edge_features: Array  # (E, G) the features of edges
    truth: Labels  # the true label of every node
    prices: Array  # (N, K) the cost of each label at each node
    most: float  # the largest loss of a labelling
    plan: Plan  # the method that finds its best labelling

    @classmethod
    def of(cls, units: NDArray[np.int64], x: Nodes, truth: Labels, prices: Array, plan: Plan) -> PackedGraph:
        """Return the graph x, with arrays in the form that compiled functions take."""
        edges = np.require(x.edges, np.int32, ["C", "A", "W", "E"])
        features = np.require(x.edge_features, np.float64, ["C", "A", "W", "E"])
        return cls(units, edges, features, truth, prices, float(prices.max(axis=1).sum()), plan)
