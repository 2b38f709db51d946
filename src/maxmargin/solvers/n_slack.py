"""The n-slack cutting plane method: a working set of constraints per example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers.base import Solver
from maxmargin.solvers.joint_rounds import JointRounds, Passes
from maxmargin.solvers.requirements import Requirements
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step


class NSlack(Solver, name="n_slack"):
    """Add the most violated constraint of an example, re-optimise over all constraints found so far, repeat.

    Minimise  ½‖w‖² + C/n Σᵢ vᵢ ξᵢ  subject to  ⟨w, aᵢ(z)⟩ >= bᵢ(z) - ξᵢ for all z                      (1)
    (a, b: objective.py; squared slacks likewise). Algorithm 1 of Joachims et al. 2009 and of the 2004 paper:
        line 4    for i = 1 … n                                      (here in blocks of `block` examples)
        line 5      z <- argmax violation of i at w                  oracle.planes
        line 6-7    if it exceeds ξᵢ + ε, add it to the working set  PlaneDual.visit(epsilon=ε)
        line 8      re-optimise                                      reoptimise="joint": over all working sets;
                                                                     "block": over example i's only, the rest frozen
        line 11   until nothing was added
    When nothing is violated by more than ε, w is within Cε of the optimum. ε follows from tol: half of tol times the
    objective, divided by C. The restricted problem on line 8 is solved by exact block ascent from the last solution,
    or by an interior point method if that is too slow (joint_rounds.py).

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`.
    block : int
        Examples per oracle call.
    reoptimise : str
        "joint", or "block", the variant of section 3.2 of the 2004 paper.
    cache_mb : float
        The limit of the plane cache.
    """

    block: int = 16
    reoptimise: str = "joint"
    cache_mb: float = 1024.0

    requires: ClassVar[Requirements] = (Oracle,)

    def begin(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Passes:
        if self.reoptimise not in ("joint", "block"):
            raise ValueError(f"reoptimise must be 'joint' or 'block', got {self.reoptimise!r}")
        earlier = None if start is None else start.memory
        limits = Limits(256, oracle.memory.of_cache(self.cache_mb), oracle.memory)
        blocks = oracle.plane_dual(C, limits, earlier)
        return Passes(oracle, JointRounds(oracle, blocks, C, self.tol), seed)

    def advance(self, oracle: Oracle, C: float, at: Passes) -> Iterator[Step]:
        joint, everyone = at.joint, np.arange(oracle.n)
        while True:
            remaining = self.max_passes - (oracle.calls - at.calls_before) / oracle.n
            if self.reoptimise == "joint" and joint.due(at.stalled >= 3, remaining):
                yield from joint.steps(remaining)
                at.stalled = 3 if joint.exhausted else 0
            if at.stalled >= 3:
                return
            blocks: Any = joint.blocks
            epsilon = 0.0 if np.isinf(at.epsilon) else at.epsilon
            before, added, rounds = blocks.dual, 0, 0
            for begin in range(0, oracle.n, self.block):
                index = everyone[begin : begin + self.block]
                report = blocks.visit(index, oracle.planes(blocks.w, index), steps=1000, epsilon=epsilon)
                oracle.check_missed(index[0], report.missed, blocks.w)
                added += report.added
                if self.reoptimise == "joint" and report.added:
                    rounds += self._optimise(blocks, at.rng, rounds=3)
            rounds += self._optimise(blocks, at.rng, rounds=50)
            blocks.tidy()
            blocks.refresh()
            blocks.check_separable()
            slacks = oracle.slacks(blocks.w)
            risk = oracle.risk_of(slacks)
            value = oracle.objective(blocks.w, risk, C)
            at.epsilon = 0.5 * self.tol * value / C if np.isfinite(C) else 0.0
            at.stalled = at.stalled + 1 if not added and blocks.dual - before <= 1e-16 * abs(blocks.dual) else 0
            joint.note(oracle.call_cost + rounds, value)
            yield Step(blocks.w, risk=risk, memory=blocks, slacks=slacks, hoped=blocks.dual)

    def _optimise(self, blocks: PlaneDual, rng: np.random.Generator, rounds: int) -> int:
        """Ascend over the working sets (line 8) until a round gains almost nothing; return the number of rounds."""
        for done in range(rounds):
            if blocks.visit(rng.permutation(blocks.n), steps=100).gain <= 0.01 * self.tol * abs(blocks.dual):
                return done + 1
        return rounds
