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
    costs : None, dict or array
        None: every mistake costs 1; {label: cost of missing it}; or a matrix cost[true, predicted] in the order of
        classes_.
    fit_intercept : bool
        Add a constant feature 1 (regularised like the others, as liblinear does).
    kernel : None, str, callable or Kernel
        None is the linear model. "rbf", "poly", …, an object of maxmargin.kernels or a function f(A, B) that returns a
        matrix of kernel values replaces the inner products of rows; "precomputed" means that X is that matrix. Models
        then have support_, the training rows that they are made of, instead of coef_. "auto" (an RBF) or
        kernels.Auto(kernel) chooses by size between this and an explicit map; a kernels.KernelMap is one. Models then
        have kernel_map_ instead of support_.
    tol : float or None
        Relative duality gap to stop at; None: 1e-3, or what a solver object says itself.
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    coef_ : (n_classes, n_features).   intercept_ : (n_classes,).   classes_, certificate_, history_, n_features_in_.
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
        classes: Any = np.unique(Y)
        return Multiclass(classes, self.costs, self._task_kernel())
