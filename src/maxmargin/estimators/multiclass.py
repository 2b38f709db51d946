"""MulticlassSVC: the Crammer-Singer classifier with any cost matrix and a certificate."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators.base import online_only
from maxmargin.estimators.flat import FlatClassifier
from maxmargin.executors import Executor
from maxmargin.solvers import Solver
from maxmargin.task import Array, Task
from maxmargin.tasks import Multiclass


class MulticlassSVC(FlatClassifier):
    """Minimise ½‖W‖² + C · mean_i max_k [cost(y_i, k) + ⟨w_k - w_{y_i}, x_i⟩].

    Parameters
    ----------
    C : float
        Weight of the mean hinge; C = c·n is LinearSVC(C=c, multi_class="crammer_singer")'s problem.
    costs : None, dict or array
        None: every mistake costs 1; {label: cost of missing it}; or a matrix cost[true, predicted] in the order of
        classes_.
    fit_intercept : bool
        Add a constant feature 1 (regularised like the others, as liblinear does).
    tol : float or None
        Relative duality gap to stop at; None: 1e-3, or what a solver object says itself.
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    coef_ : (n_classes, n_features).   intercept_ : (n_classes,).   classes_, certificate_, history_, n_features_in_.
    """

    _default_tol = 1e-3

    def __init__(
        self,
        C: float = 100.0,
        costs: Any = None,
        fit_intercept: bool = True,
        solver: str | Solver = "bcfw",
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

    @online_only
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One more pass of an online solver over new examples; the first call must be given all classes."""
        task = getattr(self, "task_", None)
        if task is None and classes is None:
            raise ValueError("the first call of partial_fit needs classes, the list of all labels")
        if task is not None and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError("classes differs from that of the first call; the labels are fixed by the first call")
        X, y = self._checked(X, y, reset=task is None)
        known: Any = self.classes_ if classes is None else np.unique(classes)
        unknown = np.flatnonzero(~np.isin(y, known))
        if len(unknown):
            i = unknown[0]
            label = y[i].item() if isinstance(y[i], np.generic) else y[i]
            raise ValueError(f"the label of example {i}, {label!r}, is not one of the classes of the first partial_fit")
        if task is None:
            task = Multiclass(known, self.costs)
            task.setup(X, y)
        return self._train_on(task, X, y, sample_weight)

    def decision_function(self, X: Any) -> Array:
        """(n, K) scores; for two classes (n,), positive for classes_[1]."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        scores = self.task_.scores(self.w_, X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """The class with the highest score."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    @property
    def classes_(self) -> Any:
        """The labels, sorted."""
        check_is_fitted(self)
        return self.task_.classes

    @property
    def coef_(self) -> Array:
        """(n_classes, n_features) weights."""
        return self._matrix()[: self.n_features_in_].T

    @property
    def intercept_(self) -> Array:
        """(n_classes,) weights of the constant feature."""
        matrix = self._matrix()
        return matrix[-1] if len(matrix) > self.n_features_in_ else np.zeros(len(self.classes_))

    def _matrix(self) -> Array:
        check_is_fitted(self)
        return self.w_.reshape(-1, len(self.classes_))

    def _make_task(self, Y: Any) -> Task:
        classes: Any = np.unique(Y)
        return Multiclass(classes, self.costs)
