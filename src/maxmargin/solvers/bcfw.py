"""Block-coordinate Frank-Wolfe with a plane cache: the default trainer."""

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

MOST_AGAIN = 1000  # visits of everyone after one that searches


class BCFW(Solver, name="bcfw"):
    """Improve the dual one example at a time, with exact steps among all planes remembered for it.

    Minimise   P(w) = ½‖w‖² + C/n Σᵢ vᵢ max_z [Δ(yᵢ,z) - ⟨w, δΨᵢ(z)⟩]                          (1)
    (and its slack-rescaled and squared relatives, objective.py) through a dual point (block_dual.py):
               D = Σ α b - ½‖w‖² <= min P,   w = Σ α a.                                        (2)
    A visit of example i asks the oracle for its most violated plane at w and moves weight, exactly and pairwise, among
    this plane, the cached planes of i and the truth; D never falls, even if the plane was computed at a slightly
    older w, so planes are asked for in blocks. After each oracle pass, cached passes make the same steps without the
    oracle, as long as the last one gained more per unit of work than oracle pass and cached passes together so far.
    That is PlaneDual; where a batch knows all planes of an example (classes), a visit solves the block at once, where
    planes are made of parts (chains), it moves weight part by part, and those who gained are visited again.
    The heights seen on the way give an estimate of P(w) for free; the loop measures it when that looks converged.
    Where steps of single examples will not get there in reasonable time, because blocks pull w in directions that
    nearly cancel (features of very different sizes), rounds over all of them take their place (joint_rounds.py).

    Lacoste-Julien, Jaggi, Schmidt, Pletscher (ICML 2013), Algorithm 4; the plane cache and the rule for cached passes
    follow Shah, Kolmogorov, Lampert (CVPR 2015), with work counted instead of seconds so that a seed fixes the result.
    """

    block: int = 16  # examples per oracle call: planes inside a block are up to this many steps old
    planes_per_example: int = 32  # a full example folds its two lightest planes into one
    cache_mb: float = 1024.0  # limit of the plane cache; one plane per example always stays

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
        """Visit everyone with a search, then again while that gains more per unit of work than the round has so far.

        Visits that look at all outputs keep to `most` calls of the oracle. Returns what the search saw, and the work of
        all visits.
        """
        before = blocks.dual
        found = blocks.search(oracle, rng.permutation(oracle.n), self.block)
        work, gain, share = found.work, np.inf, 1.0
        # The limit is for hard margins that cannot be met, whose dual grows for ever; others end long before.
        while gain * work >= share * (blocks.dual - before) > 0 and work < found.work + MOST_AGAIN:
            if oracle.calls + blocks.calls_again > most:
                break
            again = blocks.revisit(oracle, rng)
            gain, share = again.gain, again.work
            work += share
        return found, work
