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
    """Classify rows into several classes with a large margin, any cost matrix and a proof of optimality.

    This is the multiclass SVM of Crammer and Singer (2001). It minimises
    ½‖W‖² + C · mean_i max_k [cost(y_i, k) + ⟨w_k - w_{y_i}, x_i⟩].

    Parameters
    ----------
    C : float
        Weight of the mean hinge; C = c·n is the problem of LinearSVC(C=c, multi_class="crammer_singer").
    {costs}
    {fit_intercept}
    {kernel}
    {tol}
    {options}

    Attributes
    ----------
    coef_ : array of shape (n_classes, n_features)
        The weight vectors of the classes; for two classes one row, of the second over the first.
    intercept_ : array of shape (n_classes,)
        The weights of the constant feature, one per row of coef_.
    classes_ : array
        The labels, in the order of the scores.
    weights_ : dict of Weights
        The weights of every class by name, features × labels.
    n_features_in_ : int
        The number of features.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    OrdinalSVC : Classes with an order.
    TaxonomySVC : Classes in a tree.
    MeasureSVC : Two classes and a measure such as F1.

    Examples
    --------
    >>> from maxmargin import MulticlassSVC
    >>> model = MulticlassSVC().fit([[0.0], [1.0], [2.0]], ["low", "mid", "high"])
    >>> model.predict([[0.1], [2.1]]).tolist()
    ['low', 'high']
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
        """The weights, of shape (n_classes, n_features), or (1, n_features) for two classes as in scikit-learn."""
        return _against_first(super().coef_)

    @property
    def intercept_(self) -> Array:
        """The weights of the constant feature, one per row of `coef_`."""
        return _against_first(super().intercept_)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, Multiclass, kernel=self._task_kernel(), classes=different_labels(Y))


def _against_first(rows: Array) -> Array:
    """Return the second row minus the first if there are two rows, as in scikit-learn, and all rows otherwise."""
    return rows[1:] - rows[:1] if len(rows) == 2 else rows
