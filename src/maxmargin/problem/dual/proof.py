"""Proof: the numbers from which a lower bound on the objective is proved in floating point."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.base.arrays import Array


class Proof(NamedTuple):
    """The terms of D(α), recomputed from α and the planes; rounding.lowered_dual describes each of them.

    α may exceed its caps by the share `excess`. `linear` belongs to the multiple of α that respects them.
    """

    linear: float
    losses: float
    s: Array  # Σ α a
    mass: float
    terms: float
    error: float = 0.0
    excess: float = 0.0
