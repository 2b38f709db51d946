"""Trainer: what all estimators share — from data to a certified model through any task and any solver."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self, TypedDict, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_true
from maxmargin.base.files.fields import Each, LabelArray, MostlyZeros, NumberArray, OneOf, Part, Seed, Text, Whole
from maxmargin.base.files.objects import Dropped, Field, Fields, Sometimes, parameters_of
from maxmargin.base.files.saving import SavedModel
from maxmargin.base.memory_budget import limited, set_aside
from maxmargin.base.named_weights import Weights, WithNamedWeights
from maxmargin.base.pickled_weights import PickledWeights
from maxmargin.base.progress_line import LiveLine
from maxmargin.executors import Executor
from maxmargin.inputs.packed.packed_data import PackedData, given_examples
from maxmargin.kernels.map import KernelMap
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.missing_labels import MissingLabels
from maxmargin.problem.contract.capabilities.prediction_form import trained_model_of
from maxmargin.problem.contract.examples import Examples
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.objective import Certificate, Formulation, relative_gap
from maxmargin.problem.oracle.oracle import Oracle, normalised_weights
from maxmargin.report.reported import Reported
from maxmargin.solvers import BCFW, CCCP, Solution, Solver, as_solver
from maxmargin.solvers.base import deny_contradiction, proved_primal, remembered_risk
from maxmargin.solvers.latent_runs import Round
from maxmargin.solvers.subgradient import Walk
from maxmargin.training.checkpoints.checkpointed import Checkpointed
from maxmargin.training.checkpoints.settings import described_solver
from maxmargin.training.checkpoints.solutions import plain_solution, read_solution
from maxmargin.training.nothing_learnt import warn_of_zero
from maxmargin.training.online import online_only
from maxmargin.training.options import checked_C, checked_solver, executor_for, n_examples, seed_of
from maxmargin.training.preflight import check_promises
from maxmargin.training.progress import watching
from maxmargin.training.shared_options import SharedOptions
from maxmargin.training.unconverged import warn_of_gap
from maxmargin.training.warm_starts import fingerprint, lasting
from maxmargin.training.weight_constraints import geometry_of

T = TypeVar("T", bound=Task)


class Problem(NamedTuple):
    """What is trained on."""

    batch: Batch
    oracle: Oracle
    fingerprint: str | None  # where a later fit may ask whether it is the same problem
    line: LiveLine  # where training is


class Options(TypedDict, total=False):
    """What every estimator passes on to Trainer."""

    rescaling: str
    slack: str
    bounds: Any
    prior: Any
    tol: float | None
    max_passes: float | None
    n_jobs: int | None
    executor: Executor | None
    random_state: Any
    warm_start: bool
    callback: Any
    verbose: int
    memory_mb: float | None
    checkpoint: Any
    checkpoint_every: Any


class Trainer(SharedOptions, Checkpointed, WithNamedWeights, SavedModel, Reported, BaseEstimator):
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

    _default_tol: ClassVar[float | None] = None  # of a solver that is only named; None leaves the solver's own

    # Whether w = 0 is no model even where it has no loss; others may have been given examples with one answer only.
    _needs_scores: ClassVar[bool] = False

    # Arguments of `fit` that are not one for each example, whatever their length.
    _of_no_example: ClassVar[tuple[str, ...]] = ()

    # Whether searching calls Python that a user has written, which two threads may not be used to.
    _asks_user: ClassVar[bool] = False

    kernel: Any = None  # a parameter of estimators whose task takes one

    _packed: ClassVar[type[PackedData] | None] = None  # the packed data that it takes in the place of X and Y

    saved: ClassVar[Fields] = {
        "callback": Dropped(),  # this and the next: of a run
        "executor": Dropped(),
        "checkpoint": Dropped(),
        "random_state": Seed(),
        "task_": Part(Task),
        "w_": MostlyZeros("task_.dim"),
        "certificate_": Sometimes(OneOf(None, Part(Certificate))),
        "solution_": Sometimes(Part(Solution)),
        "history_": Sometimes(Field()),
        "n_examples_": Sometimes(Whole()),
        "n_features_in_": Sometimes(Whole()),
        "feature_names_in_": Sometimes(LabelArray("n_features_in_")),
        "rounds_": Sometimes(Each(Part(Round))),
        "support_": Sometimes(NumberArray(np.int64, None)),
        "kernel_map_": Sometimes(Part(KernelMap)),
        "kernel_evaluations_": Sometimes(Whole()),
        "_shown": Sometimes(Each(Text(), kind=tuple)),
        "_fitted_to": Dropped(),
    }

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return parameters_of(cls)

    def _check_saved(self) -> None:
        """A model that was read from a file: what its training has kept must be of these weights."""
        solution = getattr(self, "solution_", None)
        if solution is None:
            return
        memory = solution.memory
        if not (isinstance(memory, Walk) and len(memory.w) == len(self.w_)):  # with a kernel it is of all units
            object.__setattr__(solution, "memory", None)
        object.__setattr__(solution, "w", self.w_)

    task_: Any
    w_: Array
    solution_: Solution

    def _bounding_solver(self, tol: float) -> Solver:
        """Who finds the bound of `certify`."""
        return BCFW(tol=tol)

    def _make_task(self, Y: Any) -> Task:
        """A task that is not set up yet, for these outputs."""
        raise NotImplementedError

    def _task(self, kind: type[T], **others: Any) -> T:
        """A task of this kind; its parameters are this estimator's of the same names, but for `others`."""
        names = set(inspect.signature(kind).parameters) & set(self.get_params(deep=False))
        return kind(**{name: getattr(self, name) for name in names} | others)

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train on inputs X and outputs Y. After an error or Ctrl-C the best model so far is kept."""
        C = checked_C(self.C)
        with self._checkpointed(), self._problem(X, Y, sample_weight) as problem:
            solution = self._solve(problem, C, self._earlier(problem))
            self._keep(problem, solution)
        self._warn_of_zero(solution)
        return self

    def fit_path(self, X: Any, Y: Any, Cs: Sequence[float], *others: Any, **weights: Any) -> list[Self]:
        """A fitted model for every C, each training started from the one before; the last one stays in this estimator.

        All other arguments are those of `path`. Ctrl-C ends the path with the model it has interrupted.
        """
        values = [checked_C(C) for C in Cs]
        if not values:
            raise ValueError("Cs is empty; expected at least one value of C")
        return list(self.path(X, Y, values, *others, **weights))

    def path(self, X: Any, Y: Any, Cs: Any, sample_weight: Any = None) -> Iterator[Self]:
        """The models of `fit_path` one by one: the next is trained when it is asked for, and the data are read once.

        Cs : the values of C, which may be made one by one, too; or a function of the Oracle of these data that makes
            them, see tuning.grid. BLAS keeps to one thread until the path has ended or is closed.
        """
        with self._checkpointed(), self._problem(X, Y, sample_weight) as problem:
            solution = self._earlier(problem)
            for C in self._values(problem, Cs):
                if solution is not None and problem.oracle.latent and not np.any(solution.w):
                    solution = None  # w = 0 explains no hidden part: begin where a single training would
                solution = self._solve(problem, C, solution)
                self._keep(problem, solution)
                self._warn_of_zero(solution)
                with set_aside():
                    yield self._model(C)
                if solution.certificate.stop_reason == "interrupted":
                    break

    @online_only
    def partial_fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """One more pass of an online solver ("perceptron", "subgradient") over new examples.

        Labels and features are fixed by the first call: name all `classes` if that call may not show them. The
        certificate speaks of the examples of the last call only.
        """
        return self._train_on(getattr(self, "task_", None), X, Y, sample_weight)

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data, by an independent run for the bound.

        For models of solvers without a certificate; changes nothing in the estimator.
        """
        check_is_fitted(self)
        C = self.solution_.C
        solver = checked_solver(self._bounding_solver(tol))
        name = type(solver).__name__
        with self._problem(X, Y, sample_weight, self.task_) as (batch, oracle, _, line):
            line.doing("looking for a bound")
            space = batch.offers(KernelSpace)
            w = self.w_ if space is None else space.lifted(self.w_)
            if not np.array_equal(oracle.allowed(w), w):
                raise ValueError("the weights of this model do not keep to its bounds; fit it again, or change bounds")
            if oracle.latent:  # what can be certified is a local optimum
                oracle = oracle.completed(w)
            solution = solver.solve(oracle, C, callback=watching(line, solver), seed=seed_of(self.random_state))
            if solution.error is not None:  # without a bound there is nothing to certify
                raise solution.error
            bound = solution.certificate
            value, upper = oracle.objective(w, oracle.risk(w), C), None
            if oracle.search.estimates:
                value = max(value, oracle.objective(w, remembered_risk(solution.memory, w), C))
                upper = proved_primal(oracle, w, C)
            else:
                deny_contradiction(value, bound.dual, name, oracle.name)
            certificate = replace(
                bound,
                primal=value,
                upper=upper,
                search=oracle.search,
                method=oracle.method,
                converged=relative_gap(value, bound.dual) <= tol,
                stop_reason=f"bound computed by {name}: {bound.stop_reason}",
                rounds=self.certificate_.rounds,
            )
            line.say(str(certificate))
        return certificate

    # --- inside

    def _decoded(self, X: Any) -> Any:
        """The best output of every x."""
        check_is_fitted(self)
        if isinstance(X, PackedData):
            raise ValueError(f"packed {X.kind} are for training: give a list of inputs to predict")
        with LiveLine(self.verbose, "searching the best outputs"):
            return self.task_.decode(self.w_, X)

    def _named_weights(self) -> dict[str, Weights]:
        return {"weights": Weights(self.w_, weight=range(len(self.w_)))}

    @contextmanager
    def _problem(self, X: Any, Y: Any, sample_weight: Any, task: Task | None = None) -> Iterator[Problem]:
        """The problem of these data; BLAS keeps to one thread while it is open, because executors own the cores."""
        X, Y, sample_weight = given_examples(self._packed, X, Y, sample_weight)
        formulation, executor = Formulation(self.rescaling, self.slack), executor_for(self.executor, self.n_jobs)
        X, Y = executor.collected(X), executor.collected(Y)
        self._solver()  # bad options show before any work is done
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be callable, got {self.callback!r}")
        n, n_outputs = n_examples(X, "X"), n_examples(Y, "Y")
        if n != n_outputs:
            raise ValueError(f"X has {n} examples but Y has {n_outputs}: example {min(n, n_outputs)} has no partner")
        if n == 0:
            raise ValueError("no examples given: X and Y are empty")
        with LiveLine(self.verbose, "reading the data") as line, limited(self.memory_mb) as room:
            new = task is None
            if task is None:
                task = self._make_task(Y)
                batch = task.setup_and_pack(X, Y)
            else:
                batch = task.pack(X, Y)
            labels = batch.offers(MissingLabels)
            informative = np.arange(len(batch)) if labels is None else labels.informative()
            if len(informative) == 0:
                raise ValueError("no example has a label that tells anything: there is nothing to learn from")
            if len(informative) < n:
                batch = batch.take(informative)
                if sample_weight is not None:
                    normalised_weights(sample_weight, n)  # names the weight that makes no sense
                    sample_weight = np.asarray(sample_weight, dtype=float)[informative]
            geometry = self._geometry(task, batch, sample_weight)
            if new and isinstance(batch, Examples):
                check_promises(task, batch, geometry)
            room.reserve(batch.dim)
            try:
                with threadpool_limits(1, user_api="blas"):
                    oracle = self._oracle(batch, formulation, sample_weight, executor, geometry, self._sizes(batch))
                    known_again = self.warm_start or self._open_checkpoint is not None
                    same = fingerprint(batch, oracle.weights, formulation, geometry) if known_again else None
                    yield Problem(batch, oracle, same, line)
                if room.in_files:
                    line.say(room.said())
            finally:
                if self.executor is None:
                    executor.close()

    def _oracle(self, batch: Batch, formulation: Formulation, *others: Any) -> Oracle:
        """What solvers ask, of this batch; the others are sample weights, executor, geometry and sizes."""
        return Oracle(batch, formulation, *others)

    def _geometry(self, task: Task, batch: Batch, sample_weight: Any) -> Geometry | None:
        """The prior and the bounds of weights, if there are any."""

        def numbered() -> dict[str, Weights]:
            shown = copy(self)
            shown.task_, shown.w_ = task, np.arange(1.0, task.dim + 1)
            return shown._named_weights()

        geometry = geometry_of(task, self.bounds, self._prior(task, batch, sample_weight), numbered)
        if geometry is not None and getattr(batch, "kernel", None) is not None:
            raise ValueError("bounds and a prior are of weights of features: with a kernel there are none")
        return geometry

    def _sizes(self, batch: Batch) -> Array | None:
        """How many units every example has, where C multiplies the mean loss of these and not that of examples."""
        return None

    def _n_trained_on(self, batch: Batch) -> int:
        """How many examples these are, as users count them."""
        return len(batch)

    def _prior(self, task: Task, batch: Batch, sample_weight: Any) -> Any:
        """The parameter, or what it means for this task and these data."""
        return self.prior

    def _train_on(self, task: Task | None, X: Any, Y: Any, sample_weight: Any) -> Self:
        """One pass of the online solver from where the last one ended."""
        start = getattr(self, "solution_", None)
        if start is not None and not isinstance(start.memory, Walk):
            raise ValueError("partial_fit cannot go on from a model of another solver; start with a new estimator")
        C = checked_C(self.C)
        with self._problem(X, Y, sample_weight, task) as problem:
            if problem.batch.offers(KernelSpace) is not None:
                raise ValueError("partial_fit is not offered with a kernel: every new example would lengthen the model")
            self._keep(problem, self._solve(problem, C, start, max_passes=1))
        return self

    def _solve(self, problem: Problem, C: float, start: Solution | None, where: str = "", **options: Any) -> Solution:
        """Train; `where` says of which of several trainings this is a part, and `options` are the solver's."""
        oracle = problem.oracle
        solver = self._solver(oracle.latent, **options)
        seed = seed_of(self.random_state)
        training = self._training(solver.max_passes, problem.fingerprint, C=repr(C), solver=described_solver(solver))
        begins = training is None or training.begins
        if (
            (training is None or training.ended is None)
            and oracle.latent
            and start is None
            and getattr(solver, "start", None) is None
        ):
            problem.line.doing("looking for first weights")
            solver.set_params(start=self._first_weights(problem, C))
        problem.line.doing("training" if begins else "going on")
        if training is not None and training.ended is not None:
            solution = read_solution(training.ended, oracle.dim)
        else:
            callbacks = [c for c in (watching(problem.line, solver), self.callback) if c is not None]
            keeper = {} if training is None else {"keeper": training}
            solution = solver.solve(oracle, C, start, _all(callbacks, where), seed, **keeper)
        if training is not None and solution.error is None:
            training.end(plain_solution(solution), solution.certificate.stop_reason)
        if not where:
            problem.line.say(str(solution.certificate))
        return solution

    @property
    def _path_risk(self) -> float:
        """Of a model on a path: the training loss of the problem that the path is one of."""
        return self.solution_.risk

    def _values(self, problem: Problem, Cs: Any) -> Iterator[float]:
        """The values of C that a path goes along."""
        return (checked_C(C) for C in (Cs(problem.oracle) if callable(Cs) else Cs))

    def _first_weights(self, problem: Problem, C: float) -> Array | None:
        """For latent tasks: weights at which to complete the labels first, where there is a better way than a guess."""
        return None

    def _keep(self, problem: Problem, solution: Solution) -> None:
        trained = trained_model_of(problem.batch, solution.w)
        for name in self.__dict__.pop("_shown", ()):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.task_, self.w_, self.n_examples_ = trained.task, trained.w, self._n_trained_on(problem.batch)
        self.solution_, self.certificate_, self.history_ = solution, solution.certificate, solution.history
        shown = {**trained.attributes, **({"rounds_": solution.rounds} if solution.rounds else {})}
        self.__dict__.update(shown)
        self._shown, self._fitted_to = tuple(shown), problem.fingerprint
        if solution.error is not None:
            solution.error.add_note("maxmargin: the estimator keeps the best model found before this error")
            raise solution.error
        self._warn_of_gap(solution.certificate, problem.oracle.latent)

    def _warn_of_gap(self, certificate: Certificate, latent: bool) -> None:
        warn_of_gap(type(self).__name__, certificate, self._solver(latent))

    def _warn_of_zero(self, solution: Solution) -> None:
        if solution.certificate.primal > 0 or self._needs_scores:
            warn_of_zero(solution, self._remedy_for_zero())

    def _remedy_for_zero(self) -> str:
        """What may help where w = 0 is optimal."""
        if self.certificate_.rounds is not None:
            return "Try more restarts, other first weights, or another C"
        return "Try other features, a smaller tol, or (if it is small) a larger C"

    def _earlier(self, problem: Problem) -> Solution | None:
        """The last solution, if it was of the same problem."""
        if problem.fingerprint is None or getattr(self, "_fitted_to", None) != problem.fingerprint:
            return None
        if len(self.solution_.w) != problem.oracle.dim:  # a pickled model has its support only
            return None
        return self.solution_

    def _model(self, C: float) -> Self:
        """A copy of this fitted estimator for that C, which shares nothing that a later fit changes."""
        model: Self = clone(self).set_params(C=C)
        model.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
        model.solution_ = lasting(self.solution_, self.w_)
        return model

    @property
    def _named_solver(self) -> str | Solver:
        """The parameter, or what it means where it names none."""
        return self.solver

    def _solver(self, latent: bool = False, **options: Any) -> Solver:
        tol = self._default_tol if self.tol is None and isinstance(self._named_solver, str) else self.tol
        given = {"tol": tol, "max_passes": self.max_passes, **options}
        solver: Solver = clone(as_solver(self._named_solver))
        if latent and not isinstance(solver, CCCP):
            solver = CCCP(inner=solver, tol=solver.tol)
        return checked_solver(solver.set_params(**{name: value for name, value in given.items() if value is not None}))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "w_")

    def __sklearn_clone__(self) -> Self:
        """With the same prior: a fitted model that is one stays fitted."""
        model: Self = super().__sklearn_clone__()
        model.prior = self.prior
        return model

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the model, not the plane cache that trained it; online solvers keep what they need to go on."""
        state = dict(super().__getstate__())
        if "w_" in state:
            state["w_"] = PickledWeights.of(state["w_"])
        if "solution_" in state:
            state["solution_"] = lasting(state["solution_"], state["w_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        w = state.get("w_")
        if isinstance(w, PickledWeights):
            state = {**state, "w_": w.unpacked()}
            if "solution_" in state:
                state["solution_"] = replace(state["solution_"], w=state["w_"])
        super().__setstate__(state)


def refuse_kernel(model: Trainer) -> None:
    """For attributes that speak of single features."""
    if model.kernel is not None:
        instead = "training examples in support_" if hasattr(model, "support_") else "features that kernel_map_ makes"
        raise AttributeError(
            f"{type(model).__name__} with a kernel has no weights of features: its model is made of the {instead}"
        )


def _all(callbacks: list[Any], where: str) -> Any:
    """Call every one, and stop if one of them says so."""
    if not callbacks:
        return None

    def call(record: Any) -> bool:
        record = record._replace(where=where) if where else record
        answers = [callback(record) for callback in callbacks]
        return any(is_true(answer) for answer in answers)

    return call
