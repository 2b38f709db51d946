"""MatrixClassifier, FlatClassifier, ClassScorer: the base classes of estimators whose input is one matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.base.named_weights import Weights, column_names
from maxmargin.inputs.labels.labels import NumberedLabels, label_numbers, refuse_mixed
from maxmargin.inputs.matrices import validated, with_ones, without_duplicates
from maxmargin.inputs.packed.packed_classes import PackedClasses
from maxmargin.inputs.packed.packed_data import PackedData, given_examples
from maxmargin.inputs.packed.packed_matrix import PackedMatrix
from maxmargin.kernels.functions import WithConstant
from maxmargin.kernels.named import is_precomputed
from maxmargin.problem.dual.objective import Certificate
from maxmargin.report.findings import Findings
from maxmargin.training.explaining import as_row
from maxmargin.training.feature_weights import refuse_kernel
from maxmargin.training.online import online_only
from maxmargin.training.trainer import Trainer


class MatrixClassifier(ClassifierMixin, Trainer):
    """A Trainer for dense or sparse (n, F) matrices that fulfils scikit-learn's contract of classifiers.

    Subclasses define `fit`, which begins with a call of `_checked`.

    With `fit_intercept` the task gets one more feature, the constant 1, regularised like the others. If there is a
    kernel, 1 is added to its values, which is equivalent.
    """

    fit_intercept: bool
    _packed = PackedClasses

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows that are predicted correctly; packed rows replace X and y."""
        rows, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        return float(super().score(rows, np.asarray(y) if isinstance(y, NumberedLabels) else y, sample_weight))

    @property
    def _wants_constant(self) -> bool:
        return self.fit_intercept

    def _task_kernel(self) -> Any:
        """Return the kernel as the task sees it."""
        return WithConstant(self.kernel) if self.kernel is not None and self._wants_constant else self.kernel

    def _checked(self, X: Any, y: Any = "no_validation", reset: bool = True) -> tuple[Any, Any]:
        """Return X as a matrix of numbers with the constant feature, and y as labels.

        reset : whether the number of features is learnt from X; otherwise it must be as in training.
        """
        if isinstance(X, PackedData):
            X = given_examples(self._packed, X, None, None)[0]
        if isinstance(X, PackedMatrix):
            return self._as_trained(X, reset), y
        options: Any = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False, "reset": reset}
        refuse_complex("X", X)
        if isinstance(y, str):
            X = validated(self, X, **options)
        else:
            refuse_mixed(y)
            X, y = validated(self, X, y, **options)
            check_classification_targets(y)
        if sparse.issparse(X):
            X = without_duplicates(X)
        wanted = self._wants_constant and self.kernel is None
        if wanted if reset else self.task_.n_features_ > self.n_features_in_:
            # training packs into compressed rows in any case; a dense copy in between would only cost memory
            packed = sparse.issparse(X) or reset
            X = with_ones(X) if packed else np.hstack([X, np.ones((X.shape[0], 1))])
        return X, y

    def _as_trained(self, X: PackedMatrix, reset: bool) -> PackedMatrix:
        """Return packed rows with or without the constant feature, as training has them."""
        X.describe(self, reset)
        wanted = self._wants_constant and self.kernel is None if reset else self.task_.n_features_ > X.n_features
        if wanted and not X.constant:
            raise ValueError(
                "the rows were packed without a constant feature: give fit_intercept=False, or pack them with "
                "fit_intercept=True"
            )
        return X if wanted == X.constant else X[:, : X.n_features]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


class FlatClassifier(MatrixClassifier):
    """A MatrixClassifier whose structural examples are the rows, each with its class."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on a dense or sparse (n, F) matrix, or on packed rows instead of X and y."""
        X, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        return super().fit(*self._checked(X, y), sample_weight)

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> Iterator[Self]:
        """Yield the models of `fit_path` one by one."""
        X, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        X, y = self._checked(X, y)
        return super().path(X, y, Cs, sample_weight)

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """Measure how far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        X, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        return super().certify(*self._checked(X, y, reset=False), sample_weight, tol)


class ClassScorer(FlatClassifier):
    """A FlatClassifier that predicts the class with the highest score; its task is Multiclass or a subclass of it."""

    @online_only
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one more pass of an online solver over new examples.

        The first call must be given all classes, unless a parameter of the estimator names them.
        """
        task = getattr(self, "task_", None)
        if task is None and classes is None and not self._names_classes:
            raise ValueError("the first call of partial_fit needs classes, the list of all labels")
        X, y, sample_weight = given_examples(self._packed, X, y, sample_weight)
        X, y = self._checked(X, y, reset=task is None)
        if task is None or classes is not None:
            labels = y if classes is None else np.asarray(classes)
            new: Any = self._make_task(labels)
            new.setup(X, labels)
            if task is not None and new.classes_ != task.classes_:
                raise ValueError("classes differs from the classes of the first call, which fixes the labels")
            task = task or new
        return self._fit_more(task, X, y, sample_weight)

    def decision_function(self, X: Any) -> Array:
        """Return the (n, K) scores of the classes; for two classes, (n,) scores that are positive for classes_[1]."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        scores = self.task_.scores(self.w_, X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Any:
        """Return the class with the highest score."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    @property
    def classes_(self) -> Any:
        """The labels that can be predicted, in the order of the scores."""
        check_is_fitted(self)
        return self.task_.labels_

    @property
    def coef_(self) -> Array:
        """The weights of features, an array of shape (weight vectors, n_features)."""
        return self._weights()[: self.n_features_in_].T

    @property
    def intercept_(self) -> Array:
        """The weights of the constant feature, one per row of `coef_`."""
        weights = self._weights()
        return weights[-1] if len(weights) > self.n_features_in_ else np.zeros(weights.shape[1])

    @property
    def _names_classes(self) -> bool:
        """True if a parameter names all classes, so that the first partial_fit needs no list of them."""
        return False

    def _weights(self) -> Array:
        """Return the weights as (features, weight vectors); the constant feature comes last."""
        check_is_fitted(self)
        refuse_kernel(self)
        return self.task_.weights(self.w_)

    def _weight_vectors(self, task: Any) -> dict[str, Sequence[Hashable]]:
        """Return the names of the weight vectors of a task, with the kind of object that they name as the key."""
        return {"label": task.classes_}

    def _one_input(self, x: Any) -> tuple[Any, Any]:
        row, _ = self._checked(as_row(x), reset=False)
        return row, row

    def _full_output(self, x: Any, z: Any) -> Any:
        return self.task_.classes_[label_numbers([z], self.task_.numbers_)[0]]

    def _findings(self, X: Any, y: Any) -> Findings:
        from maxmargin.report.class_findings import class_findings

        return class_findings(self, X, y, linear=self.kernel is None, cost=self.task_.loss)

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        refuse_kernel(self)
        weights, owners = task.weights(w), self._weight_vectors(task)
        named = {"features": Weights(weights[: self.n_features_in_], feature=column_names(self), **owners)}
        return named if len(weights) == self.n_features_in_ else {**named, "intercept": Weights(weights[-1], **owners)}
