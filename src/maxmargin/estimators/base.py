"""Trainer: what all estimators share — from data to a certified model through any task and any solver."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from math import isnan
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from maxmargin.executors import Executor, Serial, Threads
from maxmargin.objective import Certificate, Formulation, primal, relative_gap
from maxmargin.oracle import Oracle
from maxmargin.preflight import check_promises
from maxmargin.progress import Progress
from maxmargin.solvers import BCFW, Solution, Solver, as_solver
from maxmargin.task import Examples, Task


class Trainer(BaseEstimator):
    """fit, fit_path, partial_fit and certify for an estimator that names its task in `_make_task`.

    The estimator's constructor must set C, solver, rescaling, slack, tol, max_passes, n_jobs, executor, random_state,
    warm_start, callback and verbose (StructuredSVM documents them).
    """

    C: float
    solver: str | Solver
    rescaling: str
    slack: str
    tol: float | None
    max_passes: float | None
    n_jobs: int
    executor: Executor | None
    random_state: Any
    warm_start: bool
    callback: Any
    verbose: int

    def _make_task(self) -> Task:
        raise NotImplementedError

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on inputs X and outputs Y. After an error or Ctrl-C the best model so far is kept."""
        with self._oracle(X, Y, sample_weight) as oracle:
            start = self._last_solution(X, Y, sample_weight)
            self._keep(self._solve(oracle, self._checked_C(self.C), start))
        if self.warm_start:
            self._fitted_to = _fingerprint(X, Y, sample_weight)
        return self

    def fit_path(self, X: Any, Y: Any, Cs: Sequence[float], sample_weight: Any = None) -> list[Self]:
        """A fitted model for every C, each training started from the one before; the last one stays in this estimator."""
        models = []
        with self._oracle(X, Y, sample_weight) as oracle:
            solution: Solution | None = None
            for C in [self._checked_C(C) for C in Cs]:
                solution = self._solve(oracle, C, solution)
                self._keep(solution)
                model = clone(self).set_params(C=C)
                model.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
                models.append(model)
        return models

    def partial_fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """One more pass of an online solver ("perceptron", "subgradient") over new examples.

        Labels and features are fixed by the first call; give the task its `classes` if that call may not show all.
        """
        solver = self._solver(max_passes=1)
        if not solver.online:
            raise TypeError(f"partial_fit needs the solver 'perceptron' or 'subgradient', not {self.solver!r}")
        task = getattr(self, "task_", None)
        with self._oracle(X, Y, sample_weight, task) as oracle:
            self._keep(self._solve(oracle, self._checked_C(self.C), None if task is None else self.solution_, solver))
        return self

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data, by an independent run of BCFW for the bound.

        For models of solvers without a certificate; changes nothing in the estimator.
        """
        check_is_fitted(self, "w_")
        with self._oracle(X, Y, sample_weight, self.task_) as oracle:
            bound = BCFW(tol=tol).solve(oracle, self._checked_C(self.C), seed=self._seed()).certificate
            value = primal(self.w_, oracle.risk(self.w_), self.C)
        return Certificate(
            primal=value,
            dual=bound.dual,
            exact=bound.exact,
            converged=relative_gap(value, bound.dual) <= tol,
            passes=bound.passes,
            seconds=bound.seconds,
            cpu_seconds=bound.cpu_seconds,
            stop_reason=f"bound computed by BCFW: {bound.stop_reason}",
        )

    # --- inside

    @contextmanager
    def _oracle(self, X: Any, Y: Any, sample_weight: Any, task: Task | None = None) -> Any:
        """The oracle of these data; BLAS keeps to one thread while it is open, because executors own the cores."""
        n, n_outputs = _length(X, "X"), _length(Y, "Y")
        if n != n_outputs:
            raise ValueError(f"X has {n} examples but Y has {n_outputs}")
        if n == 0:
            raise ValueError("no examples given: X and Y are empty")
        formulation = Formulation(self.rescaling, self.slack)
        if task is None:
            task = self._make_task()
            task.setup(X, Y)
        batch = task.pack(X, Y)
        if type(task).planes is Task.planes and isinstance(batch, Examples):
            check_promises(task, batch)
        executor = self.executor or (Serial() if self.n_jobs == 1 else Threads(self.n_jobs))
        try:
            with threadpool_limits(1, user_api="blas"):
                yield Oracle(task, batch, formulation, sample_weight, executor)
        finally:
            if self.executor is None:
                executor.close()

    def _solve(self, oracle: Oracle, C: float, start: Solution | None, solver: Solver | None = None) -> Solution:
        solver = solver or self._solver()
        with Progress(self.verbose, solver.tol) as progress:
            callbacks = [c for c in (progress.update if self.verbose else None, self.callback) if c is not None]
            solution = solver.solve(oracle, C, start, _all(callbacks), self._seed())
        self.task_ = oracle.task
        return solution

    def _keep(self, solution: Solution) -> None:
        self.solution_ = solution
        self.w_ = solution.w
        self.certificate_ = solution.certificate
        self.history_ = solution.history
        if solution.error is not None:
            solution.error.add_note("maxmargin: the estimator keeps the best model found before this error")
            raise solution.error

    def _solver(self, **options: Any) -> Solver:
        solver = clone(as_solver(self.solver))
        given = {"tol": self.tol, "max_passes": self.max_passes, **options}
        return solver.set_params(**{name: value for name, value in given.items() if value is not None})

    def _last_solution(self, X: Any, Y: Any, sample_weight: Any) -> Solution | None:
        if not self.warm_start or not hasattr(self, "solution_"):
            return None
        if getattr(self, "_fitted_to", None) != _fingerprint(X, Y, sample_weight):
            return None  # a dual point proves nothing about other data
        return self.solution_

    def _seed(self) -> int:
        if self.random_state is None or isinstance(self.random_state, np.random.RandomState):
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        return int(self.random_state)

    @staticmethod
    def _checked_C(C: Any) -> float:
        if isinstance(C, bool) or not isinstance(C, int | float | np.number) or isnan(C) or C <= 0:
            raise ValueError(f"C must be a positive number (or inf for a hard margin), got {C!r}")
        return float(C)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the model, not the plane cache that trained it."""
        state = dict(super().__getstate__())
        solution = state.get("solution_")
        if solution is not None:
            state["solution_"] = Solution(solution.w, solution.certificate, solution.C, solution.history)
        return state


def _length(data: Any, name: str) -> int:
    if hasattr(data, "shape"):
        return int(data.shape[0])
    try:
        return len(data)
    except TypeError:
        raise ValueError(f"{name} must be a list or an array of examples, got {type(data).__name__}") from None


def _all(callbacks: list[Any]) -> Any:
    """Call every one, and stop if one of them says so."""
    if not callbacks:
        return None
    return lambda record: any([callback(record) is True for callback in callbacks])


def _fingerprint(*data: Any) -> str:
    import joblib

    return str(joblib.hash(data))
