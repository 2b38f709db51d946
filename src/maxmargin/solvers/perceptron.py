"""The averaged structured perceptron."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from typing import ClassVar

import numpy as np

from maxmargin.base.files.fields import Real, Whole
from maxmargin.base.files.learnt import InPlace, RandomState
from maxmargin.base.files.objects import Fields
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.solvers.base import Solver
from maxmargin.solvers.requirements import FREE_WEIGHTS, Requirements
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step
from maxmargin.solvers.subgradient import Walk, squared_norms


class Updates:
    """The state of the method between two passes."""

    learnt: ClassVar[Fields] = {
        "rng": RandomState(),
        **dict.fromkeys(("v", "late"), InPlace()),
        **dict.fromkeys(("t", "hint"), Real(least=0)),
        "unit": Real(),
        "mistakes": Whole(),
    }

    def __init__(self, oracle: Oracle, walk: Walk, seed: int):
        self.rng, self.t, self.hint = np.random.default_rng(seed), walk.t, walk.hint
        # w = unit·v, because a search that cannot weigh the loss by the hint would need w/hint.
        self.unit = 1.0 if oracle.batch.weighs_loss else self.hint or 1.0
        # The average of v over t updates is v - late/t, where `late` sums the updates, each times its number.
        self.v, self.late = walk.w / self.unit, walk.average / self.unit
        self.mistakes = 1  # the number of mistakes of the last pass

    @property
    def memory(self) -> Walk:
        return Walk(self.unit * self.v, self.unit * self.late, self.t, self.hint)


class Perceptron(Solver, name="perceptron"):
    """Update w <- w + Ψ(x, y) - Ψ(x, argmax_z ⟨w, Ψ(x, z)⟩) after every example; return the average of all w.

    This is subgradient descent on the structured hinge without regulariser, loss and step size (section 2.1 of Stratos'
    notes; Collins 2002). Training ignores C, rescaling and slack; the certificate measures P(w) all the same. The model
    is the average at the end of training, not the point of least P(w), which is often an early one. Training stops
    early when a whole pass makes no mistake. A step costs as much as its example has features.

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`.
    block : int
        Examples per update; more than one is faster only for tasks in plain Python.
    """

    block: int = 1
    max_passes: float = 10
    certified: ClassVar[bool] = False
    keeps_last: ClassVar[bool] = True
    online: ClassVar[bool] = True

    requires: ClassVar[Requirements] = (Oracle, FREE_WEIGHTS)

    def begin(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Updates:
        return Updates(oracle, Walk.of(start, oracle.dim), seed)

    def advance(self, oracle: Oracle, C: float, at: Updates) -> Iterator[Step]:
        while at.mistakes:
            at.mistakes = 0
            order = at.rng.permutation(oracle.n)
            for begin in range(0, oracle.n, self.block):
                index = order[begin : begin + self.block]
                planes = oracle.predicted_planes(at.v, index, (at.hint or 1.0) / at.unit)
                if not at.hint:  # at w = 0 every hint finds the same planes
                    at.hint = _hint(planes)
                    at.unit = 1.0 if oracle.batch.weighs_loss else at.hint or 1.0
                rows = AtomRows.of(planes.dpsi)
                at.mistakes += int(np.count_nonzero(np.diff(rows.indptr)))
                rows.add_to(at.v, oracle.weights[index] / at.unit)
                rows.add_to(at.late, at.t * oracle.weights[index] / at.unit)
                at.t += 1
            yield Step(at.unit * (at.v - at.late / at.t), memory=at.memory)


def _hint(planes: Planes) -> float:
    """Return a weight of losses that decides ties only: 2⁻⁴⁰ of the scores that these mistakes make; 0 if none do.

    Scores grow with the square of the features, so a fixed number would be too large for tiny features. A power of two
    is used because dividing by it is exact.
    """
    scores, losses = float(np.mean(squared_norms(planes))), float(np.mean(planes.loss))
    return 2.0 ** (round(log2(scores / losses)) - 40) if scores > 0 and losses > 0 else 0.0
