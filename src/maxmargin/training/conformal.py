"""Prediction sets: sets of outputs that contain the truth with a promised probability, for any model.

Let the distance e_i be the score of the best output minus the score of the truth of example i. If n held-out examples
and a new one are exchangeable, then with probability at least `coverage` the distance of the new example is at most the
ceil((n + 1) · coverage)-th smallest of the n + 1 distances (split conformal prediction; Vovk, Gammerman, Shafer 2005).
The set of all outputs up to that distance contains the truth with at least that probability.                      (1)

For labels of positions, sequences are exchangeable, but positions of one sequence are not. Therefore the expected share
of missed labels is controlled (conformal risk control; Angelopoulos et al. 2024): if l_i(d) is the share of the labels
of example i whose distance exceeds d, the threshold is the smallest d with

    (Σ_i l_i(d) + 1) / (n + 1) <= 1 - coverage.                                                                   (2)

Both need distances that do not depend on the held-out examples, so distances do not contain the temperature. If some
truths are impossible for the model, there may be no such threshold, and the caller must refuse to make a set. The
promise then is that the truth of a new example is missed without a refusal with probability at most 1 - coverage.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from maxmargin.base.arrays import Array

ROUNDING = 1e-12


def check_coverage(coverage: float, n: int) -> float:
    """Return the coverage; raise a ValueError if n held-out examples are too few for it."""
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
    """Return the largest distance of outputs in prediction sets (1); inf if too many truths are impossible."""
    n = len(distances)
    rank = min(ceil((n + 1) * check_coverage(coverage, n) - ROUNDING), n)
    return float(np.sort(distances)[rank - 1])


def allowed_risk_distance(distances: Array, shares: Array, n: int, coverage: float) -> float:
    """Return the smallest distance up to which labels must be in the sets (2); inf if too many are impossible.

    distances : the distances of the true labels, which are not negative
    shares : for each true label, one divided by the number of labels of its example
    n : the number of examples
    """
    budget = (n + 1) * (1 - check_coverage(coverage, n)) - 1 + ROUNDING
    order = np.argsort(-distances, kind="stable")
    missed = np.cumsum(shares[order])  # by a distance just below each of them
    kept = np.searchsorted(missed, budget, side="right")  # the first that may not be missed
    return float(distances[order[kept]]) if kept < len(distances) else 0.0
