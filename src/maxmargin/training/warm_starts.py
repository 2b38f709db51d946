"""Which earlier solution a training can start from, and what is kept of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from maxmargin.base.arrays import Array
from maxmargin.solvers import Solution
from maxmargin.solvers.subgradient import Walk


def fingerprint(*problem: Any) -> str | None:
    """Of the problem that is solved: task, data, weights, loss. None where it cannot be taken.

    A dual point proves nothing about another problem, so only the same one may be started from.
    """
    import joblib

    try:
        return str(joblib.hash(problem))
    except Exception:  # a task or data that cannot be pickled: every fit starts cold
        return None


def lasting(solution: Solution, w: Array) -> Solution:
    """What is worth keeping of a solution: the model's weights, not the plane cache, but where an online solver is."""
    memory: Any = solution.memory if isinstance(solution.memory, Walk) else None
    return replace(solution, w=w, memory=memory, error=None)
