"""Proof: the numbers from which a lower bound on the objective is proved in floating point."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.base.arrays import Array


class Proof(NamedTuple):
    """The terms of D(α), summed up anew from α and the planes; rounding.lowered_dual says what each of them is.

    α may exceed its caps by the share `excess`. `linear` is that of the multiple of α that keeps to them.
    """

    linear: float
    losses: float
    s: Array  # Σ α a
    mass: float
    terms: float
    error: float = 0.0
    excess: float = 0.0
