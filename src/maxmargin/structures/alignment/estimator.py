"""Aligner: learn substitution scores and gap costs from known alignments."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.predictions import Predictions
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.alignment import models
from maxmargin.structures.alignment.alignment_space import Mode
from maxmargin.structures.alignment.alignment_trainer import AlignmentOptions, AlignmentTrainer
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import RESIDUE
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix
from maxmargin.structures.alignment.scored_predictions import predictions_for
from maxmargin.structures.alignment.task import Alignment
from maxmargin.training.decoding import decoded
from maxmargin.training.parameters import task_from
from maxmargin.training.probabilistic import ObjectiveName, ProbabilisticTrainer


class Aligner(AlignmentTrainer, ProbabilisticTrainer):
    """Learn substitution scores and gap costs of pairwise sequence alignment from known alignments.

    Sequences are aligned by dynamic programming, and the scores are trained with a large margin.

    X is a list of pairs (a, b) of sequences: strings, or dicts of columns such as {"residue": "ACDE", "ss": "HHH-"}
    (see columns.py). Y is a list of alignments: PairwiseAlignment, lists of pairs (i, j) of positions, or
    two gapped strings.

    Parameters
    ----------
    {mode}
    {features}
    {gaps}
    {max_shift}
    {symmetric}
    {alphabet}
    {unknown}
    {nonnegative_gaps}
    prior : None, str, SubstitutionMatrix, Aligner, or as for StructuredSVM
        Scores towards which weights are regularised: "BLOSUM62", "BLOSUM50" or "PAM250" with their usual gap costs, or
        any matrix by Aligner.from_matrix(matrix, gap_open, gap_extend). Scores on which the reference alignments have
        little evidence stay close to it. Published scores are first scaled to suit the training data (prior_length.py).
    C : float
        Weight of the mean structured hinge against ½‖w‖².
    tol : float or None
        Relative duality gap at which training stops; None: 0.1%, or the value of a solver object. Few pairs of distant
        sequences can be aligned correctly, so the hinge stays near 1, and a small part of it decides.
    solver : str, Solver or None
        None: "bcfw" for the hinge, "lbfgs" for the other objectives.
    objective : "hinge", "likelihood" or "softmax_margin"
        The term that C multiplies: the mean structured hinge, the negative mean log-likelihood of the alignments (a
        conditional random field), or the softmax-margin between them.
    sharpness : float
        For "softmax_margin": the larger, the closer to the hinge.
    calibrate : int or None
        Number of folds of the cross-validation that finds temperature_; None leaves that to calibrate_on(X, Y).
    {options}

    Attributes
    ----------
    temperature_ : float
        The divisor of scores in the logarithms of probabilities.
    weights_ : dict of Weights
        "gaps" by kind ("open" and "extend", or "gap" if gaps are linear), and an array for every feature map, such as
        weights_["residue × residue"]["A", "C"].
    alphabet_ : list
        The alphabet of the residues, in the order of substitution_matrix_.
    substitution_matrix_ : array of shape (K, K)
        The scores of aligned residues.
    gap_open_, gap_extend_ : float or pair
        The costs of the first and of every further residue of a gap.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    HomologRanker : Finds related sequences by such scores.
    maxmargin.formats : Readers of alignments and substitution matrices.

    Examples
    --------
    >>> from maxmargin import Aligner
    >>> model = Aligner().fit([("ACDE", "ACE"), ("CDEA", "CEA")], [("ACDE", "AC-E"), ("CDEA", "C-EA")])
    >>> model.predict([("ACDEA", "ACEA")])[0].gapped("ACDEA", "ACEA")
    ('ACDEA', 'AC-EA')
    """

    _default_tol = 1e-3

    def __init__(  # type: ignore[misc]  # `solver` has another default here than for AlignmentTrainer
        self,
        mode: Mode = "overlap",
        *,
        max_shift: int = 0,
        solver: SolverName | Solver | None = None,
        objective: ObjectiveName = "hinge",
        sharpness: float = 1.0,
        calibrate: int | None = None,
        **options: Unpack[AlignmentOptions],
    ):
        self.max_shift = max_shift
        smooth: Any = {"objective": objective, "sharpness": sharpness, "calibrate": calibrate}
        super().__init__(mode, solver=solver, **smooth, **options)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        gap_open: float | None = None,
        gap_extend: float | None = None,
        mode: Mode = "overlap",
        alphabet: Iterable[Hashable] | None = None,
        **parameters: Any,
    ) -> Self:
        """Make a model from a substitution matrix and gap costs, without training.

        matrix : a SubstitutionMatrix (whose gap costs are used unless others are given), Biopython's, a dict
            {(letter, letter): score}, or an array together with its `alphabet`.
        gap_open, gap_extend : the cost of the first residue of a gap, and of each further one; positive numbers make
            gaps costly.
        """
        scores = models.scores_of(matrix, alphabet)
        if isinstance(matrix, SubstitutionMatrix):
            gap_open = matrix.gap_open if gap_open is None else gap_open
            gap_extend = matrix.gap_extend if gap_extend is None else gap_extend
        if gap_open is None or gap_extend is None:
            raise ValueError("the matrix has no gap costs: give gap_open and gap_extend")
        parameters = {"symmetric": scores.symmetric, "alphabet": scores.alphabet, **parameters}
        return cls(mode=mode, **parameters)._with_matrix(scores, gap_open, gap_extend)

    @classmethod
    def from_log_odds(
        cls,
        X: Sequence[Any],
        Y: Sequence[Any],
        gap_open: float,
        gap_extend: float,
        mode: Mode = "overlap",
        **parameters: Any,
    ) -> Self:
        """Make the generative model of known alignments: log-odds scores with Laplace estimates, and given gap costs.

        S[i, j] = log(P(i, j) / P(i) P(j)) (Tsochantaridis et al. 2004, section 4.4).
        """
        model = cls(mode=mode, **parameters)
        return model._with_matrix(models.log_odds(X, Y, model._make_task(Y)), gap_open, gap_extend)

    def predict(self, X: Any) -> list[PairwiseAlignment]:
        """Return the best alignment of every pair."""
        check_is_fitted(self)
        return Predictions(decoded(self, X))

    def decision_function(self, X: Any) -> Array:
        """Return the score of the best alignment of every pair."""
        check_is_fitted(self)
        return np.array([score for _, score in self.task_.decoded(self.w_, X)])

    def predict_confidence(self, X: Any, of: Literal["pair", "alignment"] = "pair") -> Any:
        """Return the probabilities of the predictions.

        of="pair": for every x an array, the probability that the two positions of each predicted pair are aligned.
        of="alignment": one array, the probabilities of whole alignments.
        """
        if of not in ("pair", "alignment"):
            raise ValueError(f"of must be 'pair' or 'alignment', got {of!r}")
        sums, found = self._sums(X), self.predict(X)
        if of == "alignment":
            return np.exp(sums.log_probabilities(found))
        each = zip(sums.marginals(), found, strict=True)
        return Predictions(shares[z.pairs[:, 0], z.pairs[:, 1]] for shares, z in each)

    def score(self, X: Any, Y: Any) -> float:
        """Return the mean over pairs of the share of trusted aligned positions that are found (see max_shift)."""
        shares = []
        for i, (z, y) in enumerate(zip(predictions_for(self, X, Y), Y, strict=True)):
            truth = PairwiseAlignment.of(y, z.lengths, f"the alignment of example {i}")
            if not truth.trusted.any():
                raise ValueError(f"the alignment of example {i} has no trusted pair, so its score is not defined")
            shares.append(z.agreement(truth, self.max_shift))
        return float(np.mean(shares))

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.alignment.findings import alignment_findings

        return alignment_findings(self, X, Y)

    @property
    def alphabet_(self) -> list[Hashable]:
        """The alphabet of the residues, in the order of `substitution_matrix_`."""
        check_is_fitted(self)
        models.residue_map(self.task_)
        return list(self.task_.columns_.alphabets[RESIDUE])

    @property
    def substitution_matrix_(self) -> Array:
        """(K, K) scores of aligning one residue with another; the scores of other features are added to these."""
        check_is_fitted(self)
        return models.residue_scores(self.task_, self.w_)

    @property
    def gap_open_(self) -> Any:
        """The cost of a gap's first residue; in a model that is not symmetric, a pair of costs, one per sequence."""
        return self._cost(0)

    @property
    def gap_extend_(self) -> Any:
        """The cost of every further residue of a gap."""
        return self._cost(1)

    def to_matrix(self, largest: int | None = None) -> SubstitutionMatrix:
        """Return substitution scores and gap costs in the form that formats.write_matrix writes to a file.

        largest : scale all scores so that the largest is this number, and round to integers, for programs that read
            only integers; the alignments may then differ a little.
        """
        values = self.substitution_matrix_
        models.check_plain(self.task_, "a substitution matrix")
        first, second = models.gap_costs(self.task_, self.w_)
        if first != second:
            raise ValueError("a matrix file has one gap cost for both sequences; use symmetric=True")
        if largest is not None:
            scale = check_whole("largest", largest, least=1) / (max(np.abs(values).max(), *map(abs, first)) or 1.0)
            values, first = (
                np.rint(scale * values),
                (float(np.rint(scale * first[0])), float(np.rint(scale * first[1]))),
            )
        return SubstitutionMatrix(tuple(map(str, self.alphabet_)), values, *first)

    def to_biopython(self) -> Any:
        """Return a Bio.Align.PairwiseAligner with the same scores. Its alignments are the same, except for ties."""
        check_is_fitted(self)
        return models.to_biopython(self.task_, self.w_)

    def _cost(self, kind: int) -> Any:
        check_is_fitted(self)
        first, second = (costs[kind] for costs in models.gap_costs(self.task_, self.w_))
        return first if self.task_.gaps_.symmetric else (first, second)

    def _with_matrix(self, scores: models.SubstitutionScores, gap_open: float, gap_extend: float) -> Self:
        task = models.matrix_task(scores, self._make_task(None))
        self.task_, self.w_ = task, models.matrix_weights(scores, gap_open, gap_extend, task)
        return self

    def _make_task(self, Y: Any) -> Alignment:
        return task_from(self, Alignment)
