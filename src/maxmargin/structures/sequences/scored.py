"""ScoredChains: sequences of units with features, scored by the weights of a Chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labelling import wrong_labels
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.scored import need_truth
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.sequences.chain_space import ChainScores, ChainSpace, TrueLabels
from maxmargin.structures.sequences.label_names import LabelNames
from maxmargin.structures.sequences.links import cut_links


class ScoredChains(ChainSpace):
    """A ChainSpace whose scores come from features and weights, w = (T, s, f, U).

    atoms, units : the features of all units, and the unit of every position
    allowed : 0 for allowed links, -inf for forbidden ones, in the order of w
    """

    def __init__(
        self,
        atoms: Atoms,
        units: NDArray[np.int64],
        allowed: Array,
        bounds: NDArray[np.int64],
        names: LabelNames,
        truths: TrueLabels | None = None,
    ):
        super().__init__(bounds, names, truths)
        self.atoms, self.units, self.allowed = atoms, units, allowed

    def scores(self, w: Array) -> ChainScores:
        """Return the scores of labels at positions and of links at the weights w."""
        links = cut_links(w[: len(self.allowed)] + self.allowed, self.n_labels)
        return ChainScores(self.atoms.scores(w, self.units), *links)

    def planes_of(self, found: Labels) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these labels."""
        need_truth(self.truths)
        assert self.truths is not None
        truth, rows, cost, factors = self.truths
        return wrong_labels(self.atoms, True, self.bounds, self.units, truth, found, rows, cost, factors)
