"""Earlier solutions: whether a training can start from one, and the parts of a solution that are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from maxmargin.base.arrays import Array
from maxmargin.solvers import Solution
from maxmargin.solvers.subgradient import Walk
from maxmargin.training.checkpoints.identity import Identity
from maxmargin.training.problem import Problem


def earlier_solution(last: Solution | None, fitted_to: Identity | None, problem: Problem) -> Solution | None:
    """Return the last solution if it belongs to the same problem, and None otherwise.

    fitted_to : the identity of the problem that the last solution belongs to.
    """
    if last is None or problem.identity is None or problem.identity.data is None or fitted_to != problem.identity:
        return None
    return last if len(last.w) == problem.oracle.dim else None  # a pickled model has only its support vectors


def lasting(solution: Solution, w: Array) -> Solution:
    """Return the part of a solution that is kept: the weights of the model, and the state of an online solver."""
    memory: Any = solution.memory if isinstance(solution.memory, Walk) else None
    return replace(solution, w=w, memory=memory, error=None)
