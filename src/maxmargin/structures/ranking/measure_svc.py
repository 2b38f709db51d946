"""MeasureSVC: a linear classifier trained for the number that it is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, Unpack

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from maxmargin.arrays import Array
from maxmargin.flat import FlatClassifier
from maxmargin.inputs.labels import plain
from maxmargin.online import NoPartialFit
from maxmargin.oracle import normalised_weights
from maxmargin.solvers import Solver
from maxmargin.structures.ranking.contingency import Contingency
from maxmargin.structures.ranking.groups import Groups, WeightedRows
from maxmargin.structures.ranking.measures import NAMES, Measure, measure_of
from maxmargin.structures.ranking.nothing_learnt import warn_of_zero
from maxmargin.structures.ranking.ranking import Ranking
from maxmargin.task import Task
from maxmargin.trainer import Options, refuse_kernel

MOST_ROWS = 10**8  # that repeated examples may make
RANKINGS = {
    "roc_auc": "roc_auc",
    "average_precision": "map",
}  # measures of the order of scores, as tasks.Ranking has them


class MeasureSVC(FlatClassifier):
    """Minimise ½‖w‖² + C · max_z [Δ(y, z) - ⟨w, Ψ(X, y) - Ψ(X, z)⟩] over all labellings (or rankings) z of the sample.

    The loss Δ is one minus the measure (or the measure itself where smaller is better), and the maximum is at least the
    loss of the prediction on the training sample; not so for the measures at k, unless as many are positive: the truth
    is then none of the predictions with k positives that they compare. Joachims, "A support vector method for
    multivariate performance measures" (ICML 2005), the method of SVM-perf.

    Parameters
    ----------
    measure : str or callable
        "f1", "fbeta" (with `beta`), "error", "balanced_error": of the predicted classes.
        "prbep" (precision where it equals recall), "precision_at_k", "recall_at_k" (with `k`): of the examples with the
        highest scores.
        "roc_auc", "average_precision": of the order of all scores.
        "kld", "nkld", "absolute_error", "relative_absolute_error", "q": of the estimated share of positives, for those
        who count rather than classify (quantification).
        A function loss(tp, fp, fn, tn) of arrays of counts: never negative, 0 where fp = fn = 0. A pass costs
        O(n log n), but O(n₊n₋) for "q" and for functions that are not linear in tp where tp + fp is fixed.
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
        Add a constant feature 1 (regularised like the others, as liblinear does) for measures that see the threshold;
        for those of scores the intercept is set after training in any case.
    kernel : None, str, callable or Kernel
        None is the linear model. "rbf", "poly", …, an object of maxmargin.kernels or a function f(A, B) that returns a
        matrix of kernel values replaces the inner products of rows; "precomputed" means that X is that matrix. Models
        then have support_, the training rows that they are made of, instead of coef_. "auto" (an RBF) or
        kernels.Auto(kernel) chooses by size between this and an explicit map; a kernels.KernelMap is one. Models then
        have kernel_map_ instead of support_.
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

    Where classes overlap much and positives are rare, w = 0 can be the optimum for "f1", "prbep" and the measures at k:
    their bound is tight for data that can nearly be separated, such as text. A NothingLearnt warning says so.

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
        kernel: Any = None,
        solver: str | Solver = "one_slack",
        **options: Unpack[Options],
    ):
        self.measure = measure
        self.k = k
        self.beta = beta
        self.pos_label = pos_label
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on a dense or sparse (n, F) matrix with two classes."""
        self.offset_ = 0.0
        super().fit(X, y, sample_weight)
        self._settle(X, y, sample_weight)
        return self

    def fit_path(self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None) -> list[Self]:
        """A fitted model for every C, each started from the one before; the last one stays in this estimator."""
        self.offset_ = 0.0
        models = super().fit_path(X, y, Cs, sample_weight)
        for model in models:
            model._settle(X, y, sample_weight)
        self.offset_ = models[-1].offset_
        return models

    def decision_function(self, X: Any) -> Array:
        """(n,) scores, positive for classes_[1] as everywhere in scikit-learn, whichever class is the positive one."""
        scores = self._scores(X)
        return self._sign * scores

    def predict(self, X: Any) -> Any:
        """The positive class where its score is positive."""
        found = self._scores(X) > 0
        return self.classes_[np.where(found == (self._sign > 0), 1, 0)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The measure on these data: higher is better. Losses such as "error" and "kld" count negative.

        Measures at k and "prbep" look at the highest scores here, not at the intercept, and take tied ones in the worst
        order.
        """
        from sklearn.metrics import average_precision_score, roc_auc_score  # slow to import

        scores = self._scores(X)
        check_consistent_length(scores, y, sample_weight)
        y = column_or_1d(y)
        unknown = np.flatnonzero(~np.isin(y, self.classes_))
        if len(unknown):
            where = f"example {unknown[0]}: the label is {plain(y[unknown[0]])!r}"
            raise ValueError(f"{where}; expected one of the classes {self.classes_.tolist()}")
        truth = y == self._positive
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
            if measure.size(0) > len(truth):
                raise ValueError(f"k = {self.k} is larger than the sample, which has {len(truth)} examples")
            order = np.lexsort((truth, -scores))
            found = np.isin(np.arange(len(truth)), order[: measure.size(int(truth.sum()))])
        kinds = (truth & found, ~truth & found, truth & ~found, ~truth & ~found)
        table = [np.array([np.dot(weights, kind)]) for kind in kinds]  # a user's function expects arrays
        return float(measure.value(*table)[0]) if measure.value is not None else -float(measure.loss(*table)[0])

    @property
    def coef_(self) -> Array:
        """(1, n_features) weights."""
        check_is_fitted(self)
        refuse_kernel(self)
        return self._sign * self.w_[None, : self.n_features_in_]

    @property
    def intercept_(self) -> Array:
        """(1,): the weight of the constant feature, plus what cutting the scores has added."""
        check_is_fitted(self)
        refuse_kernel(self)
        return np.array([self._sign * (self.w_[self.n_features_in_ :].sum() + self.offset_)])

    @property
    def _positive(self) -> Any:
        return self.classes_[-1] if self.pos_label is None else self.pos_label

    @property
    def _sign(self) -> int:
        """Of the weights as scikit-learn reads them, whose positive class is classes_[1]."""
        return 1 if self.classes_[1] == self._positive else -1

    @property
    def partial_fit(self) -> Any:
        """Not offered, whatever the solver: a measure of the whole sample cannot be trained on pieces of it."""
        raise NoPartialFit("MeasureSVC has no partial_fit: its measure is one of the whole sample")

    def _checked(self, X: Any, y: Any = "no_validation", reset: bool = True) -> tuple[Any, Any]:
        X, y = super()._checked(X, y, reset)
        if reset:
            self.classes_ = self._two_classes(y)
        return X, y

    def _two_classes(self, y: Any) -> Any:
        """The labels in sorted order, unless they are not two or the positive one is not among them."""
        if type_of_target(y, input_name="y") != "binary":
            raise ValueError(
                "Only binary classification is supported. "
                f"The type of the target is {type_of_target(y)}; OneVsRestClassifier makes binary problems of it"
            )
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"y has only one class, {plain(classes[0])!r}; a measure needs positive and negative ones")
        if self.pos_label is not None and self.pos_label not in classes.tolist():
            raise ValueError(f"pos_label={self.pos_label!r} is not one of the classes {classes.tolist()}")
        return classes

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Groups, list[Any], None]:
        """The whole sample as one structural example; weights become part of its labels, or repeated rows."""
        unknown = np.flatnonzero(~np.isin(y, self.classes_))
        if len(unknown):
            label = plain(y[unknown[0]])
            raise ValueError(f"example {unknown[0]}: the label {label!r} is not one of {self.classes_.tolist()}")
        labels, rows = (y == self._positive).astype(float), np.arange(len(y))
        weights: Any = None
        if sample_weight is not None:
            weights = normalised_weights(sample_weight, len(labels))
            if self.measure == "roc_auc" or (not self._ranks and self._measure().separable):
                rows = np.flatnonzero(weights)
            else:
                rows, weights = np.repeat(rows, self._times(sample_weight)), None
        if np.all(labels[rows] == labels[rows[0]]):
            one = plain(y[rows[0]])
            raise ValueError(f"the examples of positive weight have only one class, {one!r}; a measure needs both")
        if not self._ranks:
            size = self._measure().size
            if size is not None and size(0) > len(rows):
                raise ValueError(f"k = {self.k} is larger than the sample, which has {len(rows)} examples")
        counted = labels[rows] if weights is None else WeightedRows(labels[rows], weights[rows])
        return Groups(X, rows, np.array([0, len(rows)])), [counted], None

    def _times(self, sample_weight: Any) -> Any:
        """How many times each example counts."""
        given = np.asarray(sample_weight, dtype=float)
        broken = np.flatnonzero(given != np.floor(given))
        if len(broken) and np.ptp(given) > 0:
            raise ValueError(
                f"measure {self.measure!r} counts examples, so that sample_weight must hold whole numbers; "
                f"sample_weight[{broken[0]}] is {given[broken[0]]}"
            )
        if len(broken):
            return np.ones(len(given), dtype=int)
        if given.sum() > MOST_ROWS:
            raise ValueError(
                f"measure {self.measure!r} counts an example as often as its weight says, which makes "
                f"{given.sum():.3g} examples, more than {MOST_ROWS:.0g}; divide the weights by a common factor"
            )
        return given.astype(int)

    @property
    def _ranks(self) -> bool:
        """Whether the measure is one of the order of all scores."""
        return isinstance(self.measure, str) and self.measure in RANKINGS

    @property
    def _wants_constant(self) -> bool:
        """Not where the measure compares scores only: the constant could satisfy constraints and teach nothing."""
        return self.fit_intercept and not self._ranks and self._measure().size is None

    def _measure(self) -> Measure:
        if not callable(self.measure) and (not isinstance(self.measure, str) or self.measure not in NAMES):
            known = ", ".join(map(repr, (*NAMES, *RANKINGS)))
            raise ValueError(f"measure must be one of {known} or a function loss(tp, fp, fn, tn), got {self.measure!r}")
        return measure_of(self.measure, self.k, self.beta)

    def _make_task(self, Y: Any) -> Task:
        kernel = self._task_kernel()
        if self._ranks:
            return Ranking(RANKINGS[self.measure], kernel=kernel)
        return Contingency(self.measure, self.k, self.beta, kernel)

    def _scores(self, X: Any) -> Array:
        """Of the positive class."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        return self.task_.row_scores(self.w_, X) + self.offset_

    def _settle(self, X: Any, y: Any, sample_weight: Any) -> None:
        """What is left to do after training."""
        warn_of_zero(self, self.measure, stacklevel=4)
        self.offset_ = self._cut(X, y, sample_weight)

    def _cut(self, X: Any, y: Any, sample_weight: Any) -> float:
        """What to add to all scores so that `predict` cuts where the measure looks; 0 where it sees the threshold."""
        if not self._ranks and self._measure().size is None:
            return 0.0
        groups, (labels,), _ = self._examples(*self._checked(X, y, reset=False), sample_weight)
        scores = self.task_.row_scores(self.w_, groups.matrix)[groups.rows]
        truth, weights = labels if isinstance(labels, WeightedRows) else (labels, np.ones(len(labels)))
        order = np.argsort(-scores, kind="stable")
        apart = -np.diff(scores[order]) > 1e-9 * np.abs(scores).max()  # no cut goes through scores tied up to rounding
        apart = np.concatenate([[True], apart, [True]])
        if self._ranks:
            right, wrong = weights * truth, weights * (1 - truth)
            missed = 1 - np.append(0, np.cumsum(right[order])) / right.sum()
            false = np.append(0, np.cumsum(wrong[order])) / wrong.sum()
            errors = np.where(apart, missed + false, np.inf)
            m = int(np.argmax(errors <= errors.min() + 1e-9))  # the first of equal ones, however they were rounded
        else:
            m = self._measure().size(int(truth.sum()))  # type: ignore[misc]
            m += int(np.argmax(apart[m:]))
        ends = np.concatenate([[scores[order[0]] + 2], scores[order], [scores[order[-1]] - 2]])
        return -float(ends[m] + ends[m + 1]) / 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
