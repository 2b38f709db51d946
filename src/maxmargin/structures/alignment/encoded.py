"""Pairs of sequences, truths and weights in the form that compiled functions read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.alignment.alignment_space import TruePairs
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import Codes
from maxmargin.structures.alignment.views import Entries


class EncodedPair(NamedTuple):
    """Two sequences, ready for scoring."""

    lengths: tuple[int, int]  # the numbers of residues of the two sequences
    maps: list[Any]  # one entry per feature map
    gaps: list[Any]  # the codes of both sequences for gaps

    @property
    def nothing(self) -> Codes:
        """The bounds `low` and `high` of TruePairs in which no pair of any row is right."""
        return np.zeros(self.lengths[0], dtype=np.int64)

    def alignment(self, pairs: Codes) -> PairwiseAlignment:
        return PairwiseAlignment.unchecked(pairs.copy(), self.lengths)


class TrueAlignment(NamedTuple):
    """A true alignment."""

    psi: Entries  # its features Ψ(x, y)
    right: TruePairs  # its aligned pairs


class PreparedWeights(NamedTuple):
    """Weights in the forms that scoring reads."""

    w: Array  # all weights
    gaps: Array  # the weights of gaps
    maps: list[Any]  # for every feature map, its weights as the map has prepared them
