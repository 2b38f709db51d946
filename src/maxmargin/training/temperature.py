"""The temperature that calibrates the scores of a model as probabilities.

Training with a large margin determines the order of outputs, but not the scale of their scores, so that the
probabilities p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩ may be far too high or too low. One number corrects this: with scores divided
by τ, the mean of -log p(y | x) over held-out examples is

    L(β) = mean_i [log Z_i(β w) - β ⟨w, Ψ(x_i, y_i)⟩],    β = 1/τ                                                (1)

which is convex in β, because log Z is; its minimum is used (for classes, Platt 1999 and Guo et al. 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, isfinite, log

import numpy as np

from maxmargin.base.arrays import Array

STEP = log(4.0)
MOST = 60  # steps in either direction: temperatures between 1e-36 and 1e36
NEAR = 1e-3  # the tolerance of log τ


def best_temperature(losses: Callable[[float], Array], weights: Array) -> float:
    """Return the τ with the lowest weighted mean of losses(1/τ), one loss per example.

    The mean must have a single local minimum, as (1) has. Examples with an infinite loss are ignored; their outputs are
    impossible at any temperature. If all temperatures are equally good, τ is 1.
    """

    def mean(log_temperature: float) -> float:
        each = losses(exp(-log_temperature))
        counted = np.isfinite(each)
        return float(np.average(each[counted], weights=weights[counted])) if weights[counted].sum() > 0 else inf

    value = mean(0.0)
    if not isfinite(value):
        raise ValueError("no calibration example has an output that the model can predict")
    low, middle, high = -STEP, 0.0, STEP
    below, above = mean(low), mean(high)
    if below == value == above:  # w = 0, or outputs without information: all temperatures are equally good
        return 1.0
    for _ in range(MOST):  # the minimum is to the left or to the right of these three points
        if below < value:
            low, middle, high, below, value, above = low - STEP, low, middle, mean(low - STEP), below, value
        elif above < value:
            low, middle, high, below, value, above = middle, high, high + STEP, value, above, mean(high + STEP)
        else:
            break
    golden = 0.5 * (3 - 5**0.5)
    while high - low > NEAR:
        inner = middle + golden * (high - middle if high - middle > middle - low else low - middle)
        new = mean(inner)
        if new <= value:
            low, high = (middle, high) if inner > middle else (low, middle)
            middle, value = inner, new
        else:
            low, high = (low, inner) if inner > middle else (inner, high)
    return exp(middle)
