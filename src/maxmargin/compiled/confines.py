"""Weights within their confines, all at once: see geometry.py."""

from __future__ import annotations

from maxmargin.compiled.kernel import kernel


@kernel
def settle(sums, confines, w):
    """w = clip(w₀ + sums, low, high), with rows (w₀ + sums, low, high, w₀) of `confines`; returns ψ(sums).

    ψ(s) = ⟨s, w⟩ - ½‖w - w₀‖²; nothing is proved of it, so that plain sums will do.
    """
    first, second = 0.0, 0.0
    for j in range(len(w)):
        origin = confines[j, 3]
        free = origin + sums[j]
        confines[j, 0] = free
        x = min(max(free, confines[j, 1]), confines[j, 2])
        w[j] = x
        away = x - origin
        first += sums[j] * x
        second += away * away
    return first - 0.5 * second
