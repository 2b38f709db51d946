"""Explains: the mixin of estimators that show which weights a prediction is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.errors import hearing
from maxmargin.base.weight_names import Layout, WeightNames
from maxmargin.problem.contract.pieces import Pieces, pieces_of

if TYPE_CHECKING:
    from maxmargin.report.explanation import Explanation

# the weights of models that were asked, with their names, and the attributes that they were made of
_KNOWN: WeakKeyDictionary[Any, tuple[tuple[Any, ...], Array, WeightNames]] = WeakKeyDictionary()


class Explains:
    """A mixin for estimators with weights_ whose score is ⟨w, Ψ(x, z)⟩.

    The hooks have defaults for estimators with task_ and w_ (WithWeightLayout).
    """

    task_: Any
    w_: Array

    def explain(self, x: Any, z: Any = None, *, against: Any = None, at: Any = None, n: int = 10) -> Explanation:
        """Return the contributions of single weights to the score of a prediction, or why it is not another one.

        The score of an output z is a sum over features, ⟨w, Ψ(x, z)⟩ = Σ_j w_j Ψ_j(x, z), whose terms are returned
        with the names of `weights_`. With `against`, they are the terms of the difference of two scores.

        Parameters
        ----------
        x : object
            One input: a sequence, a graph, a row of a matrix, …
        z : object or None
            The output to explain; None: the prediction for x.
        against : object or None
            Another output: the contributions are those of z minus those of `against`. What both have in common cancels.
        at : int, range, list, tuple or None
            The part of the output: the number of one element (a position, a node, …), several numbers, or the tuple of
            numbers that names one unit, such as an edge; None: the whole output.
        n : int
            The number of contributions that the text and the table show.

        Returns
        -------
        Explanation
            All contributions, sorted by size, and their sum.
        """
        check_is_fitted(self)
        self._refuse_explaining()
        X, x = self._one_input(x)
        found = self._best_output(X) if z is None else self._full_output(x, z)
        other = None if against is None else self._full_output(x, against)
        of, minus = self._pieces(x, found), None if against is None else self._pieces(x, other)
        shown = None if against is None else self._shown_output(other)
        return self._explanation(of, minus, self._shown_output(found), shown, at, n)

    def explain_mistakes(self, X: Any, Y: Any, n: int = 3, **others: Any) -> list[tuple[int, Explanation]]:
        """Return the worst mistakes, each explained: why the prediction has a higher score than the truth.

        Parameters
        ----------
        X, Y : array-like
            Inputs and their true outputs.
        n : int
            The number of mistakes. Examples whose truth has no score, such as those with unknown labels, do not count.
        **others
            Further arguments of `report`, such as qid.

        Returns
        -------
        list of (int, Explanation)
            The numbers of examples, worst first, with the terms of the score of the prediction minus that of the truth.
        """
        check_is_fitted(self)
        self._refuse_explaining()
        n = check_whole("n", n, least=1)
        with hearing():  # warnings about scores and probabilities, which are not shown
            findings: Any = self._findings(X, Y, **others)  # type: ignore[attr-defined]
        wrongness: Array = np.asarray(findings.wrongness, dtype=float)
        wrong = np.flatnonzero(wrongness > 0)
        found: list[tuple[int, Explanation]] = []
        for i in wrong[np.argsort(-wrongness[wrong], kind="stable")].tolist():
            explanation = self._explained_mistake(X, Y, i)
            if explanation is not None:
                found.append((i, explanation))
            if len(found) == n:
                break
        return found

    def _explanation(
        self, of: Pieces, against: Pieces | None, output: Any, other: Any, at: Any = None, n: int = 10
    ) -> Explanation:
        """Return the explanation of Ψ in pieces; `output` and `other` are the outputs in the user's form."""
        from maxmargin.report.explanation import Explanation, terms_of

        n = check_whole("n", n, least=1)
        w, names = self._names_of_weights()
        return Explanation(terms_of(w, names, of, against, at), output, other, type(self).__name__, at, n)

    def _names_of_weights(self) -> tuple[Array, WeightNames]:
        """Return the weights and their names, which are found once for a fitted model."""
        made_of = self._explained_attributes()
        known = _KNOWN.get(self)
        if known is None or any(a is not b for a, b in zip(known[0], made_of, strict=True)):
            w, layout = self._explained_weights()
            try:
                names = WeightNames(layout, w)
            except AttributeError as error:  # the model has no weights_
                raise ValueError(f"this model cannot be explained: {error}") from None
            known = _KNOWN[self] = (made_of, w, names)
        return known[1:]

    def _explained_mistake(self, X: Any, Y: Any, i: int) -> Explanation | None:
        """Return why example i is predicted as it is and not as Y says; None if the truth has no score."""
        try:
            return self.explain(member(X, i), against=member(Y, i))
        except ValueError:
            return None

    # --- hooks

    def _refuse_explaining(self) -> None:
        """Raise a ValueError if the score is no sum over weights of features."""
        if getattr(self, "kernel", None) is not None or getattr(self.task_, "kernel", None) is not None:
            raise ValueError(
                f"{type(self).__name__} with a kernel has no weights of features whose contributions could be listed; "
                "a model with kernel=None has"
            )

    def _explained_attributes(self) -> tuple[Any, ...]:
        """Return the fitted attributes of which the weights and their names are made."""
        return self.w_, self.task_

    def _explained_weights(self) -> tuple[Array, Layout]:
        """Return the weights, and the function that makes named arrays of them."""
        task = self.task_
        return self.w_, lambda w: self._layout(task, w)  # type: ignore[attr-defined]

    def _one_input(self, x: Any) -> tuple[Any, Any]:
        """Return one input as the task reads it: as the only member of a collection to decode, and alone."""
        return [x], x

    def _best_output(self, X: Any) -> Any:
        """Return the output that is predicted for the only member of X."""
        return self.task_.decode(self.w_, X)[0]

    def _full_output(self, x: Any, z: Any) -> Any:
        """Return the output of the task that a user means by z, with the best hidden parts."""
        return self.task_.complete(self.w_, x, z)

    def _shown_output(self, z: Any) -> Any:
        """Return an output of the task in the form of predictions."""
        return self.task_.label(z)

    def _pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) in pieces."""
        return pieces_of(self.task_, x, z)


def member(several: Any, i: int) -> Any:
    """Return member i of a list, a row of a table or matrix as a matrix with one row, or an entry of a column."""
    if hasattr(several, "iloc"):
        return several.iloc[[i]] if several.ndim == 2 else several.iloc[i]
    return several[[i]] if sparse.issparse(several) else several[i]


def as_row(x: Any) -> Any:
    """Return one example, given as a vector or as a matrix with one row, as a matrix with one row."""
    if hasattr(x, "to_frame") and getattr(x, "ndim", None) == 1:  # a row of a table, with the names of its columns
        return x.to_frame().T
    shape = x.shape if hasattr(x, "shape") else np.shape(x)
    if len(shape) == 1:
        return x.reshape(1, -1) if hasattr(x, "reshape") else np.asarray(x).reshape(1, -1)
    if len(shape) != 2 or shape[0] != 1:
        raise ValueError(f"x has shape {tuple(shape)}; expected one example: a vector, or a matrix with one row")
    return x
