"""SegmentLabeler: named entity recognition and other segmentation of sequences, with features of whole segments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights
from maxmargin.base.predictions import Predictions
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Findings, Section
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.segments.losses import SegmentMeasure
from maxmargin.structures.segments.spans import OUTSIDE, read_segmentation
from maxmargin.structures.segments.task import SemiMarkov, Unknown
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.sequence_trainer import SequenceTrainer

ROLES = ("any", "first", "last")  # tokens of a segment


class SegmentConfidence(NamedTuple):
    """Predicted segment at tokens begin:end, with its probability."""

    begin: int
    end: int
    label: Hashable
    probability: float


class SegmentLabeler(SequenceTrainer):
    """Cut sequences into labelled segments, such as named entities, with features of whole segments.

    The model is a semi-Markov chain, trained with a large margin.

    X is as for SequenceLabeler: a list of sequences of tokens, each a list of attributes, a dict, or a row of a matrix.
    Y is a list of lists of tags ("O" outside, "B-x" for the first token of a segment of type x, "I-x" for its other
    tokens), or of lists of spans (begin, end, label), where `end` is one past the last token; predictions have the same
    form. Segments do not overlap. tasks.SemiMarkov defines the score, which has features of tokens, of first and last
    tokens, of lengths and of whole segments. If no training token is outside of all segments, none is in predictions.

    Parameters
    ----------
    C : float
        Weight of the mean structured hinge against ½‖w‖².
    {measure}
    {segment_features}
    {max_length}
    costs : None, dict or matrix
        With "tokens" {label: cost of a wrong tag at its tokens}, or cost[true, predicted] in the order "O", classes_;
        with "segments" {label: price of a missed or wrong segment}.
    classes : list or None
        The labels of segments, if the training data may not contain all of them.
    {unknown}
    {min_count}
    {features}
    objective : "hinge", "likelihood" or "softmax_margin"
        The loss that C weighs against ½‖w‖²: the mean structured hinge, the negative mean log-likelihood (a semi-Markov
        conditional random field), or the softmax-margin between them (not with "f1").
    sharpness : float
        For "softmax_margin": larger values are nearer to the hinge.
    solver : str, Solver or None
        None: "bcfw" for the hinge, "lbfgs" for the others.
    calibrate : int or None
        The number of cross-validation folds to find temperature_; None leaves calibration to calibrate_on(X, Y).
    {options}

    Attributes
    ----------
    classes_ : list
        The labels of segments.
    max_length_ : int
        The longest segment that is predicted.
    outside_ : bool
        True if tokens may be outside of all segments.
    weights_ : dict of Weights
        "features" (features × labels × roles: any, the first and the last token of a segment), "outside"
        (features), "segments" (features of segments × labels), "lengths" (lengths × labels), "transitions"
        (before × after), "start" and "end" (labels), the last three with the label "O".
    temperature_ : float
        The number by which scores are divided before they are normalised to probabilities.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    SequenceLabeler : One label per position.
    maxmargin.tasks.SegmentText : Features of segments of text.

    Examples
    --------
    >>> from maxmargin import SegmentLabeler
    >>> X = [[["New"], ["York"], ["sleeps"]], [["Rex"], ["sleeps"]]]
    >>> model = SegmentLabeler().fit(X, [["B-LOC", "I-LOC", "O"], ["O", "O"]])
    >>> model.predict([[["Rex"], ["New"], ["York"]]])
    [['O', 'B-LOC', 'I-LOC']]
    """

    _described_by = (SemiMarkov,)

    def __init__(
        self,
        C: float = 100.0,
        measure: SegmentMeasure = "tokens",
        segment_features: Any = None,
        max_length: int | None = None,
        costs: Any = None,
        classes: Sequence[Hashable] | None = None,
        unknown: Unknown = "ignore",
        min_count: int = 1,
        features: TokenTemplates | None = None,
        solver: SolverName | Solver | None = None,
        **options: Unpack[Options],
    ):
        self.measure = measure
        self.segment_features = segment_features
        self.max_length = max_length
        self.costs = costs
        self.classes = classes
        self.unknown = unknown
        self.min_count = min_count
        self.features = features
        super().__init__(C=C, solver=solver, **options)

    def predict_confidence(self, X: Any, of: Literal["segment", "token", "sequence"] = "segment") -> Any:
        """Return the probabilities of the predictions.

        of="segment": for every x a list of its segments with their probabilities. of="token": for every x an array with
        the probability of every token's predicted label or of being outside. of="sequence": one array with the
        probability of every predicted segmentation.
        """
        if of not in ("segment", "token", "sequence"):
            raise ValueError(f"of must be 'segment', 'token' or 'sequence', got {of!r}")
        sums, found = self._sums(X), self.predict(X)
        if of == "sequence":
            return np.exp(sums.log_probabilities(found))
        numbers, each = self.task_.numbers_, []
        for z, p in zip(found, sums.marginals(), strict=True):
            spans = read_segmentation(z, len(p.outside), "the prediction").spans
            if of == "segment":
                chances = [float(p.segments[begin, end - begin - 1, numbers[k]]) for begin, end, k in spans]
                each.append([SegmentConfidence(*span, chance) for span, chance in zip(spans, chances, strict=True)])
            else:
                tokens = p.outside.copy()
                for begin, end, label in spans:
                    tokens[begin:end] = p.labels[begin:end, numbers[label]]
                each.append(tokens)
        return Predictions(each)

    def score(self, X: Any, Y: Any) -> float:
        """Return F1 over the segments of all sequences; true segments of labels unknown in training count as missed."""
        found = self.predict(X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} sequences but Y has {len(Y)}; expected one segmentation per sequence")
        right = counted = 0
        for i, (z, y, x) in enumerate(zip(found, Y, X, strict=True)):
            length = int(x.shape[0]) if hasattr(x, "shape") else len(x)
            mine, true = (set(read_segmentation(each, length, f"Y[{i}]").spans) for each in (z, y))
            right, counted = right + len(mine & true), counted + len(mine) + len(true)
        return 2 * right / counted if counted else 1.0

    @property
    def max_length_(self) -> int:
        """The longest segment that is predicted."""
        check_is_fitted(self)
        return self.task_.max_length_

    @property
    def outside_(self) -> bool:
        """True if tokens may be outside of all segments, as some are in the training data."""
        check_is_fitted(self)
        return self.task_.outside_

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        labels = task.classes_
        parts, with_outside = task.split_weights(w), [OUTSIDE, *labels]
        names = task.packer_.feature_names
        tokens = range(task.packer_.n_features) if names is None else names
        return {
            "features": Weights(parts.features, feature=tokens, label=labels, role=ROLES),
            "outside": Weights(parts.outside, feature=tokens),
            "segments": Weights(parts.segments, feature=task.segments_.names, label=labels),
            "lengths": Weights(parts.lengths, length=range(1, task.max_length_ + 1), label=labels),
            "transitions": Weights(parts.transitions, before=with_outside, after=with_outside),
            "start": Weights(parts.start, label=with_outside),
            "end": Weights(parts.end, label=with_outside),
        }

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.segments.findings import segment_findings

        return segment_findings(self, X, Y)

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.segments.findings import learnt_lengths_and_transitions

        return learnt_lengths_and_transitions(self)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, SemiMarkov)
