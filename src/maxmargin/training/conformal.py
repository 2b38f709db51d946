"""Sets of outputs that contain the truth as often as promised, whatever the model is worth.

From n held-out examples and a new one that are exchangeable, with any scores: of the numbers e_i = how far the truth is
below the best output, the new one's is among the ceil((n + 1) · coverage) smallest with a probability of at least
`coverage` (split conformal prediction; Vovk, Gammerman, Shafer 2005). The set of all outputs that are no farther below
the best one than that number then contains the truth with at least that probability.                              (1)

Of labels of positions, which come in sequences that are exchangeable, while the positions of one are not, the mean
share of missed ones is controlled (conformal risk control; Angelopoulos et al. 2024): with the share l_i(t) of the
positions of example i whose true label has a probability below t, t is as large as keeps

    (Σ_i l_i(t) + 1) / (n + 1) <= 1 - coverage.                                                                   (2)
"""

from __future__ import annotations

from math import ceil

import numpy as np

from maxmargin.base.arrays import Array

ROUNDING = 1e-12


def check_coverage(coverage: float, n: int) -> float:
    """Return the coverage; ValueError if this number of held-out examples cannot promise it."""
    if not (isinstance(coverage, float | int | np.floating) and 0 < coverage < 1):
        raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}")
    needed = ceil(1 / (1 - float(coverage)) - 1 - ROUNDING)
    if n < needed:
        raise ValueError(
            f"a coverage of {coverage:g} needs at least {needed} examples that training has not seen; calibration "
            f"had {n}"
        )
    return float(coverage)


def allowed_distance(distances: Array, coverage: float) -> float:
    """Return how far below the best output the truth may be (1); inf if too many truths are impossible."""
    n = len(distances)
    rank = min(ceil((n + 1) * check_coverage(coverage, n) - ROUNDING), n)
    return float(np.sort(distances)[rank - 1])


def least_probability(truths: Array, shares: Array, n: int, coverage: float) -> float:
    """Labels from which probability on belong to the sets (2).

    truths: the probabilities of true labels; shares: one by the number of positions of the sequence, for each of them.
    """
    room = (n + 1) * (1 - check_coverage(coverage, n)) - 1 + ROUNDING
    order = np.argsort(truths, kind="stable")
    missed = np.cumsum(shares[order])  # by a threshold just above each of them
    kept = np.searchsorted(missed, room, side="right")  # the first that may not be missed
    return float(truths[order[kept]]) if kept < len(truths) else np.inf
