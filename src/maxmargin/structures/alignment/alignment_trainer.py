"""AlignmentTrainer: what the estimators share that learn scores of alignments."""

from __future__ import annotations

from typing import Any, Unpack

from sklearn.utils.validation import check_is_fitted

from maxmargin.objective import Certificate
from maxmargin.solvers import Solver
from maxmargin.trainer import Options, Trainer
from maxmargin.weights import Weights

SCORING = ("mode", "features", "gaps", "symmetric", "alphabet", "unknown")  # what says how alignments are scored


class AlignmentOptions(Options, total=False):
    """What these estimators pass on to AlignmentTrainer; `Aligner` documents them."""

    features: Any
    gaps: Any
    symmetric: bool
    alphabet: Any
    unknown: str
    C: float
    solver: str | Solver


class AlignmentTrainer(Trainer):
    """A Trainer whose weights are scores of aligned pairs and of gaps.

    A model may also be made without training, from known scores: it predicts, but has nothing to certify.
    """

    def __init__(
        self,
        mode: str,
        features: Any = "simple",
        gaps: Any = "affine",
        symmetric: bool = True,
        alphabet: Any = None,
        unknown: str = "error",
        C: float = 1.0,
        solver: str | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.symmetric = symmetric
        self.alphabet = alphabet
        self.unknown = unknown
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> Any:
        """The best output of every x."""
        raise NotImplementedError

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        if not hasattr(self, "solution_"):
            raise ValueError("this model was made without training and has no objective to certify; fit trains one")
        return super().certify(X, Y, sample_weight, tol)

    def _predictions_to_judge(self, X: Any, Y: Any) -> Any:
        """What is predicted for X, if there is something and Y has a truth for each."""
        found = self.predict(X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} examples but Y has {len(Y)}")
        if not len(found):
            raise ValueError("no examples given: there is nothing to score")
        return found

    def _scoring(self) -> dict[str, Any]:
        """The parameters of an estimator that scores alignments in the same way."""
        return {name: getattr(self, name) for name in SCORING}

    def _named_weights(self) -> dict[str, Weights]:
        named: dict[str, Weights] = self.task_.named_weights(self.w_)
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        return tags
