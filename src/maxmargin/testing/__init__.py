"""Checks for tasks, solvers and executors, and the exact optimum of tiny problems: for this package and for yours.

All checks compare with enumeration: all outputs of a small x are listed, and the best of them is chosen. Values are
compared, never outputs, because ties are common. A failed check raises an AssertionError that names the example.
"""

from __future__ import annotations

from maxmargin.testing.executor_checks import check_executor
from maxmargin.testing.problems import Optimum, brute_force, objective
from maxmargin.testing.scored_checks import check_scored
from maxmargin.testing.solver_checks import check_solver
from maxmargin.testing.sum_checks import check_sums
from maxmargin.testing.task_checks import SEARCHED, check_task

__all__ = [
    "SEARCHED",
    "Optimum",
    "brute_force",
    "check_executor",
    "check_scored",
    "check_solver",
    "check_sums",
    "check_task",
    "objective",
]
