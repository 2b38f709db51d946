"""KeptProgram: a linear program that stays in HiGHS while its costs change, if the package highspy is installed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from threading import local
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array


@cache
def installed() -> bool:
    """Return whether the optional package highspy is installed."""
    return find_spec("highspy") is not None


class KeptProgram:
    """Linear program min ⟨c, z⟩ with low <= A z <= high and lower <= z <= upper, for many c.

    scipy passes the whole program to HiGHS for every c, and HiGHS runs its presolve each time. This class passes the
    program once and solves it without presolve: a 50 × 50 assignment takes 1.6 ms instead of 10 ms (scipy without
    presolve: 7 ms), and a program with 10 rows and 20 columns takes 0.10 ms instead of 1.1 ms. Every solve starts from
    scratch. Warm starts are not faster in general (1.3 ms if the costs differ little, 6.6 ms if they differ much), and
    would make the choice among several optimal z depend on earlier costs. Integer programs are left to scipy, because
    they are only a third faster in this form (knapsacks with two capacities and 32 items: 16 ms instead of 24 ms).

    Every thread creates its own program in HiGHS, which is neither copied nor pickled.
    """

    def __init__(self, A: sparse.csc_array, low: Array, high: Array, lower: Array, upper: Array):
        self._arrays = A, low, high, lower, upper
        self._own = local()

    def __getstate__(self) -> Any:
        return self._arrays

    def __setstate__(self, arrays: Any) -> None:
        self._arrays = arrays
        self._own = local()

    def solve(self, costs: Array) -> tuple[Array | None, str]:
        """Return the best z or None, and the status message of HiGHS."""
        import highspy

        if not hasattr(self._own, "program"):
            self._own.program = self._new_program()
        program, n = self._own.program, len(costs)
        program.clearSolver()
        program.changeColsCost(n, np.arange(n, dtype=np.int32), costs)
        program.run()
        status = program.getModelStatus()
        message = str(program.modelStatusToString(status))
        if status != highspy.HighsModelStatus.kOptimal:
            return None, message
        return np.array(program.getSolution().col_value), message

    def _new_program(self) -> Any:
        import highspy

        A, low, high, lower, upper = self._arrays
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = A.shape
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(A.shape[1]), lower, upper
        lp.row_lower_, lp.row_upper_ = low, high
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
        program = highspy.Highs()
        options: dict[str, Any] = {"output_flag": False, "presolve": "off", "solver": "simplex"}
        for option, value in options.items():
            program.setOptionValue(option, value)
        program.passModel(lp)
        return program
