"""0/1 integer programs, solved to optimality by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from maxmargin.base.arrays import Array

EXACTLY = {"mip_rel_gap": 0.0}  # by default, HiGHS stops at a gap of 0.01%


def least_cost(cost: Array, lower: Any, rows: list[LinearConstraint], what: str) -> Array:
    """Minimise ⟨cost, x⟩ over integers lower <= x <= 1 that satisfy the rows; `what` names the result in errors."""
    solved = milp(cost, integrality=np.ones(len(cost)), bounds=Bounds(lower, 1.0), constraints=rows, options=EXACTLY)
    if not solved.success:
        raise RuntimeError(f"the integer program that finds the best {what} was not solved: {solved.message}")
    return np.asarray(solved.x)
