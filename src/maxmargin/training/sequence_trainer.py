"""SequenceTrainer: the base class of estimators whose inputs are sequences of tokens (inputs/tokens.py)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.predictions import Predictions
from maxmargin.training.decoding import decoded
from maxmargin.training.probabilistic import ProbabilisticTrainer


class SequenceTrainer(ProbabilisticTrainer):
    """A trainer whose task reads sequences with a SequencePacker and can list the n best outputs of a sequence."""

    def predict(self, X: Any) -> list[list[Any]]:
        """Return the best output of every x, in the same form as in training; for an empty x, an empty list."""
        check_is_fitted(self)
        return Predictions(decoded(self, X))

    def decision_function(self, X: Any) -> Array:
        """Return the score of the prediction for every x."""
        check_is_fitted(self)
        return self.task_.scores(self.w_, X)

    def predict_nbest(self, X: Any, n: int) -> list[list[tuple[list[Any], float]]]:
        """Return the n best outputs of every x with their scores, best first; fewer if there are fewer outputs."""
        check_is_fitted(self)
        n = check_whole("n", n, least=1)
        self.task_.packer_.pack(X, may_be_empty=True)  # all at once first, so that errors name the right sequence
        return [self.task_.n_best(self.w_, x, n) for x in X]

    @property
    def classes_(self) -> list[Hashable]:
        """The labels, in the order of the weights."""
        check_is_fitted(self)
        return self.task_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = tags.input_tags.dict = tags.input_tags.string = True
        return tags
