"""Named tuples of arrays for the kernels of alignments. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.alignment.columns import Codes


class ScoredPair(NamedTuple):
    """The scores of two sequences of n and m residues that alignment.py reads."""

    profile: Array  # (rows, m): the different rows of scores of pairs
    row_of: Codes  # (n,): the row that every position of a has
    low: Codes  # (n,): with `high`, the right positions of each residue, as in TruePairs
    high: Codes  # (n,): see low
    price: float  # subtracted from the scores of correct pairs
    of_a: Array  # (5, n + 1): scores of gaps of a, see alignment.py
    of_b: Array  # (5, m + 1): scores of gaps of b


class FlatPairs(NamedTuple):
    """The arrays of many ScoredPairs, each kind flat, one pair after the other."""

    sizes: NDArray[np.int64]  # (pairs, 3): n, m and the number of rows of the profile
    profiles: Array  # the profiles of all pairs
    row_of: Codes  # row_of of all pairs
    low: Codes  # low of all pairs
    high: Codes  # high of all pairs
    prices: Array  # (pairs,): the price of each pair
    of_a: Array  # of_a of all pairs
    of_b: Array  # of_b of all pairs


class AlignmentScratch(NamedTuple):
    """Scratch arrays of a search; best_alignments takes them flat, and large enough for the largest pair."""

    trace: NDArray[np.uint8]  # (n, m): the decisions of each cell
    rows: Array  # (ROWS, m + 1): the current row of M, X and Y, and intermediate results
    best: Array  # (m,): the best score of an alignment whose last pair is in this column
    ends: NDArray[np.int64]  # (m,): the row of this pair
