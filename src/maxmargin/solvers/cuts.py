"""The cuts of the whole risk that 1-slack and bundle methods collect, with their Gram matrix."""

from __future__ import annotations

import numpy as np

from maxmargin.oracle import MeanPlane
from maxmargin.task import Array


class Cuts:
    """Cuts  w -> offset - ⟨a, w⟩ <= R(w), each with the number of rounds for which it has carried no weight."""

    def __init__(self) -> None:
        self.a: list[Array] = []
        self.offset = np.zeros(0)
        self.gram = np.zeros((0, 0))
        self.alpha = np.zeros(0)
        self.idle = np.zeros(0, dtype=int)

    def add(self, plane: MeanPlane) -> None:
        products = np.array([np.dot(plane.a, other) for other in self.a])
        m = len(self.a)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m], gram[m, :m], gram[:m, m], gram[m, m] = self.gram, products, products, np.dot(plane.a, plane.a)
        self.gram = gram
        self.a.append(plane.a)
        self.offset = np.append(self.offset, plane.offset)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)

    def weigh(self, alpha: Array) -> None:
        """Set the dual weights; a cut that carries any is not idle."""
        self.alpha = alpha
        self.idle = np.where(alpha > 0, 0, self.idle + 1)

    def drop_idle(self, patience: int) -> None:
        """Forget cuts that have carried no weight for so many rounds."""
        keep = np.flatnonzero(self.idle <= patience)
        if len(keep) < len(self.a):
            self.a = [self.a[t] for t in keep]
            self.offset, self.alpha, self.idle = self.offset[keep], self.alpha[keep], self.idle[keep]
            self.gram = self.gram[np.ix_(keep, keep)]

    def combined(self, dim: int) -> Array:
        """Σ α a."""
        total = np.zeros(dim)
        for weight, a in zip(self.alpha, self.a, strict=True):
            if weight > 0:
                total += weight * a
        return total

    def bound(self) -> float:
        """Σ α offset - ½‖Σ α a‖²: a lower bound on the objective for any α >= 0 with Σ α <= C."""
        return float(np.dot(self.alpha, self.offset) - 0.5 * self.alpha @ self.gram @ self.alpha)
