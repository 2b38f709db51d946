"""CountingMultilabel: any subset of labels per row, trained by counting."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.counting.sets.subsets import AllSubsets
from maxmargin.counting.trainer import CountingOptions, CountingTrainer, NamedCoordinates
from maxmargin.report.findings import Findings


class CountingMultilabel(CountingTrainer):
    """A multi-label classifier: any subset of labels per row, trained by one linear system over all 2^L subsets.

    Parameters
    ----------
    classes : list or None
        Names of the labels, one for every column of Y, which weights_ uses; None: numbers.
    {options}

    Attributes
    ----------
    n_labels_ : int
        The number of labels L.
    alpha_, chosen_by_, certificate_, dual_coef_, coef_, intercept_, weights_, n_iter_, n_features_in_ : as for
        CountingPredictor.

    Examples
    --------
    >>> from maxmargin import CountingMultilabel
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
    >>> CountingMultilabel().fit(X, [[0, 0], [0, 1], [1, 0], [1, 1]]).predict([[2.0, 1.0]])
    array([[1, 1]])

    See Also
    --------
    CountingClassifier : one label per row.
    CountingPredictor : outputs of any output set.
    """

    saved: ClassVar[Fields] = {"n_labels_": Whole(1)}

    def __init__(
        self,
        kernel: Any = "rbf",
        alpha: float | str | None = "loo",
        fit_intercept: bool = True,
        classes: Sequence[Hashable] | None = None,
        **options: Unpack[CountingOptions],
    ):
        self.classes = classes
        super().__init__(kernel=kernel, alpha=alpha, fit_intercept=fit_intercept, **options)

    def _check_scores(self, n_scores: int) -> None:
        if self.n_labels_ != n_scores:
            raise ValueError(f"it has {self.n_labels_} labels, but {n_scores} scores")
        if self.classes is not None and len(self.classes) != n_scores:
            raise ValueError(f"it has the names of {len(self.classes)} labels, but {n_scores} scores")

    def fit(self, X: Any, Y: Any) -> Self:
        """Train on the rows of X with an (n, L) matrix of zeros and ones."""
        return self._train(*self._examples(X, Y))

    def fit_path(self, X: Any, Y: Any, alphas: Sequence[float]) -> list[Self]:
        """Fit a model for every value of λ, with one decomposition of the kernel matrix.

        The last model stays in this estimator.
        """
        return self._train_path(*self._examples(X, Y), alphas)

    def decision_function(self, X: Any) -> Array:
        """Return (n, L) scores; a label is predicted if its score is positive."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the predicted labels as an (n, L) matrix of zeros and ones."""
        return (self._scores(X) > 0).astype(np.int64)

    def score(self, X: Any, Y: Any) -> float:
        """Return the share of correct labels (1 - Hamming loss)."""
        found, Y = self.predict(X), _zeros_and_ones(Y)
        if found.shape != Y.shape:
            raise ValueError(
                f"Y has shape {Y.shape}; expected {found.shape}, a row per row of X and a column per label"
            )
        return float(np.mean(found == Y))

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.counting.findings import multilabel_findings

        return multilabel_findings(self, X, Y)

    def _output_features(self, z: Any) -> Array:
        (row,) = _zeros_and_ones([z])
        if len(row) != self.n_labels_:
            raise ValueError(f"the output has {len(row)} labels; expected {self.n_labels_}, a zero or one for each")
        return row.astype(float)

    def _coordinates(self, rows: Array) -> dict[str, NamedCoordinates]:
        return {"": NamedCoordinates(rows, {"label": range(self.n_labels_) if self.classes is None else self.classes})}

    def _examples(self, X: Any, Y: Any) -> tuple[Any, list[frozenset[int]], AllSubsets]:
        """Return inputs, subsets of label numbers, and the set of all subsets."""
        X = self._inputs(X, reset=True)
        if Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        Y = _zeros_and_ones(Y)
        self.n_labels_ = Y.shape[1]
        if self.classes is not None and len(self.classes) != self.n_labels_:
            raise ValueError(f"classes names {len(self.classes)} labels, but Y has {self.n_labels_} columns")
        return X, [frozenset(np.flatnonzero(row).tolist()) for row in Y], AllSubsets(self.n_labels_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels, tags.target_tags.two_d_labels = False, True
        tags.target_tags.single_output, tags.target_tags.multi_output = False, True
        return tags


def _zeros_and_ones(Y: Any) -> NDArray[Any]:
    try:
        Y = np.asarray(Y.todense() if sparse.issparse(Y) else Y)
    except ValueError:  # the rows have different lengths
        raise ValueError(
            "Y has rows of different lengths; expected an (n, labels) matrix of zeros and ones, which scikit-learn's "
            "MultiLabelBinarizer makes of lists of labels"
        ) from None
    if Y.ndim != 2:
        raise ValueError(f"Y must be an (n, labels) matrix of zeros and ones, got shape {Y.shape}")
    wrong = np.argwhere(~np.isin(Y, (0, 1)))
    if len(wrong):
        i, k = wrong[0]
        raise ValueError(f"example {i}, label {k}: Y is {Y[i].tolist()[k]!r}; expected 0 or 1")
    return Y
