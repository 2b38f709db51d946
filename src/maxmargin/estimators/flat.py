"""FlatClassifier: what the estimators share whose input is one matrix with a class per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.estimators.base import Trainer
from maxmargin.objective import Certificate


class FlatClassifier(ClassifierMixin, Trainer):
    """A Trainer for dense or sparse (n, F) matrices with scikit-learn's whole contract of classifiers.

    With `fit_intercept` the task sees one more feature, the constant 1, regularised like the others.
    """

    fit_intercept: bool

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on a dense or sparse (n, F) matrix."""
        X, y = self._checked(X, y)
        return super().fit(X, y, sample_weight)

    def fit_path(self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None) -> list[Self]:
        """A fitted model for every C, each started from the one before; the last one stays in this estimator."""
        X, y = self._checked(X, y)
        return super().fit_path(X, y, Cs, sample_weight)

    def certify(self, X: Any, y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        X, y = self._checked(X, y, reset=False)
        return super().certify(X, y, sample_weight, tol)

    def _checked(self, X: Any, y: Any = "no_validation", reset: bool = True) -> tuple[Any, Any]:
        """X as numbers with the constant feature, as many as in training if not reset, and y as labels."""
        options: Any = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False, "reset": reset}
        if isinstance(y, str):
            X = validate_data(self, X, **options)
        else:
            X, y = validate_data(self, X, y, **options)
            check_classification_targets(y)
        if self.fit_intercept if reset else self.task_.n_features_ > self.n_features_in_:
            ones = np.ones((X.shape[0], 1))
            # training packs into compressed rows in any case; a dense copy in between would only cost memory
            packed = sparse.issparse(X) or reset
            X = sparse.hstack([sparse.csr_array(X), ones], format="csr") if packed else np.hstack([X, ones])
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
