"""Smooth: sums over all outputs, for objectives that weigh every output by its probability."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.tangents import Softness, Tangents


@runtime_checkable
class Smooth(Protocol):
    """A batch that sums over all outputs of its examples, as the smooth risks of tangents.py need.

    Order of calls: `take`, then `add_tangents`, once per pass. It adds to the array that it is given and sets nothing
    else.
    """

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Add Σ_i weights_i E_p [Ψ(x_i, y_i) - Ψ(x_i, z)] at w to `total`, and return the slacks and their errors."""
