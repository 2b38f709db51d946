"""TaxonomySVC: hierarchical classification, for classes in a tree or lattice."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Unpack

from sklearn.utils.validation import check_is_fitted

from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Section
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.classes.taxonomy import PredictAt, Taxonomy, TaxonomyMeasure
from maxmargin.training.flat import ClassScorer
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from


class TaxonomySVC(ClassScorer):
    """Classify rows into the classes of a tree or lattice, with mistakes that cost more the farther they are off.

    It minimises ½‖W‖² + C · mean_i max_k [cost(y_i, k) + s_k(x_i) - s_{y_i}(x_i)].

    A node v of the taxonomy has a weight vector w_v, and s_k(x) = ⟨w_k, x⟩ + sharing · Σ ⟨w_v, x⟩ over all nodes v
    above class k except the root (Tsochantaridis et al. 2004, section 4.2, with sharing=1).

    Parameters
    ----------
    {taxonomy}
    {sharing}
    {measure}
    costs : None, dict or array
        Costs of mistakes, which replace `measure`: {label: cost of missing it}, or a matrix cost[true, predicted] in
        the order of classes_.
    {predict_at}
    C : float
        Weight of the mean hinge.
    {fit_intercept}
    {kernel}
    {tol}
    {options}

    Attributes
    ----------
    classes_ : array
        The labels that can be predicted, sorted, including those that no training example has.
    nodes_ : array
        The nodes with weights: all except those above every class, such as the root.
    coef_ : array of shape (n_nodes, n_features)
        The weight vectors of the nodes.
    intercept_ : array of shape (n_nodes,)
        The weights of the constant feature.
    weights_ : dict of Weights
        The same by name, features × nodes.
    n_features_in_ : int
        The number of features.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    MulticlassSVC : Classes without a hierarchy.
    maxmargin.metrics.tree_loss : Measures predictions.

    Examples
    --------
    >>> from maxmargin import TaxonomySVC
    >>> tree = {"cat": "animal", "dog": "animal", "animal": None, "fern": None}
    >>> model = TaxonomySVC(tree).fit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["cat", "dog", "fern"])
    >>> model.predict([[0.9, 0.1], [-1.0, -0.5]]).tolist()
    ['cat', 'fern']
    """

    _described_by = (Taxonomy,)

    _default_tol = 1e-3

    def __init__(
        self,
        taxonomy: Any = None,
        sharing: float = 0.5,
        measure: TaxonomyMeasure = "tree",
        costs: Any = None,
        predict_at: PredictAt = "leaves",
        C: float = 100.0,
        fit_intercept: bool = True,
        kernel: Any = None,
        solver: SolverName | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.taxonomy = taxonomy
        self.sharing = sharing
        self.measure = measure
        self.costs = costs
        self.predict_at = predict_at
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    @property
    def nodes_(self) -> Any:
        """The nodes with weights, in the order of `coef_`."""
        check_is_fitted(self)
        return self.task_.nodes_

    def _weight_vectors(self, task: Any) -> dict[str, Sequence[Hashable]]:
        return {"node": task.nodes_.tolist()}

    @property
    def _names_classes(self) -> bool:
        return not (self.taxonomy is None or isinstance(self.taxonomy, str))

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.classes.findings import learnt_tree

        return learnt_tree(self)

    def _make_task(self, Y: Any) -> Task:
        return task_from(self, Taxonomy, kernel=self._task_kernel())
