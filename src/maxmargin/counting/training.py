"""Counting-based training of one model, or of a path of models: which way to solve the linear system, and the proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.counting import conjugate_gradients
from maxmargin.counting.closed_form import ClosedForm
from maxmargin.counting.problem import Moments, Problem

CLOSED_ROWS = 3000  # up to which the closed form, cubic in the number of rows, is the faster way
CLOSED_LINEAR_ROWS = 500  # the same where linear inputs have few features, whose weights can be solved for
ROUNDING = 1e-9  # of a residual that is as small as floating point numbers allow
METHODS = ("auto", "closed", "cg")


@dataclass(frozen=True)
class Residual:
    """How exactly a counting-based model solves its training problem, which is a linear system."""

    objective: float  # J, normalised by the number of outputs
    residual: float  # of the linear system, relative to its right side
    method: str  # "closed form" or "conjugate gradients"
    iterations: int
    converged: bool  # the residual is within ten times tol, or rounding
    seconds: float  # of the first model of a path with what all share
    cpu_seconds: float

    def __str__(self) -> str:
        how = self.method if not self.iterations else f"{self.method}, {self.iterations} iterations"
        end = "" if self.converged else ", not converged"
        return f"objective {self.objective:.6g}, residual {self.residual:.2g} ({how}, {self.seconds:.2f} s{end})"


class Fit(NamedTuple):
    """The trained coefficients: of kernel values at the training inputs (n, d), or of input features (p, d)."""

    coefficients: Array
    certificate: Residual


class LinearSystem:
    """Solves the problem of given inputs and outputs for any λ.

    X : (n, p) inputs for the linear kernel, or None.
    K : () -> (n, n) kernel matrix, asked for only where it is needed.
    """

    def __init__(
        self,
        moments: Moments,
        rows: Array,
        owner: NDArray[np.intp],
        X: Any,
        K: Callable[[], Array],
        method: str,
        tol: float,
        max_iter: int,
    ):
        self._began = _clocks()
        self.moments, self.rows, self.owner = moments, rows, owner
        self.tol, self.max_iter = tol, max_iter
        spectrum = None if moments.common is None else moments.common.cov_spectrum()
        if method == "closed" and spectrum is None:
            raise ValueError(
                "the closed form needs one output set for all examples whose covariance has few, known eigenvalues; "
                "use method='cg'"
            )
        few_features = X is not None and X.shape[1] <= moments.n
        limit = CLOSED_LINEAR_ROWS if few_features else CLOSED_ROWS
        closed = method == "closed" or (method == "auto" and spectrum is not None and len(rows) <= limit)
        self.primal = few_features and not closed
        self.inputs: Any = conjugate_gradients.Linear(X) if self.primal else None
        self.X, self.K = X, None if self.primal else K()
        self.closed: ClosedForm | None = None
        if closed:
            assert spectrum is not None
            assert self.K is not None
            problem = self._problem(1.0)
            self.closed = ClosedForm(self.K[np.ix_(owner, owner)], problem.centred, spectrum)

    def _problem(self, lam: float) -> Problem:
        return Problem(self.moments, self.rows, self.owner, lam / self.moments.repeats)

    def fit(self, lam: float) -> Fit:
        """Minimise for this λ, in the convention of the paper (features of ordered pairs counted twice)."""
        problem, iterations, start = self._problem(lam), 0, None
        method = "conjugate gradients"
        if self.closed is not None:
            start, method = problem.summed(self.closed.solve(problem.lam)), "closed form"
        found = start
        if found is None or problem.inverse.max() > 1e-12:  # several outputs in a small set: one more term
            if self.inputs is None:
                self.inputs = conjugate_gradients.Kernel(self.K)  # type: ignore[arg-type]
            solved = conjugate_gradients.solve(
                problem,
                self.inputs,
                self.tol,
                self.max_iter,
                start,
                lambda it: self._converged(self._measure(problem, it)[0]),
            )
            found, iterations = solved.coefficients, solved.iterations
        residual, objective = self._measure(problem, found)
        certificate = Residual(
            objective,
            residual,
            method,
            iterations,
            self._converged(residual),
            *(now - began for now, began in zip(_clocks(), self._began, strict=True)),
        )
        self._began = _clocks()
        return Fit(found, certificate)

    def path(self, lams: Sequence[float]) -> Iterator[Fit]:
        """One fit for every λ; what does not depend on it is computed once."""
        return (self.fit(lam) for lam in lams)

    def _converged(self, residual: float) -> bool:
        return residual <= max(10 * self.tol, ROUNDING)

    def _measure(self, problem: Problem, found: Array) -> tuple[float, float]:
        """Residual and objective, from scratch."""
        if not self.primal:
            F = self.K @ found  # type: ignore[operator]
            return problem.residual(found, F), problem.value(F, float(np.vdot(found, F)))
        F = np.asarray(self.X @ found)
        target = self.inputs.adjoint(problem.target())
        missed = 2 * problem.lam * found + self.inputs.adjoint(problem.curvature(F)) - target
        size = max(float(np.linalg.norm(target)), 1e-300)
        return float(np.linalg.norm(missed)) / size, problem.value(F, float(np.vdot(found, found)))


def _clocks() -> tuple[float, float]:
    """Time on the wall and of the processor."""
    return time.perf_counter(), time.process_time()
