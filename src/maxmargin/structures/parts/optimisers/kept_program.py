"""A linear programme that stays in HiGHS while its costs change, where the package highspy is installed."""

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
    """Whether there is highspy, which is optional."""
    return find_spec("highspy") is not None


class KeptProgram:
    """min ⟨c, z⟩ with low <= A z <= high and lower <= z <= upper, for many c.

    scipy hands HiGHS the whole programme for every c, and HiGHS looks for simplifications each time. Here it is handed
    over once, and solved without these: on a 50 × 50 assignment written as a linear programme 1.6 ms instead of 10 (7
    without simplifications), on one of 10 rows and 20 columns 0.10 ms instead of 1.1. Every search begins anew: from
    the last solution it would be no faster (1.3 ms where costs differ little, 6.6 where they differ much), and which of
    several best z is found would depend on the costs before. Programmes in whole numbers gained a third only (two
    capacities of 32 things: 16 ms instead of 24), and go to scipy.

    Every thread has a programme of its own, and a copy or a pickle has none.
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
        """The best z, or None, and what HiGHS says of it."""
        import highspy

        if not hasattr(self._own, "program"):
            self._own.program = self._handed_over()
        program, n = self._own.program, len(costs)
        program.clearSolver()
        program.changeColsCost(n, np.arange(n, dtype=np.int32), costs)
        program.run()
        status = program.getModelStatus()
        said = str(program.modelStatusToString(status))
        if status != highspy.HighsModelStatus.kOptimal:
            return None, said
        return np.array(program.getSolution().col_value), said

    def _handed_over(self) -> Any:
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
