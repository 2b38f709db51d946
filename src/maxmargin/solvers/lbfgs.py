"""L-BFGS for smooth objectives, with a lower bound from every gradient."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_finite
from maxmargin.base.files.fields import NumberArray, Real
from maxmargin.base.files.learnt import Learnt
from maxmargin.base.files.objects import Fields
from maxmargin.problem.oracle.learnt_planes import read_numbers
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers.base import Solver
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.learnt_cuts import LearntCut
from maxmargin.solvers.requirements import FREE_WEIGHTS, Requirements
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step

ENOUGH = 1e-4  # share of the predicted decrease that a step must reach
SHORTEST = 1e-20  # shortest step, relative to the first one tried


class Curvature(NamedTuple):
    """The change of the gradient along a step."""

    step: Array
    change: Array
    product: float  # ⟨step, change⟩, positive because the objective is strongly convex


class LearntCurvatures(Learnt):
    """The latest changes of the gradient, of an owner with an oracle."""

    def left(self, value: deque[Curvature]) -> Any:
        return [list(each) for each in value]

    def refilled(self, found: Any, current: deque[Curvature], owner: Descent) -> deque[Curvature]:
        if not isinstance(found, list) or not all(isinstance(each, list) and len(each) == 3 for each in found):
            raise ValueError("expected changes of the gradient")
        for step, change, product in found:
            if not is_finite(product) or product <= 0:
                raise ValueError("expected curvatures above 0")
            dim = owner.oracle.dim
            current.append(Curvature(read_numbers(step, dim), read_numbers(change, dim), float(product)))
        return current


class Descent:
    """The state of the method: a point with its tangent, and the curvatures on the way to it."""

    learnt: ClassVar[Fields] = {
        "w": NumberArray(float, "oracle.dim"),
        "value": Real(finite=False),
        "dual": Real(finite=False),
        "plane": LearntCut(),
        "known": LearntCurvatures(),
    }
    memory = None  # a later run can start only from w

    def __init__(self, oracle: RiskOracle, w: Array, most: int):
        self.oracle, self.w = oracle, w
        self.value, self.dual = np.inf, -np.inf
        self.plane: MeanPlane | None = None
        self.known: deque[Curvature] = deque(maxlen=most)

    def _check_learnt(self) -> None:
        if self.plane is not None and not self.dual <= self.value < np.inf:
            raise ValueError("expected an objective, and a bound that is not above it")


class LBFGS(Solver, name="lbfgs"):
    """Minimise P(w) = ½‖w‖² + C R(w) for a smooth R (objective="likelihood", "softmax_margin").

    With a = -∇R(w), the tangent of R at w gives a lower bound on every objective value (Cuts.bound with one cut):

        min_v ½‖v‖² + C (R(w) - ⟨a, v - w⟩) = C (R(w) + ⟨a, w⟩) - ½‖C a‖²                                      (1)

    whose distance to P(w) is ½‖w - C a‖², half the squared gradient: it closes as the gradient vanishes. Steps follow
    the two-loop recursion of Nocedal (1980) over the last `memory` changes of the gradient. P is strongly convex, so
    that every step that lowers it enough gives a valid curvature.

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`.
    memory : int
        The number of changes of the gradient that are remembered.
    """

    memory: int = 8
    requires: ClassVar[Requirements] = (SoftOracle, FREE_WEIGHTS)

    def begin(self, oracle: RiskOracle, C: float, seed: int, start: Solution | None) -> Descent:
        return Descent(oracle, np.zeros(oracle.dim) if start is None else start.w.copy(), self.memory)

    def advance(self, oracle: RiskOracle, C: float, at: Descent) -> Iterator[Step]:
        while True:
            if at.plane is None:
                plane = oracle.mean_plane(at.w)
                at.value, at.dual = oracle.objective(at.w, plane.risk, C), oracle.space.least
            else:
                found = self._next(oracle, C, at, at.plane)
                if found is None:
                    return
                plane = found
            at.plane, at.dual = plane, max(at.dual, bound_of(plane, C, oracle))
            yield Step(at.w, at.dual, risk=plane.risk)

    def _next(self, oracle: RiskOracle, C: float, at: Descent, plane: MeanPlane) -> MeanPlane | None:
        """Move from the point with this tangent to the next one, and return its tangent; None if no point is lower."""
        w, known = at.w, at.known
        gradient = w - C * plane.a
        direction = -_inverse(known, gradient)
        slope = float(np.dot(gradient, direction))
        if slope >= 0:
            return None
        length = 1.0 if known else min(1.0, 2 * (at.value - at.dual) / -slope)  # at most the step that closes the gap
        first = length
        while True:
            new = w + length * direction
            plane = oracle.mean_plane(new)
            reached = oracle.objective(new, plane.risk, C)
            if reached <= at.value + ENOUGH * length * slope:
                break
            # Minimise the parabola through the known values, within limits.
            curve = reached - at.value - length * slope
            length *= float(np.clip(-0.5 * length * slope / curve if curve > 0 else 0.5, 0.1, 0.5))
            if length < SHORTEST * first:
                return None
        step = new - w
        change = new - C * plane.a - gradient
        product = float(np.dot(step, change))
        if product > 0:
            known.append(Curvature(step, change, product))
        at.w, at.value = new, reached
        return plane


def bound_of(plane: MeanPlane, C: float, oracle: RiskOracle) -> float:
    """Return the bound (1), not rounded up."""
    cut = Cuts()
    cut.add(plane)
    cut.weigh(np.array([C]))
    return cut.bound(oracle)


def _inverse(known: deque[Curvature], gradient: Array) -> Array:
    """Return the approximate inverse Hessian times the gradient."""
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
