"""Trainer: what all estimators share — from data to a certified model through any task and any solver."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from numbers import Integral, Real
from types import MethodType
from typing import Any, ClassVar, Self, TypedDict

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from maxmargin.errors import NothingLearnt
from maxmargin.executors import Executor, Serial, Threads
from maxmargin.objective import Certificate, Formulation, relative_gap
from maxmargin.oracle import Oracle, normalised_weights
from maxmargin.preflight import check_promises
from maxmargin.progress import Progress
from maxmargin.shared_options import SharedOptions
from maxmargin.solvers import BCFW, CCCP, Solution, Solver, as_solver
from maxmargin.solvers.base import proved_primal
from maxmargin.solvers.subgradient import Walk
from maxmargin.task import Array, Examples, Task


class NoPartialFit(TypeError, AttributeError):  # noqa: N818 - what happened is the better name
    """partial_fit was asked of a solver that cannot go on with new examples; hasattr answers no."""


class online_only:  # noqa: N801 - a decorator
    """A method that an estimator has only while its solver is an online one: scikit-learn's tools ask with hasattr."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method

    def __get__(self, estimator: Trainer | None, owner: type) -> Callable[..., Any]:
        if estimator is None:
            return self.method
        if estimator.kernel is not None:
            raise NoPartialFit("partial_fit is not offered with a kernel: every new example would lengthen the model")
        if not as_solver(estimator.solver).online:
            raise NoPartialFit(f"partial_fit needs the solver 'perceptron' or 'subgradient', not {estimator.solver!r}")
        return MethodType(self.method, estimator)


class Options(TypedDict, total=False):
    """What every estimator passes on to Trainer."""

    rescaling: str
    slack: str
    tol: float | None
    max_passes: float | None
    n_jobs: int | None
    executor: Executor | None
    random_state: Any
    warm_start: bool
    callback: Any
    verbose: int


