"""AlignmentTrainer: the common base of the estimators that learn scores of alignments."""

from __future__ import annotations

from typing import Any, Unpack

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.objective import Certificate
from maxmargin.report.findings import Section
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.alignment.alignment_space import Mode
from maxmargin.structures.alignment.columns import RESIDUE
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix
from maxmargin.structures.alignment.models import (
    SubstitutionScores,
    check_plain,
    gap_costs,
    named_matrix,
    prior_weights,
    residue_scores,
    scores_of,
)
from maxmargin.structures.alignment.prior_length import with_best_length
from maxmargin.structures.alignment.task import Alignment, Unknown
from maxmargin.training.options import Options
from maxmargin.training.trainer import Trainer

# the parameters that define how alignments are scored
SCORING = ("mode", "features", "gaps", "symmetric", "alphabet", "unknown", "nonnegative_gaps")


class AlignmentOptions(Options, total=False):
    """The options that these estimators pass on to AlignmentTrainer; `Aligner` documents them."""

    features: Any
    gaps: Any
    symmetric: bool
    alphabet: Any
    unknown: Unknown
    nonnegative_gaps: bool
    C: float
    solver: SolverName | Solver | None


class AlignmentTrainer(Trainer):
    """A Trainer whose weights are scores of aligned pairs and of gaps.

    A model may also be made from known scores, without training: it predicts, but has nothing to certify.
    """

    _described_by = (Alignment,)

    def __init__(
        self,
        mode: Mode,
        features: Any = "simple",
        gaps: Any = "affine",
        symmetric: bool = True,
        alphabet: Any = None,
        unknown: Unknown = "error",
        nonnegative_gaps: bool = False,
        C: float = 1.0,
        solver: SolverName | Solver | None = "bcfw",
        **options: Unpack[Options],
    ):
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.symmetric = symmetric
        self.alphabet = alphabet
        self.unknown = unknown
        self.nonnegative_gaps = nonnegative_gaps
        super().__init__(C=C, solver=solver, **options)  # type: ignore[arg-type]

    def predict(self, X: Any) -> Any:
        """Return the best output of every x."""
        raise NotImplementedError

    def certify(self, X: Any, Y: Any, sample_weight: Any = None, tol: float = 1e-2) -> Certificate:
        """Measure the distance of the current weights from the optimum on these data; see StructuredSVM.certify."""
        check_is_fitted(self)
        if not hasattr(self, "solution_"):
            raise ValueError("this model was made without training and has no objective to certify; fit trains one")
        return super().certify(X, Y, sample_weight, tol)

    def _prior(self, task: Any, batch: Batch, sample_weight: Any) -> Any:
        """Return a named matrix or a model as weights of this task. Weights that were not learnt are scaled."""
        prior: Any = self.prior
        task = getattr(task, "alignment_", task)  # the task that scores homologs
        if isinstance(prior, str):
            prior = named_matrix(prior)
        if isinstance(prior, AlignmentTrainer):
            check_is_fitted(prior)
            scores = SubstitutionScores(prior.task_.columns_.alphabets[RESIDUE], residue_scores(prior.task_, prior.w_))
            first, second = gap_costs(prior.task_, prior.w_)
            check_plain(prior.task_, "prior")
            if first != second:
                raise ValueError("prior must have the same gap costs for both sequences")
            weights = prior_weights(scores, *first, task)
            return weights if hasattr(prior, "solution_") else with_best_length(weights, batch)
        if isinstance(prior, SubstitutionMatrix):
            if prior.gap_open is None or prior.gap_extend is None:
                raise ValueError("the prior has no gap costs: give Aligner.from_matrix(matrix, open, extend)")
            costs = float(prior.gap_open), float(prior.gap_extend)
            return with_best_length(prior_weights(scores_of(prior), *costs, task), batch)
        return prior

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.alignment.findings import learnt_scores

        return learnt_scores(self)

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        named: dict[str, Weights] = task.named_weights(w)
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        return tags


def scoring_parameters(model: AlignmentTrainer) -> dict[str, Any]:
    """Return the parameters of an estimator that scores alignments as this one does."""
    return {name: getattr(model, name) for name in SCORING}
