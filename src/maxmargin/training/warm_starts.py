"""Earlier solutions: which one a training can start from, and what is kept of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from maxmargin.base.arrays import Array
from maxmargin.solvers import Solution
from maxmargin.solvers.subgradient import Walk
from maxmargin.training.problem import Problem


def fingerprint(*problem: Any) -> str | None:
    """Return a hash of a problem (task, data, weights, loss), or None if it cannot be hashed.

    A dual point proves nothing about another problem, so only the same one may be started from.
    """
    import joblib

    try:
        return str(joblib.hash(problem))
    except Exception:  # a task or data that cannot be pickled: every fit starts cold
        return None


def earlier_solution(last: Solution | None, fitted_to: str | None, problem: Problem) -> Solution | None:
    """Return the last solution if it is one of the same problem, and None otherwise.

    fitted_to : the fingerprint of the problem that the last solution belongs to.
    """
    if last is None or problem.fingerprint is None or fitted_to != problem.fingerprint:
        return None
    return last if len(last.w) == problem.oracle.dim else None  # a pickled model has its support only


def lasting(solution: Solution, w: Array) -> Solution:
    """Return what is worth keeping of a solution: the weights of the model, and the state of an online solver."""
    memory: Any = solution.memory if isinstance(solution.memory, Walk) else None
    return replace(solution, w=w, memory=memory, error=None)
