"""Tiny structural SVMs with all of their constraints written out, and their exact optimum.

Everything here follows the definitions by listing all outputs, and shares no code with the solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.errors import NotSeparable, TaskError
from maxmargin.base.search import Search
from maxmargin.problem.contract.capabilities.latent import latent_of
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.testing.comparisons import below, check, explicit, length, ready

Outputs = Callable[[Any], Iterable[Any]]
MOST = 100_000  # the most outputs of an example of a tiny problem


class Optimum(NamedTuple):
    """The solution of a structural SVM over all of its constraints.

    Attributes
    ----------
    value : float
        The objective at w.
    w : array
        The optimal weights.
    """

    value: float  # the objective, measured at w
    w: Array


class WrittenOut(NamedTuple):
    """All outputs of one example."""

    truth: Array  # Ψ(x, y); for a latent task, Ψ of a completion of y
    psi: Array  # (outputs, dim): Ψ of every output
    loss: Array  # (outputs,): the loss of every output

    def margins(self, w: Array) -> Array:
        return np.asarray((self.truth - self.psi) @ w)

    @property
    def explaining(self) -> NDArray[np.intp]:
        """The outputs without loss; for a latent task those that explain the label."""
        return np.flatnonzero(self.loss == 0)

    def best_explanation(self, w: Array) -> float:
        """Return the highest score of an output that explains the label."""
        return float(np.max(self.psi[self.explaining] @ w))


def written_out(
    task: Task, x: Any, y: Any, i: int, most: int, outputs: Outputs | None = None, completed_at: Array | None = None
) -> WrittenOut | None:
    """Return example i with all of its outputs, or None if there are more than `most`."""
    psi: list[Array] = []
    loss: list[float] = []
    try:
        listed = iter((outputs or task.outputs)(x))
    except TaskError:
        raise AssertionError(
            f"{type(task).__name__} has no outputs(x) to compare with: write it for small x, or pass outputs="
        ) from None
    for z in listed:
        if len(loss) == most:
            return None
        psi.append(explicit(task.psi(x, z), task.dim, i))
        loss.append(float(task.loss(y, z)))
        check(0 <= loss[-1] < inf, f"example {i}: loss(y, {z!r}) is {loss[-1]}; it must be a finite number >= 0")
    check(len(loss) > 0, f"example {i} has no outputs")
    truth, what = y, "loss(y, y)"
    if task.latent:
        check(0.0 in loss, f"example {i}: no output explains the label {y!r}: every output has a positive loss")
        truth, what = task.complete(_known(completed_at, task), x, y), "loss(y, complete(w, x, y))"
    at_truth = task.loss(y, truth)
    check(at_truth == 0, f"example {i}: {what} is {at_truth}; it must be 0")
    example = WrittenOut(explicit(task.psi(x, truth), task.dim, i), np.array(psi), np.array(loss))
    if completed_at is not None and task.latent and task.search == Search.EXACT:
        found, best = float(example.truth @ completed_at), example.best_explanation(completed_at)
        check(
            below(found, best) and below(best, found),
            f"example {i}: complete(w, x, y) returned {truth!r} of score {found!r}, but the best output without loss "
            f"has {best!r}",
        )
    return example


def brute_force(
    task: Task,
    X: Any,
    Y: Any,
    C: float,
    formulation: Formulation | None = None,
    sample_weight: Any = None,
    completed_at: Any = None,
    geometry: Geometry | None = None,
) -> Optimum:
    """Compute the exact optimum of a tiny structural SVM with a general-purpose QP solver on all constraints.

        minimise   ½‖w‖² + C/n Σᵢ vᵢ ξᵢ          (slack="l2":  C/2n Σᵢ vᵢ ξᵢ²)
        subject to ⟨w, δΨᵢ(z)⟩ >= s - ξᵢ         (rescaling="slack":  ⟨w, δΨᵢ(z)⟩ >= 1 - ξᵢ/s),   ξ >= 0,

    with s = Δ (slack="l1") or √Δ ("l2"), for every example i and every output z. C = inf allows no slack. With a
    geometry the objective has ½‖w - w₀‖² and the constraints low <= w <= high. The function needs the package clarabel.

    Parameters
    ----------
    task, X, Y : Task, sequence and sequence
        A task with `outputs`, and its data.
    C : float
        The regularisation parameter.
    formulation : Formulation or None
        Rescaling and slack; None for margin rescaling with linear slack.
    sample_weight : array-like or None
        Weights of the examples, or None.
    completed_at : array or None
        For a latent task, the weights at which labels are completed, which makes the problem convex.
    geometry : Geometry or None
        A prior and bounds, or None.

    Returns
    -------
    Optimum, a pair (value, w).

    Raises
    ------
    NotSeparable, if C = inf has no solution.

    See Also
    --------
    objective : the objective at any weights.
    """
    try:
        clarabel: Any = import_module("clarabel")
    except ImportError as error:
        raise ImportError("brute_force needs the package clarabel: pip install clarabel") from error
    problem = TinyProblem(ready(task, X, Y), X, Y, C, formulation or Formulation(), sample_weight, completed_at)
    rows, offsets, owners = problem.constraints()
    dim = problem.task.dim
    problem.origin = np.zeros(dim) if geometry is None else geometry.origin
    if geometry is None and not (offsets > 0).any():  # w = 0 violates no constraint
        return Optimum(0.0, np.zeros(dim))
    quadratic, linear, above, below_ = np.ones(dim), -problem.origin, sparse.csr_array(rows), offsets
    if isfinite(C):
        counting, place = np.unique(owners, return_inverse=True)  # a slack without a weight would be unbounded
        n, price, none = len(counting), C * problem.weights[counting] / problem.n, np.zeros(len(counting))
        slacks = sparse.csr_array((np.ones(len(place)), (np.arange(len(place)), place)), shape=(len(place), n))
        above = sparse.hstack([above, slacks])
        if problem.formulation.squared:  # ξ >= 0 is not needed, because a negative slack would only cost
            quadratic, linear = np.concatenate([quadratic, price]), np.concatenate([linear, none])
        else:
            quadratic, linear = np.concatenate([quadratic, none]), np.concatenate([linear, price])
            above = sparse.vstack([above, sparse.hstack([sparse.csr_array((n, dim)), sparse.eye_array(n)])])
            below_ = np.concatenate([below_, none])
    cones = [clarabel.NonnegativeConeT(len(below_))]
    if geometry is not None:
        whole = sparse.eye_array(dim, above.shape[1], format="csr")
        fixed = geometry.low == geometry.high
        low, high = np.isfinite(geometry.low) & ~fixed, np.isfinite(geometry.high) & ~fixed
        above = sparse.vstack([above, whole[low], -whole[high], whole[fixed]])
        below_ = np.concatenate([below_, geometry.low[low], -geometry.high[high], geometry.low[fixed]])
        equal = int(fixed.sum())
        cones = [clarabel.NonnegativeConeT(len(below_) - equal), clarabel.ZeroConeT(equal)]
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags_array(quadratic)), linear, sparse.csc_matrix(-above), -below_, cones, options
    ).solve()
    status = str(found.status)
    if "Infeasible" in status:
        raise NotSeparable("no weights satisfy all constraints, so C = inf has no solution")
    w = np.asarray(found.x)[:dim]
    value = problem.value(w) if isfinite(C) else 0.5 * float(w @ w)
    constant = 0.5 * float(problem.origin @ problem.origin)
    if abs(value - constant - found.obj_val) > 1e-6 * max(1.0, abs(value), constant):
        raise RuntimeError(f"the reference QP is not accurate: {found.obj_val} against {value} (clarabel: {status})")
    return Optimum(value, w)


def objective(
    task: Task, X: Any, Y: Any, C: float, w: Any, formulation: Formulation | None = None, sample_weight: Any = None
) -> float:
    """Compute P(w) by listing all outputs; for a latent task J(w), where w also completes the labels.

    Parameters
    ----------
    task, X, Y : Task, sequence and sequence
        A task with `outputs`, and its data.
    C : float
        The regularisation parameter.
    w : array
        The weights.
    formulation : Formulation or None
        Rescaling and slack; None for margin rescaling with linear slack.
    sample_weight : array-like or None
        Weights of the examples, or None.

    Returns
    -------
    float, the objective.

    See Also
    --------
    brute_force : the exact optimum.
    """
    w = np.asarray(w, dtype=float)
    task = ready(task, X, Y)
    return TinyProblem(task, X, Y, C, formulation or Formulation(), sample_weight, w if task.latent else None).value(w)


class TinyProblem:
    """A structural SVM with its constraints written out."""

    def __init__(
        self,
        task: Task,
        X: Any,
        Y: Any,
        C: float,
        formulation: Formulation,
        sample_weight: Any,
        completed_at: Any = None,
    ):
        self.task, self.C, self.formulation = task, C, formulation
        self.origin = np.zeros(task.dim)  # the centre of the regulariser
        self.n = length(X)
        at = _known(completed_at, task) if task.latent else None
        batch = task.pack(X, Y) if at is None else latent_of(task.pack(X, Y)).completed(at)
        self.searched = not formulation.plain and batch.offers(RescaledSearch) is None
        self.weights = normalised_weights(sample_weight, self.n)
        self.examples: list[WrittenOut] = []
        for i in range(self.n):
            example = written_out(task, X[i], Y[i], i, MOST, completed_at=at)
            if example is None:
                raise ValueError(f"example {i} has more than {MOST} outputs; this function is for tiny problems")
            self.examples.append(example)

    def scale(self, example: WrittenOut) -> Array:
        return np.sqrt(example.loss) if self.formulation.slack == "l2" else example.loss

    def value(self, w: Array) -> float:
        """Return P(w)."""
        slacks = []
        for example in self.examples:
            scale, margins = self.scale(example), example.margins(w)
            violations = scale * (1 - margins) if self.formulation.rescaling == "slack" else scale - margins
            slacks.append(max(0.0, float(violations.max())))
        norm = 0.5 * float((w - self.origin) @ (w - self.origin))
        if not isfinite(self.C):
            largest = max(float(self.scale(example).max()) for example in self.examples)
            return norm if float(self.weights @ slacks) <= 1e-8 * largest else inf
        penalty = 0.5 * np.square(slacks) if self.formulation.slack == "l2" else np.array(slacks)
        return norm + self.C * float(self.weights @ penalty) / self.n

    def bounds(self, dual: float, value: float) -> bool:
        """Return whether dual <= P(w); for a hard margin, constraints hold up to rounding, and so does the bound."""
        return below(dual, value if isfinite(self.C) else value * (1 + 1e-7))

    def constraints(self) -> tuple[Array, Array, Array]:
        """Return ⟨rows, w⟩ >= offsets - ξ[owners], without duplicates and constraints that always hold."""
        rows, offsets, owners = [np.zeros((0, self.task.dim))], [np.zeros(0)], [np.zeros(0, dtype=int)]
        for i, example in enumerate(self.examples):
            if self.weights[i] == 0:
                continue
            scale, differences = self.scale(example), example.truth - example.psi
            if self.formulation.rescaling == "slack":
                differences = scale[:, None] * differences
            useful = np.unique(np.column_stack([differences, scale])[(scale > 0) | differences.any(axis=1)], axis=0)
            rows.append(useful[:, :-1])
            offsets.append(useful[:, -1])
            owners.append(np.full(len(useful), i))
        return np.concatenate(rows), np.concatenate(offsets), np.concatenate(owners)

    def check_measured(self, measured: float, value: float, where: str) -> None:
        """Check that a measured objective is the true one, or an upper bound of it if the search is not exact."""
        message = f"{where}: P(w) is {value!r}, but {measured!r} was reported"
        rounding = 1e-13 * self.C if isfinite(self.C) else 0.0  # rounding error of slacks, which C multiplies
        check(below(value, measured + rounding) or self.task.search == Search.UNDERGENERATING, message)
        rounding *= 10  # reported objectives are upper bounds
        check(below(measured, value + rounding) or self.searched or self.task.search == Search.OVERGENERATING, message)


def _known(completed_at: Any, task: Task) -> Array:
    """Return the weights at which labels are completed; raise a ValueError if they are missing."""
    if completed_at is None:
        raise ValueError(
            f"{type(task).__name__} has latent variables: its convex problem is defined only after they are completed; "
            "give the weights completed_at"
        )
    w = np.asarray(completed_at, dtype=float)
    if w.shape != (task.dim,):
        raise ValueError(f"completed_at has shape {w.shape}; expected ({task.dim},)")
    return w
