"""SequenceLabeler: one label per position, with the labels of neighbours taken into account."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole, is_real
from maxmargin.base.errors import SetCutOff, warn_caller
from maxmargin.base.named_weights import Weights
from maxmargin.base.predictions import Predictions
from maxmargin.base.progress_line import LiveLine
from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.inputs.spans.span import Span
from maxmargin.inputs.tokens.chunk_schemes import SCHEMES
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.inputs.tokens.tokeniser import Tokeniser
from maxmargin.inputs.tokens.transitions import chunk_scheme
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Certificate, Formulation
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.report.findings import Findings, Section
from maxmargin.report.scoring.agreement import Agreement, share_right
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.sequences.batch import ChainBatch
from maxmargin.structures.sequences.carried_weights import carried_over
from maxmargin.structures.sequences.chunk_confidence import chunk_confidences
from maxmargin.structures.sequences.first_weights import FIRST_TOL, weights_of_stretches
from maxmargin.structures.sequences.given_labels import Invalid
from maxmargin.structures.sequences.histories import digits
from maxmargin.structures.sequences.packed_sequences import PackedSequences
from maxmargin.structures.sequences.partial_labels import as_choice, is_partial
from maxmargin.structures.sequences.pieces import given_output
from maxmargin.structures.sequences.predicted_spans import predicted_spans
from maxmargin.structures.sequences.prediction_sets import calibrated_distances, joined, label_sets, sequence_sets
from maxmargin.structures.sequences.sparse_weights import sparse_weights
from maxmargin.structures.sequences.task import Chain, Ngrams, Unknown
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.probabilistic import Calibration
from maxmargin.training.problem import Problem
from maxmargin.training.sequence_trainer import SequenceTrainer

Per = Literal["sequence", "position"]


class SequenceLabeler(SequenceTrainer):
    """Label every position of sequences, as in part-of-speech tagging and named entity recognition.

    The model is a chain, trained with a large margin: it has weights for features with labels, and for labels that
    follow each other.

    X is a list of sequences: (T, F) arrays or sparse matrices, or lists of T tokens, each a dict of features or a list
    of attribute strings (see inputs/tokens/tokens.py); or a packed `Sequences`. Y is a list of lists of labels, any
    hashable values.

    Labels may be missing: None stands for any label, a set for one of its members. Training then alternates between
    completing them and learning (solvers.CCCP; latent structural SVMs, Yu and Joachims 2009), beginning with a model of
    the labelled stretches. A sequence without any label is ignored.

    Parameters
    ----------
    C : float
        Weight of the mean structured hinge against ½‖w‖².
    per : "sequence" or "position"
        The unit of the mean. Per position, the sum of hinges is divided by the number of labelled positions, so that
        a good C remains good if sequences are split, or if others are longer.
    {classes}
    {costs}
    {forbidden}
    {invalid}
    {unknown}
    {min_count}
    {hash_bits}
    {order}
    {ngrams}
    {transition_features}
    {features}
    {kernel}
        Positions are counted through all sequences.
    objective : "hinge", "likelihood" or "softmax_margin"
        The term that C multiplies: the mean structured hinge, the negative mean log-likelihood (a conditional random
        field), or the softmax-margin between them, which uses the costs of mistakes like the hinge and sums over all
        label sequences like the likelihood.
    sharpness : float
        For "softmax_margin": the larger, the closer to the hinge.
    prior : None, SequenceLabeler, or as for StructuredSVM
        A fitted model: weights are regularised towards its weights of the same names, new ones towards 0; its labels
        and features are kept, also those that do not occur in the training data.
    solver : str, Solver or None
        None: "bcfw" for the hinge, "exponentiated_gradient" for the others, or "lbfgs" with order > 1 or
        transition_features.
    calibrate : int or None
        Number of folds of the cross-validation that finds temperature_; None leaves that to calibrate_on(X, Y).
    {options}

    Attributes
    ----------
    temperature_ : float
        The divisor of scores in the logarithms of probabilities.
    weights_ : dict of Weights
        "features" (features × labels), "transitions" (before × after), "start" and "end" (labels). With order > 1 also
        "ngrams" (tuples of labels, None for the start and the end), with transition_features these (feature × pair of
        labels). With hash_bits features are numbers.
    classes_ : list
        The labels, in the order of the weights.
    n_weights_ : int
        The number of weights that are not 0.
    n_features_pruned_ : int
        The number of features of the training tokens that min_count excludes.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    SegmentLabeler : Segments with features of their own.
    GraphLabeler : Labels of the nodes of graphs.
    maxmargin.TokenTemplates : Features of tokens from columns.

    Examples
    --------
    >>> from maxmargin import SequenceLabeler
    >>> X = [[["word=the"], ["word=dog"], ["word=barks"]], [["word=a"], ["word=cat"], ["word=sleeps"]]]
    >>> model = SequenceLabeler().fit(X, [["D", "N", "V"], ["D", "N", "V"]])
    >>> model.predict([[["word=the"], ["word=cat"], ["word=barks"]]])
    [['D', 'N', 'V']]
    """

    _described_by = (Chain,)

    _units = "positions"
    _smooth_solver = "exponentiated_gradient"

    _packed = PackedSequences

    def __init__(
        self,
        C: float = 100.0,
        classes: Sequence[Hashable] | None = None,
        costs: Any = None,
        forbidden: str | Sequence[tuple[Hashable, Hashable]] = (),
        unknown: Unknown = "ignore",
        kernel: Any = None,
        solver: SolverName | Solver | None = None,
        invalid: Invalid = "error",
        per: Per = "sequence",
        min_count: int = 1,
        hash_bits: int | None = None,
        order: int = 1,
        ngrams: Ngrams = "all",
        transition_features: Any = None,
        features: TokenTemplates | None = None,
        **options: Unpack[Options],
    ):
        self.classes = classes
        self.costs = costs
        self.forbidden = forbidden
        self.invalid = invalid
        self.per = per
        self.unknown = unknown
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.order = order
        self.ngrams = ngrams
        self.transition_features = transition_features
        self.features = features
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def fit(self, X: Any, Y: Any = None, sample_weight: Any = None, position_weight: Any = None) -> Self:
        """Train. position_weight is a list like Y with the cost factor of every position.

        A mistake at a position of weight 0 costs nothing, but its label remains part of the true output.
        """
        return super().fit(X, _weighted(Y, position_weight), sample_weight)

    def path(self, X: Any, Y: Any, Cs: Any, sample_weight: Any = None, position_weight: Any = None) -> Iterator[Self]:
        """Yield the models of `fit_path` one by one."""
        return super().path(X, _weighted(Y, position_weight), Cs, sample_weight)

    def certify(
        self, X: Any, Y: Any = None, sample_weight: Any = None, tol: float = 1e-2, position_weight: Any = None
    ) -> Certificate:
        """Measure the distance of the current weights from the optimum on these data; see StructuredSVM.certify."""
        return super().certify(X, _weighted(Y, position_weight), sample_weight, tol)

    def predict_proba(self, X: Any) -> list[Array]:
        """Return (T, K) probabilities of the labels, in the order of classes_, at the positions of every x."""
        sums = self._sums(X)
        return Predictions(sums.labels[a:b] for a, b in pairwise(sums.bounds))

    def predict_confidence(self, X: Any, of: Literal["label", "chunk", "sequence"] = "label") -> Any:
        """Return the probabilities of the predictions.

        of="label": the label of every position, a list of arrays. of="chunk": for every x the list of its chunks, each
        with its first position, the one after its last, its type and the probability of exactly this chunk.
        of="sequence": all labels of an x, one array.
        """
        sums, found = self._sums(X), self.predict(X)
        if of == "label":
            numbers = self.task_.numbers_
            at = np.fromiter((numbers[label] for labels in found for label in labels), dtype=np.intp)
            each = sums.labels[np.arange(len(at)), at]
            return Predictions(each[a:b] for a, b in pairwise(sums.bounds))
        if of == "sequence":
            return np.minimum(np.exp(sums.log_probabilities(found)), 1.0)
        if of == "chunk":
            scheme = chunk_scheme(self.forbidden) or SCHEMES["BIO"]
            return Predictions(chunk_confidences(sums, j, labels, scheme) for j, labels in enumerate(found))
        raise ValueError(f"of must be 'label', 'chunk' or 'sequence', got {of!r}")

    def predict_spans(self, texts: Sequence[str], tokeniser: Tokeniser | None = None) -> list[list[Span]]:
        """Return the labelled spans of characters (start, end, label, confidence) that are predicted in every text.

        The confidence is the probability of exactly this chunk of tokens, as predict_confidence(of="chunk") returns it.

        Parameters
        ----------
        texts : list of str
            Raw texts. One without any token has no spans.
        tokeniser : Tokeniser or None
            Splits the texts into words; None: the tokeniser of the templates of the model.
        """
        check_is_fitted(self)
        return predicted_spans(self, texts, tokeniser)

    def predict_set(
        self, X: Any, coverage: float = 0.9, of: Literal["sequence", "label"] = "sequence", most: int = 1000
    ) -> Any:
        """Return sets of label sequences, or of labels, that contain the truth as often as `coverage` says.

        The distance of a label sequence is how far its score is below the best one. A set of label sequences contains
        all up to some distance, and a set of labels all labels of such label sequences at its position, so that the
        predicted label is always in it. The calibration with n sequences determines the distances, which do not depend
        on temperature_.

        Parameters
        ----------
        X : list of sequences
            The inputs.
        coverage : float
            The required coverage, at most n / (n + 1).
        of : "sequence" or "label"
            "sequence": for every x a list of label sequences, best first. The probability that the true label sequence
            is among them is at least `coverage`. "label": for every x a list with the set of labels of each position.
            The expected share of the labels of a sequence that are in their sets is at least `coverage`.
        most : int
            The maximum size of a set of label sequences. Larger ones are cut off with a warning (SetCutOff), and the
            coverage is not guaranteed for them.

        Notes
        -----
        The coverage is guaranteed for every model, every distribution and every n after calibrate_on(X, Y), if training
        did not see these sequences and if they are exchangeable with the new one, for example drawn independently from
        the same distribution. It is an average over all held-out samples and new sequences: a single sample may give
        more or less, a group of sequences or positions may have less, and new data of another kind may have any
        coverage. An error is raised if the model cannot predict so many of the held-out labels that no set suffices;
        the guarantee then bounds the probability of a set without the truth, with errors counted as no such set.
        Where held-out labels are missing or are sets, the guarantee is about the given labels, and sequences without
        labels do not count. After calibrate=k there is no guarantee, because the distances are those of other models.
        """
        known = self._set_calibration()
        if of == "sequence":
            most = check_whole("most", most, least=1)
            found = sequence_sets(self.task_, self.w_, X, known, coverage, most)
            cut = [i for i, (_, complete) in enumerate(found) if not complete]
            if cut:
                warn_caller(
                    f"{len(cut)} of {len(found)} sets have more than {most} label sequences and were truncated (the "
                    f"first: sequence {cut[0]}); the coverage is not guaranteed for these. Raise `most`, or ask for "
                    "less coverage",
                    SetCutOff,
                )
            return Predictions(labels for labels, _ in found)
        if of == "label":
            return Predictions(label_sets(self.task_, self.w_, X, known, coverage))
        raise ValueError(f"of must be 'sequence' or 'label', got {of!r}")

    def score(self, X: Any, Y: Any) -> float:
        """Return the share of labelled positions that are right; labels unseen in training count as wrong.

        A position with None does not count; one with a set is right if the set contains the predicted label.
        """
        return share_right(self.predict(X), Y, _agreement, "sequence", "position")

    def sparsify(self, X: Any, loss: float = 0.0) -> Self:
        """Return a copy of this model with as many of the smallest weights set to 0 as predictions for X permit.

        At most the share `loss` of the positions of X changes its label; n_weights_ is the number of weights left, and
        a pickle stores no others. The certificate does not hold for the copy: call `certify` again, and calibrate
        probabilities again.
        """
        check_is_fitted(self)
        if self.kernel is not None:
            raise ValueError("sparsify drops weights of features, which a model with a kernel does not have")
        if not is_real(loss) or not 0 <= loss <= 1:
            raise ValueError(f"loss must be a share of positions, from 0 to 1, got {loss!r}")
        with LiveLine(self.verbose, "looking for weights that matter"):
            w = sparse_weights(self.task_, self.w_, X, float(loss))
        model = self._copy(self.solution_.C)
        unproved = replace(
            self.certificate_,
            primal=np.nan,
            upper=None,
            converged=False,
            stop_reason=f"{np.count_nonzero(w)} of {np.count_nonzero(self.w_)} weights kept, not measured since",
        )
        model.w_, model.certificate_ = w, unproved
        model.solution_ = replace(model.solution_, w=w, certificate=unproved, memory=None)
        model.temperature_, model.calibration_ = 1.0, None
        return model

    @property
    def n_weights_(self) -> int:
        """The number of weights that are not 0."""
        check_is_fitted(self)
        return int(np.count_nonzero(self.w_))

    @property
    def n_features_pruned_(self) -> int:
        """The number of features without a weight, because fewer than min_count training tokens have them."""
        check_is_fitted(self)
        return int(self.task_.packer_.n_pruned)

    @property
    def _named_solver(self) -> str | Solver:
        if (
            self.solver is None
            and self.objective != "hinge"
            and (self.order != 1 or self.transition_features is not None)
        ):
            return "lbfgs"  # the other solver stores distributions of neighbouring labels
        return super()._named_solver

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        parts, labels = task.parts(w), task.classes_
        axes: dict[str, dict[str, Sequence[Hashable]]] = {"transitions": {"before": labels, "after": labels}}
        if "features" in parts:
            names = task.packer_.feature_names
            named = range(len(parts["features"])) if names is None else names
            axes["features"] = {"feature": named, "label": labels}
        if "ngrams" in parts:
            axes["ngrams"] = {"ngram": task.histories_.names(labels)}
        if "transition_features" in parts:
            chosen, pairs = task.chosen_, task.histories_.pairs
            of_labels = [(labels[a], labels[b]) for a, b in digits(pairs, 2, len(labels)).tolist()]
            axes["transition_features"] = {"feature": [named[j] for j in chosen.tolist()], "pair": of_labels}
        return {part: Weights(values, **axes.get(part, {"label": labels})) for part, values in parts.items()}

    def _full_output(self, x: Any, z: Any) -> list[Hashable]:
        return given_output(self.task_, self.w_, x, z)

    def _unlikeliness(self, beta: float, X: Any, Y: Any) -> Array:
        """Return -Σ_t log p(y_t | x): users look at single labels more often than at whole sequences."""
        sums = self._sums_at(beta, X)
        allowed = sums.allowed_labels(Y)
        each = np.where(allowed.any(axis=1), -sums.log_agreement(allowed), 0.0)  # unseen labels have no probability
        return np.asarray(np.bincount(sums.owners, each, len(sums.bounds) - 1), dtype=float)

    def _calibration(self, unseen: list[tuple[Self, Any, Any]]) -> Calibration:
        return joined([calibrated_distances(model.task_, model.w_, X, Y) for model, X, Y in unseen])

    def _first_weights(self, problem: Problem, C: float) -> Array | None:
        return weights_of_stretches(problem, self._solver(tol=FIRST_TOL), C, self.random_state)

    def _oracle(self, batch: Batch, formulation: Formulation, **others: Any) -> RiskOracle:
        assert isinstance(batch, ChainBatch)
        sizes = batch.n_informative if self.per == "position" else None
        return super()._oracle(batch, formulation, **others, sizes=sizes)

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.sequences.findings import sequence_findings

        return sequence_findings(self, X, Y)

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.sequences.findings import learnt_transitions

        return learnt_transitions(self)

    def _make_task(self, Y: Any) -> Task:
        if self.per not in ("sequence", "position"):
            raise ValueError(f"per must be 'sequence' or 'position', got {self.per!r}")
        if not isinstance(self.prior, SequenceLabeler):
            return task_from(self, Chain)
        check_is_fitted(self.prior)
        if self.prior.kernel is not None or self.kernel is not None:
            raise ValueError("a prior constrains weights of features, which a model with a kernel does not have")
        return task_from(self, Chain, earlier=self.prior.task_)

    def _prior(self, task: Any, batch: Batch, sample_weight: Any) -> Any:
        """Return the weights of a prior model for this task; features and labels unknown to it have the weight 0."""
        prior: Any = self.prior
        return carried_over(task, prior.task_, prior.w_) if isinstance(prior, SequenceLabeler) else prior


def _agreement(found: list[Hashable], y: Any) -> Agreement:
    truth = y.labels if isinstance(y, Weighted) else y
    if len(found) != len(truth):
        raise ValueError(f"there are {len(found)} positions but {len(truth)} labels")
    labelled = [(a, b) for a, b in zip(found, map(as_choice, truth), strict=True) if b is not None]
    return Agreement(sum(bool(a in b if is_partial(b) else a == b) for a, b in labelled), len(labelled))


def _weighted(Y: Any, position_weight: Any) -> Any:
    if position_weight is None:
        return Y
    if Y is None:
        raise ValueError("packed sequences contain the weights of positions; leave out position_weight")
    if len(position_weight) != len(Y):
        raise ValueError(f"position_weight has {len(position_weight)} sequences but Y has {len(Y)}")
    weighted = []
    for i, (y, costs) in enumerate(zip(Y, position_weight, strict=True)):
        try:
            weighted.append(Weighted(y, np.asarray(costs, dtype=float).tolist()))
        except (TypeError, ValueError):
            raise ValueError(f"position_weight of sequence {i} is {costs!r}; expected a list of numbers") from None
    return weighted
