"""MulticlassSVC: the Crammer-Singer classifier with any cost matrix and a certificate."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from maxmargin.estimators.base import Trainer
from maxmargin.executors import Executor
from maxmargin.solvers import Solver
from maxmargin.task import Array, Task
from maxmargin.tasks import Multiclass


class MulticlassSVC(ClassifierMixin, Trainer):
    """Minimise ½‖W‖² + C · mean_i max_k [cost(y_i, k) + ⟨w_k - w_{y_i}, x_i⟩].

    Parameters
    ----------
    C : float
        Weight of the mean hinge; C = c·n is LinearSVC(C=c, multi_class="crammer_singer")'s problem.
    costs : None, dict or array
        None: every mistake costs 1; {label: cost of missing it}; or a matrix cost[true, predicted] in the order of classes_.
    fit_intercept : bool
        Add a constant feature 1 (regularised like the others, as liblinear does).
    tol : float
        Relative duality gap to stop at.
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    coef_ : (n_classes, n_features).   intercept_ : (n_classes,).   classes_, certificate_, history_, n_features_in_.
    """

    def __init__(
        self,
        C: float = 1.0,
        costs: Any = None,
        fit_intercept: bool = True,
        solver: str | Solver = "bcfw",
        rescaling: str = "margin",
        slack: str = "l1",
        tol: float | None = 1e-3,
        max_passes: float | None = None,
        n_jobs: int = 1,
        executor: Executor | None = None,
        random_state: Any = 0,
        warm_start: bool = False,
        callback: Any = None,
        verbose: int = 0,
    ):
        self.C = C
        self.costs = costs
        self.fit_intercept = fit_intercept
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on a dense or sparse (n, F) matrix."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        return super().fit(self._with_intercept(X), numbers, sample_weight)

    def fit_path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> list[Self]:
        """A fitted model for every C, each started from the one before."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        return super().fit_path(self._with_intercept(X), numbers, Cs, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One more pass of an online solver over new examples; the first call must be given all classes."""
        first = not hasattr(self, "task_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        if first:
            if classes is None:
                raise ValueError("the first call of partial_fit needs classes, the list of all labels")
            self.classes_ = np.unique(classes)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"the label {unknown[0]!r} is not one of the classes given to the first partial_fit")
        return super().partial_fit(self._with_intercept(X), np.searchsorted(self.classes_, y), sample_weight)

    def certify(self, X: Any, y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Any:
        """How far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=False)
        return super().certify(self._with_intercept(X), np.searchsorted(self.classes_, y), sample_weight, tol)

    def decision_function(self, X: Any) -> Array:
        """(n, K) scores; for two classes (n,), positive for classes_[1]."""
        check_is_fitted(self, "w_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """The class with the highest score."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    @property
    def coef_(self) -> Array:
        """(n_classes, n_features) weights."""
        return self._matrix()[: self.n_features_in_].T

    @property
    def intercept_(self) -> Array:
        """(n_classes,) weights of the constant feature."""
        return self._matrix()[-1] if self.fit_intercept else np.zeros(len(self.classes_))

    def _matrix(self) -> Array:
        check_is_fitted(self, "w_")
        return self.w_.reshape(-1, len(self.classes_))

    def _with_intercept(self, X: Any) -> Any:
        if not self.fit_intercept:
            return X
        ones = np.ones((X.shape[0], 1))
        return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])

    def _make_task(self) -> Task:
        costs = self.costs
        if isinstance(costs, dict):
            known = {label: k for k, label in enumerate(self.classes_.tolist())}
            unknown = [label for label in costs if label not in known]
            if unknown:
                raise ValueError(f"costs names the label {unknown[0]!r}, which is not one of the classes")
            costs = {known[label]: cost for label, cost in costs.items()}
        return Multiclass(classes=range(len(self.classes_)), costs=costs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
