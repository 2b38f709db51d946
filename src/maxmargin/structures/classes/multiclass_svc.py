"""MulticlassSVC: the Crammer-Singer classifier with any cost matrix and a certificate."""

from __future__ import annotations

from typing import Any, Unpack

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import different_labels
from maxmargin.problem.contract.task import Task
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.classes.multiclass import Multiclass
from maxmargin.training.flat import ClassScorer
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from


class MulticlassSVC(ClassScorer):
    """Minimise ½‖W‖² + C · mean_i max_k [cost(y_i, k) + ⟨w_k - w_{y_i}, x_i⟩].

    Parameters
    ----------
    C : float
        Weight of the mean hinge; C = c·n is LinearSVC(C=c, multi_class="crammer_singer")'s problem.
    {costs}
    {fit_intercept}
    {kernel}
    {tol}
    {options}

    Attributes
    ----------
    coef_ : (n_classes, n_features).   intercept_ : (n_classes,). Of two classes, one row: of the second over the first.
    weights_ : of every class, by name, features × labels.   classes_, certificate_, history_, n_features_in_.
    """

    _default_tol = 1e-3

    def __init__(
        self,
        C: float = 100.0,
        costs: Any = None,
        fit_intercept: bool = True,
        kernel: Any = None,
        solver: SolverName | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.costs = costs
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    @property
    def coef_(self) -> Array:
        """(n_classes, n_features), or (1, n_features) as scikit-learn has it for two classes."""
        return _against_first(super().coef_)

    @property
    def intercept_(self) -> Array:
        """The weights of the constant feature, one per row of coef_."""
        return _against_first(super().intercept_)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, Multiclass, kernel=self._task_kernel(), classes=different_labels(Y))


def _against_first(rows: Array) -> Array:
    """Of two classes what the second has more than the first, which is what decides; of more, all of them."""
    return rows[1:] - rows[:1] if len(rows) == 2 else rows
