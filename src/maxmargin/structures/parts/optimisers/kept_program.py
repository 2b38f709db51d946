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

    scipy passes HiGHS the whole program for every c, and HiGHS runs its presolve each time. Here it is passed once, and
    solved without presolve: a 50 × 50 assignment as a linear program takes 1.6 ms instead of 10 (7 without presolve),
    one of 10 rows and 20 columns 0.10 ms instead of 1.1. Every solve starts from scratch: warm starts are not faster in
    general (1.3 ms if costs differ little, 6.6 if they differ much), and the choice among several best z would depend
    on earlier costs. Integer programs gained only a third (two capacities of 32 items: 16 ms instead of 24) and are
    left to scipy.

    Every thread has a program of its own, and copies and pickles have none.
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
        said = str(program.modelStatusToString(status))
        if status != highspy.HighsModelStatus.kOptimal:
            return None, said
        return np.array(program.getSolution().col_value), said

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
