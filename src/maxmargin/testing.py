"""Checks for tasks, solvers and executors, and the exact optimum of tiny problems: for this package and for yours.

Everything here compares with enumeration: all outputs of a small x are listed, and the best of them is taken. Values
are compared, never outputs, because ties are common. A failed check raises an AssertionError that names the example.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from importlib import import_module
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from maxmargin.atoms import AtomRows
from maxmargin.errors import NotSeparable, TaskError
from maxmargin.executors import Executor, Serial
from maxmargin.objective import Certificate, Formulation
from maxmargin.oracle import Oracle, normalised_weights
from maxmargin.preflight import content
from maxmargin.solvers import Record, Solution, Solver
from maxmargin.task import Array, Planes, Task, dot
from maxmargin.tasks import Multiclass

__all__ = ["Optimum", "brute_force", "check_executor", "check_solver", "check_task"]

SEARCHED = (Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2"))

Outputs = Callable[[Any], Iterable[Any]]


class Optimum(NamedTuple):
    """The solution of a structural SVM over all of its constraints."""

    value: float  # the objective, measured at w
    w: Array


def check_task(
    task: Task,
    X: Any,
    Y: Any,
    seed: int = 0,
    trials: int = 3,
    max_outputs: int = 5000,
    outputs: Outputs | None = None,
) -> None:
    """Prove on small data that a task keeps the contract of `maxmargin.Task`.

    task : the task; a clone of it is set up on X and Y.
    trials : how many weight vectors of each kind (integers, so that ties happen; normal; large) are tried beside w = 0.
    max_outputs : examples with more outputs than this are only checked where that needs no enumeration. At least one
        example must have fewer.
    outputs : x -> all outputs of x, for a task that has its own argmax and no `outputs`.
    """
    task = _set_up(task, X, Y)
    n = _length(X)
    examples = [_enumerate(task, X, Y, i, max_outputs, outputs) for i in range(n)]
    _assert(
        any(example is not None for example in examples),
        f"no example has at most {max_outputs} outputs, so there is nothing to compare with: give smaller examples",
    )
    before = [content((X[i], Y[i])) for i in range(n)]
    batch = task.pack(X, Y)
    _assert(len(batch) == n, f"pack(X, Y) made a batch of {len(batch)} examples from {n}")
    try:
        for w in _weights(task.dim, np.random.default_rng(seed), trials):
            mark = w.copy()
            _check_argmax(task, X, Y, examples, w)
            _check_planes(task, batch, examples, w, np.random.default_rng(seed))
            _check_rescaled(task, batch, examples, w)
            _check_decode(task, X, examples, w)
            _assert(np.array_equal(w, mark), "the weights w were changed")
    finally:  # a changed input may well be why something else failed
        for i in range(n):
            _assert(content((X[i], Y[i])) == before[i], f"x or y of example {i} was changed")
    _check_copies(task, X, Y)


def check_solver(
    solver: Solver,
    task: Task,
    X: Any,
    Y: Any,
    C: float = 1.0,
    formulation: Formulation | None = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> Solution:
    """Prove on a tiny problem that a solver's certificate is true, and that a seed fixes its result.

    Every objective value is recomputed by enumeration, at every step and for the returned weights; no lower bound may
    exceed any of them. The solution is returned, so that a test can ask more of it.
    """
    formulation = formulation or Formulation()
    task = _set_up(task, X, Y)
    problem = _Problem(task, X, Y, C, formulation, sample_weight)
    name = type(solver).__name__
    duals: list[float] = []

    def watch(record: Record) -> None:
        duals.append(record.dual)
        value = problem.value(record.w)
        where = f"{name}, step {len(duals)}"
        _assert(problem.bounds(record.dual, value), f"{where}: the bound {record.dual!r} exceeds P(w) = {value!r}")
        if isfinite(record.primal) and isfinite(C):
            problem.check_measured(record.primal, value, where)

    def run(callback: Callable[[Record], Any] | None = None) -> Solution:
        oracle = Oracle(task, task.pack(X, Y), formulation, sample_weight)
        solution = clone(solver).solve(oracle, C, callback=callback, seed=seed)
        if solution.error is not None:
            raise solution.error
        return solution

    solution = run(watch)
    certificate, value = solution.certificate, problem.value(solution.w)
    problem.check_measured(certificate.primal, value, f"{name}, at the end")
    best = max(duals, default=-inf)
    _assert(problem.bounds(best, value), f"{name}: the bound {best!r} exceeds the final objective {value!r}")
    _assert(
        certificate.dual == best, f"{name}: the certificate's bound {certificate.dual!r} is not the best one, {best!r}"
    )
    _check_certificate(solver, certificate)
    _assert(np.array_equal(solution.w, run().w), f"{name}: the same seed gave other weights")
    stopped = run(lambda record: True).certificate
    _assert(stopped.stop_reason == "stopped by the callback", f"{name} went on after the callback had returned True")
    _check_options(solver)
    return solution


def check_executor(executor: Executor) -> None:
    """Prove that an executor returns the same results as doing the work here, in the same order."""
    parts: list[Any] = [np.arange(start, start + 3) for start in range(0, 60, 3)]
    for count in (1, 2, len(parts)):
        results = list(executor.map(_scaled_sum, executor.place(parts[:count]), 2.0))
        expected = [_scaled_sum(part, 2.0) for part in parts[:count]]
        _assert(results == expected, f"map over {count} parts returned {results}; expected {expected}")
    try:
        list(executor.map(_fail, executor.place(parts), 2.0))
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("an error inside the mapped function did not come back")
    rng = np.random.default_rng(0)
    X: Any
    Y: Any
    X, Y = rng.integers(-2, 3, (70, 4)).astype(float), rng.integers(0, 3, 70)
    task = _set_up(Multiclass(), X, Y)
    w, index = rng.standard_normal(task.dim), rng.permutation(70)
    here, there = (Oracle(task, task.pack(X, Y), executor=place) for place in (Serial(), executor))
    for wanted in (index[:1], index[:7], index):
        a, b = here.planes(w, wanted), there.planes(w, wanted)
        same = np.array_equal(a.loss, b.loss) and np.array_equal(_dense(a.dpsi), _dense(b.dpsi))
        _assert(same, f"the planes of {len(wanted)} examples are not those that Serial returns")
    _assert(here.risk(w) == there.risk(w), "the risk is not the one that Serial measures")
    executor.close()
    executor.close()  # twice does no harm


def brute_force(
    task: Task, X: Any, Y: Any, C: float, formulation: Formulation | None = None, sample_weight: Any = None
) -> Optimum:
    """The exact optimum of a tiny structural SVM: a general-purpose QP solver on all constraints of all outputs.

        minimise   ½‖w‖² + C/n Σᵢ vᵢ ξᵢ          (slack="l2":  C/2n Σᵢ vᵢ ξᵢ²)
        subject to ⟨w, δΨᵢ(z)⟩ >= s - ξᵢ         (rescaling="slack":  ⟨w, δΨᵢ(z)⟩ >= 1 - ξᵢ/s),   ξ >= 0,
    with s = Δ (slack="l1") or √Δ ("l2"), for every example i and every output z. C = inf allows no slack.
    Needs clarabel. Raises NotSeparable where C = inf has no solution.
    """
    try:
        clarabel: Any = import_module("clarabel")
    except ImportError as error:
        raise ImportError("brute_force needs the package clarabel: pip install clarabel") from error
    problem = _Problem(_set_up(task, X, Y), X, Y, C, formulation or Formulation(), sample_weight)
    rows, offsets, owners = problem.constraints()
    dim = problem.task.dim
    if not (offsets > 0).any():  # w = 0 violates nothing
        return Optimum(0.0, np.zeros(dim))
    quadratic, linear, above, below = np.ones(dim), np.zeros(dim), sparse.csr_array(rows), offsets
    if isfinite(C):
        counting, place = np.unique(owners, return_inverse=True)  # a slack without a price would have no limit
        n, price, none = len(counting), C * problem.weights[counting] / problem.n, np.zeros(len(counting))
        slacks = sparse.csr_array((np.ones(len(place)), (np.arange(len(place)), place)), shape=(len(place), n))
        above = sparse.hstack([above, slacks])
        if problem.formulation.squared:  # no need of ξ >= 0: a negative one would only cost
            quadratic, linear = np.concatenate([quadratic, price]), np.concatenate([linear, none])
        else:
            quadratic, linear = np.concatenate([quadratic, none]), np.concatenate([linear, price])
            above = sparse.vstack([above, sparse.hstack([sparse.csr_array((n, dim)), sparse.eye_array(n)])])
            below = np.concatenate([below, none])
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(len(below))]
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags_array(quadratic)), linear, sparse.csc_matrix(-above), -below, cones, options
    ).solve()
    status = str(found.status)
    if "Infeasible" in status:
        raise NotSeparable("no weights satisfy all constraints, so C = inf has no solution")
    w = np.asarray(found.x)[:dim]
    value = problem.value(w) if isfinite(C) else 0.5 * float(w @ w)
    if abs(value - found.obj_val) > 1e-6 * max(1.0, abs(value)):
        raise RuntimeError(f"the reference QP is not accurate: {found.obj_val} against {value} (clarabel: {status})")
    return Optimum(value, w)


# --- problems written out


class _Example(NamedTuple):
    """All outputs of one example."""

    truth: Array  # Ψ(x, y)
    psi: Array  # (outputs, dim)
    loss: Array  # (outputs,)

    def margins(self, w: Array) -> Array:
        return np.asarray((self.truth - self.psi) @ w)


def _enumerate(task: Task, X: Any, Y: Any, i: int, most: int, outputs: Outputs | None) -> _Example | None:
    """Example i with all of its outputs, or None if they are more than `most`."""
    x, y = X[i], Y[i]
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
        psi.append(_explicit(task.psi(x, z), task.dim, i))
        loss.append(float(task.loss(y, z)))
        _assert(0 <= loss[-1] < inf, f"example {i}: loss(y, {z!r}) is {loss[-1]}; it must be a finite number >= 0")
    _assert(len(loss) > 0, f"example {i} has no outputs")
    at_truth = task.loss(y, y)
    _assert(at_truth == 0, f"example {i}: loss(y, y) is {at_truth}; it must be 0")
    return _Example(_explicit(task.psi(x, y), task.dim, i), np.array(psi), np.array(loss))


class _Problem:
    """A structural SVM with its constraints written out, from the definition and independently of the trainers."""

    def __init__(self, task: Task, X: Any, Y: Any, C: float, formulation: Formulation, sample_weight: Any):
        self.task, self.C, self.formulation = task, C, formulation
        self.n, batch = _length(X), task.pack(X, Y)
        self.searched = not formulation.plain and task.rescaled_planes(np.zeros(task.dim), batch, formulation) is None
        self.weights = normalised_weights(sample_weight, self.n)
        self.examples: list[_Example] = []
        for i in range(self.n):
            example = _enumerate(task, X, Y, i, 100_000, None)
            if example is None:
                raise ValueError(f"example {i} has more than 100000 outputs: this is for tiny problems")
            self.examples.append(example)

    def scale(self, example: _Example) -> Array:
        return np.sqrt(example.loss) if self.formulation.slack == "l2" else example.loss

    def value(self, w: Array) -> float:
        """P(w)."""
        slacks = []
        for example in self.examples:
            scale, margins = self.scale(example), example.margins(w)
            violations = scale * (1 - margins) if self.formulation.rescaling == "slack" else scale - margins
            slacks.append(max(0.0, float(violations.max())))
        norm = 0.5 * float(w @ w)
        if not isfinite(self.C):
            largest = max(float(self.scale(example).max()) for example in self.examples)
            return norm if float(self.weights @ slacks) <= 1e-8 * largest else inf
        penalty = 0.5 * np.square(slacks) if self.formulation.slack == "l2" else np.array(slacks)
        return norm + self.C * float(self.weights @ penalty) / self.n

    def bounds(self, dual: float, value: float) -> bool:
        """Whether dual <= P(w); the constraints of a hard margin hold but for rounding, and so does its bound."""
        return _below(dual, value if isfinite(self.C) else value * (1 + 1e-7))

    def constraints(self) -> tuple[Array, Array, Array]:
        """⟨rows, w⟩ >= offsets - ξ[owners], without those that always hold or stand there twice."""
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
        """A measured objective is the true one; where the search is not exact, an upper bound of it."""
        message = f"{where}: P(w) is {value!r}, but {measured!r} was reported"
        rounding = 1e-13 * self.C if isfinite(self.C) else 0.0  # of slacks, which C multiplies
        _assert(_below(value, measured + rounding) or not self.task.exact, message)
        _assert(_below(measured, value + rounding) or self.searched, message)


# --- the single checks


def _check_argmax(task: Task, X: Any, Y: Any, examples: list[_Example | None], w: Array) -> None:
    for i, example in enumerate(examples):
        if example is None:
            continue
        scores = example.psi @ w
        for y, added, what in ((None, 0.0, "⟨w, psi⟩"), (Y[i], example.loss, "⟨w, psi⟩ + loss")):
            z = task.argmax(w, X[i]) if y is None else task.argmax(w, X[i], y)
            found = dot(task.psi(X[i], z), w) + (0.0 if y is None else task.loss(y, z))
            best = float(np.max(scores + added))
            _assert(
                _below(found, best) and (not task.exact or _below(best, found)),
                f"example {i}: argmax returned {z!r} with {what} = {found!r}, but the best output has {best!r}",
            )


def _check_planes(task: Task, batch: Any, examples: list[_Example | None], w: Array, rng: np.random.Generator) -> None:
    n = len(examples)
    mixed = rng.choice([0.0, 0.25, 1.0, 3.0], n)
    for augment in (1.0, 0.0, 0.5, mixed):
        planes = task.planes(w, batch, augment=augment)
        rows = _dense(planes.dpsi)
        _assert(rows.shape == (n, task.dim), f"planes has rows of shape {rows.shape}; expected ({n}, {task.dim})")
        _assert(np.shape(planes.loss) == (n,), f"planes has losses of shape {np.shape(planes.loss)}; expected ({n},)")
        lam = np.broadcast_to(augment, n)
        for i, example in enumerate(examples):
            height = lam[i] * planes.loss[i] - rows[i] @ w
            valid = not task.exact or _below(0.0, height, rows[i], w)
            _assert(valid, f"example {i}, augment={lam[i]}: its plane has height {height!r} < 0")
            if example is not None:
                _check_one_plane(task, example, i, w, lam[i], rows[i], planes.loss[i])
        order = rng.permutation(n)
        shuffled = task.planes(w, batch.take(order), augment=lam[order])
        _assert_same_rows(shuffled, planes, order, "planes of a permuted batch are not the permuted planes")
        for i in range(n):
            single = task.planes(w, batch.take(np.array([i])), augment=float(lam[i]))
            _assert_same_rows(single, planes, np.array([i]), f"example {i} alone has another plane than in a batch")


def _check_one_plane(task: Task, example: _Example, i: int, w: Array, lam: float, row: Array, loss: float) -> None:
    best, height = float(np.max(lam * example.loss - example.margins(w))), float(lam * loss - row @ w)
    good = _below(height, best, row, w) and (not task.exact or _below(best, height, row, w))
    _assert(good, f"example {i}, augment={lam}: its plane has height {height!r}, but the best output has {best!r}")
    away = np.abs(example.truth - example.psi - row).max(axis=1) + np.abs(example.loss - loss)
    size = 1 + np.abs(example.psi).max() + abs(loss)
    _assert(float(away.min()) <= 1e-9 * size, f"example {i}, augment={lam}: its plane belongs to none of its outputs")


def _check_rescaled(task: Task, batch: Any, examples: list[_Example | None], w: Array) -> None:
    for formulation in SEARCHED:
        planes = task.rescaled_planes(w, batch, formulation)
        if planes is None:
            return
        found = formulation.value(planes.loss, _dense(planes.dpsi) @ w)
        for i, example in enumerate(examples):
            if example is not None:
                best = float(np.max(formulation.value(example.loss, example.margins(w))))
                _assert(
                    _below(best, found[i]) and _below(found[i], best),
                    f"example {i}, {formulation}: rescaled_planes found the violation {found[i]!r}, not {best!r}",
                )


def _check_decode(task: Task, X: Any, examples: list[_Example | None], w: Array) -> None:
    decoded = task.decode(w, X)
    _assert(len(decoded) == len(examples), f"decode returned {len(decoded)} outputs for {len(examples)} examples")
    for i, (example, z) in enumerate(zip(examples, decoded, strict=True)):
        score, alone = dot(task.psi(X[i], z), w), dot(task.psi(X[i], task.argmax(w, X[i])), w)
        if task.exact:
            same = _below(score, alone) and _below(alone, score)
            _assert(same, f"example {i}: decode returned {z!r} of score {score!r}, argmax an output of score {alone!r}")
        if example is not None:
            best = float(np.max(example.psi @ w))
            good = _below(score, best) and (not task.exact or _below(best, score))
            _assert(good, f"example {i}: decode returned {z!r} of score {score!r}, but the best output has {best!r}")


def _check_copies(task: Task, X: Any, Y: Any) -> None:
    """A set-up task survives pickling, and its parameters survive clone."""
    try:
        copy = pickle.loads(pickle.dumps(task))
    except Exception as error:
        raise AssertionError(f"{type(task).__name__} cannot be pickled after setup: {error}") from error
    w = np.random.default_rng(0).standard_normal(task.dim)
    index = np.arange(_length(X))
    _assert(copy.dim == task.dim, f"dim is {copy.dim} after pickling; it was {task.dim}")
    planes = task.planes(w, task.pack(X, Y))
    for other, what in ((copy, "pickled"), (_set_up(task, X, Y), "cloned")):
        _assert_same_rows(other.planes(w, other.pack(X, Y)), planes, index, f"the {what} task has other planes")


def _check_certificate(solver: Solver, certificate: Certificate) -> None:
    name = type(solver).__name__
    if not solver.certified:
        _assert(not certificate.converged, f"{name} has no bound, and yet it says that it has converged")
        _assert(certificate.dual == -inf, f"{name} is not certified, and yet it reports the bound {certificate.dual}")
    if certificate.converged:
        _assert(
            certificate.relative_gap <= solver.tol,
            f"{name} says that it has converged with a gap of {certificate.relative_gap} > tol = {solver.tol}",
        )
    else:
        _assert(certificate.stop_reason != "converged", f"{name} stopped as converged, but its certificate denies it")


def _check_options(solver: Solver) -> None:
    kind = type(solver)
    try:
        kind(no_such_option=1)
    except TypeError:
        pass
    else:
        raise AssertionError(f"{kind.__name__}(no_such_option=1) did not raise a TypeError")
    params = solver.get_params()
    _assert(kind(**params).get_params() == params, f"{kind.__name__}(**solver.get_params()) has other options")


# --- small helpers


def _set_up(task: Task, X: Any, Y: Any) -> Task:
    task = clone(task)
    task.setup(X, Y)
    return task


def _weights(dim: int, rng: np.random.Generator, trials: int) -> Iterable[Array]:
    yield np.zeros(dim)
    for _ in range(trials):
        yield rng.integers(-2, 3, dim).astype(float)
        yield rng.standard_normal(dim)
        yield 1e3 * rng.standard_normal(dim)


def _explicit(features: Any, dim: int, i: int) -> Array:
    """Ψ as a dense vector, whichever way it was spelt."""
    if not isinstance(features, tuple):
        full = np.asarray(features, dtype=float)
        _assert(full.shape == (dim,), f"example {i}: psi has shape {full.shape}; expected ({dim},)")
        return full
    full = np.zeros(dim)
    np.add.at(full, np.asarray(features[0], dtype=int), features[1])
    return full


def _dense(rows: Any) -> Array:
    return rows.toarray() if isinstance(rows, AtomRows) or sparse.issparse(rows) else np.asarray(rows)


def _below(a: float, b: float, *terms: Array) -> bool:
    """a <= b, but for rounding."""
    size = 1 + abs(a) + abs(b) + (float(np.abs(terms[0]) @ np.abs(terms[1])) if terms else 0.0)
    return bool(a <= b + 1e-9 * size) if isfinite(size) else bool(a <= b)


def _assert(condition: Any, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _assert_same_rows(some: Planes, all_: Planes, index: Any, message: str) -> None:
    rows, expected = _dense(some.dpsi), _dense(all_.dpsi)[index]
    same = rows.shape == expected.shape and np.allclose(rows, expected, rtol=1e-9, atol=1e-9)
    _assert(same and np.allclose(some.loss, all_.loss[index], rtol=1e-9, atol=1e-9), message)


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _scaled_sum(part: Array, factor: float) -> float:
    return float(factor * part.sum())


def _fail(part: Array, factor: float) -> float:
    return 1 / 0
