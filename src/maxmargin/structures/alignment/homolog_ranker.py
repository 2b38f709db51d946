"""HomologRanker: learn scores of alignments that tell related sequences from others."""

from __future__ import annotations

from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.arrays import Array
from maxmargin.objective import Certificate
from maxmargin.solvers import Solver
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.estimator import Aligner
from maxmargin.structures.alignment.homologs import Homologs, candidate_number
from maxmargin.structures.alignment.task import Alignment
from maxmargin.trainer import Options, Trainer


class HomologRanker(Trainer):
    """Of several candidates, find the one that is related to a native sequence: the one that aligns best with it.

    X is a list of (native, candidates), each sequence as in `Aligner`; Y a list of (index of the homolog, its alignment
    with the native sequence). Trained are substitution scores and gap costs that put the homolog in its known
    alignment above all alignments of all other candidates (Tsochantaridis et al. 2004, section 4.4).

    Parameters
    ----------
    mode : "local", "global" or "overlap"
        Which parts of two sequences are aligned; see `Aligner`.
    features : str, PairFeatures, callable or list
        What scores an aligned pair, as in `Aligner`.
    gaps : "affine", "linear" or tasks.Gaps
        What scores a skipped residue.
    symmetric : bool
        The native sequence and the candidates share their weights.
    letters : None, str or dict
        The alphabet of the residues, or {column: alphabet}; None takes what the training data show.
    unknown_features : "error" or "ignore"
        What to do with a letter that is not in the alphabet; one that is ignored scores nothing.
    C : float
        Weight of the mean structured hinge against ½‖w‖².
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    w_, certificate_, history_, weights_, aligner_ (an `Aligner` with the same scores).
    """

    def __init__(
        self,
        mode: str = "local",
        features: Any = "simple",
        gaps: Any = "affine",
        symmetric: bool = True,
        letters: Any = None,
        unknown_features: str = "error",
        C: float = 1.0,
        solver: str | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.symmetric = symmetric
        self.letters = letters
        self.unknown_features = unknown_features
        super().__init__(C=C, solver=solver, **options)

    @classmethod
    def from_aligner(cls, aligner: Aligner) -> Self:
        """A ranker that needs no training: candidates are ranked by the scores of this aligner."""
        check_is_fitted(aligner)
        names = ("mode", "features", "gaps", "symmetric", "letters", "unknown_features")
        ranker = cls(**{name: getattr(aligner, name) for name in names})
        ranker.task_ = Homologs(aligner.task_)
        ranker.task_.alignment_, ranker.task_.dim = aligner.task_, aligner.task_.dim
        ranker.w_ = aligner.w_
        return ranker

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The index of the best candidate of every x."""
        check_is_fitted(self)
        return np.array([z.candidate for z in self.task_.decode(self.w_, X)], dtype=np.int64)

    def predict_alignments(self, X: Any) -> list[PairwiseAlignment]:
        """The best alignment of the native sequence with the best candidate, for every x."""
        check_is_fitted(self)
        return [z.alignment for z in self.task_.decode(self.w_, X)]

    def decision_function(self, X: Any) -> list[Array]:
        """For every x the scores of its candidates."""
        check_is_fitted(self)
        return self.task_.candidate_scores(self.w_, X)

    def score(self, X: Any, Y: Any) -> float:
        """The share of x for which the homolog is found; Y as in training, or the indices of the homologs alone."""
        found = self.predict(X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} examples but Y has {len(Y)}")
        if not len(found):
            raise ValueError("no examples given: there is nothing to score")
        truth = [candidate_number(y, len(x[1]), i) for i, (x, y) in enumerate(zip(X, Y, strict=True))]
        return float(np.mean(found == truth))

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        if not hasattr(self, "solution_"):
            raise ValueError("this model was made from an aligner and has no objective to certify; fit trains one")
        return super().certify(X, Y, sample_weight, tol)

    @property
    def weights_(self) -> dict[str, Any]:
        """The weights by name, as in `Aligner`."""
        check_is_fitted(self)
        return self.task_.alignment_.parts(self.w_)

    @property
    def aligner_(self) -> Aligner:
        """An aligner with the same scores."""
        check_is_fitted(self)
        names = ("mode", "features", "gaps", "symmetric", "letters", "unknown_features")
        aligner = Aligner(**{name: getattr(self, name) for name in names})
        aligner.task_, aligner.w_ = self.task_.alignment_, self.w_
        return aligner

    def _make_task(self, Y: Any) -> Homologs:
        return self._task(Homologs, alignment=self._task(Alignment))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        return tags
