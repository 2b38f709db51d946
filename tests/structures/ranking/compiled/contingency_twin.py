"""The most violated prediction for a sample, by trying all tables."""

from __future__ import annotations

from math import sqrt


def violation(loss, margin, lam, slack, squared):
    """H(Δ, m), with λ times Δ where that has a meaning."""
    scale = sqrt(loss) if squared else lam * loss
    return scale * (1 - margin) if slack else scale - margin


def margin(positive, negative, a, b):
    """⟨w, δΨ⟩ of the best prediction with a true and b false positives: it misses the lowest and takes the highest."""
    missed = sorted(positive)[: len(positive) - a]
    taken = sorted(negative, reverse=True)[:b]
    return sum(missed) - sum(taken)


def tables(positive, negative):
    """Every (true, false) positives."""
    return [(a, b) for a in range(len(positive) + 1) for b in range(len(negative) + 1)]


def best_violation(positive, negative, losses, lam, slack, squared):
    """The largest H over losses {(a, b): Δ}; 0 if there are none."""
    values = [violation(loss, margin(positive, negative, *at), lam, slack, squared) for at, loss in losses.items()]
    return max(values, default=0.0)
