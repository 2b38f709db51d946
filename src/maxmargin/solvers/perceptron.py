"""The averaged structured perceptron."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from maxmargin.atoms import AtomRows
from maxmargin.oracle import Oracle
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.subgradient import Walk


class Perceptron(Solver):
    """w <- w + Ψ(x, y) - Ψ(x, argmax_z ⟨w, Ψ(x, z)⟩) after every example; return the average of all w.

    Subgradient descent on the structured hinge without regulariser, loss and step size (section 2.1 of Stratos' notes;
    Collins 2002). C, rescaling and slack play no part in training; the certificate measures P(w) all the same. It stops
    early when a whole pass makes no mistake.
    """

    block: int = 1  # examples per update; more are faster in plain Python tasks only
    max_passes: float = 10
    certified: ClassVar[bool] = False
    online: ClassVar[bool] = True

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        rng = np.random.default_rng(seed)
        walk = Walk.of(start, oracle.dim)
        w, late, t = walk.w.copy(), walk.average.copy(), walk.t
        # The average of w over t updates is w - late/t, where `late` adds every update times its number.
        mistakes = 1
        while mistakes:
            mistakes = 0
            order = rng.permutation(oracle.n)
            for begin in range(0, oracle.n, self.block):
                index = order[begin : begin + self.block]
                rows = AtomRows.of(oracle.predicted_planes(w, index))
                mistakes += int(np.count_nonzero(np.diff(rows.indptr)))
                rows.add_to(w, oracle.weights[index])
                rows.add_to(late, t * oracle.weights[index])
                t += 1
            yield Step(w - late / t, memory=Walk(w.copy(), late.copy(), t))
