"""CountingClassifier: one label per row, trained by counting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.base.files.fields import LabelArray, NumberArray, OneOf, Part
from maxmargin.base.files.objects import Fields
from maxmargin.counting.sets.classes import Classes
from maxmargin.counting.sets.output_set import OutputSet
from maxmargin.counting.trainer import CountingOptions, CountingTrainer, NamedCoordinates, check_output_set
from maxmargin.inputs.labels.labels import plain, refuse_mixed
from maxmargin.inputs.matrices import validated
from maxmargin.report.findings import Findings


class CountingClassifier(ClassifierMixin, CountingTrainer):
    """A classifier trained by one linear system: least squares of the margins over all other labels.

    Parameters
    ----------
    output_set : OutputSet or None
        A set whose outputs are labels: counting.OrderedClasses, counting.HierarchyLabels. None: the classes of the
        training data, without structure.
    {options}

    Attributes
    ----------
    classes_ : array
        The labels.
    alpha_, chosen_by_, certificate_, dual_coef_, coef_, intercept_, weights_, n_iter_, n_features_in_ : as for
        CountingPredictor.

    Examples
    --------
    >>> from maxmargin import CountingClassifier
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
    >>> CountingClassifier().fit(X, ["low", "low", "high", "high"]).predict([[0.0, 0.5], [2.0, 0.5]]).tolist()
    ['low', 'high']

    See Also
    --------
    CountingMultilabel : several labels per row.
    CountingPredictor : outputs of any output set.
    MulticlassSVC : a classifier with a large margin.
    """

    saved: ClassVar[Fields] = {
        "output_set": OneOf(None, Part(OutputSet)),
        "set_": Part(OutputSet),
        "classes_": LabelArray(None),
        "_class_features_": NumberArray(float, "classes_.size", None),
    }

    def __init__(
        self,
        output_set: OutputSet | None = None,
        kernel: Any = "rbf",
        alpha: float | str | None = "loo",
        fit_intercept: bool = True,
        **options: Unpack[CountingOptions],
    ):
        self.output_set = output_set
        super().__init__(kernel=kernel, alpha=alpha, fit_intercept=fit_intercept, **options)

    def _check_scores(self, n_scores: int) -> None:
        if self._class_features_.shape[1] != n_scores:
            raise ValueError(
                f"its classes have {self._class_features_.shape[1]} features, but it has {n_scores} scores"
            )

    def fit(self, X: Any, y: Any) -> Self:
        """Train on the rows of X with labels y."""
        X, Y, labels = self._examples(X, y)
        return self._train(X, Y, labels)

    def fit_path(self, X: Any, y: Any, alphas: Sequence[float]) -> list[Self]:
        """Fit a model for every value of λ, with one decomposition of the kernel matrix.

        The last model stays in this estimator.
        """
        X, Y, labels = self._examples(X, y)
        return self._train_path(X, Y, labels, alphas)

    def decision_function(self, X: Any) -> Array:
        """Return the scores ⟨f(x), φ(label)⟩, an array of shape (n, classes).

        For two classes the shape is (n,): the score of the second class minus the score of the first.
        """
        scores = self._scores(X) @ self._class_features_.T
        return np.asarray(scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of highest score for every row."""
        scores = self._scores(X) @ self._class_features_.T
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.report.class_findings import class_findings

        return class_findings(self, X, Y, linear=self._weights_ is not None)

    def _output_features(self, z: Any) -> Array:
        return self.set_.features(plain(z))

    def _coordinates(self, rows: Array) -> dict[str, NamedCoordinates]:
        return {"": NamedCoordinates(rows, {"label": self.set_.coordinates})}

    def _examples(self, X: Any, y: Any) -> tuple[Any, list[Any], OutputSet]:
        """Return inputs, labels and the output set of the labels; set `classes_` and the features of the classes."""
        refuse_complex("X", X)
        refuse_mixed(y)
        _, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = self._inputs(X, reset=True)
        check_classification_targets(y)
        if self.output_set is None:
            found = np.unique(y)
            if len(found) < 2:
                raise ValueError(
                    f"only one class was found ({found.tolist()}); a classifier needs at least two classes"
                )
            self.classes_, self.set_ = found, Classes(found.tolist())
        else:
            check_output_set(self.output_set, "output_set")
            try:
                first = next(self.output_set.outputs())
            except NotImplementedError:
                raise ValueError(
                    f"{self.output_set!r} does not list its outputs; expected an output set with labels"
                ) from None
            if not np.isscalar(first):
                raise ValueError(
                    f"the outputs of {self.output_set!r} are not labels; use CountingPredictor for structured outputs"
                )
            self.set_ = self.output_set
            self.classes_ = np.unique(np.array(list(self.set_.outputs())))
        self._class_features_ = self.set_.feature_rows(self.classes_.tolist())
        return X, y.tolist(), self.set_
