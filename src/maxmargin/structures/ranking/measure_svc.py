"""MeasureSVC: a linear classifier trained for the number that it is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from maxmargin.base.arrays import Array
from maxmargin.base.errors import CutNotValidated, warn_caller
from maxmargin.base.files.fields import LabelArray, Real, Text
from maxmargin.base.files.objects import Dropped, Field, Fields
from maxmargin.base.named_weights import Weights, column_names
from maxmargin.inputs.labels.labels import plain
from maxmargin.inputs.packed.packed_data import given_examples
from maxmargin.kernels.functions import WithConstant
from maxmargin.problem.contract.capabilities.prediction_form import trained_model_of
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Certificate
from maxmargin.problem.oracle.oracle import normalised_weights
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solution, Solver
from maxmargin.structures.ranking.contingency import Contingency
from maxmargin.structures.ranking.folds import deal_folds
from maxmargin.structures.ranking.groups import Groups, Indices
from maxmargin.structures.ranking.judge import Judge, clearly_better, judged
from maxmargin.structures.ranking.measures import NAMES, Measure, measure_of
from maxmargin.structures.ranking.ranking import Ranking
from maxmargin.structures.ranking.row_labels import WeightedRows
from maxmargin.structures.ranking.soft_labels import SoftLabels
from maxmargin.structures.ranking.threshold import Cut, JudgedRows
from maxmargin.structures.ranking.zero_weights import remedy_for_zero
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.checkpoints.checkpointed import open_checkpoint
from maxmargin.training.feature_weights import refuse_kernel
from maxmargin.training.flat import MatrixClassifier
from maxmargin.training.online import NoPartialFit
from maxmargin.training.options import Options, seed_of
from maxmargin.training.parameters import task_from

MOST_ROWS = 10**8  # that repeated examples may make
FOLD_TOL = 0.01  # the gap of trainings that only score what they have not seen
TRAIN_FOR, CUTS = ("auto", "measure"), ("cv", "trained")
INSTEAD = "modified_huber"  # of SoftLabels: w = 0 is its optimum only where no feature tells the classes apart
Start = tuple[Any, int]  # what is trained for, and the fold
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
    train_for : "auto" or "measure"
        "measure" minimises the bound above, whatever comes of it. "auto" trains a classifier of the single examples
        instead, by their squared hinge, where the bound has its optimum at w = 0 or where, in cross-validation, those
        scores have the better measure by more than a standard error: ½‖w‖² + (C/n₊) Σ_i h(y_i ⟨w, x_i⟩) with n₊
        positive examples and the modified Huber loss h (see SoftLabels), close to LinearSVC(C=C/n₊). Not with `bounds`
        or a `prior`, nor for measures of order.
    cut : "cv" or "trained"
        Where `predict` cuts the scores. "cv": where the measure is best on scores of held-out folds, in the mean over
        folds (the middle one of the cuts within a standard error of that); for measures at k and "prbep" after as many
        such scores as they look at, for those of order where they have the fewest balanced errors. "trained": by the
        weight of the constant feature, or likewise on the scores of the training sample.
    solver : str or Solver
        "one_slack" by default: the whole sample is one structural example.
    {tol}
    The other parameters are those of StructuredSVM.

    `fit` takes sample_weight where it has a meaning: any weights for "error", "balanced_error" and "roc_auc", and whole
    numbers, which count an example so many times, for the others.

    Cross-validation has three folds, five where a class has fewer than 100 examples, and fewer where it has fewer than
    five; with one there is none, and a CutNotValidated warning. Folds depend on random_state and on the rows, not on
    their order; equal rows share a fold. It takes a training for every fold, each to the same gap (at least 1%): with
    train_for="measure" and cut="trained" there is none. A callback sees them by Record.where ("fold 2 of 5").

    Where classes overlap much and positives are rare, w = 0 can be the optimum for "f1", "prbep" and the measures at k:
    their bound is tight for data that can nearly be separated, such as text. With train_for="measure" a NothingLearnt
    warning says so.

    Attributes
    ----------
    coef_ : (1, n_features).   intercept_ : (1,).   classes_, certificate_, history_, n_features_in_.
    weights_ : the weights of features and the intercept by name, for the score of the positive class.
    trained_for_ : the measure, or "modified_huber" in its place. This is what certificate_ and certify speak of, on all
        the data; nothing is proved of the cut. A printed certificate says "soft labels" then.
    cut_by_ : "cross-validation" or "training".   offset_ : what the cut has added to the scores.
    cv_scores_ : by what was tried to be trained for, the mean over folds of the measure at the best cut; empty without
        cross-validation. That of trained_for_ compares values of C: fit_path has it for every one of them.
    """

    _default_tol = 1e-2
    offset_ = 0.0  # of the intercept, from cutting scores after training
    trained_for_: Any
    cut_by_: str
    cv_scores_: dict[Any, float]
    _bound_risk: float  # of a model on a path

    saved: ClassVar[Fields] = {
        "classes_": LabelArray(2),
        "trained_for_": Text(),
        "offset_": Real(),
        "cut_by_": Text(),
        "cv_scores_": Field(),
        "_bound_risk": Dropped(),
    }

    def __init__(
        self,
        measure: Any = "f1",
        k: int | None = None,
        beta: float = 1.0,
        pos_label: Any = None,
        C: float = 100.0,
        fit_intercept: bool = True,
        kernel: Any = None,
        train_for: str = "auto",
        cut: str = "cv",
        solver: str | Solver = "one_slack",
        **options: Unpack[Options],
    ):
        self.measure = measure
        self.k = k
        self.beta = beta
        self.pos_label = pos_label
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.train_for = train_for
        self.cut = cut
        super().__init__(C=C, solver=solver, **options)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on a dense or sparse (n, F) matrix with two classes, or on packed rows in the place of X and y."""
        sample, labels = self._sample(X, y, sample_weight)
        with open_checkpoint(self) as checkpoint:
            self._fit(self._seen(sample, self.measure), [labels], None, checkpoint)
            cuts = self._cross_validated(sample, labels, self, {}, checkpoint)
            if self._best(cuts) != self.trained_for_:
                self.trained_for_ = INSTEAD
                self._fit(self._seen(sample, INSTEAD), [labels], None, checkpoint)
        self._finish(sample, labels, cuts)
        return self

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> Iterator[Self]:
        """The models of `fit_path`, one by one; each has a cross-validation of its own."""
        if self.checkpoint is not None:
            raise ValueError(
                "MeasureSVC takes no checkpoint where several values of C are trained (fit_path, Tuned): all folds of "
                "a measure start from where those of the last C have ended, of which a checkpoint keeps the weights "
                "alone. Fit every C alone, with a checkpoint of its own"
            )
        sample, labels = self._sample(X, y, sample_weight)
        first, starts = self.trained_for_, dict[Start, Solution]()
        for model in self._path(self._seen(sample, self.measure), [labels], Cs, None, None):
            model.trained_for_, model._bound_risk = first, model.solution_.risk
            cuts = self._cross_validated(sample, labels, model, starts, None)
            instead = self._best(cuts) != first
            if instead:
                model.trained_for_ = INSTEAD
                model._fit(self._seen(sample, INSTEAD), [labels], None, None)
            model._finish(sample, labels, cuts)
            own = ("trained_for_", "offset_", "cut_by_", "cv_scores_")
            kept = [name for name in vars(model) if name.endswith("_") and (instead or name in own)]
            self.__dict__.update({name: getattr(model, name) for name in kept})
            yield model

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The measure on these data: higher is better. Losses such as "error" and "kld" count negative.

        Measures at k and "prbep" look at the highest scores here, not at the intercept, and take tied ones in the worst
        order.
        """
        X, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
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
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        measure = self._judged
        if not isinstance(measure, str) and measure.size is not None:
            if sample_weight is not None:
                raise ValueError(f"measure {self.measure!r} looks at a number of examples; they cannot have weights")
            if measure.size(0) > len(truth):
                raise ValueError(f"k = {self.k} is larger than the sample, which has {len(truth)} examples")
        return judged(measure, truth, scores, weights)

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
        named = super()._named_weights()
        intercept = named["intercept"]
        return {**named, "intercept": Weights(intercept.values + self.offset_, label=intercept.names[0])}

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        refuse_kernel(self)
        n, own = self.n_features_in_, [plain(self._positive)]
        return {
            "features": Weights(w[:n, None], feature=column_names(self), label=own),
            "intercept": Weights([w[n:].sum()], label=own),
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

    @property
    def path_risk(self) -> float:
        """Of the bound, whatever was trained for in its place: losses of two problems cannot be compared."""
        return self._bound_risk

    def _remedy_for_zero(self) -> str:
        instead = "; train_for='auto' trains a classifier of single examples then" * (self.train_for != "auto")
        return remedy_for_zero(self.measure) + instead

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.ranking.findings import measure_findings

        return measure_findings(self, X, Y)

    def _make_task(self, Y: Any) -> Task:
        return self._task_for(self.trained_for_)

    def _task_for(self, name: Any) -> Task:
        """What is trained for this measure."""
        kernel = self.kernel
        if kernel is not None and self._has_constant(name):
            kernel = WithConstant(kernel)
        if name == INSTEAD:
            return task_from(self, SoftLabels, kernel=kernel)
        if _ranks(name):
            return task_from(self, Ranking, measure=RANKINGS[name], k=None, kernel=kernel)
        return task_from(self, Contingency, kernel=kernel)

    def _scores(self, X: Any) -> Array:
        """Of the positive class."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        return self.task_.row_scores(self.w_, X) + self.offset_

    def _sample(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[Groups, Array | WeightedRows]:
        """The whole sample as one structural example, and its labels, 1 for the positive class.

        Weights become part of the labels, or rows that stand several times.
        """
        if reset:
            for name, known in (("train_for", TRAIN_FOR), ("cut", CUTS)):
                if getattr(self, name) not in known:
                    wanted = " or ".join(map(repr, known))
                    raise ValueError(f"{name} must be {wanted}, got {getattr(self, name)!r}")
            self.trained_for_, self.offset_ = self.measure, 0.0
        X, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        X, y = self._checked(X, y, reset)
        y = np.asarray(y)
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
        measure = self._judged
        if not isinstance(measure, str) and measure.size is not None and measure.size(0) > len(rows):
            raise ValueError(f"k = {self.k} is larger than the sample, which has {len(rows)} examples")
        sample = Groups(X, rows, np.array([0, len(rows)]))
        return sample, labels if weights is None else WeightedRows(labels, weights)

    def _counted(self, sample_weight: Any, n: int) -> tuple[Indices, Array | None]:
        """The numbers of the rows that count, as often as they do; and their weights, unless all weigh the same."""
        if sample_weight is None:
            return np.arange(n), None
        weights = normalised_weights(sample_weight, n)
        measure = self._judged
        if measure == "roc_auc" or (not isinstance(measure, str) and measure.separable):
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
    def _wants_constant(self) -> bool:
        return any(map(self._has_constant, self._candidates))

    def _has_constant(self, name: Any) -> bool:
        """Not where a measure compares scores only: the constant could satisfy constraints and teach nothing."""
        return self.fit_intercept and (name == INSTEAD or (not _ranks(name) and self._measure().size is None))

    def _measure(self) -> Measure:
        if not callable(self.measure) and (not isinstance(self.measure, str) or self.measure not in NAMES):
            known = ", ".join(map(repr, (*NAMES, *RANKINGS)))
            raise ValueError(f"measure must be one of {known} or a function loss(tp, fp, fn, tn), got {self.measure!r}")
        return measure_of(self.measure, self.k, self.beta)

    @property
    def _judged(self) -> Measure | str:
        """What scores are judged by: a measure of tables, or the name of one of the order of scores."""
        return str(self.measure) if _ranks(self.measure) else self._measure()

    # --- cross-validation

    @property
    def _candidates(self) -> tuple[Any, ...]:
        """What may be trained for: the measure alone where weights have bounds, among them that of the constant."""
        if self.train_for == "measure" or _ranks(self.measure) or self.bounds is not None or self.prior is not None:
            return (self.measure,)
        return (self.measure, INSTEAD)

    def _best(self, cuts: dict[Any, Cut]) -> Any:
        """What to train for: the measure itself, unless that has no scores or the other's are clearly better."""
        own, other = cuts.get(self.measure), cuts.get(INSTEAD)
        if other is None or (own is not None and not clearly_better(other, own)):
            return self.measure
        return INSTEAD

    def _cross_validated(
        self,
        sample: Groups,
        labels: Array | WeightedRows,
        model: Self,
        starts: dict[Start, Solution],
        checkpoint: Checkpoint | None,
    ) -> dict[Any, Cut]:
        """For this model, by what may be trained for: the cut, and the measure that it has out of fold.

        Nothing where nothing is to be chosen. Scores that are all zero have no cut; others are then worth more.
        """
        names, zero = self._candidates, not np.any(model.solution_.w)
        if len(names) == 1 and (self.cut == "trained" or zero):
            return {}
        if model.certificate_.stop_reason == "interrupted":
            return {}
        truth, weights = WeightedRows.of(labels)
        fold = deal_folds(self._features(sample), truth, seed_of(self.random_state))
        if fold is None:
            warn_caller(
                "a class has a single example (or equal ones), so that none can be held out: the scores are cut as in "
                "training. More examples would help; cut='trained' and train_for='measure' say that this is meant",
                CutNotValidated,
            )
            return {}
        judge, found = Judge(self._judged, JudgedRows(truth, weights, fold)), dict[Any, Cut]()
        for name in names:
            if name == self.measure and zero:
                continue
            scores = self._held_out_scores(self._seen(sample, name), labels, fold, name, model.C, starts, checkpoint)
            if scores is None:
                return {}
            found[name] = judge.cut(scores)
        return found

    def _held_out_scores(
        self,
        sample: Groups,
        labels: Array | WeightedRows,
        fold: Indices,
        name: Any,
        C: float,
        starts: dict[Start, Solution],
        checkpoint: Checkpoint | None,
    ) -> Array | None:
        """The score of every row by the models of the other folds; None after Ctrl-C.

        starts : where the training of every fold has ended for the last C, which is where it begins; it is kept.
        """
        scores, n_folds = np.empty(len(fold)), int(fold.max()) + 1
        tol = max(FOLD_TOL, self._solver().tol)
        for k in range(n_folds):
            held_out = fold == k
            part = Groups(sample.matrix, sample.rows[~held_out], np.array([0, np.count_nonzero(~held_out)]))
            own, task = [_taken(labels, ~held_out)], self._task_for(name)
            task.setup(part, own)
            with self._open(part, own, None, task, checkpoint) as problem:
                start = starts.get((name, k))
                solution = self._train(problem, C, start, checkpoint, f"fold {k + 1} of {n_folds}", tol=tol)
                if solution.error is not None:
                    raise solution.error
                if solution.certificate.stop_reason == "interrupted":
                    return None
                settled, starts[name, k] = trained_model_of(problem.batch, solution.w), solution
                scores[held_out] = settled.task.row_scores(settled.w, sample.matrix[sample.rows[held_out]])
        return scores

    def _seen(self, sample: Groups, name: Any) -> Groups:
        """The sample with the features that are trained on for this measure: the constant may be none of them."""
        return sample if self._has_constant(name) else self._features(sample)

    def _features(self, sample: Groups) -> Groups:
        """The sample without the constant."""
        if sample.matrix.shape[1] == self.n_features_in_:
            return sample
        return Groups(sample.matrix[:, : self.n_features_in_], sample.rows, sample.bounds)

    def _finish(self, sample: Groups, labels: Array | WeightedRows, cuts: dict[Any, Cut]) -> None:
        """Cut the scores, and keep what cross-validation has found."""
        self.cv_scores_ = {name: cut.mean for name, cut in cuts.items()}
        self.cut_by_ = "cross-validation" if self.cut == "cv" and self.trained_for_ in cuts else "training"
        if self.cut_by_ == "cross-validation":
            self.offset_ = -cuts[self.trained_for_].at
        else:
            self.offset_ = self._trained_offset(sample, labels)
        self.n_examples_ = len(sample.rows)
        self._warn()

    def _trained_offset(self, sample: Groups, labels: Array | WeightedRows) -> float:
        """What to add to all scores so that `predict` cuts where the measure looks; 0 where training has seen to it."""
        measure = self._judged
        if self.trained_for_ == self.measure and not isinstance(measure, str) and measure.size is None:
            return 0.0
        matrix = self._seen(sample, self.trained_for_).matrix
        truth, weights = WeightedRows.of(labels)
        rows = JudgedRows(truth, weights, np.zeros(len(truth), dtype=np.int64))
        return -Judge(measure, rows).cut(self.task_.row_scores(self.w_, matrix)[sample.rows]).at

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _ranks(measure: Any) -> bool:
    """Whether the measure is one of the order of all scores."""
    return isinstance(measure, str) and measure in RANKINGS


def _taken(labels: Array | WeightedRows, rows: NDArray[np.bool_]) -> Array | WeightedRows:
    """The labels of some rows, with their weights."""
    return WeightedRows(labels.labels[rows], labels.weights[rows]) if isinstance(labels, WeightedRows) else labels[rows]
