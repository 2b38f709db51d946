"""The averaged structured perceptron."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from typing import ClassVar

import numpy as np

from maxmargin.atoms import AtomRows
from maxmargin.oracle import Oracle
from maxmargin.planes import Planes
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.subgradient import Walk, squared_norms


class Perceptron(Solver):
    """w <- w + Ψ(x, y) - Ψ(x, argmax_z ⟨w, Ψ(x, z)⟩) after every example; return the average of all w.

    Subgradient descent on the structured hinge without regulariser, loss and step size (section 2.1 of Stratos' notes;
    Collins 2002). C, rescaling and slack play no part in training; the certificate measures P(w) all the same. The
    model is the average when training ends, however it ends, and not the one of least P(w): that is often an early one.
    It stops early when a whole pass makes no mistake. A step costs as much as its example has features.
    """

    block: int = 1  # examples per update; more are faster in plain Python tasks only
    max_passes: float = 10
    certified: ClassVar[bool] = False
    keeps_last: ClassVar[bool] = True
    online: ClassVar[bool] = True

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        rng = np.random.default_rng(seed)
        walk = Walk.of(start, oracle.dim)
        t, hint = walk.t, walk.hint
        # w = unit·v, so that a search which cannot weigh the loss by the hint has no w/hint to form.
        unit = 1.0 if oracle.weighs_loss else hint or 1.0
        # The average of v over t updates is v - late/t, where `late` adds every update times its number.
        v, late = walk.w / unit, walk.average / unit
        mistakes = 1
        while mistakes:
            mistakes = 0
            order = rng.permutation(oracle.n)
            for begin in range(0, oracle.n, self.block):
                index = order[begin : begin + self.block]
                planes = oracle.predicted_planes(v, index, (hint or 1.0) / unit)
                if not hint:  # w = 0 until now, where any hint finds the same planes, and any unit will do
                    hint = _hint(planes)
                    unit = 1.0 if oracle.weighs_loss else hint or 1.0
                rows = AtomRows.of(planes.dpsi)
                mistakes += int(np.count_nonzero(np.diff(rows.indptr)))
                rows.add_to(v, oracle.weights[index] / unit)
                rows.add_to(late, t * oracle.weights[index] / unit)
                t += 1
            yield Step(unit * (v - late / t), memory=Walk(unit * v, unit * late, t, hint))


def _hint(planes: Planes) -> float:
    """What a loss weighs where it is to decide ties only: 2⁻⁴⁰ of the scores that these mistakes make; 0 if none do.

    Scores grow with the square of the features, so that a fixed number would be no hint where features are tiny. It is
    a power of two: to divide by it rounds nothing.
    """
    scores, losses = float(np.mean(squared_norms(planes))), float(np.mean(planes.loss))
    return 2.0 ** (round(log2(scores / losses)) - 40) if scores > 0 and losses > 0 else 0.0
