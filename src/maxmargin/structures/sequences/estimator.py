"""SequenceLabeler: one label per position, with the labels of neighbours taken into account."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self, Unpack

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.arrays import Array
from maxmargin.checks import check_whole
from maxmargin.inputs.scoring import Agreement, share_right
from maxmargin.inputs.weighted import Weighted
from maxmargin.objective import Certificate
from maxmargin.predictions import Predictions
from maxmargin.progress import watching
from maxmargin.solvers import CCCP, Solver, as_solver
from maxmargin.structures.sequences.batch import ChainBatch
from maxmargin.structures.sequences.partial_labels import as_choice, is_partial
from maxmargin.structures.sequences.task import Chain
from maxmargin.task import Task
from maxmargin.trainer import Options, Problem, Trainer
from maxmargin.training_options import seed_of
from maxmargin.weights import Weights

FIRST_TOL = 0.05  # relative gap of the model that completes missing labels first: it need not be exact


class SequenceLabeler(Trainer):
    """A first-order chain model trained with a large margin.

    X is a list of sequences: (T, F) arrays or sparse matrices, or lists of T tokens, each a dict of features or a list
    of attribute strings (see maxmargin.inputs.tokens); or a packed `Sequences`. Y is a list of lists of labels, any
    hashable values.

    Labels may be missing: None stands for any label, a set for one of its members. Training then alternates between
    completing them and learning (solvers.CCCP; latent structural SVMs, Yu and Joachims 2009), beginning with what the
    labelled stretches teach. A sequence without any label changes nothing.

    Parameters
    ----------
    C : float
        Weight of the mean structured hinge (per sequence) against ½‖w‖².
    {classes}
    {costs}
    forbidden : "BIO", "BILOU", "IOBES" or list of (before, after)
        Transitions never predicted; None in a pair stands for the start or the end.
    invalid : "error", "repair" or "drop"
        What to do with training labels that have a forbidden transition. "repair" writes the chunks that conlleval
        would read in right labels (of BIO: an I-X that cannot follow becomes B-X); sequences with missing labels are
        left as they are. "drop" leaves the sequence out. Both warn, with the number.
    unknown : "ignore" or "error"
        What to do with a feature of a token that training has not seen; one that is ignored has no weight.
    {kernel}
        Positions are counted through all sequences.
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    weights_ : by name: "features" (features × labels), "transitions" (before × after), "start" and "end" (labels).
    classes_, w_, certificate_, history_.
    """

    _units = "positions"

    def __init__(
        self,
        C: float = 100.0,
        classes: Sequence[Hashable] | None = None,
        costs: Any = None,
        forbidden: Any = (),
        unknown: str = "ignore",
        kernel: Any = None,
        solver: str | Solver = "bcfw",
        invalid: str = "error",
        **options: Unpack[Options],
    ):
        self.classes = classes
        self.costs = costs
        self.forbidden = forbidden
        self.invalid = invalid
        self.unknown = unknown
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def fit(self, X: Any, Y: Any, sample_weight: Any = None, position_weight: Any = None) -> Self:
        """Train. position_weight is a list like Y with the cost factor of every position.

        A mistake at a position of weight 0 costs nothing, but its label still takes part in the right answer.
        """
        return super().fit(X, _weighted(Y, position_weight), sample_weight)

    def fit_path(
        self, X: Any, Y: Any, Cs: Sequence[float], sample_weight: Any = None, position_weight: Any = None
    ) -> list[Self]:
        """A fitted model for every C, each started from the one before; the last one stays in this estimator."""
        return super().fit_path(X, _weighted(Y, position_weight), Cs, sample_weight)

    def certify(
        self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2, position_weight: Any = None
    ) -> Certificate:
        """How far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        return super().certify(X, _weighted(Y, position_weight), sample_weight, tol)

    def predict(self, X: Any) -> list[list[Hashable]]:
        """The best label sequence of every x; of an empty one, the empty list."""
        check_is_fitted(self)
        return Predictions(self._decoded(X))

    def decision_function(self, X: Any) -> Array:
        """The score of the predicted label sequence of every x."""
        check_is_fitted(self)
        return self.task_.scores(self.w_, X)

    def predict_nbest(self, X: Any, n: int) -> list[list[tuple[list[Hashable], float]]]:
        """The n best label sequences of every x with their scores, best first; fewer where there are not so many."""
        check_is_fitted(self)
        n = check_whole("n", n, least=1)
        self.task_.packer_.pack(X, may_be_empty=True)  # all at once first, so that errors name the right sequence
        return [self.task_.n_best(self.w_, x, n) for x in X]

    def score(self, X: Any, Y: Any) -> float:
        """The share of labelled positions that are right; labels that training has not seen count as wrong.

        A position with None does not count, one with a set is right if the set has the predicted label.
        """
        return share_right(self.predict(X), Y, _agreement, "sequence", "position")

    @property
    def classes_(self) -> list[Hashable]:
        """The labels, in the order of the weights."""
        check_is_fitted(self)
        return self.task_.classes_

    def _named_weights(self) -> dict[str, Weights]:
        parts, labels = self.task_.parts(self.w_), self.classes_
        axes: dict[str, dict[str, Sequence[Hashable]]] = {"transitions": {"before": labels, "after": labels}}
        if "features" in parts:
            names = self.task_.packer_.feature_names
            axes["features"] = {"feature": range(len(parts["features"])) if names is None else names, "label": labels}
        return {part: Weights(values, **axes.get(part, {"label": labels})) for part, values in parts.items()}

    def _first_weights(self, problem: Problem, C: float) -> Array | None:
        """Those that the stretches of known labels teach, each taken for a sequence of its own."""
        batch, oracle = problem.batch, problem.oracle
        assert isinstance(batch, ChainBatch)
        stretches, owners = batch.stretches()
        if len(stretches) == 0:
            return None
        known = oracle.beside(stretches, oracle.weights[owners])
        solver = self._solver(tol=FIRST_TOL)
        inner: Solver = clone(as_solver(solver.inner)) if isinstance(solver, CCCP) else solver
        share = oracle.weights[owners].sum() / oracle.n  # of C, which multiplies a mean over whole sequences
        watch = watching(problem.line, inner)
        solution = inner.solve(known, C * share, callback=watch, seed=seed_of(self.random_state))
        if solution.error is not None:
            raise solution.error
        return solution.w

    def _make_task(self, Y: Any) -> Task:
        return self._task(Chain)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = tags.input_tags.dict = tags.input_tags.string = True
        return tags


def _agreement(found: list[Hashable], y: Any) -> Agreement:
    truth = y.labels if isinstance(y, Weighted) else y
    if len(found) != len(truth):
        raise ValueError(f"{len(found)} positions but {len(truth)} labels")
    judged = [(a, b) for a, b in zip(found, map(as_choice, truth), strict=True) if b is not None]
    return Agreement(sum(bool(a in b if is_partial(b) else a == b) for a, b in judged), len(judged))


def _weighted(Y: Any, position_weight: Any) -> Any:
    if position_weight is None:
        return Y
    if len(position_weight) != len(Y):
        raise ValueError(f"position_weight has {len(position_weight)} sequences but Y has {len(Y)}")
    weighted = []
    for i, (y, costs) in enumerate(zip(Y, position_weight, strict=True)):
        try:
            weighted.append(Weighted(y, np.asarray(costs, dtype=float).tolist()))
        except (TypeError, ValueError):
            raise ValueError(f"position_weight of sequence {i} is {costs!r}; expected a list of numbers") from None
    return weighted
