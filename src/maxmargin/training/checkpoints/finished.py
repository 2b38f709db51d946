"""Solutions of finished trainings, whose objectives are measured again before they are returned."""

from __future__ import annotations

from math import inf, isfinite

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.capabilities.latent import is_latent
from maxmargin.problem.oracle.completions import completed
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.solvers.solution import Solution
from maxmargin.training.checkpoints.checkpoint import Training
from maxmargin.training.checkpoints.solutions import read_solution
from maxmargin.training.problem import Problem

ROUNDING = 1e-6  # the relative change of an objective that other processors and other sums may cause
SEARCHES = 1e-2  # the same if the decoder is not exact, so that its answers depend on earlier ones
TINY = 1e-9  # the part of C that counts as rounding if the objective is near 0


def finished_solution(training: Training, problem: Problem) -> Solution | None:
    """Return the solution of a finished training; None if it is not finished, or if its objective has changed.

    One pass over the data measures the objective. This detects changes that neither the hash of the data nor the hash
    of the code can detect, such as a change of a file that a loss function reads.
    """
    if training.ended is None:
        return None
    problem.line.doing("going on")
    solution = read_solution(training.ended, problem.oracle.dim)
    kept = solution.certificate.primal
    if not isfinite(kept):
        return solution
    measured = _objective(problem, solution.w, solution.C)
    within = SEARCHES if problem.oracle.search.estimates else ROUNDING
    allowed = within * max(abs(kept), abs(measured)) + TINY * solution.C
    return solution if training.confirms(kept, measured, allowed if isfinite(allowed) else within) else None


def _objective(problem: Problem, w: Array, C: float) -> float:
    oracle: RiskOracle = problem.oracle
    if isinstance(oracle, Oracle) and is_latent(problem.batch):
        oracle = completed(oracle, w)
    risk = oracle.risk(w)
    if isfinite(C):
        return oracle.objective(w, risk, C)
    hard = risk <= ROUNDING * oracle.risk(np.zeros(oracle.dim))  # a hard margin that holds up to rounding
    return oracle.objective(w, 0.0, C) if hard else inf
