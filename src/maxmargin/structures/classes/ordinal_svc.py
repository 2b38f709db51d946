"""OrdinalSVC: a classifier for classes that have an order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Unpack

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights, column_names
from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Section
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.classes.ordinal import Directions, Ordinal, OrdinalMeasure
from maxmargin.training.flat import ClassScorer
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from


class OrdinalSVC(ClassScorer):
    """Classify rows into classes that have an order, such as grades, with a large margin.

    It minimises ½‖u‖² + ½‖b‖² + C · mean_i max_k [|k - y_i| + s_k(x_i) - s_{y_i}(x_i)].

    Classes 0 < 1 < … < K-1 are a taxonomy that is a chain: class k has taken the steps 1 … k, and its score is their
    sum, s_k(x) = Σ_{j=1…k} ⟨u_j, x⟩ + b_j. A mistake costs as many steps as it is away.

    Parameters
    ----------
    {order}
    {directions}
    {measure}
    costs : None, dict or array
        Costs of mistakes, which replace `measure`: {label: cost of missing it}, or a matrix cost[true, predicted] in
        the order of classes_.
    C : float
        Weight of the mean hinge.
    {kernel}
    {tol}
    {options}

    Attributes
    ----------
    classes_ : array
        The classes in their order.
    coef_ : array of shape (1, n_features) or (n_classes - 1, n_features)
        The direction of the scale; with separate directions, one for each step.
    thresholds_ : array of shape (n_classes - 1,)
        The step to class k is taken if ⟨u_k, x⟩ > thresholds_[k - 1].
    intercept_ : array of shape (n_classes - 1,)
        -thresholds_.
    weights_ : dict of Weights
        The same by name; a step has the name of the class that it leads to.
    n_features_in_ : int
        The number of features.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    MulticlassSVC : Classes without an order.
    maxmargin.tasks.Ordinal : The task, with its formulas.

    Notes
    -----
    Thresholds are regularised like the other weights: features should not be small or far from zero (use
    StandardScaler).

    Examples
    --------
    >>> from maxmargin import OrdinalSVC
    >>> model = OrdinalSVC(order=["low", "mid", "high"]).fit([[0.0], [2.0], [4.0]], ["low", "mid", "high"])
    >>> model.predict([[0.1], [1.9], [5.0]]).tolist()
    ['low', 'mid', 'high']
    """

    _described_by = (Ordinal,)

    _default_tol = 1e-3
    fit_intercept = False  # the task has thresholds of its own

    def __init__(
        self,
        order: Sequence[Hashable] | None = None,
        directions: Directions = "shared",
        measure: OrdinalMeasure = "distance",
        costs: Any = None,
        C: float = 100.0,
        kernel: Any = None,
        solver: SolverName | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.order = order
        self.directions = directions
        self.measure = measure
        self.costs = costs
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def positions(self, X: Any) -> Array:
        """Return ⟨u, x⟩ to compare with thresholds_: (n,), or (n, n_classes - 1) with separate directions."""
        check_is_fitted(self)
        X, _ = self._checked(X, reset=False)
        found = self.task_.attribute_scores(self.w_, X)
        return found[:, 0] if self.task_.directions == "shared" else found

    @property
    def intercept_(self) -> Array:
        """The constants b_k of the steps, an array of shape (n_classes - 1,)."""
        check_is_fitted(self)
        return self.w_[: self.task_.direct_]

    @property
    def thresholds_(self) -> Array:
        """The thresholds -b_k of the steps, an array of shape (n_classes - 1,)."""
        return -self.intercept_

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        steps = {"step": task.classes_[1:]}
        intercept = {"intercept": Weights(w[: task.direct_], **steps)}
        if task.kernel is not None:  # only the thresholds are explicit weights
            return intercept
        features, weights = column_names(self), task.weights(w)
        if task.directions == "shared":
            return {"features": Weights(weights[:, 0], feature=features), **intercept}
        return {"features": Weights(weights, feature=features, **steps), **intercept}

    @property
    def _names_classes(self) -> bool:
        return self.order is not None

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.classes.findings import learnt_steps

        return learnt_steps(self)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, Ordinal, kernel=self._task_kernel())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.directions == "shared"  # scikit-learn's test blobs have no order
        return tags
