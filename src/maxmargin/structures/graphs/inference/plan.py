"""The choice of a method for a graph, and the properties of the graph that the method uses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.search import Search
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs
from maxmargin.structures.graphs.inference.expansion import best_expansion
from maxmargin.structures.graphs.inference.forest import ForestOrder, best_forest, forest_order
from maxmargin.structures.graphs.inference.junction_tree import (
    MOST_ENTRIES,
    MOST_IN_ALL,
    Elimination,
    best_junction_tree,
    elimination_order,
)
from maxmargin.structures.graphs.inference.min_cut import best_cut, best_roof_dual
from maxmargin.structures.graphs.inference.model import Accuracy, Answer, Edges, PairwiseModel, checked_edges

KINDS = {
    "forest": Search.EXACT,
    "junction_tree": Search.EXACT,
    "min_cut": Search.EXACT,
    "roof_dual": Search.OVERGENERATING,
    "relaxation": Search.OVERGENERATING,
    "expansion": Search.UNDERGENERATING,
}
TITLES = {
    "forest": "dynamic programming",
    "junction_tree": "junction tree",
    "min_cut": "min-cut",
    "roof_dual": "min-cut with roof duality",
    "relaxation": "LP relaxation",
    "expansion": "α-expansion",
}


class Plan(NamedTuple):
    """The method by which the best labelling of one graph is searched, for any scores.

    Attributes
    ----------
    method : str
        The name of the method, one of KINDS.
    kind : Search
        Its guarantee; a relaxation, whose solution may be fractional, is overgenerating.

    Examples
    --------
    >>> from maxmargin.inference import plan
    >>> plan(3, [(0, 1), (1, 2)], 2).method
    'forest'
    """

    method: str
    kind: Search
    n_nodes: int
    edges: Edges
    n_labels: int
    order: ForestOrder | None = None
    elimination: Elimination | None = None
    arcs: SortedArcs | None = None

    @property
    def title(self) -> str:
        """The method, in words."""
        return TITLES[self.method]

    def solve(self, model: PairwiseModel, warm: Array | None = None, tol: float | Accuracy = 1e-2) -> Answer:
        """Find the best labelling of this graph for some scores.

        warm : `messages` of the last answer for this graph, which make a relaxation faster; other methods ignore them.
        tol : how close to its optimum a relaxation must come; other methods ignore it.
        """
        expected = self.n_nodes, len(self.edges), self.n_labels
        if (model.n_nodes, model.n_edges, model.n_labels) != expected:
            raise ValueError(
                f"the model has {model.n_nodes} nodes, {model.n_edges} edges and {model.n_labels} labels; "
                f"the plan is for {self.n_nodes} nodes, {len(self.edges)} edges and {self.n_labels} labels"
            )
        if model.edges is not self.edges and not np.array_equal(model.edges, self.edges):
            e = int(np.flatnonzero((model.edges != self.edges).any(axis=1))[0])
            found, planned = (tuple(edges[e].tolist()) for edges in (model.edges, self.edges))
            raise ValueError(f"edge {e} of the model is {found}; the plan is for a graph in which it is {planned}")
        if self.method == "forest":
            return best_forest(model, self.order)
        if self.method == "junction_tree":
            if self.arcs is not None:  # two labels: a cut is faster, and mostly enough
                answer = best_roof_dual(model, self.arcs)
                if answer.relaxed is None:
                    return answer
            return best_junction_tree(model, self.elimination)
        if self.method == "min_cut":
            return best_cut(model, self.arcs)
        if self.method == "roof_dual":
            return best_roof_dual(model, self.arcs)
        if self.method == "expansion":
            return best_expansion(model, arcs=self.arcs)
        from maxmargin.structures.graphs.inference.relaxation import best_relaxation

        answer, messages = best_relaxation(model, warm, tol, arcs=self.arcs)
        return answer._replace(messages=messages)


def plan(n_nodes: int, edges: Any, n_labels: int, method: str = "auto") -> Plan:
    """Choose the method for a graph, and prepare everything that does not depend on scores.

    Parameters
    ----------
    n_nodes : int
        The number of nodes.
    edges : array of shape (E, 2)
        The node numbers of the ends of every edge.
    n_labels : int
        The number of labels.
    method : str
        One of KINDS, or "auto": dynamic programming on a forest; otherwise a junction tree if its tables are small
        enough; otherwise, for two labels, roof duality, which is the exact minimum cut if edges prefer equal labels;
        otherwise the relaxation over the local polytope.

    Returns
    -------
    Plan.

    Examples
    --------
    >>> from maxmargin.inference import plan
    >>> plan(3, [(0, 1), (1, 2), (0, 2)], 2).title
    'junction tree'
    """
    edges = checked_edges(n_nodes, edges)
    if method != "auto" and method not in KINDS:
        raise ValueError(f"method must be 'auto' or one of {', '.join(map(repr, KINDS))}; got {method!r}")
    if n_labels < 1:
        raise ValueError(f"there are {n_labels} labels; expected at least 1")
    size = n_nodes, edges, n_labels
    graph = f"the graph of {n_nodes} nodes and {len(edges)} edges"

    def made(name: str, **known: Any) -> Plan:
        return Plan(name, KINDS[name], *size, **known)

    if method in ("auto", "forest"):
        order = forest_order(n_nodes, edges)
        if order is not None:
            return made("forest", order=order)
        if method == "forest":
            raise ValueError(f"{graph} has a cycle, so method='forest' cannot label it; use 'auto'")
    if method in ("auto", "junction_tree"):
        elimination = elimination_order(n_nodes, edges, n_labels)
        if elimination is not None:
            arcs = SortedArcs.of(n_nodes, edges) if n_labels == 2 and method == "auto" else None
            return made("junction_tree", elimination=elimination, arcs=arcs)
        if method == "junction_tree":
            raise ValueError(
                f"{graph} has too many cycles for method='junction_tree': with {n_labels} labels a table would have "
                f"more than {MOST_ENTRIES} entries, or all together more than {MOST_IN_ALL}; use 'auto', or "
                + ("'roof_dual'" if n_labels == 2 else "'relaxation'")
            )
    if method in ("min_cut", "roof_dual") and n_labels != 2:
        raise ValueError(
            f"method={method!r} is for two labels, there are {n_labels}; use 'relaxation', 'expansion' or 'auto'"
        )
    if method == "relaxation" or (method == "auto" and n_labels != 2):
        return made("relaxation", arcs=SortedArcs.of(n_nodes, edges))
    return made("roof_dual" if method == "auto" else method, arcs=SortedArcs.of(n_nodes, edges))
