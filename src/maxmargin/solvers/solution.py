"""Solution: the result of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, sqrt
from typing import Any, ClassVar

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Part, Real
from maxmargin.base.files.objects import Dropped, Field, Fields, IfDeclared
from maxmargin.problem.dual.objective import Certificate


@dataclass
class Solution:
    """The result of a run: weights, their certificate, and a starting point for later runs.

    Parameters
    ----------
    w : array
        The weights.
    certificate : Certificate
        The certificate.
    C : float
        The weight of the risk in the objective.
    history : list of dict
        One dict per step.
    memory : Memory or None
        The memory of the algorithm (dual point, cuts), for a warm start.
    error : Exception or None
        The error that stopped training early, if any.
    rounds : list of Round
        The rounds of latent training.
    risk : float
        R(w), if it was measured.
    """

    w: Array
    certificate: Certificate
    C: float
    history: list[dict[str, float]] = field(default_factory=list)
    memory: Any = None
    error: Exception | None = None
    rounds: list[Any] = field(default_factory=list)
    risk: float = nan

    saved: ClassVar[Fields] = {
        "certificate": Part(Certificate),
        "C": Real(least=0, finite=False),
        "history": Field(),
        "memory": IfDeclared(),  # the state of an online solver; checked by the model, which knows the length of w
        "rounds": Field(),
        "risk": Real(finite=False),
        "w": Dropped(),
        "error": Dropped(),
    }

    @property
    def norm(self) -> float:
        """‖w‖, or the distance to the prior: the square root of twice the regulariser."""
        square = 2 * (self.certificate.primal - self.C * self.risk)
        return sqrt(square) if square > 1e-14 * self.certificate.primal else 0.0  # below that it is rounding
