"""The two losses of which all objectives are made, over any score space: the hinge and its smooth form.

    hinge        max_z [score(z) + a Δ(y, z)] - score(y)                                                             (1)
    soft hinge   (1/b) log Σ_z exp b [score(z) + a Δ(y, z)] - score(y)                                               (2)
    gradients    E indicator(z) - indicator(y), where z is the maximiser of (1), or has p(z) ∝ exp b [score + a Δ]   (3)

A space that computes losses itself (`OwnLosses`) is asked for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.neural.score_trees import difference
from maxmargin.problem.contract.score_capabilities import OwnLosses, ScoreLoss, SoftSpace, TotalledSpace
from maxmargin.problem.contract.scored import ScoreSpace, inner, need_truth


def totals(space: ScoreSpace, scores: Any, found: Any) -> Array:
    """Return the score (n,) of every output."""
    if isinstance(space, TotalledSpace):
        return space.totals(scores, found)
    return np.array([inner(space.indicator(found, each), scores) for each in np.eye(len(space))], dtype=float)


def hinge(space: ScoreSpace, scores: Any, augment: float = 1.0, weights: Array | None = None) -> ScoreLoss:
    """Return (1) of every input, and the gradient of the weighted sum."""
    if isinstance(space, OwnLosses):
        return space.hinge(scores, augment, weights)
    need_truth(space.truth)
    best = space.best(scores, augment)
    values = best.values - totals(space, scores, space.truth)
    gradient = difference(space.indicator(best.found, weights), space.indicator(space.truth, weights))
    return ScoreLoss(finite(values), gradient)


def soft_hinge(
    space: ScoreSpace, scores: Any, augment: float = 0.0, sharpness: float = 1.0, weights: Array | None = None
) -> ScoreLoss:
    """Return (2) of every input, and the gradient of the weighted sum."""
    if isinstance(space, OwnLosses):
        return space.soft_hinge(scores, augment, sharpness, weights)
    need_truth(space.truth)
    if not isinstance(space, SoftSpace):
        raise ValueError(
            f"{type(space).__name__} cannot sum over all outputs, as smooth objectives need; use Hinge(), Perturbed() "
            "or SPOPlus(), which only search for best outputs"
        )
    soft = space.soft_best(scores, augment, sharpness, weights)
    values = soft.values - totals(space, scores, space.truth)
    return ScoreLoss(finite(values), difference(soft.indicator, space.indicator(space.truth, weights)))


def finite(values: Array) -> Array:
    """Return the values; raise a ValueError that names the first input whose value is not a finite number."""
    lost = np.flatnonzero(~np.isfinite(values))
    if len(lost):
        raise ValueError(
            f"input {lost[0]}: its loss is {values[lost[0]]}; expected finite scores of its true output, but scores of "
            "-inf forbid it, or some scores are nan"
        )
    return values
