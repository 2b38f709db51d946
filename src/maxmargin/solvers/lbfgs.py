"""L-BFGS for smooth objectives, with a lower bound from every gradient."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from maxmargin.arrays import Array
from maxmargin.oracle import MeanPlane, Oracle
from maxmargin.soft_oracle import SoftOracle
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.cuts import Cuts

ENOUGH = 1e-4  # of the fall that the slope promises
SHORTEST = 1e-20  # step beside the first one tried


class Curvature(NamedTuple):
    """How the gradient changed along a step."""

    step: Array
    change: Array
    product: float  # ⟨step, change⟩, positive because the objective is strongly convex


class LBFGS(Solver):
    """Minimise P(w) = ½‖w‖² + C R(w) for a smooth R (objective="likelihood", "softmax_margin").

    With a = -∇R(w), the tangent of R at w gives a lower bound on every objective value (Cuts.bound with one cut):

        min_v ½‖v‖² + C (R(w) - ⟨a, v - w⟩) = C (R(w) + ⟨a, w⟩) - ½‖C a‖²                                      (1)

    whose distance to P(w) is ½‖w - C a‖², half the squared gradient: it closes as the gradient vanishes. Steps follow
    the two loops of Nocedal (1980) over the last `memory` changes of the gradient. P is strongly convex, so that any
    step that lowers it enough is one to learn curvature from.
    """

    memory: int = 8

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        if not isinstance(oracle, SoftOracle):
            raise ValueError(
                "'lbfgs' needs a smooth objective, 'likelihood' or 'softmax_margin'; for the hinge use 'bcfw'"
            )
        if oracle.geometry is not None:
            raise ValueError("'lbfgs' takes neither bounds nor a prior; use 'bundle' or 'one_slack'")
        if not np.isfinite(C):
            raise ValueError("a smooth objective needs a finite C")
        known: deque[Curvature] = deque(maxlen=self.memory)
        w = np.zeros(oracle.dim) if start is None else start.w.copy()
        plane = oracle.mean_plane(w)
        value, dual = oracle.objective(w, plane.risk, C), oracle.least
        while True:
            dual = max(dual, bound_of(plane, C, oracle))
            yield Step(w, dual, risk=plane.risk)
            gradient = w - C * plane.a
            direction = -_inverse(known, gradient)
            slope = float(np.dot(gradient, direction))
            if slope >= 0:
                return
            length = 1.0 if known else min(1.0, 2 * (value - dual) / -slope)  # at most that which closes the gap
            first = length
            while True:
                new = w + length * direction
                plane = oracle.mean_plane(new)
                reached = oracle.objective(new, plane.risk, C)
                if reached <= value + ENOUGH * length * slope:
                    break
                # The lowest point of the parabola through what is known, within limits.
                curve = reached - value - length * slope
                length *= float(np.clip(-0.5 * length * slope / curve if curve > 0 else 0.5, 0.1, 0.5))
                if length < SHORTEST * first:
                    return
            step = new - w
            change = new - C * plane.a - gradient
            product = float(np.dot(step, change))
            if product > 0:
                known.append(Curvature(step, change, product))
            w, value = new, reached


def bound_of(plane: MeanPlane, C: float, oracle: Oracle) -> float:
    """(1), and nothing of it rounded up."""
    cut = Cuts()
    cut.add(plane)
    cut.weigh(np.array([C]))
    return cut.bound(oracle)


def _inverse(known: deque[Curvature], gradient: Array) -> Array:
    """The inverse Hessian, as far as it is known, times the gradient."""
    result, shares = gradient.copy(), []
    for each in reversed(known):
        share = float(np.dot(each.step, result)) / each.product
        result -= share * each.change
        shares.append(share)
    if known:
        last = known[-1]
        result *= last.product / float(np.dot(last.change, last.change))
    for each, share in zip(known, reversed(shares), strict=True):
        result += (share - float(np.dot(each.change, result)) / each.product) * each.step
    return result
