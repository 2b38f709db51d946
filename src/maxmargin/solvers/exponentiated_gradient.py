"""Exponentiated gradient on the dual of smooth objectives: one example at a time, with a lower bound at no cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from maxmargin.base.files.fields import Whole
from maxmargin.base.files.learnt import Inner, RandomState
from maxmargin.base.files.objects import Fields
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers.base import Solver
from maxmargin.solvers.requirements import FREE_WEIGHTS, Requirements
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step

REFRESHED = 10  # passes after which w is recomputed


class GradientVisits:
    """The state of the method between two passes."""

    learnt: ClassVar[Fields] = {"rng": RandomState(), "memory": Inner(), "passes": Whole(), "stalled": Whole()}

    def __init__(self, dual: Any, seed: int):
        self.rng, self.memory = np.random.default_rng(seed), dual
        self.passes = self.stalled = 0


class ExponentiatedGradient(Solver, name="exponentiated_gradient"):
    """Maximise the dual of ½‖w‖² + C R(w), R smooth (tangents.py), over one distribution α_i of outputs per example.

    A visit of example i moves α_i towards the distribution of its outputs at w, in logarithms and by a step η_i of its
    own, and w along with it; D never falls. A visit costs one sum over the outputs of i and its features,
    whatever the length of w; L-BFGS reads vectors as long as w many times a pass. A batch stores the α_i in a form of
    its own (gibbs_dual); D(α) <= min P is the bound.

    Collins, Globerson, Koo, Carreras, Bartlett (JMLR 2008).

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`.
    """

    requires: ClassVar[Requirements] = (SoftOracle, FREE_WEIGHTS, DistributionDual)

    def begin(self, oracle: SoftOracle, C: float, seed: int, start: Solution | None) -> GradientVisits:
        return GradientVisits(oracle.gibbs_dual(C, None if start is None else start.memory), seed)

    def advance(self, oracle: SoftOracle, C: float, at: GradientVisits) -> Iterator[Step]:
        dual = at.memory
        while at.stalled < 3:
            gain = dual.visit(at.rng.permutation(oracle.n))
            oracle.calls += oracle.n
            at.passes += 1
            if at.passes % REFRESHED == 0:
                dual.refresh()
            at.stalled = at.stalled + 1 if gain <= 1e-15 * abs(dual.dual) else 0
            # If a pass at least halves the distance to the optimum, the remaining distance is at most the gain of the
            # pass, and P is about as far above the optimum as D is below it.
            yield Step(dual.w, guess=dual.dual + 2 * gain, memory=dual, hoped=dual.dual)
