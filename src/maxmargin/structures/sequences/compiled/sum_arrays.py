"""Named tuples for kernels that sum over label sequences. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays


class LinkMasses(NamedTuple):
    """Scores of links as numbers to multiply with: exp(score - shift), with one shift for each kind of link."""

    links: Array  # (K, K): label k after label j
    turned: Array  # (K, K): the transpose of links
    start: Array  # (K,): starting labels
    end: Array  # (K,): ending labels
    shifts: Array  # (3,): the largest score of links, of starting labels and of ending labels

    @classmethod
    def empty(cls, n_labels: int) -> LinkMasses:
        """Allocate the masses of links between this number of labels."""
        K = n_labels
        return cls(np.empty((K, K)), np.empty((K, K)), np.empty(K), np.empty(K), np.empty(3))


class SumScratch(NamedTuple):
    """Scratch arrays of sums over the label sequences of one chain, large enough for the longest."""

    space: Array  # (3, longest, K): masses before and after each position
    flat: Array  # (longest · K,): masses of labels
    rows: Array  # (3, longest + 1 or K): scratch
    outer: Array  # (K, K): sums over pairs of neighbours

    @classmethod
    def of(cls, longest: int, n_labels: int) -> SumScratch:
        """Allocate scratch arrays for sequences of at most `longest` positions."""
        K = n_labels
        rows = np.empty((3, max(longest + 1, K)))
        return cls(np.empty((3, longest, K)), np.empty(longest * K), rows, np.empty((K, K)))


class GibbsProblem(NamedTuple):
    """The data of a smooth dual of chains; sequence i has the positions bounds[i] : bounds[i + 1]."""

    atoms: AtomArrays  # the features of units
    bounds: NDArray[np.int64]
    units: NDArray[np.int64]  # the unit of each position
    rows: NDArray[np.int32]  # the row of the cost table that each position uses
    factors: Array  # a multiple of these costs for each position
    cost: Array  # (rows, K): the cost of each label
    sharpness: float  # b of equation (1)
    margin: float  # a factor of all costs
    allowed: Array  # (K² + 2 K,): 0, or -inf for forbidden links
    steps: float  # the number of steps in which every label can be reached from every label


class GibbsPoint(NamedTuple):
    """Distributions of label sequences, one per sequence, and quantities that are computed from their scores."""

    theta: Array  # (positions, K): scores of labels
    links: Array  # (n, K² + 2 K): scores of links
    p: Array  # (positions, K): probabilities of labels
    pairs: Array  # (n, K, K): expected numbers of links
    worth: Array  # (n,): expected costs plus entropy / b
    sizes: Array  # (n,): the sum of absolute values that each worth is computed from
    rate: Array  # (n,): the step size η of the next visit


class GibbsTrial(NamedTuple):
    """Scratch arrays of a visit: the distribution that it tries."""

    goal: Array  # (longest, K): scores of labels at the current weights
    theta: Array  # (longest, K): scores of labels that are tried
    links: Array  # (K² + 2 K,): scores of links that are tried
    p: Array  # (longest, K): the probabilities of labels that follow
    pairs: Array  # (K, K): the expected numbers of links that follow

    @classmethod
    def of(cls, longest: int, n_labels: int) -> GibbsTrial:
        """Allocate the arrays for sequences of at most `longest` positions."""
        K = n_labels
        goal, theta, p = np.empty((longest, K)), np.empty((longest, K)), np.empty((longest, K))
        return cls(goal, theta, np.empty(K * K + 2 * K), p, np.empty((K, K)))
