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

MOST_AGAIN = 1000  # the largest number of cached passes after one oracle pass


class BCFW(Solver, name="bcfw"):
    """Block-coordinate Frank-Wolfe: improve the dual one example at a time, by exact steps among its cached planes.

    The solver minimises
               P(w) = ½‖w‖² + C/n Σᵢ vᵢ max_z [Δ(yᵢ,z) - ⟨w, δΨᵢ(z)⟩]                          (1)
    (or its forms with slack rescaling and squared slacks, see objective.py) by raising a dual point (block_dual.py)
               D = Σ α b - ½‖w‖² <= min P,   w = Σ α a.                                        (2)
    A visit to example i asks the oracle for the most violated plane at w, and moves weight, exactly and pairwise, among
    this plane, the cached planes of i and the truth. D never falls, even if the plane was computed at a slightly older
    w, so the oracle is called for blocks of examples. After each oracle pass, cached passes make the same steps without
    the oracle, as long as the last pass gained more per unit of work than this oracle pass and its cached passes did on
    average. PlaneDual implements these steps. If a batch knows all planes of an example (classes), a visit solves the
    block at once; if planes are sums over positions (chains), it moves weight position by position and revisits the
    examples that gained. The heights of the planes found during a pass give an estimate of P(w) at no cost; P(w) is
    measured when this estimate is close enough to D. If blocks pull w in directions that nearly cancel (features of
    very different sizes), steps of single examples are too slow, and rounds over all examples replace them
    (joint_rounds.py).

    The method is Algorithm 4 of Lacoste-Julien, Jaggi, Schmidt and Pletscher (ICML 2013). The plane cache and the rule
    for cached passes follow Shah, Kolmogorov and Lampert (CVPR 2015), but count work instead of seconds, so that the
    seed determines the result.

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`.
    block : int
        The number of examples per oracle call; their planes are computed at a w that is up to `block` steps old.
    planes_per_example : int
        If an example has more planes, the two of least weight are merged into one.
    cache_mb : float
        The size limit of the plane cache in megabytes; one plane per example is always kept.
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
        """Make an oracle pass, and cached passes while the last one gains more per unit of work than the average.

        Cached passes end before the calls of the oracle exceed `most`, because some batches count a visit as a call.
        Returns the report of the oracle pass and the work of all passes.
        """
        before = blocks.dual
        found = blocks.search(oracle, rng.permutation(oracle.n), self.block)
        work, gain, share = found.work, np.inf, 1.0
        # The limit matters only for hard margins that cannot be met, because their dual grows without end.
        while gain * work >= share * (blocks.dual - before) > 0 and work < found.work + MOST_AGAIN:
            if oracle.calls + blocks.calls_again > most:
                break
            again = blocks.revisit(oracle, rng)
            gain, share = again.gain, again.work
            work += share
        return found, work
