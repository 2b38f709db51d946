"""check_solver: certificates are correct, and a seed determines the result."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import Any

import numpy as np
from sklearn.base import clone

from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Certificate, Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import Record, Solution, Solver
from maxmargin.testing.comparisons import check, ready
from maxmargin.testing.problems import TinyProblem


def check_solver(
    solver: Solver,
    task: Task,
    X: Any,
    Y: Any,
    C: float = 1.0,
    formulation: Formulation | None = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> Solution:
    """Check on a tiny problem that the certificate of a solver is correct, and that a seed determines its result.

    Every objective value is recomputed by enumeration, at every step and for the returned weights; no lower bound may
    exceed any of them.

    Parameters
    ----------
    solver : str or Solver
        The Solver to check.
    task, X, Y : Task, sequence and sequence
        A task that is not latent and has `outputs`, and its data.
    C : float
        The regularisation parameter.
    formulation : Formulation or None
        Rescaling and slack; None for margin rescaling with linear slack.
    sample_weight : array-like or None
        Weights of the examples, or None.
    seed : int
        The seed of the solver's random numbers.

    Returns
    -------
    Solution, for further checks.

    Raises
    ------
    AssertionError, if a check fails.

    See Also
    --------
    check_task : the same for tasks.
    """
    formulation = formulation or Formulation()
    task = ready(task, X, Y)
    if task.latent:
        raise ValueError(f"{type(task).__name__} has latent variables; a solver is checked on a convex problem")
    problem = TinyProblem(task, X, Y, C, formulation, sample_weight)
    name = type(solver).__name__
    duals: list[float] = []

    def watch(record: Record) -> None:
        duals.append(record.dual)
        value = problem.value(record.w)
        where = f"{name}, step {len(duals)}"
        check(problem.bounds(record.dual, value), f"{where}: the bound {record.dual!r} exceeds P(w) = {value!r}")
        if isfinite(record.primal) and isfinite(C):
            problem.check_measured(record.primal, value, where)

    def run(callback: Callable[[Record], Any] | None = None) -> Solution:
        oracle = Oracle(task.pack(X, Y), formulation, sample_weight)
        solution = clone(solver).solve(oracle, C, callback=callback, seed=seed)
        if solution.error is not None:
            raise solution.error
        return solution

    solution = run(watch)
    certificate, value = solution.certificate, problem.value(solution.w)
    problem.check_measured(certificate.primal, value, f"{name}, at the end")
    best = max(duals, default=-inf)
    check(problem.bounds(best, value), f"{name}: the bound {best!r} exceeds the final objective {value!r}")
    # During training the bound is a running value; the bound of the certificate is proved, and so slightly lower.
    lowest = best - 1e-9 * (1 + abs(best)) if isfinite(best) else best
    check(
        lowest <= certificate.dual <= best,
        f"{name}: the certificate's bound {certificate.dual!r} is not the best one, {best!r}",
    )
    _check_certificate(solver, certificate)
    check(np.array_equal(solution.w, run().w), f"{name}: two runs with the same seed gave different weights")
    stopped = run(lambda record: True).certificate
    check(stopped.stop_reason == "stopped by the callback", f"{name} continued after the callback had returned True")
    _check_options(solver)
    return solution


def _check_certificate(solver: Solver, certificate: Certificate) -> None:
    name = type(solver).__name__
    if not solver.certified:
        check(not certificate.converged, f"{name} has no bound, but it reports that it has converged")
        check(certificate.dual == -inf, f"{name} is not certified, but it reports the bound {certificate.dual}")
    if certificate.converged:
        check(
            certificate.relative_gap <= solver.tol,
            f"{name} reports that it has converged with a gap of {certificate.relative_gap} > tol = {solver.tol}",
        )
    else:
        check(
            certificate.stop_reason != "converged",
            f"{name} stopped as converged, but its certificate says that it has not",
        )


def _check_options(solver: Solver) -> None:
    kind = type(solver)
    try:
        kind(no_such_option=1)
    except TypeError:
        pass
    else:
        raise AssertionError(f"{kind.__name__}(no_such_option=1) did not raise a TypeError")
    params = solver.get_params()
    copied = kind(**params).get_params()
    same = copied.keys() == params.keys() and all(np.array_equal(copied[key], params[key]) for key in params)
    check(same, f"{kind.__name__}(**solver.get_params()) has other options")
