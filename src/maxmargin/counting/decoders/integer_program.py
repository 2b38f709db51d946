"""Programs in zeros and ones, solved to the optimum by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from maxmargin.base.arrays import Array

EXACTLY = {"mip_rel_gap": 0.0}  # HiGHS would stop at a gap of 0.01%


def least_cost(cost: Array, lower: Any, rows: list[LinearConstraint], what: str) -> Array:
    """min ⟨cost, x⟩ over whole numbers lower <= x <= 1 that satisfy the rows; `what` is searched, for messages."""
    solved = milp(cost, integrality=np.ones(len(cost)), bounds=Bounds(lower, 1.0), constraints=rows, options=EXACTLY)
    if not solved.success:
        raise RuntimeError(f"the integer program that finds the best {what} was not solved: {solved.message}")
    return np.asarray(solved.x)
