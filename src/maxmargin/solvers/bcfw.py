"""Block-coordinate Frank-Wolfe with a plane cache: the default solver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from maxmargin.problem.dual.block_dual import BlockDual, Report
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers.base import Solver
from maxmargin.solvers.joint_rounds import JointRounds, Passes
from maxmargin.solvers.requirements import Requirements
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step

MOST_AGAIN = 1000  # the most passes without a search after one with a search


class BCFW(Solver, name="bcfw"):
    """Improve the dual one example at a time, with exact steps among all planes remembered for it.

    Minimise   P(w) = ½‖w‖² + C/n Σᵢ vᵢ max_z [Δ(yᵢ,z) - ⟨w, δΨᵢ(z)⟩]                          (1)
    (and its slack-rescaled and squared relatives, objective.py) through a dual point (block_dual.py):
               D = Σ α b - ½‖w‖² <= min P,   w = Σ α a.                                        (2)
    A visit of example i asks the oracle for its most violated plane at w and moves weight, exactly and pairwise, among
    this plane, the cached planes of i and the truth; D never falls, even if the plane was computed at a slightly
    older w, so planes are asked for in blocks. After each oracle pass, cached passes make the same steps without the
    oracle, as long as the last one gained more per unit of work than oracle pass and cached passes together so far.
    PlaneDual does this. If a batch knows all planes of an example (classes), a visit solves the block at once; if
    planes are sums over positions (chains), it moves weight position by position and revisits examples that gained.
    The heights seen on the way estimate P(w) at no cost; the loop measures P(w) when the estimate looks converged.
    If blocks pull w in directions that nearly cancel (features of very different sizes), steps of single examples are
    too slow, and rounds over all examples replace them (joint_rounds.py).

    Lacoste-Julien, Jaggi, Schmidt, Pletscher (ICML 2013), Algorithm 4; the plane cache and the rule for cached passes
    follow Shah, Kolmogorov, Lampert (CVPR 2015), with work counted instead of seconds so that a seed fixes the result.

    Parameters
    ----------
    tol, max_passes : as for `Solver`.
    block : examples per oracle call; planes within a block are computed at a w that is up to this many steps old.
    planes_per_example : if an example has more planes, its two lightest ones are folded into one.
    cache_mb : the limit of the plane cache; one plane per example is always kept.
    """

    block: int = 16
    planes_per_example: int = 32
    cache_mb: float = 1024.0

    requires: ClassVar[Requirements] = (Oracle,)

    def begin(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Passes:
        earlier = None if start is None else start.memory
        limits = Limits(self.planes_per_example, oracle.memory.of_cache(self.cache_mb), oracle.memory)
        blocks = oracle.block_dual(C, limits, earlier)
        return Passes(oracle, JointRounds(oracle, blocks, C, self.tol), seed)

    def advance(self, oracle: Oracle, C: float, at: Passes) -> Iterator[Step]:
        joint, most = at.joint, at.calls_before + self.max_passes * oracle.n
        while True:
            remaining = (most - oracle.calls) / oracle.n
            if joint.due(at.stalled >= 3, remaining):
                yield from joint.steps(remaining)
                at.stalled = 3 if joint.exhausted else 0
            if at.stalled >= 3:
                return
            blocks = joint.blocks
            before = blocks.dual
            found, work = self._round(oracle, blocks, at.rng, most)
            blocks.tidy()
            at.passes += 1
            if at.passes % 10 == 0:
                blocks.refresh()
                if isinstance(blocks, PlaneDual):
                    blocks.check_separable()
            guess = 0.5 * oracle.space.square(blocks.w) + found.penalty
            nothing = blocks.dual - before <= 1e-16 * abs(blocks.dual) and not found.added
            at.stalled = at.stalled + 1 if nothing else 0
            joint.note(work, guess)
            yield Step(blocks.w, guess=guess if np.isfinite(C) else None, memory=blocks, hoped=blocks.dual)

    def _round(self, oracle: Oracle, blocks: BlockDual, rng: np.random.Generator, most: float) -> tuple[Report, float]:
        """Visit all examples with a search, then again without one while that gains more per unit of work than so far.

        Visits that compare all outputs make at most `most` calls of the oracle. Return the report of the search and the
        work of all visits.
        """
        before = blocks.dual
        found = blocks.search(oracle, rng.permutation(oracle.n), self.block)
        work, gain, share = found.work, np.inf, 1.0
        # The limit matters for hard margins that cannot be met, whose dual grows without end; others stop long before.
        while gain * work >= share * (blocks.dual - before) > 0 and work < found.work + MOST_AGAIN:
            if oracle.calls + blocks.calls_again > most:
                break
            again = blocks.revisit(oracle, rng)
            gain, share = again.gain, again.work
            work += share
        return found, work