class Trainer(SharedOptions, BaseEstimator):
    """fit, fit_path, partial_fit and certify for an estimator that names its task in `_make_task`.

    An estimator's constructor lists its own parameters, with C and solver, and passes `**options` on to this one:
    signature and parameters (scikit-learn's get_params) are then those of both. StructuredSVM documents them.
    """

    def __init__(
        self,
        C: float,
        solver: str | Solver,
        rescaling: str = "margin",
        slack: str = "l1",
        tol: float | None = None,
        max_passes: float | None = None,
        n_jobs: int | None = 1,
        executor: Executor | None = None,
        random_state: Any = 0,
        warm_start: bool = False,
        callback: Any = None,
        verbose: int = 0,
        **unknown: Any,
    ):
        self._refuse(unknown)
        self.C = C
        self.solver = solver
        self.rescaling = rescaling
        self.slack = slack
        self.tol = tol
        self.max_passes = max_passes
        self.n_jobs = n_jobs
        self.executor = executor
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    _default_tol: ClassVar[float | None] = None  # of a solver that is only named; None leaves the solver's own

    kernel: Any = None  # a parameter of estimators whose task takes one

    task_: Any
    w_: Array
    solution_: Solution

    def _make_task(self, Y: Any) -> Task:
        """A task that is not set up yet, for these outputs."""
        raise NotImplementedError

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on inputs X and outputs Y. After an error or Ctrl-C the best model so far is kept."""
        C = _checked_C(self.C)
        with self._oracle(X, Y, sample_weight) as oracle:
            data = self._fingerprint(oracle)
            self._keep(oracle, self._solve(oracle, C, self._solution_of(oracle, data)), data)
        return self

    def fit_path(self, X: Any, Y: Any, Cs: Sequence[float], sample_weight: Any = None) -> list[Self]:
        """A fitted model for every C, each training started from the one before; the last one stays in this estimator.

        Ctrl-C ends the path with the model it has interrupted.
        """
        path = [_checked_C(C) for C in Cs]
        if not path:
            raise ValueError("Cs is empty; expected at least one value of C")
        models = []
        with self._oracle(X, Y, sample_weight) as oracle:
            data = self._fingerprint(oracle)
            solution = self._solution_of(oracle, data)
            for C in path:
                solution = self._solve(oracle, C, solution)
                self._keep(oracle, solution, data)
                models.append(self._model(C))
                if solution.certificate.stop_reason == "interrupted":
                    break
        return models

    @online_only
    def partial_fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """One more pass of an online solver ("perceptron", "subgradient") over new examples.

        Labels and features are fixed by the first call: name all `classes` if that call may not show them. The
        certificate speaks of the examples of the last call only.
        """
        return self._train_on(getattr(self, "task_", None), X, Y, sample_weight)

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data, by an independent run of BCFW for the bound.

        For models of solvers without a certificate; changes nothing in the estimator.
        """
        check_is_fitted(self)
        C = self.solution_.C
        solver = _checked_solver(BCFW(tol=tol))
        with self._oracle(X, Y, sample_weight, self.task_) as oracle:
            w = self.w_ if oracle.batch.kernel is None else oracle.batch.kernel.lifted(self.w_)
            if oracle.task.latent:  # what can be certified is a local optimum
                oracle = oracle.completed(w)
            bound = solver.solve(oracle, C, seed=self._seed()).certificate
            value, upper = oracle.objective(w, oracle.risk(w), C), None
            if oracle.search == "undergenerating":
                value = max(value, oracle.objective(w, solver.remembered(w), C))
                upper = proved_primal(oracle, w, C)
        return replace(
            bound,
            primal=value,
            upper=upper,
            search=oracle.search,
            method=oracle.batch.method,
            converged=relative_gap(value, bound.dual) <= tol,
            stop_reason=f"bound computed by BCFW: {bound.stop_reason}",
            rounds=self.certificate_.rounds,
        )

    # --- inside

    @contextmanager
    def _oracle(self, X: Any, Y: Any, sample_weight: Any, task: Task | None = None) -> Iterator[Oracle]:
        """The oracle of these data; BLAS keeps to one thread while it is open, because executors own the cores."""
        formulation, executor = Formulation(self.rescaling, self.slack), self._executor()
        self._solver()  # bad options show before any work is done
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be callable, got {self.callback!r}")
        n, n_outputs = _length(X, "X"), _length(Y, "Y")
        if n != n_outputs:
            raise ValueError(f"X has {n} examples but Y has {n_outputs}: example {min(n, n_outputs)} has no partner")
        if n == 0:
            raise ValueError("no examples given: X and Y are empty")
        new = task is None
        if task is None:
            task = self._make_task(Y)
            task.setup(X, Y)
        batch = task.pack(X, Y)
        teaching = batch.teaching()
        if len(teaching) == 0:
            raise ValueError("no example has a label that tells anything: there is nothing to learn from")
        if len(teaching) < n:
            batch = batch.take(teaching)
            if sample_weight is not None:
                normalised_weights(sample_weight, n)  # names the weight that makes no sense
                sample_weight = np.asarray(sample_weight, dtype=float)[teaching]
        if new and type(task).planes is Task.planes and isinstance(batch, Examples):
            check_promises(task, batch)
        try:
            with threadpool_limits(1, user_api="blas"):
                yield Oracle(task, batch, formulation, sample_weight, executor)
        finally:
            if self.executor is None:
                executor.close()

    def _train_on(self, task: Task | None, X: Any, Y: Any, sample_weight: Any) -> Self:
        """One pass of the online solver from where the last one ended."""
        start = getattr(self, "solution_", None)
        if start is not None and not isinstance(start.state, Walk):
            raise ValueError("partial_fit cannot go on from a model of another solver; start with a new estimator")
        C = _checked_C(self.C)
        with self._oracle(X, Y, sample_weight, task) as oracle:
            if oracle.batch.kernel is not None:
                raise ValueError("partial_fit is not offered with a kernel: every new example would lengthen the model")
            self._keep(oracle, self._solve(oracle, C, start, max_passes=1))
        return self

    def _solve(self, oracle: Oracle, C: float, start: Solution | None, **options: Any) -> Solution:
        solver = self._solver(oracle.task.latent, **options)
        if oracle.task.latent and start is None and getattr(solver, "start", None) is None:
            solver.set_params(start=self._first_weights(oracle, C))
        with Progress(self.verbose, solver) as progress:
            callbacks = [c for c in (progress.update if self.verbose else None, self.callback) if c is not None]
            solution = solver.solve(oracle, C, start, _all(callbacks), self._seed())
            progress.finish(solution.certificate)
        return solution

    def _first_weights(self, oracle: Oracle, C: float) -> Array | None:
        """For latent tasks: weights at which to complete the labels first, where there is a better way than a guess."""
        return None

    def _keep(self, oracle: Oracle, solution: Solution, data: str | None = None) -> None:
        task, kernel = oracle.task, oracle.batch.kernel
        self.task_, self.w_ = task.settled(solution.w, oracle.batch)
        self.solution_ = solution
        for name in ("support_", "kernel_evaluations_", "kernel_map_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if getattr(task, "kernel_map_", None) is not None:
            self.kernel_map_ = self.task_.kernel_map_
        if kernel is not None:
            self.support_, self.kernel_evaluations_ = self.task_.support_numbers_, kernel.rows.evaluations
        self.certificate_ = solution.certificate
        self.history_ = solution.history
        if solution.rounds:
            self.rounds_ = solution.rounds
        else:
            self.__dict__.pop("rounds_", None)  # of an earlier fit, to data with hidden parts
        self._fitted_to = data
        if solution.error is not None:
            solution.error.add_note("maxmargin: the estimator keeps the best model found before this error")
            raise solution.error
        if task.latent and solution.certificate.converged and not np.any(solution.w):
            warnings.warn(
                "training with hidden parts has ended at w = 0, where nothing is learnt; try more restarts, other "
                "first weights, or another C",
                NothingLearnt,
                stacklevel=4,
            )

    def _model(self, C: float) -> Self:
        """A copy of this fitted estimator for that C, which shares nothing that a later fit changes."""
        model: Self = clone(self).set_params(C=C)
        model.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
        model.solution_ = _lasting(self.solution_, self.w_)
        return model

    def _solver(self, latent: bool = False, **options: Any) -> Solver:
        tol = self._default_tol if self.tol is None and isinstance(self.solver, str) else self.tol
        given = {"tol": tol, "max_passes": self.max_passes, **options}
        solver: Solver = clone(as_solver(self.solver))
        if latent and not isinstance(solver, CCCP):
            solver = CCCP(inner=solver, tol=solver.tol)
        return _checked_solver(solver.set_params(**{name: value for name, value in given.items() if value is not None}))

    def _executor(self) -> Executor:
        if self.executor is not None:
            if not isinstance(self.executor, Executor):
                raise TypeError(f"executor must be a maxmargin Executor, got {self.executor!r}")
            return self.executor
        n_jobs = 1 if self.n_jobs is None else self.n_jobs
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < -1 or n_jobs == 0:
            raise ValueError(f"n_jobs must be a positive whole number, or -1 for one thread per core, got {n_jobs!r}")
        return Serial() if n_jobs == 1 else Threads(int(n_jobs))

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            if self.random_state < 0:
                raise ValueError(f"random_state must not be negative, got {self.random_state}")
            return int(self.random_state)
        if self.random_state is not None and not isinstance(self.random_state, np.random.RandomState):
            raise ValueError(f"random_state must be a whole number, a RandomState or None, got {self.random_state!r}")
        return int((self.random_state or np.random.RandomState()).randint(2**31 - 1))

    def _fingerprint(self, oracle: Oracle) -> str | None:
        """Of the problem that is solved: data, task, loss. None where nobody asks or it cannot be taken."""
        if not self.warm_start:
            return None
        import joblib

        try:
            return str(joblib.hash((oracle.task, oracle.batch, oracle.weights, oracle.formulation)))
        except Exception:  # a task or data that cannot be pickled: every fit starts cold
            return None

    def _solution_of(self, oracle: Oracle, data: str | None) -> Solution | None:
        """The last solution, if it was of the same problem: a dual point proves nothing about another."""
        if data is None or getattr(self, "_fitted_to", None) != data:
            return None
        if len(self.solution_.w) != oracle.dim:  # of a kernel model that was pickled, which keeps its support only
            return None
        return self.solution_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "w_")

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the model, not the plane cache that trained it; online solvers keep what they need to go on."""
        state = dict(super().__getstate__())
        if "solution_" in state:
            state["solution_"] = _lasting(state["solution_"], state["w_"])
        return state


def refuse_kernel(model: Trainer) -> None:
    """For attributes that speak of single features."""
    if model.kernel is not None:
        instead = "training examples in support_" if hasattr(model, "support_") else "features that kernel_map_ makes"
        raise AttributeError(
            f"{type(model).__name__} with a kernel has no weights of features: its model is made of the {instead}"
        )


def warn_of_zero(model: Trainer, measure: Any, stacklevel: int = 3) -> None:
    """Say so where the best that training for a measure can do is where it began."""
    if not np.any(model.w_) and model.certificate_.converged:
        if model.certificate_.primal == 0:
            reason = "it is the same for all models of these data"
        else:
            reason = (
                "on these features the highest scores of negative examples outweigh those of the positive ones, "
                "whatever the weights. Try another measure ('roc_auc' and 'error' are sums over pairs and examples), "
                "other features, or (if it is small) a larger C"
            )
        warnings.warn(
            f"measure {measure!r} has its optimum at w = 0 for C = {model.C:g}: {reason}",
            NothingLearnt,
            stacklevel=stacklevel,
        )


def _lasting(solution: Solution, w: Array) -> Solution:
    """What is worth keeping of a solution: the model's weights, not the plane cache, but where an online solver is."""
    return replace(solution, w=w, state=solution.state if isinstance(solution.state, Walk) else None, error=None)


