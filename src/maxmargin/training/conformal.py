"""Sets of outputs that contain the truth as often as promised, however bad the model is.

From n held-out examples and a new one that are exchangeable, with any scores: of the numbers e_i = how far the truth is
below the best output, the new one's is among the ceil((n + 1) · coverage) smallest with a probability of at least
`coverage` (split conformal prediction; Vovk, Gammerman, Shafer 2005). The set of all outputs that are no farther below
the best one than that number then contains the truth with at least that probability.                              (1)

Labels of positions come in sequences that are exchangeable, while the positions of one sequence are not. The mean share
of missed labels is controlled for them (conformal risk control; Angelopoulos et al. 2024): with the share l_i(d) of the
labels of example i that are farther than d from the best output, d is as small as keeps

    (Σ_i l_i(d) + 1) / (n + 1) <= 1 - coverage.                                                                   (2)

Both need distances that do not depend on the held-out examples: that is why none of them contains the temperature.
Where some truths are impossible for the model, there may be no such distance. The caller must then refuse, and the
promise is that of a new example the truth is missed, without a refusal, with a probability of at most 1 - coverage.
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


def allowed_risk_distance(distances: Array, shares: Array, n: int, coverage: float) -> float:
    """Return the smallest distance up to which labels must be in the sets (2); inf if too many are impossible.

    distances : those of the true labels; it is 0 or more
    shares : for each of them, one divided by the number of labels of its example
    n : the number of examples
    """
    budget = (n + 1) * (1 - check_coverage(coverage, n)) - 1 + ROUNDING
    order = np.argsort(-distances, kind="stable")
    missed = np.cumsum(shares[order])  # by a distance just below each of them
    kept = np.searchsorted(missed, budget, side="right")  # the first that may not be missed
    return float(distances[order[kept]]) if kept < len(distances) else 0.0
