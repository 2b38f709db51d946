"""Trainer: the base class of all estimators that are trained with a large margin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from maxmargin.base.arrays import Array
from maxmargin.base.memory_budget import MemoryBudget
from maxmargin.base.named_weights import WithWeightLayout, numbered_weights
from maxmargin.base.progress_line import LiveLine
from maxmargin.executors import Executor
from maxmargin.inputs.packed.packed_data import PackedData, given_examples
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.latent import is_latent
from maxmargin.problem.contract.capabilities.prediction_form import trained_model_of
from maxmargin.problem.contract.examples import Examples
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Certificate, Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.report.findings import Findings
from maxmargin.report.reported import Reported
from maxmargin.solvers import CCCP, Solution, Solver, as_solver
from maxmargin.solvers.named import SolverName
from maxmargin.solvers.subgradient import Walk
from maxmargin.training.certifying import certificate_of
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.checkpoints.checkpointed import open_checkpoint
from maxmargin.training.checkpoints.finished import finished_solution
from maxmargin.training.checkpoints.identity import identity_of
from maxmargin.training.checkpoints.settings import described_solver
from maxmargin.training.checkpoints.solutions import plain_solution
from maxmargin.training.decoding import decoded
from maxmargin.training.descriptions import TRAINING
from maxmargin.training.explaining import Explains
from maxmargin.training.fold_traits import FoldTraits
from maxmargin.training.model_files import ModelFiles
from maxmargin.training.nothing_learnt import remedy, warn_of_zero
from maxmargin.training.online import OnlineTraits, online_only
from maxmargin.training.options import (
    Rescaling,
    Slack,
    checked_C,
    checked_callback,
    checked_solver,
    executor_for,
    seed_of,
)
from maxmargin.training.preflight import check_promises
from maxmargin.training.problem import Problem, check_pairs, informative_examples
from maxmargin.training.progress import all_of, watching
from maxmargin.training.shared_options import SharedOptions
from maxmargin.training.unconverged import warn_of_gap
from maxmargin.training.warm_starts import earlier_solution, lasting
from maxmargin.training.weight_constraints import geometry_of


class Trainer(SharedOptions, Explains, WithWeightLayout, ModelFiles, FoldTraits, OnlineTraits, Reported, BaseEstimator):
    """The base class of estimators that train the weights of a task: fit, path, fit_path, partial_fit and certify.

    The constructor of an estimator lists its own parameters, with C and solver, and passes `**options` on to this
    class; its signature and its parameters (scikit-learn's get_params) contain both. StructuredSVM documents them.

    Notes
    -----
    A subclass defines `_make_task` and may override the other hooks. `fit(X, Y)` calls, in this order:

    1. `_fit`, which does 2 to 4. A subclass whose training has several parts overrides it (and `_path`).
    2. `_open`, which makes a Problem of the data. It calls the hooks
       `_solver()` (only to check options),
       `_make_task(Y)` (a task that is not set up),
       `_prior(task, batch, sample_weight)` (the weights towards which training is regularised),
       `_oracle(batch, formulation, …)` (the oracle that solvers query).
    3. `_train`, which runs a solver on the problem. It calls the hooks
       `_solver(latent, **options)` (which asks `_named_solver`), and, if outputs have hidden parts,
       `_first_weights(problem, C)`.
    4. `_keep`, which sets the fitted attributes: task_, w_, solution_, certificate_, history_, n_examples_, and further
       attributes that the batch or the solver adds (support_, kernel_map_, rounds_).
    5. `_warn`, which calls the hook `_remedy_for_zero()`.

    `path` does 2 once, and 3 to 5 for each C; `partial_fit` and `certify` do 2 with the task of the fitted model.

    A subclass also writes `predict` (by decoding.decoded), `score` and `__sklearn_tags__`. Reports and names of weights
    have hooks with defaults for every task: `_findings(X, Y)`, `_learnt()` (report/reported.py) and `_layout(task, w)`
    (base/named_weights.py).
    """

    def __init__(
        self,
        C: float,
        solver: SolverName | Solver,
        rescaling: Rescaling = "margin",
        slack: Slack = "l1",
        bounds: Any = None,
        prior: Any = None,
        tol: float | None = None,
        max_passes: float | None = None,
        n_jobs: int | None = 1,
        executor: Executor | None = None,
        random_state: Any = 0,
        warm_start: bool = False,
        callback: Any = None,
        verbose: int = 0,
        memory_mb: float | None = None,
        checkpoint: Any = None,
        checkpoint_every: Any = 60.0,
        **unknown: Any,
    ):
        self._refuse(unknown)
        self.C = C
        self.solver = solver
        self.rescaling = rescaling
        self.slack = slack
        self.bounds = bounds
        self.prior = prior
        self.tol = tol
        self.max_passes = max_passes
        self.n_jobs = n_jobs
        self.executor = executor
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.memory_mb = memory_mb
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    _descriptions: ClassVar[Mapping[str, str]] = TRAINING
    _default_tol: ClassVar[float | None] = None  # for a solver given by name; None: the default of the solver
    _packed: ClassVar[type[PackedData] | None] = None  # the packed data that `fit` takes in place of X and Y
    kernel: Any = None  # a parameter of estimators whose task takes a kernel

    # --- the interface

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on inputs X and outputs Y. After an error or Ctrl-C the best model so far is kept.

        Parameters
        ----------
        X : sequence
            The inputs.
        Y : sequence
            The outputs, one for each input.
        sample_weight : array of shape (n,) or None
            The weight of each example; None gives all examples the weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        with open_checkpoint(self) as checkpoint:
            self._fit(X, Y, sample_weight, checkpoint)
        self._warn()
        return self

    def fit_path(self, X: Any, Y: Any, Cs: Sequence[float], *others: Any, **weights: Any) -> list[Self]:
        """Train a model for every C, each starting from the previous solution; the last model stays in this estimator.

        Ctrl-C ends the path; the interrupted model is the last one.

        Parameters
        ----------
        X, Y : sequence
            Inputs and outputs, as for `fit`.
        Cs : sequence of float
            The values of C.
        *others, **weights
            The other arguments of `path`.

        Returns
        -------
        list of estimators
            A fitted estimator for each C.
        """
        values = [checked_C(C) for C in Cs]
        if not values:
            raise ValueError("Cs is empty; expected at least one value of C")
        return list(self.path(X, Y, values, *others, **weights))

    def path(self, X: Any, Y: Any, Cs: Any, sample_weight: Any = None) -> Iterator[Self]:
        """Yield the models of `fit_path` one by one. Each is trained when it is requested; the data are read once.

        BLAS uses one thread until the path has ended or is closed.

        Parameters
        ----------
        X, Y, sample_weight
            As for `fit`.
        Cs : iterable of float, or callable
            The values of C, which may be generated one by one, or a function that takes the Oracle of these data and
            returns them.

        Yields
        ------
        estimator
            A fitted estimator for each C.
        """
        with open_checkpoint(self) as checkpoint:
            for model in self._path(X, Y, Cs, sample_weight, checkpoint):
                model._warn()
                yield model

    @online_only
    def partial_fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Make one more pass of an online solver ("perceptron", "subgradient") over new examples.

        The first call determines labels and features: if its data may not contain all classes, give all of them as the
        parameter `classes`. The certificate holds for the examples of the last call only.

        Parameters
        ----------
        X, Y, sample_weight
            As for `fit`.

        Returns
        -------
        self
            The estimator.
        """
        return self._fit_more(getattr(self, "task_", None), X, Y, sample_weight)

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """Measure how far the current weights are from the optimum on these data, by an independent run for the bound.

        This is for models of solvers without a certificate. It changes nothing in the estimator.

        Parameters
        ----------
        X, Y, sample_weight
            As for `fit`.
        tol : float
            The relative gap at which the search for a bound stops.

        Returns
        -------
        Certificate
            The objective of the current weights, and a lower bound on the best possible one.
        """
        check_is_fitted(self)
        with self._open(X, Y, sample_weight, self.task_) as problem:
            seed, rounds = seed_of(self.random_state), self.certificate_.rounds
            return certificate_of(problem, self.w_, self.solution_.C, tol, seed, rounds)

    # --- hooks, which estimators may define

    def _make_task(self, Y: Any) -> Task:
        """Return a task for these outputs that is not set up yet."""
        raise NotImplementedError

    @property
    def _named_solver(self) -> str | Solver:
        """Return the parameter `solver`, or the default if it is None."""
        return self.solver

    def _solver(self, latent: bool = False, **options: Any) -> Solver:
        """Return a new solver for training; `options` replace its own options."""
        tol = self._default_tol if self.tol is None and isinstance(self._named_solver, str) else self.tol
        given = {"tol": tol, "max_passes": self.max_passes, **options}
        solver: Solver = clone(as_solver(self._named_solver))
        if latent and not isinstance(solver, CCCP):
            solver = CCCP(inner=solver, tol=solver.tol)
        return checked_solver(solver.set_params(**{name: value for name, value in given.items() if value is not None}))

    def _prior(self, task: Task, batch: Batch, sample_weight: Any) -> Any:
        """Return the prior weights that the parameter `prior` defines for this task and these data."""
        return self.prior

    def _oracle(self, batch: Batch, formulation: Formulation, **others: Any) -> RiskOracle:
        """Return the oracle of a batch, which solvers query; `others` are further arguments of Oracle."""
        return Oracle(batch, formulation, **others)

    def _first_weights(self, problem: Problem, C: float) -> Array | None:
        """Return weights at which hidden parts of outputs are completed first, or None to begin with a guess."""
        return None

    def _findings(self, X: Any, Y: Any) -> Findings:
        """Return what predictions for these data show: by default the losses, and outputs as Python writes them."""
        from maxmargin.report.any_task import task_findings

        return task_findings(self, list(decoded(self, X)), Y)

    def _remedy_for_zero(self) -> str | None:
        """Return advice for the case that training has ended at w = 0, or None if w = 0 is an acceptable result."""
        return remedy(self.certificate_) if self.certificate_.primal > 0 else None

    # --- the steps of a fit

    def _fit(self, X: Any, Y: Any, sample_weight: Any, checkpoint: Checkpoint | None, task: Task | None = None) -> None:
        """Train, and keep the model; `task` is a task that is set up for these data, or None to create one."""
        C = checked_C(self.C)
        with self._open(X, Y, sample_weight, task, checkpoint) as problem:
            start = earlier_solution(getattr(self, "solution_", None), getattr(self, "_fitted_to", None), problem)
            self._keep(problem, self._train(problem, C, start, checkpoint))

    def _path(
        self, X: Any, Y: Any, Cs: Any, sample_weight: Any, checkpoint: Checkpoint | None, task: Task | None = None
    ) -> Iterator[Self]:
        """Train for one C after the other, and yield a copy of this estimator for each; `task` is as in `_fit`."""
        with self._open(X, Y, sample_weight, task, checkpoint) as problem:
            solution = earlier_solution(getattr(self, "solution_", None), getattr(self, "_fitted_to", None), problem)
            for C in map(checked_C, Cs(problem.oracle) if callable(Cs) else Cs):
                if solution is not None and is_latent(problem.batch) and not np.any(solution.w):
                    solution = None  # w = 0 explains no hidden part: start as a single training does
                solution = self._train(problem, C, solution, checkpoint)
                self._keep(problem, solution)
                yield self._copy(C)
                if solution.certificate.stop_reason == "interrupted":
                    break

    def _fit_more(self, task: Task | None, X: Any, Y: Any, sample_weight: Any) -> Self:
        """Make one pass of the online solver, starting from its last state."""
        start = getattr(self, "solution_", None)
        if start is not None and not isinstance(start.memory, Walk):
            raise ValueError("partial_fit cannot continue from a model of another solver; start with a new estimator")
        C = checked_C(self.C)
        with self._open(X, Y, sample_weight, task) as problem:
            if problem.batch.offers(KernelSpace) is not None:
                raise ValueError(
                    "partial_fit is not available with a kernel, because every new example would enlarge the model"
                )
            self._keep(problem, self._train(problem, C, start, max_passes=1))
        return self

    @contextmanager
    def _open(
        self, X: Any, Y: Any, sample_weight: Any, task: Task | None = None, checkpoint: Checkpoint | None = None
    ) -> Iterator[Problem]:
        """Open the problem of these data. While it is open, BLAS uses one thread, because executors use the cores.

        task : a task that is set up, or None to create one.
        """
        X, Y, sample_weight = given_examples(self._packed, X, Y, sample_weight)
        formulation, executor = Formulation(self.rescaling, self.slack), executor_for(self.executor, self.n_jobs)
        X, Y = executor.collected(X), executor.collected(Y)
        self._solver()  # raises errors about options before any work is done
        checked_callback(self.callback)
        check_pairs(X, Y)
        memory = MemoryBudget(self.memory_mb)
        with LiveLine(self.verbose, "reading the data") as line:
            new = task is None
            if task is None:
                task = self._make_task(Y)
                batch = task.setup_and_pack(X, Y)
            else:
                batch = task.pack(X, Y)
            batch, sample_weight = informative_examples(batch, sample_weight)
            prior = self._prior(task, batch, sample_weight)
            geometry = geometry_of(task, self.bounds, prior, lambda: numbered_weights(self, task))
            if geometry is not None and batch.offers(KernelSpace) is not None:
                raise ValueError(
                    "bounds and a prior constrain weights of features, which a model with a kernel does not have"
                )
            if new and isinstance(batch, Examples):
                check_promises(task, batch, geometry)
            memory.reserve(batch.dim)
            try:
                with threadpool_limits(1, user_api="blas"):
                    others = {"sample_weight": sample_weight, "executor": executor, "geometry": geometry}
                    oracle = self._oracle(batch, formulation, **others, memory=memory)
                    known_again = self.warm_start or checkpoint is not None
                    known = (batch, oracle.weights, formulation, geometry)
                    same = identity_of(*known, code=self._named_solver) if known_again else None
                    yield Problem(batch, oracle, same, line)
                if memory.in_files:
                    line.say(memory.said())
            finally:
                if self.executor is None:
                    executor.close()

    def _train(
        self,
        problem: Problem,
        C: float,
        start: Solution | None,
        checkpoint: Checkpoint | None = None,
        where: str = "",
        **options: Any,
    ) -> Solution:
        """Run the solver.

        where : the name of this training among several; "" if there is only one.
        options : options of the solver.
        """
        oracle, line = problem.oracle, problem.line
        solver = self._solver(is_latent(problem.batch), **options)
        seed = seed_of(self.random_state)
        training = None
        if checkpoint is not None:
            about = {"C": repr(C), "solver": described_solver(solver)}
            training = checkpoint.training(solver.max_passes, problem.identity, **about)
        solution = None if training is None else finished_solution(training, problem)
        if solution is None:
            if is_latent(problem.batch) and start is None and getattr(solver, "start", None) is None:
                line.doing("looking for first weights")
                solver.set_params(start=self._first_weights(problem, C))
            line.doing("training" if training is None or training.begins else "going on")
            callback = all_of([watching(line, solver), self.callback], where)
            solution = solver.solve(oracle, C, start, callback, seed, keeper=training)
        if training is not None and solution.error is None:
            training.end(plain_solution(solution), solution.certificate.stop_reason)
        if not where:
            line.say(str(solution.certificate))
        return solution

    def _keep(self, problem: Problem, solution: Solution) -> None:
        """Set the fitted attributes; raise the error that has stopped training, if one has."""
        trained = trained_model_of(problem.batch, solution.w)
        for name in self.__dict__.pop("_shown", ()):
            self.__dict__.pop(name, None)  # attributes of an earlier fit
        self.task_, self.w_, self.n_examples_ = trained.task, trained.w, len(problem.batch)
        self.solution_, self.certificate_, self.history_ = solution, solution.certificate, solution.history
        shown = {**trained.attributes, **({"rounds_": solution.rounds} if solution.rounds else {})}
        self.__dict__.update(shown)
        self._shown, self._fitted_to = tuple(shown), problem.identity
        if solution.error is not None:
            solution.error.add_note("maxmargin: the estimator keeps the best model found before this error")
            raise solution.error

    def _warn(self) -> None:
        """Warn if the model is farther from the optimum than `tol` allows, or if nothing was learnt."""
        certificate = self.certificate_
        warn_of_gap(type(self).__name__, certificate, self._solver(latent=certificate.rounds is not None))
        advice = self._remedy_for_zero()
        if advice is not None:
            warn_of_zero(self.solution_, advice)

    def _copy(self, C: float) -> Self:
        """Return a copy of this fitted estimator for a value of C, which shares nothing that a later fit changes."""
        model: Self = clone(self).set_params(C=C)
        model.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
        model.solution_ = lasting(self.solution_, self.w_)
        return model
