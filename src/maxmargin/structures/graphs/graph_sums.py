"""GraphSums: the distribution of the labellings of graphs, p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩."""

from __future__ import annotations

from functools import cached_property
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.inference.junction_sums import (
    LabellingSum,
    drawn_labellings,
    labelling_sum,
    log_partition,
)
from maxmargin.structures.graphs.inference.junction_tree import (
    MOST_ENTRIES,
    MOST_IN_ALL,
    Elimination,
    elimination_order,
)
from maxmargin.structures.graphs.inference.model import PairwiseModel
from maxmargin.structures.graphs.inference.plan import Plan
from maxmargin.structures.graphs.node_labels import read_all_labels


class GraphMarginals(NamedTuple):
    """Probabilities of labels in one graph, in the order of classes_."""

    labels: Array  # (N, K): the probability of label k at node i
    pairs: Array  # (E, K, K): the probability of label k at the first node of an edge and label l at the second node


class SumOrders:
    """Elimination orders of graphs for summing out nodes; graphs of one structure share one."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int, bytes], Elimination] = {}

    def of(self, how: Plan, i: int) -> Elimination:
        """Return the order of graph i, whose plan is `how`."""
        if how.elimination is not None:
            return how.elimination
        key = how.n_labels, how.n_nodes, how.edges.tobytes()
        if key not in self.known:
            forest = how.method == "forest"  # forests never have large tables
            limits: Any = (inf, inf) if forest else (MOST_ENTRIES, MOST_IN_ALL)
            order = elimination_order(how.n_nodes, how.edges, how.n_labels, *limits)
            if order is None:
                width = int(log(MOST_ENTRIES) / log(max(how.n_labels, 2))) - 1
                raise ValueError(
                    f"graph {i} has {how.n_nodes} nodes, {len(how.edges)} edges and too many cycles to sum over its "
                    f"labellings: with {how.n_labels} labels the largest possible width is {width} (the number of "
                    f"neighbours of a node when it is summed out), with at most {MOST_IN_ALL:,} numbers in total. Sums "
                    "need smaller graphs (Nodes.subgraph), fewer edges or fewer labels; the hinge and its predictions "
                    "need no sums"
                )
            self.known[key] = order
        return self.known[key]


class GraphSums:
    """The distributions of the labellings of graphs.

    names : NodeNames, the labels and the shapes of labellings
    models, orders : the scores of every graph, and the order in which its nodes are summed out
    """

    def __init__(self, names: Any, models: list[PairwiseModel], orders: list[Elimination]):
        self.names, self.models, self.orders = names, models, orders

    @property
    def log_partitions(self) -> Array:
        return np.array([each.log_z for each in self._summed])

    @property
    def entropies(self) -> Array:
        return np.array([max(each.entropy, 0.0) for each in self._summed])

    def marginals(self) -> list[GraphMarginals]:
        return [GraphMarginals(each.nodes, each.edges) for each in self._summed]

    def log_probabilities(self, Y: Any) -> Array:
        """Return log probabilities, by sums over the labellings that agree with Y; None in Y leaves a label open."""
        if len(Y) != len(self.models):
            raise ValueError(f"there are {len(self.models)} graphs but {len(Y)} labellings")
        found = np.empty(len(self.models))
        labels = read_all_labels(self.names.shapes, Y)
        for j, (y, model, order) in enumerate(zip(labels, self.models, self.orders, strict=True)):
            allowed = np.zeros((len(y.kinds), model.n_labels), dtype=bool)
            for row, kind in zip(allowed, y.kinds, strict=True):
                row[slice(None) if kind is None else self.names.numbers.get(kind, [])] = True
            agreeing = model._replace(unary=np.where(allowed[y.kind_of], model.unary, -np.inf))
            found[j] = log_partition(agreeing, order)
        return found - self.log_partitions

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Any]]:
        drawn = []
        for x, model, order in zip(self.names.shapes, self.models, self.orders, strict=True):
            labels = drawn_labellings(model, order, rng, n)
            drawn.append([self.names.classes[each].reshape(x.label_shape) for each in labels])
        return drawn

    @cached_property
    def _summed(self) -> list[LabellingSum]:
        return [labelling_sum(model, order) for model, order in zip(self.models, self.orders, strict=True)]
