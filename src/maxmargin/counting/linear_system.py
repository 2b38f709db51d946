"""Training of one counting-based model or of a path of models: the choice of a solver, and the certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.compile_clock import work_cpu_seconds, work_seconds
from maxmargin.base.files.learnt import Keeper
from maxmargin.base.progress_line import LiveLine
from maxmargin.base.time_left import TimeLeft
from maxmargin.counting import conjugate_gradients
from maxmargin.counting.certificate import CountingCertificate, whole_gap
from maxmargin.counting.closed_form import ClosedForm
from maxmargin.counting.conjugate_gradients import KernelInputs, LinearInputs
from maxmargin.counting.least_squares import LeastSquares
from maxmargin.counting.measured import Bounds, bounds
from maxmargin.counting.moments import Moments
from maxmargin.counting.targets import MARGIN, Target

SolverName = Literal["auto", "closed", "cg"]

CLOSED_ROWS = 3000  # the largest number of rows for which the closed form, cubic in it, is faster
CLOSED_LINEAR_ROWS = 500  # the same if linear inputs have few features, whose weights can be solved for
ROUNDING = 1e-9  # the smallest residual that floating point numbers allow
GAP = 1e-6  # the smallest relative gap that can be requested: the rounding of large sets leaves about 1e-7
ROUNDED = "rounding errors left a gap"
SOLVERS = get_args(SolverName)


class CountingSolution(NamedTuple):
    """The solution of the linear system, with a certificate of its accuracy."""

    coefficients: Array  # (n, d) for kernel values at the n training inputs, or (p, d) for p input features
    certificate: CountingCertificate


@dataclass(frozen=True)
class LinearSystem:
    """The linear system (3) of least_squares.py for given inputs and outputs."""

    moments: Moments
    rows: Array  # (R, d) φ of the correct outputs
    owner: Index  # (R,) the example of each row
    X: Any  # (n, p) inputs for the linear kernel, or None
    kernel_matrix: Callable[[Index | slice], Array]  # the kernel matrix of some examples, computed only if it is needed
    fitted_to: Target = MARGIN

    @property
    def outputs_per_example(self) -> float:
        """The mean number of correct outputs, the default λ of the paper."""
        return len(self.owner) / self.moments.n

    def problem(self, lam: float) -> LeastSquares:
        """Return the least squares problem for λ in the convention of the paper.

        There, features of ordered pairs count twice.
        """
        return self.fitted_to.problem(self.moments, self.rows, self.owner, lam / self.moments.repeats)

    def part(self, members: Index) -> LinearSystem:
        """Return the linear system of some examples, whose indices are in ascending order."""
        chosen = np.isin(self.owner, members)
        return LinearSystem(
            self.moments.part(members),
            self.rows[chosen],
            np.searchsorted(members, self.owner[chosen]),
            None if self.X is None else self.X[members],
            lambda inner: self.kernel_matrix(members[inner]),
            self.fitted_to,
        )

    def decomposed(self, solver: str, tol: float, max_iter: int, line: LiveLine | None = None) -> DecomposedSystem:
        """Choose a solver and do all the work that does not depend on λ, which is cubic in the number of examples."""
        began, line = _clocks(), LiveLine(False, "training") if line is None else line
        common = self.moments.common
        spectrum = None if common is None else common.cov_spectrum()
        if solver == "closed" and spectrum is None:
            raise ValueError(
                "the closed form needs one output set for all examples whose covariance has few, known eigenvalues; "
                "use solver='cg'"
            )
        few_features = self.X is not None and self.X.shape[1] <= self.moments.n
        limit = CLOSED_LINEAR_ROWS if few_features else CLOSED_ROWS
        closed = solver == "closed" or (solver == "auto" and spectrum is not None and len(self.rows) <= limit)
        if few_features and not closed:
            line.doing(f"decomposing the covariance of {self.X.shape[1]:,} features")
            return DecomposedSystem(self, tol, max_iter, began, None, None, LinearInputs.of(self.X), line)
        line.doing(f"computing the kernel matrix of {self.moments.n:,} examples")
        K = self.kernel_matrix(slice(None))
        line.doing(f"decomposing the kernel matrix of {self.moments.n:,} examples")
        if not closed:
            return DecomposedSystem(self, tol, max_iter, began, K, None, KernelInputs.of(K), line)
        assert spectrum is not None
        form = self.fitted_to.form.of(K[np.ix_(self.owner, self.owner)], self.problem(1.0).centred, spectrum)
        return DecomposedSystem(self, tol, max_iter, began, K, form, None, line)


@dataclass
class DecomposedSystem:
    """A linear system that is ready to be solved for any λ."""

    system: LinearSystem
    tol: float
    max_iter: int
    began: tuple[float, float]  # clocks at the start of the work on the next solution
    K: Array | None  # None if the system is solved for weights of features (`primal`)
    closed: ClosedForm | None
    inputs: LinearInputs | None  # for conjugate gradients; None until they are needed
    line: LiveLine  # shows progress

    @property
    def primal(self) -> bool:
        """True if the coefficients are weights of input features."""
        return self.K is None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the coefficients."""
        return self.system.X.shape[1] if self.primal else self.system.moments.n, self.system.rows.shape[1]

    def solve(self, lam: float, keeper: Keeper | None = None) -> CountingSolution:
        """Solve the system for this λ; with a keeper, resume from its state."""
        problem, iterations = self.system.problem(lam), 0
        self.line.doing("solving the linear system")
        start = None if self.closed is None else problem.summed(self.closed.solve(problem.lam))
        found = start
        if found is None or problem.inverse.max() > 1e-12:  # several outputs of a small set add a term
            if self.inputs is None:
                assert self.K is not None
                self.inputs = KernelInputs.of(self.K)
            solved = conjugate_gradients.solve(
                problem,
                self.inputs,
                self.tol,
                self.max_iter,
                start,
                lambda coefficients: self._accepted(problem, coefficients),
                self._watch() if self.line.on else None,
                keeper,
            )
            found, iterations = solved.coefficients, solved.iterations
        return CountingSolution(found, self._certificate(problem, found, iterations))

    def objective(self, lam: float, coefficients: Array) -> float:
        """Return the objective of these coefficients, not rounded down."""
        return self._bounds(self.system.problem(lam), coefficients).upper

    def weights(self, solution: CountingSolution) -> Array:
        """Return the (p, d) weights of input features, for the linear kernel."""
        return self._feature_weights(solution.coefficients)

    def _watch(self) -> Callable[[int, float], None]:
        """Return a function that shows the progress of conjugate gradients."""
        began, left = work_seconds(), TimeLeft(self.tol, self.max_iter)

        def watch(iteration: int, residual: float) -> None:
            seconds = work_seconds() - began
            text = f"iteration {iteration}  residual {residual:.2g}  {seconds:.1f} s"
            more = left.seconds(residual, iteration, seconds)
            self.line.show(text if more is None else f"{text}  about {more:.0f} s left")

        return watch

    def _certificate(self, problem: LeastSquares, found: Array, iterations: int) -> CountingCertificate:
        residual, proved = self._residual(problem, found), self._bounds(problem, found)
        converged = self._converged(problem, residual, proved)
        exhausted = not converged and iterations >= self.max_iter
        began, self.began = self.began, _clocks()
        seconds, cpu_seconds = (now - before for now, before in zip(self.began, began, strict=True))
        return CountingCertificate(
            primal=proved.upper,
            dual=proved.lower,
            at_zero=problem.at_zero,
            residual=residual,
            converged=converged,
            solver="conjugate gradients" if self.closed is None else "closed form",
            iterations=iterations,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            stop_reason="converged" if converged else "max_iter reached" if exhausted else ROUNDED,
        )

    def _converged(self, problem: LeastSquares, residual: float, proved: Bounds) -> bool:
        """Return whether the residual is small and, if a lower bound is proved, so is the gap."""
        gap = whole_gap(problem.at_zero, proved.upper, proved.lower) if problem.convex else 0.0
        return residual <= max(10 * self.tol, ROUNDING) and gap <= max(10 * self.tol, GAP)

    def _accepted(self, problem: LeastSquares, found: Array) -> bool:
        """Return whether further iterations are not needed, or cannot make the gap small because of rounding."""
        residual = self._residual(problem, found)
        if residual > max(10 * self.tol, ROUNDING):
            return False
        proved = self._bounds(problem, found)
        rounded = proved.rounding > max(10 * self.tol, GAP) * (problem.at_zero + proved.upper)
        return rounded or self._converged(problem, residual, proved)

    def _bounds(self, problem: LeastSquares, found: Array) -> Bounds:
        """Return bounds on the objective: for the linear kernel at the weights of the features, which are the model."""
        if self.system.X is None:
            return bounds(problem, self.K, found, kernel=True)
        return bounds(problem, self.system.X, self._feature_weights(found), kernel=False)

    def _feature_weights(self, found: Array) -> Array:
        return found if self.primal else np.asarray(self.system.X.T @ found)

    def _residual(self, problem: LeastSquares, found: Array) -> float:
        """Measure the residual of the linear system from scratch, relative to its right side."""
        target = problem.target()
        if self.K is not None:
            rest = 2 * problem.lam * found + problem.curvature(self.K @ found) - target
        else:
            assert self.inputs is not None
            curved = problem.curvature(np.asarray(self.system.X @ found))
            target = self.inputs.adjoint(target)
            rest = 2 * problem.lam * found + self.inputs.adjoint(curved) - target
        return float(np.linalg.norm(rest) / max(float(np.linalg.norm(target)), 1e-300))


def _clocks() -> tuple[float, float]:
    """Return clocks of elapsed and of processor seconds, both without compilation."""
    return work_seconds(), work_cpu_seconds()
