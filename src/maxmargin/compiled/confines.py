"""Weights within their confines, all at once: see geometry.py."""

from __future__ import annotations

from maxmargin.compiled.atoms import add_within
from maxmargin.compiled.kernel import kernel


@kernel
def settle(sums, confines, w):
    """w = clip(w₀ + sums, low, high), with rows (w₀, low, high) of `confines`, or one of all; returns ψ(sums).

    ψ(s) = ⟨s, w⟩ - ½‖w - w₀‖²; nothing is proved of it, so that plain sums will do.
    """
    first, second = 0.0, 0.0
    for j in range(len(w)):
        add_within(j, 0.0, sums, w, confines)
        x = w[j]
        away = x - (confines[j, 0] if len(confines) > 1 else confines[0, 0])
        first += sums[j] * x
        second += away * away
    return first - 0.5 * second
