"""MeasureSVC: a linear classifier trained for the number that it is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators.base import NoPartialFit
from maxmargin.estimators.flat import FlatClassifier
from maxmargin.executors import Executor
from maxmargin.measures import NAMES, Measure, measure_of
from maxmargin.oracle import normalised_weights
from maxmargin.solvers import Solver
from maxmargin.task import Array, Task
from maxmargin.tasks.contingency import Contingency
from maxmargin.tasks.groups import Groups, WeightedRows
from maxmargin.tasks.ranking import Ranking

RANKINGS = {
    "roc_auc": "roc_auc",
    "average_precision": "map",
}  # measures of the order of scores, as tasks.Ranking has them


class MeasureSVC(FlatClassifier):
    """Minimise ½‖w‖² + C · max_z [Δ(y, z) - ⟨w, Ψ(X, y) - Ψ(X, z)⟩] over all labellings (or rankings) z of the sample.

    The loss Δ is one minus the measure (or the measure itself where smaller is better), and the maximum is at least the
    loss of the prediction on the training sample. Joachims, "A support vector method for multivariate performance
    measures" (ICML 2005), the method of SVM-perf.

    Parameters
    ----------
    measure : str or callable
        "f1", "fbeta" (with `beta`), "error", "balanced_error": of the predicted classes.
        "prbep" (precision where it equals recall), "precision_at_k", "recall_at_k" (with `k`): of the examples with the
        highest scores.
        "roc_auc", "average_precision": of the order of all scores.
        "kld", "nkld", "absolute_error", "relative_absolute_error", "q": of the estimated share of positives, for those
        who count rather than classify (quantification).
        A function loss(tp, fp, fn, tn) of arrays of counts: never negative, 0 where fp = fn = 0. It costs O(n₊n₋) per
        pass, all others O(n log n) but for "q".
    k : int or None
        How many examples "precision_at_k" and "recall_at_k" look at.
    beta : float
        Recall counts beta times as much as precision in "fbeta".
    pos_label : label or None
        The positive class; None for the last in sorted order.
    C : float
        Weight of the slack. For "error" this is C · mean hinge, that is LinearSVC(loss="hinge", C=C/n); for other
        measures a useful C depends little on the size of the sample and the share of positives.
    fit_intercept : bool
        Add a constant feature 1 (regularised like the others, as liblinear does).
    solver : str or Solver
        "one_slack" by default: the whole sample is one structural example.
    tol : float or None
        Relative duality gap to stop at; None: 1%, or what a solver object says itself.
    The other parameters are those of StructuredSVM.

    `fit` takes sample_weight where it has a meaning: any weights for "error", "balanced_error" and "roc_auc", and whole
    numbers, which count an example so many times, for the others.

    Measures of scores ("prbep", "roc_auc", …) say nothing about where to cut. For `predict` the intercept is then set
    after training, between the examples that the measure looks at and the others; for "roc_auc" and "average_precision"
    to the fewest balanced errors on the training sample.

    Attributes
    ----------
    coef_ : (1, n_features).   intercept_ : (1,).   classes_, certificate_, history_, n_features_in_.
    """

    _default_tol = 1e-2
    offset_ = 0.0  # of the intercept, from cutting scores after training

    def __init__(
        self,
        measure: Any = "f1",
        k: int | None = None,
        beta: float = 1.0,
        pos_label: Any = None,
        C: float = 100.0,
        fit_intercept: bool = True,
        solver: str | Solver = "one_slack",
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
        self.measure = measure
        self.k = k
        self.beta = beta
        self.pos_label = pos_label
        self.C = C
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
        """Train on a dense or sparse (n, F) matrix with two classes."""
        self.offset_ = 0.0
        super().fit(X, y, sample_weight)
        self.offset_ = self._cut(X, y)
        return self

    def fit_path(self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None) -> list[Self]:
        """A fitted model for every C, each started from the one before; the last one stays in this estimator."""
        self.offset_ = 0.0
        models = super().fit_path(X, y, Cs, sample_weight)
        for model in models:
            model.offset_ = model._cut(X, y)
        self.offset_ = models[-1].offset_
        return models

    def decision_function(self, X: Any) -> Array:
        """(n,) scores, positive where the positive class is predicted."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        return np.asarray(X @ self.w_) + self.offset_

    def predict(self, X: Any) -> Any:
        """The positive class where the score is positive."""
        positive = self.decision_function(X) > 0
        return np.where(positive, self._positive, self.classes_[self.classes_ != self._positive][0])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The measure on these data: higher is better. Losses such as "error" and "kld" count negative.

        Measures at k and "prbep" look at the highest scores here, not at the intercept, and take tied ones in the worst
        order.
        """
        from sklearn.metrics import average_precision_score, roc_auc_score  # slow to import

        scores = self.decision_function(X)
        truth = np.asarray(y) == self._positive
        if truth.all() or not truth.any():
            raise ValueError(f"y has one class only, so that measure {self.measure!r} is not defined")
        if self.measure == "roc_auc":
            return float(roc_auc_score(truth, scores, sample_weight=sample_weight))
        if self.measure == "average_precision":
            return float(average_precision_score(truth, scores, sample_weight=sample_weight))
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        found = scores > 0
        measure = self._measure()
        if measure.size is not None:
            if sample_weight is not None:
                raise ValueError(f"measure {self.measure!r} looks at a number of examples; they cannot have weights")
            order = np.lexsort((truth, -scores))
            found = np.isin(np.arange(len(truth)), order[: measure.size(int(truth.sum()))])
        kinds = (truth & found, ~truth & found, truth & ~found, ~truth & ~found)
        table = [float(np.dot(weights, kind)) for kind in kinds]
        return float(measure.value(*table)) if measure.value is not None else -float(measure.loss(*table))

    @property
    def coef_(self) -> Array:
        """(1, n_features) weights."""
        check_is_fitted(self)
        return self.w_[None, : self.n_features_in_]

    @property
    def intercept_(self) -> Array:
        """(1,): the weight of the constant feature, plus what cutting the scores has added."""
        check_is_fitted(self)
        return np.array([self.w_[self.n_features_in_ :].sum() + self.offset_])

    @property
    def _positive(self) -> Any:
        return self.classes_[-1] if self.pos_label is None else self.pos_label

    @property
    def partial_fit(self) -> Any:
        """Not offered, whatever the solver: a measure of the whole sample cannot be trained on pieces of it."""
        raise NoPartialFit("MeasureSVC has no partial_fit: its measure is one of the whole sample")

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Groups, list[Any], None]:
        """The whole sample as one structural example; weights become part of its labels, or repeated rows."""
        if type_of_target(y, input_name="y") != "binary":
            raise ValueError(
                "Only binary classification is supported. "
                f"The type of the target is {type_of_target(y)}; OneVsRestClassifier makes binary problems of it"
            )
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class, {self.classes_[0]!r}; a measure needs positive and negative examples"
            )
        if self.pos_label is not None and self.pos_label not in self.classes_:
            raise ValueError(f"pos_label={self.pos_label!r} is not one of the classes {self.classes_.tolist()}")
        labels = (y == self._positive).astype(float)
        groups = Groups.whole(X)
        if sample_weight is None:
            self._check_k(len(labels))
            return groups, [labels], None
        weights = normalised_weights(sample_weight, len(labels))
        given = np.asarray(sample_weight, dtype=float)
        if self.measure == "roc_auc" or (self.measure not in RANKINGS and self._measure().separable):
            used = np.flatnonzero(weights)
            return Groups(X, used, np.array([0, len(used)])), [WeightedRows(labels[used], weights[used])], None
        whole = np.all(given == given[0]) or np.all(given == np.floor(given))
        if not whole:
            i = int(np.argmax(given != np.floor(given)))
            raise ValueError(
                f"measure {self.measure!r} counts examples, so that sample_weight must hold whole numbers; "
                f"sample_weight[{i}] is {given[i]}"
            )
        rows = (
            np.arange(len(labels))
            if np.all(given == given[0])
            else np.repeat(np.arange(len(labels)), given.astype(int))
        )
        self._check_k(len(rows))
        return Groups(X, rows, np.array([0, len(rows)])), [labels[rows]], None

    def _check_k(self, n: int) -> None:
        """Measures at k need as many examples."""
        if self.measure not in RANKINGS:
            size = self._measure().size
            if size is not None and size(0) > n:
                raise ValueError(f"k = {self.k} is larger than the sample, which has {n} examples")

    def _measure(self) -> Measure:
        if isinstance(self.measure, str) and self.measure not in NAMES:
            known = ", ".join(map(repr, (*NAMES, *RANKINGS)))
            raise ValueError(f"measure must be one of {known} or a function loss(tp, fp, fn, tn), got {self.measure!r}")
        return measure_of(self.measure, self.k, self.beta)

    def _make_task(self, Y: Any) -> Task:
        if isinstance(self.measure, str) and self.measure in RANKINGS:
            return Ranking(RANKINGS[self.measure])
        return Contingency(self.measure, self.k, self.beta)

    def _cut(self, X: Any, y: Any) -> float:
        """What to add to all scores so that `predict` cuts where the measure looks; 0 where it sees the threshold."""
        scores, truth = self.decision_function(X) - self.offset_, np.asarray(y) == self._positive
        order = np.argsort(-scores, kind="stable")
        if isinstance(self.measure, str) and self.measure in RANKINGS:
            missed = 1 - np.append(0, np.cumsum(truth[order])) / truth.sum()
            false = np.append(0, np.cumsum(~truth[order])) / (~truth).sum()
            apart = np.append(np.append(True, np.diff(scores[order]) != 0), True)  # no cut goes through tied scores
            m = int(np.argmin(np.where(apart, missed + false, np.inf)))
        else:
            size = self._measure().size
            if size is None:
                return 0.0
            m = size(int(truth.sum()))
        ends = np.concatenate([[scores[order[0]] + 2], scores[order], [scores[order[-1]] - 2]])
        return -float(ends[m] + ends[m + 1]) / 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
