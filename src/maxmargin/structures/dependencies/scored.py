"""ScoredDependencies: sentences whose arcs have features, scored by the weights of a Dependencies task."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.problem.contract.scored import need_truth
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.dependencies.arc_space import ArcSpace, TreeRules
from maxmargin.structures.dependencies.scored_arcs import FoundTrees, ScoredArcs


class ScoredDependencies(ArcSpace):
    """An ArcSpace whose scores come from features and weights.

    arcs : PackedWordArcs or PackedGivenArcs
    """

    def __init__(self, arcs: Any, ids: Index, rules: TreeRules, prices: Array | None = None):
        super().__init__(arcs.sentences, ids, rules, prices)
        self.arcs = arcs

    def scores(self, w: Array) -> Array:
        """Return the scores of all arcs with all labels at the weights w."""
        each = [self.arcs.all_scores(w, i).ravel() for i in self.ids.tolist()]
        return np.concatenate([np.zeros(0), *each])

    def scored_arcs(self, w: Array) -> ScoredArcs:
        """Return the best label of every arc at the weights w, and its score.

        A search needs nothing else of `scores`, and this takes a fraction of the time and the memory.
        """
        scored: ScoredArcs = self.arcs.scored(w, self.ids)
        return scored

    def planes_of(self, found: FoundTrees) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these trees."""
        need_truth(self.prices)
        return Planes(self.arcs.rows(self.ids, found), self.losses(found))
