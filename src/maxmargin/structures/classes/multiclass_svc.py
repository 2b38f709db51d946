"""MulticlassSVC: the Crammer-Singer classifier with any cost matrix and a certificate."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from maxmargin.flat import ClassScorer
from maxmargin.solvers import Solver
from maxmargin.structures.classes.multiclass import Multiclass
from maxmargin.task import Task
from maxmargin.trainer import Options


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
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    coef_ : (n_classes, n_features).   intercept_ : (n_classes,).
    weights_ : the same by name, features × labels.   classes_, certificate_, history_, n_features_in_.
    """

    _default_tol = 1e-3

    def __init__(
        self,
        C: float = 100.0,
        costs: Any = None,
        fit_intercept: bool = True,
        kernel: Any = None,
        solver: str | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.costs = costs
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def _make_task(self, Y: Any) -> Task:
        return self._task(Multiclass, classes=np.unique(Y))
