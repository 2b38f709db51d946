"""Assigner: learn which rows of a table belong to which columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights
from maxmargin.base.predictions import Predictions
from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.assignment.frames import ColumnNumbers
from maxmargin.structures.assignment.measures import link_scores
from maxmargin.structures.assignment.task import LinkMeasure, Links
from maxmargin.training.decoding import decoded
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from
from maxmargin.training.trainer import Trainer


class Assigner(Trainer):
    """Learn which rows of a table belong to which columns, as in tracking, from tables whose links are known.

    X is a list of arrays (n, m, F) with features of every pair of a row and a column; of tasks.Frames, in which rows
    and columns that stay alone have features too; or of pairs of lists (rows, columns), with `features`. Y is a list of
    assignments: the column of every row, -1 for a row that stays alone. Columns that no row has stay alone too.
    The score of staying alone is learnt. tasks.Links defines Ψ and Δ; the search is exact.

    Features are used as they are: scale them to comparable sizes, because ½‖w‖² treats them alike.

    Parameters
    ----------
    {features}
    {measure}
    {most_decodes}
    C : float
        Weight of the mean slack against ½‖w‖².
    {options}

    Attributes
    ----------
    weights_ : dict of Weights
        "pairs", "rows alone" and "columns alone", the last two with a constant first.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    maxmargin.tasks.Links : The task, with its formulas.
    maxmargin.metrics.link_scores : Measures of predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Assigner
    >>> near = np.array([[[0.0], [-5.0]], [[-4.0], [-0.5]]])  # minus the distances of two rows and two columns
    >>> model = Assigner().fit([near, near[::-1]], [[0, 1], [1, 0]])
    >>> [found.tolist() for found in model.predict([near[::-1]])]
    [[1, 0]]
    """

    _described_by = (Links,)

    def __init__(
        self,
        features: Callable[[Any, Any], Any] | None = None,
        measure: LinkMeasure = "hamming",
        most_decodes: int = 200,
        C: float = 100.0,
        solver: SolverName | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.features = features
        self.measure = measure
        self.most_decodes = most_decodes
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> list[ColumnNumbers]:
        """Return the best column of every row, or -1 if it stays alone, for each example."""
        check_is_fitted(self)
        return Predictions(decoded(self, X))

    def score(self, X: Any, Y: Any) -> float:
        """Return the share of rows with the right column, or rightly alone. metrics.link_scores has more."""
        return link_scores(Y, self.predict(X)).rows

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        f, r, s = task.widths_
        return {
            "pairs": Weights(w[:f], feature=range(f)),
            "rows alone": Weights(w[f : f + r + 1], feature=["constant", *range(r)]),
            "columns alone": Weights(w[f + r + 1 :], feature=["constant", *range(s)]),
        }

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.assignment.findings import link_findings

        return link_findings(self, X, Y)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, Links)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
