"""MeasureSVC: a linear classifier trained for the number that it is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from maxmargin.arrays import Array
from maxmargin.flat import MatrixClassifier
from maxmargin.inputs.labels import plain
from maxmargin.objective import Certificate
from maxmargin.online import NoPartialFit
from maxmargin.oracle import normalised_weights
from maxmargin.solvers import Solver
from maxmargin.structures.ranking.contingency import Contingency
from maxmargin.structures.ranking.groups import Groups, Indices
from maxmargin.structures.ranking.measures import NAMES, Measure, measure_of
from maxmargin.structures.ranking.ranking import Ranking
from maxmargin.structures.ranking.row_labels import WeightedRows
from maxmargin.structures.ranking.threshold import threshold
from maxmargin.structures.ranking.zero_weights import remedy_for_zero
from maxmargin.task import Task
from maxmargin.trainer import Options, refuse_kernel
from maxmargin.weights import Weights, column_names

MOST_ROWS = 10**8  # that repeated examples may make
RANKINGS = {"roc_auc": "roc_auc", "average_precision": "map"}  # measures of the order of scores: names in tasks.Ranking


class MeasureSVC(MatrixClassifier):
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
    {kernel}
    solver : str or Solver
        "one_slack" by default: the whole sample is one structural example.
    {tol}
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
    weights_ : the weights of features and the intercept by name, for the score of the positive class.
    """

    _default_tol = 1e-2
    offset_ = 0.0  # of the intercept, from cutting scores after training

    _needs_scores: ClassVar[bool] = True

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
        sample, labels = self._sample(X, y, sample_weight)
        self.offset_ = 0.0
        super().fit(sample, [labels])
        self.offset_ = self._offset(sample, labels)
        return self

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> Iterator[Self]:
        """The models of `fit_path`, one by one."""
        sample, labels = self._sample(X, y, sample_weight)
        self.offset_ = 0.0
        for model in super().path(sample, [labels], Cs):
            self.offset_ = model.offset_ = model._offset(sample, labels)
            yield model

    def certify(self, X: Any, y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        sample, labels = self._sample(X, y, sample_weight, reset=False)
        return super().certify(sample, [labels], tol=tol)

    def decision_function(self, X: Any) -> Array:
        """(n,) scores, positive for classes_[1] as everywhere in scikit-learn, whichever class is the positive one."""
        scores = self._scores(X)  # first, because it says whether there is a model
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

    def _named_weights(self) -> dict[str, Weights]:
        own = [plain(self._positive)]
        return {
            "features": Weights(self._sign * self.coef_.T, feature=column_names(self), label=own),
            "intercept": Weights(self._sign * self.intercept_, label=own),
        }

    @property
    def partial_fit(self) -> Any:
        """Not offered, whatever the solver: a measure of the whole sample cannot be trained on pieces of it."""
        raise NoPartialFit("MeasureSVC has no partial_fit: its measure is one of the whole sample")

    # --- inside

    @property
    def _positive(self) -> Any:
        return self.classes_[-1] if self.pos_label is None else self.pos_label

    @property
    def _sign(self) -> int:
        """1 if classes_[1] is the positive class, as scikit-learn reads scores and weights; -1 if classes_[0] is."""
        return 1 if self.classes_[1] == self._positive else -1

    def _remedy_for_zero(self) -> str:
        return remedy_for_zero(self.measure)

    def _make_task(self, Y: Any) -> Task:
        if self._ranks:
            return self._task(Ranking, measure=RANKINGS[self.measure], k=None)
        return self._task(Contingency)

    def _scores(self, X: Any) -> Array:
        """Of the positive class."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        return self.task_.row_scores(self.w_, X) + self.offset_

    def _sample(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[Groups, Array | WeightedRows]:
        """The whole sample as one structural example, and its labels, 1 for the positive class.

        Weights become part of the labels, or rows that stand several times.
        """
        X, y = self._checked(X, y, reset)
        if reset:
            self.classes_ = self._two_classes(y)
        unknown = np.flatnonzero(~np.isin(y, self.classes_))
        if len(unknown):
            label = plain(y[unknown[0]])
            raise ValueError(f"example {unknown[0]}: the label {label!r} is not one of {self.classes_.tolist()}")
        rows, weights = self._counted(sample_weight, len(y))
        labels = (y == self._positive).astype(float)[rows]
        if np.all(labels == labels[0]):
            one = plain(y[rows[0]])
            raise ValueError(f"the examples of positive weight have only one class, {one!r}; a measure needs both")
        if not self._ranks:
            size = self._measure().size
            if size is not None and size(0) > len(rows):
                raise ValueError(f"k = {self.k} is larger than the sample, which has {len(rows)} examples")
        sample = Groups(X, rows, np.array([0, len(rows)]))
        return sample, labels if weights is None else WeightedRows(labels, weights)

    def _counted(self, sample_weight: Any, n: int) -> tuple[Indices, Array | None]:
        """The numbers of the rows that count, as often as they do; and their weights, unless all weigh the same."""
        if sample_weight is None:
            return np.arange(n), None
        weights = normalised_weights(sample_weight, n)
        if self.measure == "roc_auc" or (not self._ranks and self._measure().separable):
            rows = np.flatnonzero(weights)
            return rows, weights[rows]
        return np.repeat(np.arange(n), self._times(sample_weight)), None

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

    def _offset(self, sample: Groups, labels: Array | WeightedRows) -> float:
        """What to add to all scores so that `predict` cuts where the measure looks; 0 where it sees the threshold."""
        size = None if self._ranks else self._measure().size
        if not self._ranks and size is None:
            return 0.0
        scores = self.task_.row_scores(self.w_, sample.matrix)[sample.rows]
        truth, weights = WeightedRows.of(labels)
        return -threshold(scores, truth, weights, None if size is None else size(int(truth.sum())))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
