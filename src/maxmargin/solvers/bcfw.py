"""Block-coordinate Frank-Wolfe with a plane cache: the default trainer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxmargin.oracle import Oracle
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.dual_blocks import DualBlocks
from maxmargin.task import Array


class BCFW(Solver):
    """Improve the dual one example at a time, with exact steps among all planes remembered for it.

    Minimise   P(w) = ½‖w‖² + C/n Σᵢ vᵢ max_z [Δ(yᵢ,z) - ⟨w, δΨᵢ(z)⟩]                          (1)
    (and its slack-rescaled and squared relatives, objective.py) through the dual point that DualBlocks keeps:
               D = Σ α b - ½‖w‖² <= min P,   w = Σ α a.                                        (2)
    A visit of example i asks the oracle for its most violated plane at w and moves weight, exactly and pairwise, among
    this plane, the cached planes of i and the truth; D never falls, even if the plane was computed at a slightly
    older w, so planes are asked for in blocks. Between oracle passes, cached passes make the same steps without the
    oracle while they pay off: while a pass gains at least `cached_gain` of what the last oracle pass gained.
    The heights seen on the way give an estimate of P(w) for free; the loop measures it when that looks converged.

    Lacoste-Julien, Jaggi, Schmidt, Pletscher (ICML 2013), Algorithm 4; the plane cache and the rule for cached passes
    follow Shah, Kolmogorov, Lampert (CVPR 2015), with work counted instead of seconds so that a seed fixes the result.
    """

    block: int = 16  # examples per oracle call: planes inside a block are up to this many steps old
    planes_per_example: int = 32  # a full example folds its two lightest planes into one
    cache_mb: float = 1024.0  # limit of the plane cache; one plane per example always stays
    ratio: float = 4.0
    beta: float = 0.5

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        rng = np.random.default_rng(seed)
        self._blocks = blocks = starting_blocks(oracle, C, start, self.planes_per_example, self.cache_mb)
        stalled = passes = 0
        average = None
        while stalled < 3:
            before = blocks.dual
            order = rng.permutation(oracle.n)
            penalty, added = 0.0, 0
            for begin in range(0, oracle.n, self.block):
                index = order[begin : begin + self.block]
                report = blocks.visit(index, oracle.planes(blocks.w, index))
                penalty += report.penalty
                added += report.added
            cached = 0
            while True:
                gain = blocks.visit(rng.permutation(oracle.n)).gain
                cached += 1
                if gain * (self.ratio + cached) < blocks.dual - before:
                    break
            blocks.tidy()
            passes += 1
            if passes % 10 == 0:
                blocks.refresh()
                blocks.check_separable()
            if self.beta<1: average = blocks.w.copy() if average is None else average + self.beta*(blocks.w-average)
            else: average=blocks.w
            yield Step(average, blocks.dual, guess=self._guess(blocks.w, penalty) if np.isfinite(C) else None)
            stalled = stalled + 1 if blocks.dual - before <= 1e-14 * abs(blocks.dual) and not added else 0

    def _guess(self, w: Array, penalty: float) -> float:
        return 0.5 * float(np.dot(w, w)) + penalty

    def state(self) -> DualBlocks:
        return self._blocks


def starting_blocks(oracle: Oracle, C: float, start: Solution | None, slots: int, cache_mb: float) -> DualBlocks:
    """An empty dual point, or the one of an earlier run moved to this C."""
    if start is not None and isinstance(start.state, DualBlocks):
        blocks = start.state
        blocks.move_to(oracle, C)
        return blocks
    return DualBlocks(oracle, C, slots=slots, cache_mb=cache_mb)
