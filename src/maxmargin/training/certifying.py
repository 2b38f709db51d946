"""Certify given weights: measure their objective, and find a lower bound on the best one by a separate run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.latent import is_latent
from maxmargin.problem.dual.objective import Certificate, relative_gap
from maxmargin.problem.oracle.completions import completed
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers import BCFW, LBFGS
from maxmargin.solvers.contradictions import deny_contradiction, proved_primal
from maxmargin.solvers.steps import remembered_risk
from maxmargin.training.options import checked_solver
from maxmargin.training.problem import Problem
from maxmargin.training.progress import watching


def certificate_of(problem: Problem, w: Array, C: float, tol: float, seed: int, rounds: int | None) -> Certificate:
    """Return the certificate of the weights w of a model for these data.

    tol : the relative gap at which the search for a bound stops.
    rounds : the number of rounds in which the model was trained, if outputs have hidden parts; a local optimum is then
        certified. None for other tasks.
    """
    batch, oracle, _, line = problem
    solver = checked_solver(LBFGS(tol=tol) if isinstance(oracle, SoftOracle) else BCFW(tol=tol))
    name = type(solver).__name__
    line.doing("looking for a bound")
    space = batch.offers(KernelSpace)
    w = w if space is None else space.lifted(w)
    if not np.array_equal(oracle.space.allowed(w), w):
        raise ValueError("the weights of this model violate its bounds; fit it again, or change bounds")
    if isinstance(oracle, Oracle) and is_latent(batch):
        oracle = completed(oracle, w)
    solution = solver.solve(oracle, C, callback=watching(line, solver), seed=seed)
    if solution.error is not None:  # without a bound there is nothing to certify
        raise solution.error
    bound = solution.certificate
    value, upper = oracle.objective(w, oracle.risk(w), C), None
    if oracle.search.estimates:
        value = max(value, oracle.objective(w, remembered_risk(solution.memory, w), C))
        upper = proved_primal(oracle, w, C)
    else:
        deny_contradiction(value, bound.dual, name, batch.name)
    certificate = replace(
        bound,
        primal=value,
        upper=upper,
        search=oracle.search,
        method=oracle.method,
        converged=relative_gap(value, bound.dual) <= tol,
        stop_reason=f"bound computed by {name}: {bound.stop_reason}",
        rounds=rounds,
    )
    line.say(str(certificate))
    return certificate
