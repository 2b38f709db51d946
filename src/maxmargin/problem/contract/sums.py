"""Sums: the distribution p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩ over the outputs of every x.

A task whose best output is found by dynamic programming can often sum over all outputs by the same recursion, with sums
instead of maxima. Its `sums(w, X)` returns an object of this kind. A task that lists its outputs adds them up one by
one (listed_sums.py). A temperature divides scores, which are linear in w, so sums(w / temperature, X) applies
it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from maxmargin.base.arrays import Array


class Sums(Protocol):
    """The distributions of the outputs of several x.

    Order of calls: any. Nothing is set after the constructor.
    """

    @property
    def log_partitions(self) -> Array:
        """log Σ_z exp ⟨w, Ψ(x, z)⟩ of every x."""

    @property
    def entropies(self) -> Array:
        """The entropies -Σ_z p(z) log p(z) of all x, in nats."""

    def marginals(self) -> list[Any]:
        """Return the probabilities of the parts of outputs, in a form that depends on the task."""

    def log_probabilities(self, Y: Any) -> Array:
        """Return log p(y | x) of an output of every x; if Y leaves parts open, of all outputs that agree with it."""

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Any]]:
        """Draw n independent outputs of every x."""
