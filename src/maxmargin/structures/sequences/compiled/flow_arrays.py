"""Named tuples of arrays for the kernels of flows. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays

# Entries of the report of a visit: Σ cap · slack as it was seen, the gain of the dual, the number of sequences whose
# flow moved, the number of multiplications, and the number of steps refused because a position had no free edge.
PENALTY, GAIN, MOVED, WORK, REFUSED = range(5)
REPORT = 5


class Positions(NamedTuple):
    """The positions of all sequences, concatenated: sequence i has the positions bounds[i] : bounds[i + 1]."""

    bounds: NDArray[np.int64]
    units: NDArray[np.int64]  # the unit of each position
    truths: NDArray[np.int32]  # the true label of each position
    rows: NDArray[np.int32]  # the row of the cost table that each position uses
    factors: Array  # multiples of these costs: one for each position, or a single one for all
    every: np.uint64  # position p has factors[p & every], like the values of AtomArrays


class FlowProblem(NamedTuple):
    """The data of a dual of chains, which a visit reads and never changes."""

    atoms: AtomArrays  # the features of units
    positions: Positions  # the positions of all sequences
    cost: Array  # (rows, K): the cost of each label
    cap: Array  # the total flow of each sequence


class ChainWeights(NamedTuple):
    """The weights as a visit reads and changes them; w begins with K² links between labels, K starts and K ends."""

    w: Array  # not clipped to the bounds
    limits: Any  # the weight bounds within which w is read; see base/compiled/label_vectors.py
    links: Array  # the first K² + 2 K weights within their bounds, -inf where forbidden
    T: Array  # (K, K), a view of links: label k after label j
    s: Array  # (K,), a view of links: starting labels
    f: Array  # (K,), a view of links: ending labels


class Lattice(NamedTuple):
    """The edges of all positions; position p has the edges start[p] : start[p] + filled[p]."""

    start: NDArray[np.int64]  # one entry more than there are positions: the last one is the capacity for edges
    filled: NDArray[np.int64]  # the number of edges of each position
    before: NDArray[np.uint16]  # the label at the position before, 0 at a first position
    here: NDArray[np.uint16]  # the label at this position
    flow: Array  # the flow along each edge


class Grams(NamedTuple):
    """Products ⟨x_s, x_t⟩ of the units of each sequence, row by row; those of sequence i begin at first[i].

    If they would take too much memory, first[i] is 0 for every sequence, and each visit computes the products that it
    needs.
    """

    first: NDArray[np.int64]
    known: NDArray[np.bool_]  # one flag per position: its row has been computed
    cells: Array | NDArray[np.uint8]  # bytes if all features are 1, so that these are numbers of common features
    kept: bool  # True if they are kept from visit to visit


class FlowScratch(NamedTuple):
    """Scratch arrays of a visit, large enough for the longest sequence."""

    scores: Array  # (longest, K): scores of labels with their costs
    high: Array  # (longest, K): scores of the best path into a label
    low: Array  # (longest, K): scores of the worst path into a label that carries flow
    high_edge: NDArray[np.int64]  # (longest, K): the last edge of each best path
    low_edge: NDArray[np.int64]  # (longest, K): the last edge of each worst path
    best: NDArray[np.int32]  # (longest,): labels of the best path
    worst: NDArray[np.int32]  # (longest,): labels of the worst path
    best_edge: NDArray[np.int64]  # (longest,): edges of the best path, -1 for an edge that does not exist yet
    worst_edge: NDArray[np.int64]  # (longest,): edges of the worst path
    seen: NDArray[np.int64]  # (longest, K): the clock when a label was last visited
    change: Array  # (longest, K): changes of the flow through a label
    links: Array  # (K² + 2 K,): counts of links
    features: Array  # (n_features,): one feature row
    clock: NDArray[np.int64]  # (1,): counts the rounds of all visits

    @classmethod
    def of(cls, longest: int, n_labels: int, n_links: int, n_features: int) -> FlowScratch:
        """Allocate scratch arrays for sequences of at most `longest` positions."""
        shape = (longest, n_labels)
        return cls(
            scores=np.zeros(shape),
            high=np.zeros(shape),
            low=np.zeros(shape),
            high_edge=np.zeros(shape, dtype=np.int64),
            low_edge=np.zeros(shape, dtype=np.int64),
            best=np.zeros(longest, dtype=np.int32),
            worst=np.zeros(longest, dtype=np.int32),
            best_edge=np.zeros(longest, dtype=np.int64),
            worst_edge=np.zeros(longest, dtype=np.int64),
            seen=np.zeros(shape, dtype=np.int64),
            change=np.zeros(shape),
            links=np.zeros(n_links),
            features=np.zeros(n_features),
            clock=np.zeros(1, dtype=np.int64),
        )


class VisitedChain(NamedTuple):
    """One sequence during its visit."""

    number: int  # the number of the sequence
    begin: int  # its first position
    length: int  # the number of its positions
