"""Warn about a training that has ended at w = 0; the message claims no more than is proved."""

from __future__ import annotations

from math import isfinite

import numpy as np

from maxmargin.base.errors import NothingLearnt, warn_caller
from maxmargin.base.search import Search
from maxmargin.problem.dual.objective import Certificate
from maxmargin.solvers import Solution

ROUNDING = 1e-9  # smaller relative gaps are due to the allowance for rounding in certificates


def warn_of_zero(solution: Solution, advice: str) -> None:
    """Warn if training has ended at w = 0, unless it was interrupted, which has a warning of its own.

    advice : a sentence for the case that w = 0 is optimal or nearly so.
    """
    certificate = solution.certificate
    if np.any(solution.w) or certificate.stop_reason == "interrupted":
        return
    if certificate.converged:
        warn_caller(f"nothing was learnt: {_proved(certificate, solution.C)}. {advice}", NothingLearnt)
        return
    known = "this solver has no bound that would prove anything about it"
    if isfinite(certificate.dual):
        known = f"{certificate.stop_reason}; the gap is {100 * certificate.relative_gap:.3g}%"
    warn_caller(
        f"nothing was learnt: training ended at w = 0 without converging ({known}). Scale the features, allow "
        "more passes (max_passes), or try another solver",
        NothingLearnt,
    )


def remedy(certificate: Certificate) -> str:
    """Return advice for the case that w = 0 is optimal or nearly so."""
    if certificate.rounds is not None:
        return "Try more restarts, other first weights, or another C"
    return "Try other features, a smaller tol, or (if it is small) a larger C"


def _proved(certificate: Certificate, C: float) -> str:
    """Return a sentence about w = 0 that the certificate of a converged model proves."""
    if certificate.primal == 0:
        return "w = 0 is optimal, because the objective is 0 already: all models of these data are equally good"
    gap = certificate.proved_gap if isfinite(certificate.proved_gap) else certificate.relative_gap
    text = f"training ended at w = 0, whose objective for C = {C:g} is the lowest"
    if gap > ROUNDING:
        text += f" within the gap of {100 * gap:.2g}%"
    if certificate.rounds is not None:
        text += " for the current latent variables"
    if certificate.search is Search.OVERGENERATING:
        text += " (of the relaxed problem)"
    elif not isfinite(certificate.proved_gap):
        text += ", as far as the search finds the worst outputs"
    return text
