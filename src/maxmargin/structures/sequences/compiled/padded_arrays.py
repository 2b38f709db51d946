"""Arrays of kernels over padded batches of sequences; without numba, so that Python can name them first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.sequences.compiled.sum_arrays import LinkMasses, SumScratch


class PaddedScores(NamedTuple):
    """Scores of sequences in a padded batch: position i of all sequences in a row is row rows[i] of unary."""

    unary: NDArray[np.floating]  # (rows, K): float32 or float64
    transitions: Array  # (1, K, K): of all steps, or (rows, K, K): of the step into each row
    start: Array  # (K,)
    end: Array  # (K,)
    rows: NDArray[np.int64]  # (positions,)
    bounds: NDArray[np.int64]  # (n + 1,): where each sequence begins among the positions; none is empty


class PaddedTruth(NamedTuple):
    """True labels of all positions; label k at position i costs factors[i] · cost[labels[i], k]."""

    labels: NDArray[np.int32]  # (positions,), or empty if truths are not known
    cost: Array  # (K, K)
    factors: Array  # (positions,)


class BlockedGradient(NamedTuple):
    """The gradient of a weighted sum of losses; sums over sequences are kept for each block of sequences."""

    unary: NDArray[np.floating]  # (rows, K), 0 at first; empty if no gradient is needed
    transitions: Array  # (blocks, K, K), or (rows, K, K) if every step has its own scores; 0 at first
    start: Array  # (blocks, K), 0 at first
    end: Array  # (blocks, K), 0 at first


class Softening(NamedTuple):
    """The scores of links times the sharpness, as sums over label sequences need them."""

    sharpness: float
    links: tuple[Array, Array, Array]  # (K, K), (K,), (K,); the first is not used if every step has its own scores
    masses: LinkMasses
    spread: float
    steps: float


class BlockScratch(NamedTuple):
    """Scratch arrays, large enough for every block of sequences."""

    scores: Array  # (positions of the largest block, K)
    shares: Array  # (positions of the largest block, K)
    bounds: NDArray[np.int64]  # (sequences of the largest block + 1,)
    table: Array  # (2, longest, K)
    pairs: Array  # (K, K)
    row: Array  # (K,)
    sums: SumScratch
