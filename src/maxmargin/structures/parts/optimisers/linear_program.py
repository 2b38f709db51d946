"""LinearProgram: linear and mixed-integer programs, solved by HiGHS."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from maxmargin.base.arrays import Array
from maxmargin.inputs.matrices import without_duplicates
from maxmargin.structures.parts.optimisers.base import Optimiser
from maxmargin.structures.parts.optimisers.kept_program import KeptProgram, installed

WITHIN = 1e-6  # tolerated violation of constraints, relative to their terms (1e-7 is the tolerance of HiGHS)


class LinearProgram(Optimiser):
    """Linear or mixed-integer program with fixed constraints, solved by HiGHS.

    Parts are the variables:

        min ⟨c, z⟩      with  A_ub z <= b_ub,  A_eq z = b_eq,  low <= z <= high,  z_p whole if integrality is 1      (1)

    or max, by the simplex method, so that z is a vertex of the polytope, or by branch and bound without a gap. Costs
    are divided by the largest of them first, because the tolerances of HiGHS are absolute; z is best up to about 1e-7
    of the largest cost. If the package highspy is installed (the extra `lp`), programs without integer variables stay
    in HiGHS between calls, which is 6 to 11 times as fast. Examples with constraints of their own have a LinearProgram
    each.

    Parameters
    ----------
    A_ub, A_eq : matrix, optional
        A column for each part, dense or sparse.
    b_ub, b_eq : array, optional
        A number for each row of A_ub and A_eq.
    bounds : pair or sequence of pairs
        (low, high) for all parts, or a pair for each; None means no bound.
    integrality : int or array
        0 or 1 (integer) for all parts, or for each.
    sense : "min" or "max"
        Whether costs are minimised or values maximised.

    See Also
    --------
    MinCostFlow, Knapsack, Assignment : Special cases.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> program = optimisers.LinearProgram(A_eq=[[1, 1, 1]], b_eq=[1])  # a point of the simplex
    >>> program([3.0, 1.0, 2.0])
    array([0., 1., 0.])
    """

    n_parts: int

    def __init__(
        self,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
        integrality: Any = 0,
        sense: Literal["min", "max"] = "min",
    ):
        self.A_ub = A_ub
        self.b_ub = b_ub
        self.A_eq = A_eq
        self.b_eq = b_eq
        self.bounds = bounds
        self.integrality = integrality
        self.sense = sense
        if sense not in ("min", "max"):
            raise ValueError(f"sense must be 'min' or 'max', got {sense!r}")
        upper, equal = _system("A_ub", A_ub, "b_ub", b_ub), _system("A_eq", A_eq, "b_eq", b_eq)
        self.n_parts = _n_parts(upper, equal, bounds)
        self._set_rows(upper, equal)
        self._lower, self._upper = _limits(bounds, self.n_parts)
        self._whole = _flags(integrality, self.n_parts)
        self._kept = KeptProgram(sparse.csc_array(self._A), self._low, self._high, self._lower, self._upper)
        self._best(np.zeros(self.n_parts))  # raises an error if no z is feasible, whatever the costs

    def _set_rows(self, upper: Any, equal: Any) -> None:
        systems = [system for system in (upper, equal) if system is not None]
        matrices = [A for A, _ in systems] or [sparse.csr_array((0, self.n_parts))]
        self._A = sparse.csr_array(sparse.vstack(matrices, format="csr"))
        self._n_upper = 0 if upper is None else len(upper[1])
        self._high = np.concatenate([np.zeros(0), *(b for _, b in systems)])
        self._low = self._high.copy()
        self._low[: self._n_upper] = -np.inf

    def solve(self, costs: Array) -> Array:
        largest = np.abs(costs).max(initial=0.0)
        return self._best(costs / (largest if self.sense == "min" else -largest) if largest > 0 else costs)

    def _best(self, costs: Array) -> Array:
        if installed() and not self._whole.any():
            z, said = self._kept.solve(costs)
        else:
            found = milp(
                costs,
                integrality=self._whole.astype(int),
                bounds=Bounds(self._lower, self._upper),
                constraints=LinearConstraint(self._A, self._low, self._high) if self._A.shape[0] else None,
                options={"mip_rel_gap": 0.0},
            )
            z, said = (found.x if found.success else None), found.message
        if z is None:
            raise ValueError(f"the linear program has no best solution: {said}; expected feasible, bounded constraints")
        z[self._whole] = np.rint(z[self._whole])
        return np.clip(z, self._lower, self._upper)

    def check(self, z: Any) -> None:
        z = self._vector(z)
        allowed = WITHIN * np.maximum(1.0, np.abs(z))
        for p in np.flatnonzero((z < self._lower - allowed) | (z > self._upper + allowed)):
            raise ValueError(f"part {p} has z = {z[p]}; expected {self._lower[p]} <= z <= {self._upper[p]}")
        for p in np.flatnonzero(self._whole & (np.abs(z - np.rint(z)) > allowed)):
            raise ValueError(f"part {p} has z = {z[p]}; expected a whole number")
        total = self._A @ z
        allowed = WITHIN * (1.0 + abs(self._A) @ np.abs(z))
        for row in np.flatnonzero((total < self._low - allowed) | (total > self._high + allowed)):
            upper = bool(row < self._n_upper)
            name = f"row {row} of A_ub" if upper else f"row {row - self._n_upper} of A_eq"
            raise ValueError(f"{name} adds up to {total[row]:.9g}; expected {'at most ' * upper}{self._high[row]:.9g}")


def _system(matrix_name: str, A: Any, sides_name: str, b: Any) -> tuple[sparse.csr_array, Array] | None:
    """Return a matrix and its right-hand sides after checking them."""
    if (A is None) != (b is None):
        missing, given = (matrix_name, sides_name) if A is None else (sides_name, matrix_name)
        raise ValueError(f"{given} is given without {missing}; expected both or neither")
    if A is None:
        return None
    if sparse.issparse(A):
        matrix = sparse.csr_array(without_duplicates(A))
    else:
        matrix = sparse.csr_array(np.atleast_2d(np.asarray(A, dtype=np.float64)))
    sides = np.atleast_1d(np.asarray(b, dtype=np.float64))
    if sides.shape != (matrix.shape[0],):
        raise ValueError(
            f"{sides_name} has shape {sides.shape}; expected ({matrix.shape[0]},), one for every row of {matrix_name}"
        )
    for name, values in ((matrix_name, matrix.data), (sides_name, sides)):
        if not np.isfinite(values).all():
            raise ValueError(f"there is {values[~np.isfinite(values)][0]} in {name}; expected finite numbers")
    return matrix.astype(np.float64), sides


def _n_parts(upper: Any, equal: Any, bounds: Any) -> int:
    sizes = {name: system[0].shape[1] for name, system in (("A_ub", upper), ("A_eq", equal)) if system is not None}
    if np.ndim(bounds) == 2:
        sizes["bounds"] = len(bounds)
    if not sizes:
        raise ValueError("the number of parts is unknown: expected A_ub, A_eq, or a pair of bounds for each part")
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{size} in {name}" for name, size in sizes.items())
        raise ValueError(f"the arguments have different numbers of parts: {found}; expected the same number")
    return int(next(iter(sizes.values())))


def _limits(bounds: Any, n_parts: int) -> tuple[Array, Array]:
    """Return the lower and upper bounds of all parts."""
    if np.ndim(bounds) not in (1, 2) or np.shape(bounds)[-1] != 2:
        raise ValueError(
            f"bounds have shape {np.shape(bounds)}; expected (low, high), or a pair (low, high) for each part"
        )
    pairs = bounds if np.ndim(bounds) == 2 else [bounds] * n_parts
    lower = np.array([-np.inf if low is None else low for low, _ in pairs], dtype=np.float64)
    upper = np.array([np.inf if high is None else high for _, high in pairs], dtype=np.float64)
    for p in np.flatnonzero(~(lower <= upper)):
        raise ValueError(f"the bounds of part {p} are {lower[p]} and {upper[p]}; expected low <= high")
    return lower, upper


def _flags(integrality: Any, n_parts: int) -> np.ndarray:
    """Return whether each part must be an integer."""
    if np.ndim(integrality) > 1 or np.size(integrality) not in (1, n_parts):
        raise ValueError(f"integrality has shape {np.shape(integrality)}; expected a number, or ({n_parts},)")
    flags = np.broadcast_to(np.asarray(integrality), (n_parts,))
    if not np.isin(flags, (0, 1)).all():
        raise ValueError(f"integrality is {integrality!r}; expected 0 (any number) or 1 (whole numbers)")
    return flags.astype(bool)
