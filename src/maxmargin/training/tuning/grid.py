"""Grid: the values of C of a path, chosen from the data, and the test whether larger values would change anything.

For small C the optimum of ½‖w - w₀‖² + C R(w) is w = w₀ + C g, where g is the shortest vector whose negative is a
subgradient of R at w₀ (w₀ is 0 without a prior), and the risk falls by

    R(w₀) - R(w₀ + C g) = C ‖g‖².                                                                       (1)

The first C is the one for which (1) is a small share of R(w₀). If all features are multiplied by s, it is divided by
s², and the models on the path make the same predictions.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.oracle.completions import guessed
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle

FIRST = 0.02  # share of the risk by which the first model lowers it
STEP = 3.0  # from one C to the next
MOST = 16  # values of C
FITTED = 0.01  # share of R(w₀) below which there is nothing left to learn, or which two steps must gain
TIES = 1e-3  # share of the risk that may fall where ties at w₀ are broken
LOOKS = 10  # the most oracle calls for finding the shortest g
NEAR = 0.3  # share of ‖g‖² that may be missing: one step of C more or less hardly matters


class Grid(NamedTuple):
    """Values of C."""

    first: float  # the first value of C
    risk: float  # R(w₀)

    @classmethod
    def of(cls, oracle: RiskOracle) -> Grid:
        """Make the grid by (1). It begins at 1 if no C moves w away from w₀ (R(w₀) = 0, or all planes cancel)."""
        oracle = oracle.with_placement(oracle.placement)  # calls made here do not count as training
        if oracle.batch.offers(Latent) is not None:  # any completion will do: only the size of its planes matters
            assert isinstance(oracle, Oracle)
            oracle = guessed(oracle, np.random.default_rng(0))
        at = oracle.space.point(np.zeros(oracle.dim))
        plane = oracle.mean_plane(at)
        risk, g = plane.risk, plane.a
        for _ in range(LOOKS):
            square = oracle.space.inner(g, g)
            if risk <= 0 or square <= 0:
                return cls(1.0, risk)
            # the Frank-Wolfe method finds the shortest convex combination of the planes that are highest at w₀
            other = oracle.mean_plane(oracle.space.point(g * (TIES * risk / square))).a
            away = g - other
            gap, length = oracle.space.inner(g, away), oracle.space.inner(away, away)
            if gap <= NEAR * square or length <= 0:
                break
            g = g - min(gap / length, 1.0) * away
        fall = _fall(oracle, at, g, risk)
        C = FIRST * risk / fall if fall > 0 else 1.0
        return cls(C if isfinite(C) else 1.0, risk)

    def value(self, k: int) -> float:
        """Return the C of step k."""
        return self.first * STEP**k

    def has_learnt(self, risks: list[float]) -> bool:
        """Return whether the next model can hardly have a smaller training loss than the last of these."""
        if risks[-1] <= FITTED * self.risk:
            return True
        begun = risks[-1] <= (1 - FIRST) * self.risk
        return begun and len(risks) > 2 and risks[-3] - risks[-1] < FITTED * self.risk


def _fall(oracle: RiskOracle, at: Array, g: Array, risk: float) -> float:
    """Return the rate at which the risk falls with C: ‖g‖², without the weights that are at their bounds."""
    square = oracle.space.inner(g, g)
    if oracle.geometry is None or square <= 0:
        return square
    step = TIES * risk / square
    return float(np.dot(g, oracle.space.point(step * g) - at)) / step
