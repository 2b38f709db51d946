"""CountingCertificate: a proof of how exactly a counting-based model solves its training problem, a linear system."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import ClassVar

from maxmargin.base.files.fields import Flag, Real, Text, Whole
from maxmargin.base.files.objects import Fields


@dataclass(frozen=True)
class CountingCertificate:
    """The certificate of a counting-based model, with the vocabulary of `objective.Certificate`.

    It belongs to the problem of least_squares.py. `primal` and `dual` are relative to the objective of f = 0, which is
    `at_zero`: a model that has learnt something has a negative objective.

    Parameters
    ----------
    primal : float
        An upper bound on the objective of the returned model, measured from scratch.
    dual : float
        A lower bound on every objective value, from the gradient at the model; -inf if none is proved.
    at_zero : float
        ½ for every correct output.
    residual : float
        The residual of the linear system, computed from scratch, relative to its right side.
    converged : bool
        True if the residual is at most ten times tol (or 1e-9) and, where a lower bound is proved, the relative gap at
        most ten times tol (or 1e-6).
    solver : str or Solver
        "closed form" or "conjugate gradients".
    iterations : int
        The number of iterations of conjugate gradients.
    seconds, cpu_seconds : float
        The first model of a path includes the work shared by all.
    stop_reason : str
        Why training ended, in words.
    """

    primal: float
    dual: float
    at_zero: float
    residual: float
    converged: bool
    solver: str
    iterations: int
    seconds: float
    cpu_seconds: float
    stop_reason: str

    saved: ClassVar[Fields] = {
        "primal": Real(finite=False),
        "dual": Real(finite=False),
        "at_zero": Real(finite=False),
        "residual": Real(finite=False),
        "converged": Flag(),
        "solver": Text(),
        "iterations": Whole(),
        "seconds": Real(),
        "cpu_seconds": Real(),
        "stop_reason": Text(),
    }

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The share of the whole objective that might still be gained; inf if there is no lower bound."""
        return whole_gap(self.at_zero, self.primal, self.dual)

    def explained(self) -> list[str]:
        """Explain in sentences, for readers new to the subject, what the certificate proves."""
        known = "No lower bound is proved."
        if isfinite(self.dual):
            known = (
                f"No model at all can have one below {self.dual:.6g}: what is left to gain is at most "
                f"{100 * self.relative_gap:.3g}% of the whole objective."
            )
        how = self.solver if not self.iterations else f"{self.solver}, {self.iterations} iterations"
        return [
            f"Training is a least squares problem over all outputs. Its objective, less that of the empty model, is "
            f"{self.primal:.6g}. {known}",
            f"The linear system was solved by {how}, to a residual of {self.residual:.2g}, in {self.seconds:.3g} s "
            f"({self.stop_reason}).",
            "All of this is about training, not about new data: the scores are about these.",
        ]

    def __str__(self) -> str:
        bound = "no lower bound"
        if isfinite(self.dual):
            bound = f"lower bound {self.dual:.6g}: relative gap {100 * self.relative_gap:.3g}%"
        how = self.solver if not self.iterations else f"{self.solver}, {self.iterations} iterations"
        return (
            f"objective {self.primal:.6g}, {bound}, residual {self.residual:.2g} "
            f"({how}, {self.seconds:.2f} s, {self.stop_reason})"
        )


def whole_gap(at_zero: float, primal: float, dual: float) -> float:
    """Return (P - D) / P for the whole objective, the sum of squares; inf if it is lost in the rounding of at_zero."""
    whole = at_zero + primal
    if not (isfinite(primal) and isfinite(dual)) or (whole <= 0 and primal > dual):
        return inf
    return max(primal - dual, 0.0) / whole if whole > 0 else 0.0
