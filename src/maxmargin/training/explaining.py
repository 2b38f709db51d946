"""Explains: the mixin of estimators that show which weights a prediction is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.named_weights import WithWeightLayout
from maxmargin.base.weight_names import WeightNames
from maxmargin.problem.contract.pieces import Pieces, pieces_of

if TYPE_CHECKING:
    from maxmargin.report.explanation import Explanation

# the names of the weights of models that were asked, with the weights and the task that they belong to
_NAMES: WeakKeyDictionary[Any, tuple[Array, Any, WeightNames]] = WeakKeyDictionary()


class Explains(WithWeightLayout):
    """A mixin for estimators with weights_ whose score is ⟨w, Ψ(x, z)⟩."""

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
        n = check_whole("n", n, least=1)
        self._refuse_explaining()
        X, x = self._one_input(x)
        found = self.task_.decode(self.w_, X)[0] if z is None else self._full_output(x, z)
        other = None if against is None else self._full_output(x, against)
        pieces = [None if each is None else pieces_of(self.task_, x, each) for each in (found, other)]
        shown = [None if each is None else self._shown_output(each) for each in (found, other)]
        return self._explanation(pieces[0], pieces[1], shown[0], shown[1], at, n)

    def _explanation(
        self, of: Pieces | None, against: Pieces | None, output: Any, other: Any, at: Any, n: int
    ) -> Explanation:
        """Return the explanation of Ψ in pieces; `output` and `other` are the outputs in the user's form."""
        from maxmargin.report.explanation import Explanation, contributions_of, said_about

        assert of is not None
        rows = contributions_of(self.w_, self._weight_names(), of, against, at)
        return Explanation(rows, output, other, said_about(type(self).__name__, rows, output, other, at), n)

    # --- hooks

    def _one_input(self, x: Any) -> tuple[Any, Any]:
        """Return one input as the task reads it: as the only member of a collection to decode, and alone."""
        return [x], x

    def _full_output(self, x: Any, z: Any) -> Any:
        """Return the output of the task that a user means by z, with the best hidden parts."""
        return self.task_.complete(self.w_, x, z)

    def _shown_output(self, z: Any) -> Any:
        """Return an output of the task in the form of predictions."""
        return self.task_.label(z)

    def _refuse_explaining(self) -> None:
        """Raise a ValueError if the score is no sum over weights of features."""
        if getattr(self, "kernel", None) is not None or getattr(self.task_, "kernel", None) is not None:
            raise ValueError(
                f"{type(self).__name__} with a kernel has no weights of features whose contributions could be listed; "
                "a model with kernel=None has"
            )

    def _weight_names(self) -> WeightNames:
        known = _NAMES.get(self)
        if known is None or known[0] is not self.w_ or known[1] is not self.task_:
            task = self.task_
            known = _NAMES[self] = (self.w_, task, WeightNames(lambda w: self._layout(task, w), self.w_))
        return known[2]
