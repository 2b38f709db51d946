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
    """The trained weights, their certificate, and what a later run can start from."""

    w: Array
    certificate: Certificate
    C: float
    history: list[dict[str, float]] = field(default_factory=list)
    memory: Any = None  # what the algorithm remembers (dual point, cuts): lets the next run start warm
    error: Exception | None = None  # what stopped training early, if something did
    rounds: list[Any] = field(default_factory=list)  # of latent training, one Round each
    risk: float = nan  # R(w), as far as it was measured

    saved: ClassVar[Fields] = {
        "certificate": Part(Certificate),
        "C": Real(least=0, finite=False),
        "history": Field(),
        "memory": IfDeclared(),  # an online solver's; checked by the model, which knows how long weights are
        "rounds": Field(),
        "risk": Real(finite=False),
        "w": Dropped(),
        "error": Dropped(),
    }

    @property
    def norm(self) -> float:
        """Return ‖w‖, or the distance to the prior: what the objective has beside the risk."""
        square = 2 * (self.certificate.primal - self.C * self.risk)
        return sqrt(square) if square > 1e-14 * self.certificate.primal else 0.0  # not what rounding has left
