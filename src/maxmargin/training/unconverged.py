"""The warning about a training that has ended above its tolerance, with the reason and advice."""

from __future__ import annotations

from math import isfinite

from sklearn.exceptions import ConvergenceWarning

from maxmargin.base.errors import warn_caller
from maxmargin.problem.dual.objective import Certificate
from maxmargin.solvers.base import Solver

ASKED_FOR = ("converged", "finished", "interrupted", "stopped by the callback")  # known, or reported elsewhere


def warn_of_gap(estimator: str, certificate: Certificate, solver: Solver) -> None:
    """Issue a ConvergenceWarning if a solver with a certificate has not reached its tolerance."""
    if certificate.converged or not solver.certified or certificate.stop_reason in ASKED_FOR:
        return
    gap = certificate.relative_gap
    distance = f"at a relative gap of {100 * gap:.3g}%" if isfinite(gap) else "without a bound on the gap"
    warn_caller(
        f"{estimator} stopped {distance}, above tol = {solver.tol:g} ({certificate.stop_reason}): the model may be "
        f"that far from the optimum. {_remedy(certificate, solver)}",
        ConvergenceWarning,
    )


def _remedy(certificate: Certificate, solver: Solver) -> str:
    scale = "bring the features to similar scales (sklearn.preprocessing.StandardScaler; MaxAbsScaler if sparse)"
    if certificate.stop_reason == "max_passes reached":
        if certificate.relative_gap < 5 * solver.tol:
            return f"It was close: raise max_passes (now {solver.max_passes:g})."
        return f"Raise max_passes (now {solver.max_passes:g}), {scale}, or lower C."
    return (
        "No step gains anything any more, because of rounding or (slack rescaling, squared slacks) because the search "
        f"only bounds the violations: {scale}, lower C, or raise tol."
    )
