"""Packed graphs, as training reads them."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.atoms import Atoms
from maxmargin.inputs.labels import Labels
from maxmargin.kernels.units import AtomBatch
from maxmargin.structures.graphs.inference.model import Edges
from maxmargin.structures.graphs.inference.plan import Plan
from maxmargin.structures.graphs.nodes import Nodes

NAMES = {
    "forest": "dynamic programming",
    "junction_tree": "junction tree",
    "min_cut": "min-cut",
    "roof_dual": "min-cut with roof duality",
    "relaxation": "LP relaxation",
    "expansion": "α-expansion",
}


class PackedGraph(NamedTuple):
    """One graph with its true labels."""

    units: NDArray[np.int64]  # the rows of its nodes among the atoms
    edges: Edges  # (E, 2) places in `units`
    edge_features: Array  # (E, G)
    truth: Labels
    prices: Array  # (N, K) what a label costs at a node
    most: float  # the largest loss
    plan: Plan  # how its best labelling is found

    @classmethod
    def of(cls, units: NDArray[np.int64], x: Nodes, truth: Labels, prices: Array, plan: Plan) -> PackedGraph:
        """The graph x, with arrays of the kind that kernels are compiled for."""
        edges = np.require(x.edges, np.int32, ["C", "A", "W", "E"])
        features = np.require(x.edge_features, np.float64, ["C", "A", "W", "E"])
        return cls(units, edges, features, truth, prices, float(prices.max(axis=1).sum()), plan)


class GraphBatch(AtomBatch):
    """Graphs over shared atoms, and what a relaxation remembers of each from one call to the next."""

    call_cost = 300.0  # measured on superpixels; it makes little difference

    def __init__(self, atoms: Atoms, graphs: list[PackedGraph], told: NDArray[np.bool_]):
        self.atoms, self.graphs = atoms, graphs
        self.told = told  # which graphs have a label at all
        self.ids = np.arange(len(graphs))
        # where each graph's last search ended; the next begins there, which changes how long it takes
        self.warm: list[Any] = [None] * len(graphs)
        # which graphs ever got an answer that is no labelling, or not proved to be the best one
        self.relaxed = np.zeros(len(graphs), dtype=bool)

    def take(self, index: NDArray[np.intp]) -> GraphBatch:
        taken = copy(self)
        taken.ids = self.ids[index]
        return taken

    def teaching(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.told[self.ids])

    @property
    def search(self) -> str:  # type: ignore[override]
        """The kind of the plans; where relaxations found nothing but proved labellings, they were exact."""
        if any(self.graphs[g].plan.kind == "undergenerating" for g in self.ids):
            return "undergenerating"
        return "overgenerating" if self.relaxed[self.ids].any() else "exact"

    @property
    def method(self) -> str:  # type: ignore[override]
        """How many graphs are searched in which way, and what stands for a kernel."""
        counts = Counter(NAMES[self.graphs[g].plan.method] for g in self.ids)
        if len(counts) == 1:
            ways = [next(iter(counts))]
        else:
            ways = [f"{name} on {n} graph{'' if n == 1 else 's'}" for name, n in counts.most_common()]
        return ", ".join([*ways, *filter(None, [self.atoms.about])])
