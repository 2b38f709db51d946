"""TrainingChooser: choose the training objective and the threshold of the scores by cross-validation."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import CutNotValidated, warn_caller
from maxmargin.solvers import Solution
from maxmargin.structures.ranking.folds import deal_folds
from maxmargin.structures.ranking.groups import Indices
from maxmargin.structures.ranking.measure_sample import MeasureSample
from maxmargin.structures.ranking.measures import Measure
from maxmargin.structures.ranking.objectives import Objective
from maxmargin.structures.ranking.score_measure import FoldMeasure, clearly_better
from maxmargin.structures.ranking.threshold import Cut, FoldRows
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.options import seed_of


class HeldOutTrainer(Protocol):
    """Function that trains without some rows, and scores these."""

    def __call__(
        self,
        objective: Objective,
        held_out: NDArray[np.bool_],
        C: float,
        start: Solution | None,
        where: str,
        checkpoint: Checkpoint | None,
    ) -> tuple[Solution, Array]:
        """Return the solution of the other rows, and the scores of the rows that were held out."""


class TrainingChooser:
    """Chooser between training objectives, by the measure of their scores on held-out rows.

    Parameters
    ----------
    objectives : sequence of Objective
        The measure itself, and perhaps another objective that may be trained for in its place.
    measure : Measure or str
        The measure of the scores.
    sample : MeasureSample
        All rows.
    cuts_by_folds : bool
        Whether to find the cut by cross-validation, even if there is only one objective.
    random_state
        Decides which rows are held out together.
    train : HeldOutTrainer
        Trains without some rows.
    """

    def __init__(
        self,
        objectives: tuple[Objective, ...],
        measure: Measure | str,
        sample: MeasureSample,
        cuts_by_folds: bool,
        random_state: Any,
        train: HeldOutTrainer,
    ):
        self.objectives, self.measure, self.sample = objectives, measure, sample
        self.cuts_by_folds, self.random_state, self.train = cuts_by_folds, random_state, train
        # the solutions of every fold for the last C, which are warm starts for the next one
        self.starts: dict[tuple[Any, int], Solution] = {}

    @cached_property
    def fold(self) -> Indices | None:
        """The fold of every row; None if a class has no two different rows."""
        truth = self.sample.weighted_labels.labels
        return deal_folds(self.sample.seen(constant=False), truth, seed_of(self.random_state))

    def cuts(self, C: float, solution: Solution, checkpoint: Checkpoint | None) -> dict[Any, Cut]:
        """Return the cut of the scores of every objective by name, with its measure in the folds.

        The dict is empty if there is nothing to choose, if no row can be held out, and after Ctrl-C. It leaves out an
        objective whose scores are all zero.

        solution : the solution of training for the measure itself, on all rows.
        """
        zero = not np.any(solution.w)
        if len(self.objectives) == 1 and (zero or not self.cuts_by_folds):
            return {}
        if solution.certificate.stop_reason == "interrupted":
            return {}
        if self.fold is None:
            warn_caller(
                "a class has a single distinct example, so none can be held out: the scores are cut as in "
                "training. Give more examples, or set cut='trained' and train_for='measure' if this is intended",
                CutNotValidated,
            )
            return {}
        truth, weights = self.sample.weighted_labels
        fold_measure, found = FoldMeasure(self.measure, FoldRows(truth, weights, self.fold)), dict[Any, Cut]()
        for objective in self.objectives[zero:]:
            scores = self._held_out_scores(objective, self.fold, C, checkpoint)
            if scores is None:
                return {}
            found[objective.name] = fold_measure.cut(scores)
        return found

    def best(self, cuts: dict[Any, Cut]) -> Objective:
        """Return the objective to train for: the measure, unless another has clearly better scores."""
        first, *others = self.objectives
        for other in others:
            found = cuts.get(other.name)
            if found is not None and (first.name not in cuts or clearly_better(found, cuts[first.name])):
                return other
        return first

    def _held_out_scores(
        self, objective: Objective, fold: Indices, C: float, checkpoint: Checkpoint | None
    ) -> Array | None:
        """Return the score of every row by the model of the other folds, or None after Ctrl-C."""
        scores, n_folds = np.empty(len(fold)), int(fold.max()) + 1
        for number in range(n_folds):
            held_out, start = fold == number, self.starts.get((objective.name, number))
            where = f"fold {number + 1} of {n_folds}"
            solution, scores[held_out] = self.train(objective, held_out, C, start, where, checkpoint)
            if solution.certificate.stop_reason == "interrupted":
                return None
            self.starts[objective.name, number] = solution
        return scores