def _checked_C(C: Any) -> float:  # noqa: N802 - the parameter's name
    if not _positive(C):
        raise ValueError(f"C must be a positive number (or inf for a hard margin), got {C!r}")
    return float(C)


def _checked_solver(solver: Solver) -> Solver:
    """The solver, unless it could never stop."""
    if not _positive(solver.tol) or not isfinite(solver.tol):
        raise ValueError(
            f"tol must be a positive finite number, got {solver.tol!r}; rounding keeps every gap from being exactly 0"
        )
    if not _positive(solver.max_passes):
        raise ValueError(f"max_passes must be a positive number (or inf for no limit), got {solver.max_passes!r}")
    return solver


def _positive(number: Any) -> bool:
    return isinstance(number, Real) and not isinstance(number, bool) and float(number) > 0


def _length(data: Any, name: str) -> int:
    if hasattr(data, "shape") and len(data.shape):
        return int(data.shape[0])
    try:
        return len(data)
    except TypeError:
        raise ValueError(f"{name} must be a list or an array of examples, got {type(data).__name__}") from None


def _all(callbacks: list[Any]) -> Any:
    """Call every one, and stop if one of them says so."""
    if not callbacks:
        return None

    def call(record: Any) -> bool:
        answers = [callback(record) for callback in callbacks]
        return any(isinstance(answer, bool | np.bool_) and answer for answer in answers)

    return call
