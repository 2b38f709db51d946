"""The most violated outputs of slack rescaling, max_z Δ(y, z) (1 - m(z)), where m(z) = score(y) - score(z).

A space that searches for them exactly (`RescaledSpace`) is asked. For others, the search for the highest
score + λ · loss is repeated for several λ: the output it finds has the highest violation if that output is on the
convex hull of all (loss, score), and then λ = (1 - m) / Δ. Otherwise the result is the best one found, and the loss a
lower bound of the true one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.neural.score_hinges import totals
from maxmargin.problem.contract.score_capabilities import RescaledSpace
from maxmargin.problem.contract.scored import ScoreSpace

MOST_SEARCHES = 12  # of one input; the interval of λ is then narrower than one percent


def slack_violation(losses: Array, margins: Array) -> Array:
    """Return Δ (1 - m)."""
    return losses * (1.0 - margins)


def most_violated(space: ScoreSpace, scores: Any) -> Any:
    """Return the output of every input with the highest Δ (1 - m) that is found."""
    if isinstance(space, RescaledSpace):
        return space.most_violated(scores, slack_violation)
    n, right = len(space), totals(space, scores, space.truth)
    lam, best_lam, best = np.ones(n), np.ones(n), np.full(n, -np.inf)
    low, high = np.zeros(n), np.full(n, np.inf)
    for _ in range(MOST_SEARCHES):
        found = space.best(scores, lam).found
        losses, margins = space.losses(found), right - totals(space, scores, found)
        value = slack_violation(losses, margins)
        better = value > best
        best[better], best_lam[better] = value[better], lam[better]
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(losses > 0, (1.0 - margins) / losses, np.inf) > lam
            low, high = np.where(up, lam, low), np.where(up, high, lam)
            lam = np.where(low == 0, high / 4, np.where(np.isinf(high), low * 4, np.sqrt(low * high)))
    return space.best(scores, best_lam).found
