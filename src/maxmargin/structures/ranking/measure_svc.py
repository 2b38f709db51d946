"""MeasureSVC: a linear classifier that is trained for the measure by which it is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Literal, Self, Unpack, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import LabelArray, Real, Text
from maxmargin.base.files.objects import Dropped, Field, Fields
from maxmargin.base.named_weights import Weights, column_names
from maxmargin.inputs.labels.labels import plain
from maxmargin.inputs.packed.packed_data import given_examples
from maxmargin.problem.contract.capabilities.prediction_form import trained_model_of
from maxmargin.problem.dual.objective import Certificate
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solution, Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.ranking.explained_rows import ExplainsCut
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.measure_sample import MeasureSample, counted_rows, two_classes
from maxmargin.structures.ranking.objectives import Objective, objectives_of, score_measure
from maxmargin.structures.ranking.row_labels import WeightedRows
from maxmargin.structures.ranking.score_measure import FoldMeasure, measured
from maxmargin.structures.ranking.threshold import Cut, FoldRows
from maxmargin.structures.ranking.training_choice import TrainingChooser
from maxmargin.structures.ranking.zero_weights import remedy_for_zero
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.checkpoints.checkpointed import open_checkpoint
from maxmargin.training.feature_weights import refuse_kernel
from maxmargin.training.flat import MatrixClassifier
from maxmargin.training.options import Options

CutBy = Literal["cv", "trained"]
TrainFor = Literal["auto", "measure"]

FOLD_TOL = 0.01  # the least relative gap of trainings in cross-validation


class MeasureSVC(ExplainsCut, MatrixClassifier):
    """Train a linear binary classifier for the measure by which it is evaluated, such as F1 or precision at k.

    It minimises ½‖w‖² + C · max_z [Δ(y, z) - ⟨w, Ψ(X, y) - Ψ(X, z)⟩] over all labellings (or rankings) z of the sample.

    The loss Δ is one minus the measure (or the measure itself if smaller is better), and the maximum is at least the
    loss of the prediction on the training sample. That does not hold for the measures at k unless k rows are positive,
    because the truth is then not among the predictions with k positives. Joachims, "A support vector method for
    multivariate performance measures" (ICML 2005), the method of SVM-perf.

    Parameters
    ----------
    measure : str or callable
        Measures of the predicted classes: "f1", "fbeta" (with `beta`), "error", "balanced_error".
        Measures of the examples with the highest scores: "prbep" (precision where it equals recall), "precision_at_k",
        "recall_at_k" (with `k`).
        Measures of the order of all scores: "roc_auc", "average_precision".
        Measures of the estimated share of positives (quantification): "kld", "nkld", "absolute_error",
        "relative_absolute_error", "q".
        A function loss(tp, fp, fn, tn) of arrays of counts: never negative, 0 if fp = fn = 0. A pass costs O(n log n),
        but O(n₊n₋) for "q" and for functions that are not linear in tp for fixed tp + fp.
    k : int or None
        The number of examples of "precision_at_k" and "recall_at_k".
    beta : float
        Recall counts beta times as much as precision in "fbeta".
    pos_label : label or None
        The positive class; None for the last in sorted order.
    C : float
        Weight of the slack. For "error" this is C · mean hinge, that is LinearSVC(loss="hinge", C=C/n); for other
        measures a useful C depends little on the size of the sample and the share of positives.
    fit_intercept : bool
        Whether to add a constant feature 1 (regularised like the others, as in liblinear) for measures that depend on
        the threshold; for measures of scores the intercept is always set after training.
    {kernel}
    train_for : "auto" or "measure"
        "measure" always minimises the bound above. "auto" trains a classifier of single examples instead if the bound
        has its optimum at w = 0, or if that classifier has a better measure in cross-validation by more than a standard
        error. It minimises ½‖w‖² + (C/n₊) Σ_i h(y_i ⟨w, x_i⟩) with n₊ positive examples and the modified Huber loss h
        (see SoftLabels), close to LinearSVC(C=C/n₊). With `bounds`, a `prior` or a measure of order, "auto" is the same
        as "measure".
    cut : "cv" or "trained"
        The threshold of scores that `predict` uses. "cv": the one with the best mean of the measure over held-out folds
        (the middle one of those within a standard error); for measures at k and "prbep" the one with the right number
        of scores above it, for measures of order the one with the lowest balanced error. "trained": by the weight of
        the constant feature, or by the same rules on the scores of the training sample.
    solver : str or Solver
        "one_slack" by default: the whole sample is one structural example.
    {tol}
    {options}

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        The weights of features.
    intercept_ : array of shape (1,)
        The intercept, including offset_.
    classes_ : array of shape (2,)
        The labels in sorted order.
    weights_ : dict of Weights
        The weights of features and the intercept by name, for the score of the positive class.
    trained_for_ : str or callable
        The measure, or "modified_huber" if a classifier of single examples was trained (a printed certificate then says
        "soft labels"). certificate_ and certify are about this objective on all the data, not about the cut.
    cut_by_ : str
        "cross-validation" or "training".
    offset_ : float
        The number added to the scores by the cut.
    cv_scores_ : dict
        The mean over folds of the measure, for every objective; empty without cross-validation. The scores of a fold
        are cut where the other folds are best, so that no row chooses the cut by which it is measured. They estimate
        the measure on new data; only the highest of several, chosen between objectives or values of C, is slightly too
        high. The models of fit_path each have their own.
    n_features_in_ : int
        The number of features.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    Ranker : Measures of the rankings of several queries.
    MulticlassSVC : Classifies by costs of single examples.

    Notes
    -----
    `fit` takes any sample_weight for "error", "balanced_error" and "roc_auc", and whole numbers, which repeat an
    example, for the other measures.

    Cross-validation has three folds, five if a class has fewer than 100 examples, and fewer if a class has fewer than
    five; if a class has one, there is no cross-validation but a CutNotValidated warning. Folds depend on random_state
    and on the rows, not on their order; equal rows share a fold. It takes one training per fold, each to the same gap
    (at least 1%); train_for="measure" with cut="trained" avoids it. In callbacks, Record.where says "fold 2 of 5".

    If classes overlap much and positives are rare, w = 0 can be the optimum for "f1", "prbep" and the measures at k:
    their bound is tight only for nearly separable data, such as text. With train_for="measure" a NothingLearnt warning
    says so.

    Examples
    --------
    >>> from maxmargin import MeasureSVC
    >>> X, y = [[0.0], [0.2], [0.4], [0.6], [2.0], [2.2]], [0, 0, 0, 0, 1, 1]
    >>> model = MeasureSVC("f1", cut="trained", train_for="measure").fit(X, y)
    >>> model.predict([[0.1], [2.1]]).tolist()
    [0, 1]
    """

    _default_tol = 1e-2

    why_not_online = "its measure is defined on the whole sample"
    offset_ = 0.0  # added to scores by the cut after training
    trained_for_: Any
    cut_by_: str
    cv_scores_: dict[Any, float]
    _bound_risk: float  # the risk of a model on a path

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
        train_for: TrainFor = "auto",
        cut: CutBy = "cv",
        solver: SolverName | Solver = "one_slack",
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
        """Train on a dense or sparse (n, F) matrix with two classes, or on packed rows instead of X and y."""
        sample = self._sample(X, y, sample_weight)
        chooser = self._chooser(sample)
        first = chooser.objectives[0]
        with open_checkpoint(self) as checkpoint:
            self._fit_for(first, sample, checkpoint)
            cuts = chooser.cuts(self.C, self.solution_, checkpoint)
            best = chooser.best(cuts)
            if best is not first:
                self._fit_for(best, sample, checkpoint)
        self._finish(sample, best, cuts)
        self._warn()
        return self

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> Iterator[Self]:
        """Yield the models of `fit_path` one by one; each has a cross-validation of its own."""
        if self.checkpoint is not None:
            raise ValueError(
                "MeasureSVC takes no checkpoint if several values of C are trained (fit_path, Tuned), because all "
                "folds start from the solutions of the last C, of which a checkpoint keeps only the weights. "
                "Fit every C alone, with a checkpoint of its own"
            )
        sample = self._sample(X, y, sample_weight)
        chooser = self._chooser(sample)
        first = chooser.objectives[0]
        self.trained_for_, self.offset_ = first.name, 0.0
        rows, labels = sample.seen(first.constant), [sample.labels]
        for model in self._path(rows, labels, Cs, None, None, first.task_for(rows, labels)):
            # an earlier model of the path may have been trained for another objective
            model.trained_for_, model.offset_, model._bound_risk = first.name, 0.0, model.solution_.risk
            cuts = chooser.cuts(model.C, model.solution_, None)
            best = chooser.best(cuts)
            if best is not first:
                model._fit_for(best, sample, None)
            model._finish(sample, best, cuts)
            model._warn()
            own = ("trained_for_", "offset_", "cut_by_", "cv_scores_", "n_examples_")
            kept = [name for name in vars(model) if name.endswith("_") and (best is not first or name in own)]
            self.__dict__.update({name: getattr(model, name) for name in kept})
            yield model

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """Measure how far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        sample = self._sample(X, y, sample_weight, reset=False)
        return super().certify(sample.rows, [sample.labels], tol=tol)

    def decision_function(self, X: Any) -> Array:
        """Return the (n,) scores, positive for classes_[1] as in scikit-learn, whichever class is `pos_label`."""
        scores = self._scores(X)  # first, because it checks that there is a model
        return self._sign * scores

    def predict(self, X: Any) -> Any:
        """Return the positive class for rows with a positive score, and the other class for the rest."""
        found = self._scores(X) > 0
        return self.classes_[np.where(found == (self._sign > 0), 1, 0)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the measure on these data: higher is better. Losses such as "error" and "kld" count negative.

        Measures at k and "prbep" use the highest scores, not the intercept, and take tied ones in the worst order.
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
            raise ValueError(f"y has one class only, so measure {self.measure!r} is not defined; expected both classes")
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        measure = score_measure(self)
        if not isinstance(measure, str) and measure.size is not None:
            if sample_weight is not None:
                raise ValueError(
                    f"measure {self.measure!r} depends on a number of examples, so examples cannot have weights"
                )
            if measure.size(0) > len(truth):
                raise ValueError(f"k = {self.k} is larger than the sample, which has {len(truth)} examples")
        return measured(measure, truth, scores, weights)

    @property
    def coef_(self) -> Array:
        """The weights of features, an array of shape (1, n_features)."""
        check_is_fitted(self)
        refuse_kernel(self)
        return self._sign * self.w_[None, : self.n_features_in_]

    @property
    def intercept_(self) -> Array:
        """The weight of the constant feature plus `offset_`, an array of shape (1,)."""
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
    def path_risk(self) -> float:
        """The risk of the bound, even if another objective was trained, because their risks cannot be compared."""
        return self._bound_risk

    # --- the sample

    @property
    def _positive(self) -> Any:
        return self.classes_[-1] if self.pos_label is None else self.pos_label

    @property
    def _sign(self) -> int:
        """1 if classes_[1] is the positive class, as scikit-learn reads scores and weights; -1 if classes_[0] is."""
        return 1 if self.classes_[1] == self._positive else -1

    def _scores(self, X: Any) -> Array:
        """Return the scores of the positive class."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        return self.task_.row_scores(self.w_, X) + self.offset_

    def _sample(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> MeasureSample:
        """Return the whole sample as one structured example; weights become part of the labels, or repeat rows.

        reset : whether it is for training, which sets the classes and the number of features.
        """
        if reset:
            for name, known in (("train_for", get_args(TrainFor)), ("cut", get_args(CutBy))):
                if getattr(self, name) not in known:
                    wanted = " or ".join(map(repr, known))
                    raise ValueError(f"{name} must be {wanted}, got {getattr(self, name)!r}")
        X, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        X, y = self._checked(X, y, reset)
        y = np.asarray(y)
        if reset:
            self.classes_ = two_classes(y, self.pos_label)
        unknown = np.flatnonzero(~np.isin(y, self.classes_))
        if len(unknown):
            label = plain(y[unknown[0]])
            raise ValueError(f"example {unknown[0]}: the label {label!r} is not one of {self.classes_.tolist()}")
        measure = score_measure(self)
        rows, weights = counted_rows(sample_weight, len(y), measure, self.measure)
        labels = (y == self._positive).astype(float)[rows]
        if np.all(labels == labels[0]):
            one = plain(y[rows[0]])
            raise ValueError(f"the examples of positive weight have only one class, {one!r}; expected both classes")
        if not isinstance(measure, str) and measure.size is not None and measure.size(0) > len(rows):
            raise ValueError(f"k = {self.k} is larger than the sample, which has {len(rows)} examples")
        groups = Groups(X, rows, np.array([0, len(rows)]))
        return MeasureSample(groups, labels if weights is None else WeightedRows(labels, weights), self.n_features_in_)

    # --- training for one objective

    @property
    def _wants_constant(self) -> bool:
        return any(objective.constant for objective in objectives_of(self))

    def _fit_for(self, objective: Objective, sample: MeasureSample, checkpoint: Checkpoint | None) -> None:
        """Train for an objective on the whole sample; offset_ is set later."""
        self.trained_for_, self.offset_ = objective.name, 0.0
        rows, labels = sample.seen(objective.constant), [sample.labels]
        self._fit(rows, labels, None, checkpoint, objective.task_for(rows, labels))

    def _remedy_for_zero(self) -> str:
        instead = ", or train_for='auto', which then trains on single examples" * (self.train_for != "auto")
        return remedy_for_zero(self.measure) + instead

    # --- choosing the objective and the cut

    def _chooser(self, sample: MeasureSample) -> TrainingChooser:
        """Return the chooser of the objective and the cut for this sample."""
        return TrainingChooser(
            objectives_of(self),
            score_measure(self),
            sample,
            cuts_by_folds=self.cut == "cv",
            random_state=self.random_state,
            train=partial(self._held_out_scores, sample),
        )

    def _held_out_scores(
        self,
        sample: MeasureSample,
        objective: Objective,
        held_out: NDArray[np.bool_],
        C: float,
        start: Solution | None,
        where: str,
        checkpoint: Checkpoint | None,
    ) -> tuple[Solution, Array]:
        """Train without the rows that are held out; return the solution, and the scores of these rows."""
        rows, labels = sample.part(~held_out, objective.constant)
        unseen = rows.matrix[sample.rows.rows[held_out]]
        tol = max(FOLD_TOL, self._solver().tol)
        with self._open(rows, [labels], None, objective.task_for(rows, [labels]), checkpoint) as problem:
            solution = self._train(problem, C, start, checkpoint, where, tol=tol)
            if solution.error is not None:
                raise solution.error
            trained = trained_model_of(problem.batch, solution.w)
            return solution, trained.task.row_scores(trained.w, unseen)

    def _finish(self, sample: MeasureSample, objective: Objective, cuts: dict[Any, Cut]) -> None:
        """Set the cut of the trained model, and keep the results of cross-validation."""
        self.n_examples_ = len(sample.rows.rows)
        self.cv_scores_ = {name: cut.mean for name, cut in cuts.items()}
        self.cut_by_ = "cross-validation" if self.cut == "cv" and objective.name in cuts else "training"
        if self.cut_by_ == "cross-validation":
            self.offset_ = -cuts[objective.name].at
        else:
            self.offset_ = self._trained_offset(sample, objective)

    def _trained_offset(self, sample: MeasureSample, objective: Objective) -> float:
        """Return the offset of the scores that suits the measure on the training sample; 0 if training set it."""
        measure = score_measure(self)
        if objective.name == self.measure and not isinstance(measure, str) and measure.size is None:
            return 0.0
        scores = self.task_.row_scores(self.w_, sample.seen(objective.constant).matrix)[sample.rows.rows]
        truth, weights = sample.weighted_labels
        rows = FoldRows(truth, weights, np.zeros(len(truth), dtype=np.int64))
        return -FoldMeasure(measure, rows).cut(scores).at

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.ranking.findings import measure_findings

        return measure_findings(self, X, Y, self._scores, self._positive)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
