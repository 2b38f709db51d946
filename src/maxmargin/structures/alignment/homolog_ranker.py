"""HomologRanker: learns alignment scores that distinguish related sequences from others."""

from __future__ import annotations

from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.report.findings import Findings
from maxmargin.structures.alignment.alignment_space import Mode
from maxmargin.structures.alignment.alignment_trainer import AlignmentOptions, AlignmentTrainer, scoring_parameters
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.estimator import Aligner
from maxmargin.structures.alignment.homologs import Homologs, candidate_number
from maxmargin.structures.alignment.scored_predictions import predictions_for
from maxmargin.structures.alignment.task import Alignment
from maxmargin.training.decoding import decoded
from maxmargin.training.parameters import task_from


class HomologRanker(AlignmentTrainer):
    """Find the candidate that is related to a native sequence, as the one that aligns best with it.

    X is a list of (native, candidates), each sequence as in `Aligner`; Y a list of (index of the homolog, its alignment
    with the native sequence). Training learns substitution scores and gap costs that put the homolog in its known
    alignment above all alignments of all other candidates (Tsochantaridis et al. 2004, section 4.4).

    Parameters
    ----------
    mode : "local", "global" or "overlap"
        The parts of two sequences that are aligned.
    {features}
        The native sequence is the first one.
    {gaps}
    symmetric : bool
        The native sequence and the candidates share their weights.
    {alphabet}
    {unknown}
    {nonnegative_gaps}
    prior : None, str, SubstitutionMatrix, Aligner, or as for StructuredSVM
        Scores towards which weights are regularised, as in `Aligner`.
    C : float
        Weight of the mean structured hinge against ½‖w‖².
    {options}

    Attributes
    ----------
    weights_ : dict of Weights
        As in `Aligner`.
    aligner_ : Aligner
        An aligner with the same scores.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    Aligner : Learns the same scores from alignments alone.

    Examples
    --------
    >>> from maxmargin import HomologRanker
    >>> X = [("ACDE", ["ACE", "WWW"]), ("CDEA", ["YYY", "CEA"])]
    >>> model = HomologRanker(mode="global").fit(X, [(0, ("ACDE", "AC-E")), (1, ("CDEA", "C-EA"))])
    >>> model.predict([("ACDEA", ["WYW", "ACEA"])]).tolist()
    [1]
    """

    def __init__(self, mode: Mode = "local", **options: Unpack[AlignmentOptions]):
        super().__init__(mode, **options)

    @classmethod
    def from_aligner(cls, aligner: Aligner) -> Self:
        """Make a ranker that ranks candidates by the scores of a fitted aligner, without training."""
        check_is_fitted(aligner)
        ranker = cls(**scoring_parameters(aligner))
        ranker.task_ = Homologs(aligner.task_)
        ranker.task_.alignment_, ranker.task_.dim = aligner.task_, aligner.task_.dim
        ranker.w_ = aligner.w_
        return ranker

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the index of the best candidate of every x."""
        check_is_fitted(self)
        return np.array([z.candidate for z in decoded(self, X)], dtype=np.int64)

    def predict_alignments(self, X: Any) -> list[PairwiseAlignment]:
        """Return the best alignment of the native sequence with the best candidate, for every x."""
        check_is_fitted(self)
        return [z.alignment for z in decoded(self, X)]

    def decision_function(self, X: Any) -> list[Array]:
        """Return the scores of the candidates of every x."""
        check_is_fitted(self)
        return self.task_.candidate_scores(self.w_, X)

    def score(self, X: Any, Y: Any) -> float:
        """Return the share of x whose homolog is found; Y is as in training, or the indices of the homologs alone."""
        found = predictions_for(self, X, Y)
        truth = [candidate_number(y, len(x[1]), i) for i, (x, y) in enumerate(zip(X, Y, strict=True))]
        return float(np.mean(found == truth))

    @property
    def aligner_(self) -> Aligner:
        """An aligner with the same scores."""
        check_is_fitted(self)
        aligner = Aligner(**scoring_parameters(self))
        aligner.task_, aligner.w_ = self.task_.alignment_, self.w_
        return aligner

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.alignment.findings import homolog_findings

        return homolog_findings(self, X, Y)

    def _make_task(self, Y: Any) -> Homologs:
        return task_from(self, Homologs, alignment=task_from(self, Alignment))
