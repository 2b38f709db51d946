"""Explanations of the scores of single rows, for estimators whose outputs are about many rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights, column_names
from maxmargin.base.weight_names import Layout
from maxmargin.inputs.labels.labels import plain
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.training.explaining import Explains, as_row, member

if TYPE_CHECKING:
    from maxmargin.report.explanation import Explanation

ROW = Unit("row")


class ExplainsOrder(Explains):
    """A mixin for estimators that order rows by their scores ⟨w, x⟩."""

    def explain(  # type: ignore[override]
        self, x: Any, *, against: Any = None, n: int = 10
    ) -> Explanation:
        """Return the contributions of features to the score of a row, or to its distance from another row.

        Parameters
        ----------
        x : array of shape (F,) or (1, F)
            A row.
        against : array or None
            Another row: the contributions are those to the score of x minus the score of `against`.
        n : int
            The number of contributions that the text and the table show.

        Returns
        -------
        Explanation
            All contributions, sorted by size, and their sum.
        """
        check_is_fitted(self)
        self._refuse_explaining()
        of = self._row_pieces(x)
        if against is None:
            return self._explanation(of, None, "x", None, n=n)
        return self._explanation(of, self._row_pieces(against), "x", "the other row", n=n)

    def _explained_mistake(self, X: Any, Y: Any, i: int) -> None:
        """Return None, because a mistake in the order of a query has no other row to compare with."""

    def _row_pieces(self, x: Any) -> Pieces:
        return Pieces.of_rows([ROW], self._matrix(as_row(x)))  # type: ignore[attr-defined]


class ExplainsCut(Explains):
    """A mixin for estimators that predict the positive class for rows with a positive score ⟨w, x⟩ + b."""

    classes_: Any
    offset_: float
    n_features_in_: int
    _positive: Any
    kernel: Any

    def explain(  # type: ignore[override]
        self, x: Any, z: Any = None, *, n: int = 10
    ) -> Explanation:
        """Return the contributions of features and of the intercept to the score of a row.

        Parameters
        ----------
        x : array of shape (F,) or (1, F)
            A row.
        z : label or None
            The class: the score is that of the positive class, and minus this for the other one, so that the score of
            the predicted class is never negative. None: the predicted class.
        n : int
            The number of contributions that the text and the table show.

        Returns
        -------
        Explanation
            All contributions, sorted by size, and their sum.
        """
        check_is_fitted(self)
        self._refuse_explaining()
        row, _ = self._checked(as_row(x), reset=False)  # type: ignore[attr-defined]
        z = plain(self.predict(as_row(x))[0] if z is None else z)  # type: ignore[attr-defined]
        if z not in self.classes_.tolist():
            raise ValueError(f"the label {z!r} is not one of the classes {self.classes_.tolist()}")
        sign = 1.0 if z == plain(self._positive) else -1.0
        features = sparse.csr_array(row)[:, : self.n_features_in_]
        whole = sparse.hstack([features, sparse.csr_array([[1.0]])], format="csr")
        return self._explanation(Pieces.of_rows([ROW], sign * whole), None, z, None, n=n)

    def _explained_mistake(self, X: Any, Y: Any, i: int) -> Explanation | None:
        return None if self.kernel is not None else self.explain(member(X, i))

    def _explained_attributes(self) -> tuple[Any, ...]:
        return self.w_, self.offset_, self.classes_

    def _explained_weights(self) -> tuple[Array, Layout]:
        n, own = self.n_features_in_, [plain(self._positive)]

        def layout(w: Array) -> dict[str, Weights]:
            features = Weights(w[:n, None], feature=column_names(self), label=own)
            return {"features": features, "intercept": Weights(w[n:], label=own)}

        return np.append(self.w_[:n], self.w_[n:].sum() + self.offset_), layout
