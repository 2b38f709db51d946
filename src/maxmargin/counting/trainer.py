"""CountingTrainer: the common base of the estimators that are trained by counting outputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from math import isfinite
from typing import Any, ClassVar, NamedTuple, Self, TypedDict, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import check_whole, is_finite, refuse_complex
from maxmargin.base.errors import warn_caller
from maxmargin.base.files.fields import LabelArray, NumberArray, NumberMatrix, OneOf, Part, Real, Text, Whole
from maxmargin.base.files.objects import Dropped, Fields, Sometimes, parameters_of
from maxmargin.base.files.saving import SavedModel
from maxmargin.base.named_weights import Weights, WithNamedWeights, column_names
from maxmargin.base.progress_line import LiveLine
from maxmargin.counting.certificate import CountingCertificate
from maxmargin.counting.descriptions import COUNTING
from maxmargin.counting.explaining import ExplainsScores
from maxmargin.counting.least_squares import as_rows
from maxmargin.counting.linear_system import SOLVERS, CountingSolution, DecomposedSystem, LinearSystem, SolverName
from maxmargin.counting.moments import Moments
from maxmargin.counting.penalty import GIVEN, LEFT_OUT, Penalty, chosen_penalty, papers_penalty
from maxmargin.counting.sets.output_set import OutputSet
from maxmargin.counting.solutions import plain_solution, read_solution
from maxmargin.counting.targets import TARGETS, TargetName
from maxmargin.inputs.matrices import validated, without_duplicates
from maxmargin.report.reported import Reported
from maxmargin.training.checkpoints.checkpoint import LIMITED, Checkpoint, Training
from maxmargin.training.checkpoints.checkpointed import open_checkpoint
from maxmargin.training.checkpoints.finished import ROUNDING
from maxmargin.training.checkpoints.identity import identity_of
from maxmargin.training.shared_options import SharedOptions

SMALL = 3000  # the most examples for which BLAS uses one thread

T = TypeVar("T")


class CountingOptions(TypedDict, total=False):
    """The options that every counting-based estimator passes on to CountingTrainer."""

    gamma: float | None
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None
    target: TargetName
    solver: SolverName
    tol: float
    max_iter: int
    verbose: int
    checkpoint: Any
    checkpoint_every: Any


class NamedCoordinates(NamedTuple):
    """Coordinates of φ as an array with a name for every index of its axes."""

    values: Array  # (rows, …), for rows of weights
    axes: dict[str, Sequence[Hashable]]  # names of all axes except the first


class CountingTrainer(SharedOptions, ExplainsScores, WithNamedWeights, SavedModel, Reported, BaseEstimator):
    """Kernels, the linear system and its certificate. CountingPredictor documents the parameters."""

    def __init__(
        self,
        kernel: Any,
        alpha: float | str | None,
        fit_intercept: bool,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        target: TargetName = "margin",
        solver: SolverName = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        verbose: int = 0,
        checkpoint: Any = None,
        checkpoint_every: Any = 60.0,
        **unknown: Any,
    ):
        self._refuse(unknown)
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.target = target
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    _descriptions = COUNTING

    saved: ClassVar[Fields] = {
        "checkpoint": Dropped(),
        "n_features_in_": Sometimes(Whole()),
        "feature_names_in_": Sometimes(LabelArray("n_features_in_")),
        "X_fit_": OneOf(None, NumberMatrix()),
        "alpha_": Real(),
        "chosen_by_": Text(),
        "certificate_": Part(CountingCertificate),
        "n_iter_": Whole(),
        "dual_coef_": OneOf(None, NumberArray(float, None, None)),
        "_weights_": OneOf(None, NumberArray(float, None, None)),
        "intercept_": OneOf(Real(), NumberArray(float, None)),
    }

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return parameters_of(cls)

    def _check_saved(self) -> None:
        """Check that a model from a file has as many scores as outputs have features; raise a ValueError otherwise."""
        found: Any = self._weights_ if self._weights_ is not None else self.dual_coef_
        if found is None:
            raise ValueError("it has no weights")
        if np.size(self.intercept_) not in (1, found.shape[1]):
            raise ValueError(f"there are {np.size(self.intercept_)} intercepts for {found.shape[1]} scores")
        kept: Any = self.X_fit_
        if self._weights_ is None and kept is not None and kept.shape[0] != len(found):
            raise ValueError(f"there are {kept.shape[0]} training inputs but {len(found)} coefficients")
        self._check_scores(found.shape[1])

    def _check_scores(self, n_scores: int) -> None:
        """Raise a ValueError if outputs have another number of features than `n_scores`."""

    dual_coef_: Array | None
    certificate_: CountingCertificate
    alpha_: float
    chosen_by_: str
    _weights_: Array | None

    @property
    def coef_(self) -> Array:
        """The (d, n_features) weights of the input features for every coordinate of φ; only for the linear kernel."""
        return self._feature_weights().T

    def _train(self, X: Any, Y: Any, sets: OutputSet | Sequence[OutputSet], several: bool = False) -> Self:
        """Fit to inputs that `_inputs` has read."""
        with (
            open_checkpoint(self) as checkpoint,
            LiveLine(self.verbose, "reading the outputs") as line,
            _few_threads(X.shape[0]),
        ):
            system = self._system(X, Y, sets, several, line)
            penalty = self._penalty(system)
            training = self._training(X, system, penalty.value, checkpoint)
            self._keep(system, penalty, _solution(system, penalty.value, training))
            line.say(f"λ = {penalty.value:g}, {penalty.chosen_by}: {self.certificate_}")
        return self

    def _train_path(
        self, X: Any, Y: Any, sets: OutputSet | Sequence[OutputSet], alphas: Sequence[float], several: bool = False
    ) -> list[Self]:
        if not isinstance(alphas, Iterable):
            raise ValueError(f"alphas is {alphas!r}; expected a sequence of positive values of λ")
        lams = [_checked_alpha(alpha) for alpha in alphas]
        if not lams:
            raise ValueError("alphas is empty; expected at least one value of λ")
        models = []
        with (
            open_checkpoint(self) as checkpoint,
            LiveLine(self.verbose, "reading the outputs") as line,
            _few_threads(X.shape[0]),
        ):
            system = self._system(X, Y, sets, several, line)
            for lam in lams:
                training = self._training(X, system, lam, checkpoint)
                self._keep(system, Penalty(lam, GIVEN), _solution(system, lam, training))
                line.say(f"λ = {lam:g}: {self.certificate_}")
                model: Self = clone(self).set_params(alpha=lam)
                model.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
                models.append(model)
        return models

    def _training(self, X: Any, system: DecomposedSystem, lam: float, checkpoint: Checkpoint | None) -> Training | None:
        """Return the training for this λ in the checkpoint; None without a checkpoint."""
        if checkpoint is None:
            return None
        known = (X, system.system.moments, system.system.rows, system.system.owner)
        same = identity_of(*known, code=(self.kernel, self.kernel_params))
        return checkpoint.training(self.max_iter, same, alpha=repr(lam))

    def _scores(self, X: Any) -> Array:
        """Return f(x), the (n, d) scores of the features of outputs."""
        check_is_fitted(self)
        X = self._inputs(X)
        if self._weights_ is not None:
            return np.asarray(X @ self._weights_ + self.intercept_)
        assert self.dual_coef_ is not None
        return np.asarray(self._kernel(X, self.X_fit_) @ self.dual_coef_)

    def _system(
        self, X: Any, Y: Any, sets: OutputSet | Sequence[OutputSet], several: bool, line: LiveLine
    ) -> DecomposedSystem:
        self._check_options()
        n = X.shape[0]
        if Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if len(Y) != n:
            raise ValueError(f"X has {n} examples but Y has {len(Y)}: example {min(n, len(Y))} has no partner")
        moments = Moments(sets, n)
        rows, owner = as_rows(moments, Y, several)
        # the training inputs that predictions need; a copy, because callers may change theirs
        self.X_fit_ = None if self._has_kernel("linear", "precomputed") else X.copy()
        linear = None
        if self._has_kernel("linear"):
            linear = X
            if self.fit_intercept:
                column = np.ones((n, 1))
                linear = sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])
        system = LinearSystem(
            moments, rows, owner, linear, lambda members: self._kernel_of(X, members), TARGETS[self.target]
        )
        return system.decomposed(self.solver, self.tol, self.max_iter, line)

    def _with_progress(self, each: Sequence[T], what: str) -> Iterator[T]:
        """Yield one member after another and show progress."""
        with LiveLine(self.verbose, f"searching {len(each):,} {what}") as line:
            for i, one in enumerate(each):
                if i:
                    line.show(f"{i:,} of {len(each):,} {what} are found")
                yield one

    def _penalty(self, system: DecomposedSystem) -> Penalty:
        """Return λ as `alpha` says."""
        if self.alpha is None:
            return papers_penalty(system)
        if isinstance(self.alpha, str):
            return chosen_penalty(system)
        return Penalty(float(self.alpha), GIVEN)

    def _keep(self, system: DecomposedSystem, penalty: Penalty, solution: CountingSolution) -> None:
        self.alpha_, self.chosen_by_ = penalty
        self.certificate_ = solution.certificate
        if not solution.certificate.converged:
            gap = solution.certificate.relative_gap
            proved = f" and a relative gap of {gap:.3g}" if isfinite(gap) else ""
            warn_caller(
                f"{type(self).__name__} stopped with a residual of {solution.certificate.residual:.3g}{proved}, for "
                f"tol = {self.tol:g} ({solution.certificate.stop_reason}): raise max_iter (now {self.max_iter}) or "
                "alpha, scale the features alike, or use solver='closed'",
                ConvergenceWarning,
            )
        self.n_iter_ = max(1, solution.certificate.iterations)
        self.dual_coef_ = None if system.primal else solution.coefficients
        self._weights_ = None
        self.intercept_: Any = 0.0
        if self._has_kernel("linear"):
            weights = system.weights(solution)
            self._weights_ = weights[:-1] if self.fit_intercept else weights
            self.intercept_ = weights[-1] if self.fit_intercept else 0.0

    def _feature_weights(self) -> Array:
        """Return the (n_features, d) weights; raise an AttributeError if the model has a kernel."""
        check_is_fitted(self)
        if self._weights_ is None:
            raise AttributeError(
                f"{type(self).__name__} with a kernel has no weights of features: its model is made of the training "
                "examples, with the coefficients dual_coef_"
            )
        return self._weights_

    def _named_weights(self) -> dict[str, Weights]:
        return self._laid_out(self._feature_weights(), self.intercept_ if np.ndim(self.intercept_) else None)

    def _laid_out(self, weights: Array, intercept: Array | None) -> dict[str, Weights]:
        named = {}
        if len(weights):
            for kind, (values, axes) in self._coordinates(weights).items():
                named[kind or "features"] = Weights(values, feature=column_names(self), **axes)
        if intercept is not None:
            for kind, (values, axes) in self._coordinates(intercept[None]).items():
                named[f"intercept_{kind}" if kind else "intercept"] = Weights(values[0], **axes)
        return named

    def _coordinates(self, rows: Array) -> dict[str, NamedCoordinates]:
        """Return rows of weights, (k, d), as named arrays, with the kinds of coordinates as keys; "" means all."""
        raise NotImplementedError

    def _kernel_of(self, X: Any, members: Index | slice) -> Array:
        """Return the kernel matrix of these training inputs."""
        own = X[members]
        return self._kernel(own[:, members] if self._has_kernel("precomputed") else own, own)

    def _kernel(self, X: Any, Y: Any) -> Array:
        from sklearn.metrics.pairwise import pairwise_kernels  # imported here, because it is slow to load

        if self._has_kernel("precomputed"):
            K = np.asarray(X, dtype=float)
        else:
            params = self.kernel_params or {}
            if not callable(self.kernel):
                params = {"degree": self.degree, "coef0": self.coef0}
                if self.gamma is not None:  # otherwise the default of the kernel is used
                    params["gamma"] = self.gamma
            K = np.asarray(pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **params))
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0]
            raise ValueError(f"the kernel of rows {i} and {j} is {K[i, j]}; it must be finite")
        return K + 1.0 if self.fit_intercept else K

    def _inputs(self, X: Any, reset: bool = False) -> Any:
        refuse_complex("X", X)
        if self._has_kernel("precomputed"):
            K = validated(self, X, dtype=np.float64, reset=reset)
            if reset and K.shape[0] != K.shape[1]:
                raise ValueError(f"a precomputed kernel matrix must be square, got shape {K.shape}")
            if reset:
                _check_symmetry(K)
            return K
        X = validated(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return sparse.csr_array(without_duplicates(X)) if sparse.issparse(X) else X

    def _has_kernel(self, *names: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel in names

    def _check_options(self) -> None:
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            shape = getattr(self.kernel, "shape", None)
            found = repr(self.kernel) if shape is None else f"an array of shape {shape}; a kernel matrix is given as X"
            raise ValueError(
                "kernel must be the name of a kernel of scikit-learn, a function of two rows or 'precomputed', "
                f"got {found}"
            )
        if not isinstance(self.target, str) or self.target not in TARGETS:
            raise ValueError(f"target must be one of {', '.join(map(repr, TARGETS))}, got {self.target!r}")
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {self.solver!r}")
        if not (is_finite(self.tol) and 0 < self.tol < 1):
            raise ValueError(f"tol must be a number between 0 and 1, got {self.tol!r}")
        check_whole("max_iter", self.max_iter, least=1)
        if self.alpha is not None and not (isinstance(self.alpha, str) and self.alpha == LEFT_OUT):
            _checked_alpha(self.alpha)
        if self.gamma is not None and not (is_finite(self.gamma) and self.gamma > 0):
            raise ValueError(f"gamma must be a positive number or None, got {self.gamma!r}")
        if not (is_finite(self.degree) and self.degree > 0):
            raise ValueError(f"degree must be a positive number, got {self.degree!r}")
        if not is_finite(self.coef0):
            raise ValueError(f"coef0 must be a number, got {self.coef0!r}")
        if self.kernel_params is not None and not (callable(self.kernel) and isinstance(self.kernel_params, dict)):
            raise ValueError(
                f"kernel_params are the arguments of a kernel function, a dict; got {self.kernel_params!r} for the "
                f"kernel {self.kernel!r}"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._has_kernel("precomputed")
        return tags


def _solution(system: DecomposedSystem, lam: float, training: Training | None) -> CountingSolution:
    """Solve the system for this λ, or go on from where a checkpoint is."""
    solution = None if training is None else _finished(system, lam, training)
    if solution is None:
        solution = system.solve(lam, training)
    if training is not None:
        limited = solution.certificate.stop_reason == "max_iter reached"
        training.end(plain_solution(solution), LIMITED if limited else "converged")
    return solution


def _finished(system: DecomposedSystem, lam: float, training: Training) -> CountingSolution | None:
    """Return the solution of a training that has ended before; None if it has not, or has another objective now."""
    if training.ended is None:
        return None
    solution = read_solution(training.ended, system.shape)
    kept, measured = solution.certificate.primal, system.objective(lam, solution.coefficients)
    allowed = ROUNDING * max(abs(kept), abs(measured), abs(solution.certificate.at_zero))
    return solution if training.confirms(kept, measured, allowed) else None


def check_output_set(given: Any, name: str) -> None:
    """Raise a TypeError unless this is an output set."""
    if not isinstance(given, OutputSet):
        raise TypeError(f"{name} must be an OutputSet of maxmargin.counting, got {given!r}")


def _few_threads(n: int) -> Any:
    """Limit BLAS to one thread for small matrices, for which several threads would mostly wait for each other."""
    return threadpool_limits(1, user_api="blas") if n <= SMALL else nullcontext()


def _check_symmetry(K: Array) -> None:
    asymmetry = np.abs(K - K.T)
    if asymmetry.max() > 1e-8 * np.abs(K).max():
        i, j = np.unravel_index(int(asymmetry.argmax()), K.shape)
        raise ValueError(
            f"a precomputed kernel matrix must be symmetric, but its value at ({i}, {j}) is {K[i, j]:.6g} and at "
            f"({j}, {i}) {K[j, i]:.6g}"
        )


def _checked_alpha(alpha: Any) -> float:
    if not (is_finite(alpha) and alpha > 0):
        raise ValueError(f"alpha (λ) must be a positive number, got {alpha!r}")
    return float(alpha)
