"""Stochastic subgradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import MostlyZeros, Real
from maxmargin.base.files.learnt import Inner, InPlace, RandomState
from maxmargin.base.files.objects import Fields, declare
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.solvers.base import Solver
from maxmargin.solvers.requirements import FINITE_C, FREE_WEIGHTS, Requirements
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step


class Walk(NamedTuple):
    """The state of a stochastic method."""

    w: Array  # the current weights
    average: Array  # the terms of the average of w
    t: float  # the number of updates
    hint: float = 0.0  # for the perceptron: see perceptron.py

    @classmethod
    def of(cls, start: Solution | None, dim: int) -> Walk:
        """Return the end of the earlier run, or the initial state."""
        if start is not None and isinstance(start.memory, Walk):
            return start.memory
        return cls(np.zeros(dim), np.zeros(dim), 0.0)


declare(Walk, {"w": MostlyZeros(None), "average": MostlyZeros("w.size"), "t": Real(least=0), "hint": Real()})


class Averaging:
    """The state of the method between two passes."""

    learnt: ClassVar[Fields] = {
        "rng": RandomState(),
        "lazy": Inner(),
        **dict.fromkeys(("t", "head_start", "reached", "due"), Real(least=0)),
    }

    def __init__(self, walk: Walk, seed: int):
        self.rng, self.t = np.random.default_rng(seed), walk.t
        self.lazy = LazyAverage(walk.w.copy(), walk.average.copy())
        self.head_start = 0.0  # t₀, once it is known
        self.reached = 0.0  # the value of t + t₀ in the factor of w
        self.due = self.t + 1  # the step at which the factor is next updated

    @property
    def memory(self) -> Walk:
        return Walk(self.lazy.current(), self.lazy.average(), self.t)


class Subgradient(Solver, name="subgradient"):
    """Step against the subgradient of a few examples at a time; return the best average of the later weights.

    P(w)/C = (1/2C)‖w‖² + (1/n) Σᵢ vᵢ ξᵢ(w) has the stochastic subgradient  g = w/C - v a  (squared slacks:
    w/C - v ξ a), with a the most violated cut of the example drawn. Step t is  w <- w - η_t g  with η_t = C/(t + t₀),
    where t₀ is large enough for the first steps not to overshoot: w is C/(t + t₀) times the sum of all v a. The average
    weighs step t by t. It is measured after every pass, and the model is the one of least P(w).

    A step costs as much as its examples have features. Only the factor C/(t + t₀) affects all of w, at a cost of dim if
    the decoder needs w itself: it is updated every √(t + t₀) steps and at the end of a pass.

    Section 2.1 of Stratos' notes (whose g_i needs (λ/M)w to match its objective); weighted averaging after
    Lacoste-Julien, Schmidt, Bach (2012). There is no lower bound, as the certificate says.

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`; with no lower bound, only max_passes stops training.
    block : int
        Examples per step.
    """

    block: int = 8
    max_passes: float = 30
    certified: ClassVar[bool] = False
    online: ClassVar[bool] = True

    requires: ClassVar[Requirements] = (Oracle, FINITE_C, FREE_WEIGHTS)

    def begin(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Averaging:
        return Averaging(Walk.of(start, oracle.dim), seed)

    def advance(self, oracle: Oracle, C: float, at: Averaging) -> Iterator[Step]:
        free = oracle.batch.weighs_loss and oracle.formulation.plain  # the decoder accepts a multiple of w at no cost
        if not at.head_start:
            at.head_start = self._head_start(oracle, C)
            at.reached = at.t + at.head_start
        lazy, head_start = at.lazy, at.head_start
        while True:
            order = at.rng.permutation(oracle.n)
            for begin in range(0, oracle.n, self.block):
                index = order[begin : begin + self.block]
                planes = oracle.planes(lazy.v, index, scale=lazy.scale)
                if oracle.formulation.squared:
                    heights = np.maximum(planes.loss - lazy.scale * np.asarray(planes.dpsi @ lazy.v), 0)
                at.t += 1
                last = begin + self.block >= oracle.n  # a pass ends with the factor that the next run assumes
                if at.t >= at.due or last:
                    lazy.shrink(at.reached / (at.t + head_start), fold=not free)
                    at.reached, at.due = at.t + head_start, at.t + float(np.sqrt(at.t + head_start))
                push = C / at.reached * oracle.weights[index] / len(index)
                if oracle.formulation.squared:
                    # The gradient grows with ξ: never step past the point where the example's own slack is zero.
                    push = np.minimum(push, 1 / (len(index) * np.maximum(squared_norms(planes), 1e-300))) * heights
                lazy.step(AtomRows.of(planes.dpsi), push, share=2 / (at.t + 1))
            walk = at.memory
            yield Step(walk.average, memory=walk)

    def _head_start(self, oracle: Oracle, C: float) -> float:
        """Return t₀: at least a pass, and large enough that the first step does not overshoot the cuts at w = 0."""
        planes = oracle.planes(np.zeros(oracle.dim), np.arange(min(oracle.n, 64)))
        step = C * float(np.mean(squared_norms(planes))) / max(float(np.mean(planes.loss)), 1e-300)
        return max(oracle.n / self.block, step)


def squared_norms(planes: Planes) -> Array:
    """Return ‖a‖² of every row."""
    rows = AtomRows.of(planes.dpsi)
    return rows.atoms.squared_norms(rows)


class LazyAverage:
    """Updates w <- w + rows·push and average <- (1-share)·average + share·w, at the cost of the rows' entries only.

    They are stored as  w = scale·v  and  average = p·v + q·rest: most steps change only the scalars and a few
    coordinates.
    """

    learnt: ClassVar[Fields] = {
        **dict.fromkeys(("v", "rest"), InPlace()),
        **dict.fromkeys(("scale", "p", "q"), Real()),
    }

    def __init__(self, w: Array, average: Array):
        self.v, self.rest, self.scale, self.p, self.q = w, average, 1.0, 0.0, 1.0

    def shrink(self, factor: float, fold: bool) -> None:
        """Multiply w by a factor; `fold` applies the factor to v as well, at the cost of all its entries."""
        self.scale *= factor
        if fold:
            self.v *= self.scale
            self.p /= self.scale
            self.scale = 1.0

    def step(self, rows: AtomRows, push: Array, share: float) -> None:
        rows.add_to(self.v, push / self.scale)
        # so that the change of v does not change the average
        rows.add_to(self.rest, -self.p / self.q * push / self.scale)
        self.p, self.q = (1 - share) * self.p + share * self.scale, (1 - share) * self.q
        if self.q < 1e-8:  # before it underflows; share = 1 makes it 0 and restarts the average
            self.rest *= self.q
            self.q = 1.0

    def current(self) -> Array:
        return self.scale * self.v

    def average(self) -> Array:
        return self.p * self.v + self.q * self.rest
