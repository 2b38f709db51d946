"""Aligner: learn substitution scores and gap costs from known alignments."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral
from typing import Any, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.arrays import Array
from maxmargin.objective import Certificate
from maxmargin.solvers import Solver
from maxmargin.structures.alignment import models
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import RESIDUE
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix
from maxmargin.structures.alignment.task import Alignment
from maxmargin.trainer import Options, Trainer


class Aligner(Trainer):
    """Pairs of sequences, aligned by a dynamic programme whose scores are learnt with a large margin.

    X is a list of pairs (a, b) of sequences: strings, or dicts of columns such as {"residue": "ACDE", "ss": "HHH-"}
    (see columns.py). Y is a list of alignments: PairwiseAlignment, lists of pairs (i, j) of positions, or
    two gapped strings.

    Parameters
    ----------
    mode : "global", "overlap" or "local"
        Whether gaps at the ends cost as others do, are free, or only a part of each sequence is aligned at all.
    features : str, PairFeatures, callable or list
        What scores an aligned pair: "simple" (every column with every column; for strings a substitution matrix),
        "anova2", "tensor", "window", "profile", a map such as tasks.Match("residue", "ss"), a function x -> (n, m, F)
        array, or a list of these. See maxmargin.structures.alignment.substitution.
    gaps : "affine", "linear" or tasks.Gaps
        What scores a skipped residue.
    tolerance : int
        By how many positions a pair may miss and still count as right, in training and in `score`.
    symmetric : bool
        Both sequences share their weights.
    letters : None, str or dict
        The alphabet of the residues, or {column: alphabet}; None takes what the training data show.
    unknown_features : "error" or "ignore"
        What to do with a letter that is not in the alphabet; one that is ignored scores nothing.
    C : float
        Weight of the mean structured hinge against ½‖w‖².
    tol : float or None
        Relative duality gap to stop at; None: 0.1%, or what a solver object says itself. Few pairs of distant sequences
        can be aligned right, so that the hinge stays near 1 and a small part of it decides.
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    w_, certificate_, history_, weights_ (by name) and weight_names_, letters_, substitution_matrix_, gap_open_,
    gap_extend_.
    """

    _default_tol = 1e-3

    def __init__(
        self,
        mode: str = "overlap",
        features: Any = "simple",
        gaps: Any = "affine",
        tolerance: int = 0,
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
        self.tolerance = tolerance
        self.symmetric = symmetric
        self.letters = letters
        self.unknown_features = unknown_features
        super().__init__(C=C, solver=solver, **options)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        gap_open: float | None = None,
        gap_extend: float | None = None,
        mode: str = "overlap",
        letters: Iterable[Hashable] | None = None,
        **parameters: Any,
    ) -> Self:
        """A model that needs no training: a substitution matrix and gap costs.

        matrix : a SubstitutionMatrix (whose gap costs are used unless others are given), Biopython's, a dict
            {(letter, letter): score}, or an array together with its `letters`.
        gap_open, gap_extend : the cost of the first residue of a gap, and of each further one; positive numbers make
            gaps costly.
        """
        scores = models.scores_of(matrix, letters)
        if isinstance(matrix, SubstitutionMatrix):
            gap_open = matrix.gap_open if gap_open is None else gap_open
            gap_extend = matrix.gap_extend if gap_extend is None else gap_extend
        if gap_open is None or gap_extend is None:
            raise ValueError("the matrix says nothing about gaps: give gap_open and gap_extend")
        parameters = {"symmetric": scores.symmetric, "letters": scores.letters, **parameters}
        return cls(mode=mode, **parameters)._with_matrix(scores, gap_open, gap_extend)

    @classmethod
    def from_log_odds(
        cls,
        X: Sequence[Any],
        Y: Sequence[Any],
        gap_open: float,
        gap_extend: float,
        mode: str = "overlap",
        **parameters: Any,
    ) -> Self:
        """The generative model of known alignments: log-odds scores with Laplace estimates, and given gap costs.

        S[i, j] = log(P(i, j) / P(i) P(j)) (Tsochantaridis et al. 2004, section 4.4).
        """
        model = cls(mode=mode, **parameters)
        return model._with_matrix(models.log_odds(X, Y, model._make_task(Y)), gap_open, gap_extend)

    def predict(self, X: Any) -> list[PairwiseAlignment]:
        """The best alignment of every pair."""
        check_is_fitted(self)
        return self.task_.decode(self.w_, X)

    def decision_function(self, X: Any) -> Array:
        """The score of the best alignment of every pair."""
        check_is_fitted(self)
        return np.array([score for _, score in self.task_.decoded(self.w_, X)])

    def score(self, X: Any, Y: Any) -> float:
        """The mean over pairs of the share of trusted aligned positions that are found (within the tolerance)."""
        found = self.predict(X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} examples but Y has {len(Y)}")
        if not found:
            raise ValueError("no examples given: there is nothing to score")
        shares = []
        for i, (z, y) in enumerate(zip(found, Y, strict=True)):
            truth = PairwiseAlignment.of(y, z.lengths, f"the alignment of example {i}")
            if not truth.trusted.any():
                raise ValueError(
                    f"the alignment of example {i} has no trusted pair, so that nothing can be found of it"
                )
            shares.append(z.agreement(truth, self.tolerance))
        return float(np.mean(shares))

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """How far the current weights are from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        if not hasattr(self, "solution_"):
            raise ValueError("this model was made from a matrix and has no objective to certify; fit trains one")
        return super().certify(X, Y, sample_weight, tol)

    @property
    def weights_(self) -> dict[str, Any]:
        """The weights by name: "open" and "extend" of gaps, and one matrix per feature map."""
        check_is_fitted(self)
        return self.task_.parts(self.w_)

    @property
    def weight_names_(self) -> dict[str, tuple[list[Any], list[Any]]]:
        """What the rows and columns of the matrices in weights_ stand for."""
        check_is_fitted(self)
        return self.task_.part_names()

    @property
    def letters_(self) -> list[Hashable]:
        """The alphabet of the residues, in the order of substitution_matrix_."""
        check_is_fitted(self)
        models.residue_map(self.task_)
        return list(self.task_.columns_.alphabets[RESIDUE])

    @property
    def substitution_matrix_(self) -> Array:
        """(K, K) scores of aligning one residue with another; other features of the model come on top of it."""
        check_is_fitted(self)
        pairs = models.residue_map(self.task_)
        begin = self.task_.ends_[self.task_.maps_.index(pairs)]
        return pairs.weights(self.w_[begin : begin + pairs.size])

    @property
    def gap_open_(self) -> Any:
        """The cost of a gap's first residue; in a model that is not symmetric a pair of costs, for each sequence."""
        return self._cost(0)

    @property
    def gap_extend_(self) -> Any:
        """The cost of every further residue of a gap."""
        return self._cost(1)

    def to_matrix(self, largest: int | None = None) -> SubstitutionMatrix:
        """Substitution scores and gap costs in the form that formats.write_matrix writes to a file.

        largest : scale all so that the largest of them is this number, and round to integers, for programs that read
            nothing else; the alignments may then differ a little.
        """
        values = self.substitution_matrix_
        models.check_plain(self.task_, "a substitution matrix")
        first, second = models.gap_costs(self.task_, self.w_)
        if first != second:
            raise ValueError("a matrix file has one gap cost for both sequences; use symmetric=True")
        if largest is not None:
            if isinstance(largest, bool) or not isinstance(largest, Integral) or largest < 1:
                raise ValueError(f"largest must be a whole number >= 1, got {largest!r}")
            scale = largest / (max(np.abs(values).max(), *map(abs, first)) or 1.0)
            values, first = (
                np.rint(scale * values),
                (float(np.rint(scale * first[0])), float(np.rint(scale * first[1]))),
            )
        return SubstitutionMatrix(tuple(map(str, self.letters_)), values, *first)

    def to_biopython(self) -> Any:
        """A Bio.Align.PairwiseAligner with the same scores: align(a, b) gives the same alignments, but for ties."""
        check_is_fitted(self)
        return models.to_biopython(self.task_, self.w_)

    def _cost(self, kind: int) -> Any:
        check_is_fitted(self)
        first, second = (costs[kind] for costs in models.gap_costs(self.task_, self.w_))
        return first if self.task_.gaps_.symmetric else (first, second)

    def _with_matrix(self, scores: models.Scores, gap_open: float, gap_extend: float) -> Self:
        task = models.matrix_task(scores, self._make_task(None))
        self.task_, self.w_ = task, models.matrix_weights(scores, gap_open, gap_extend, task)
        return self

    def _make_task(self, Y: Any) -> Alignment:
        return self._task(Alignment)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        return tags
