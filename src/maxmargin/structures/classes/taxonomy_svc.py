"""TaxonomySVC: a classifier for classes in a tree or lattice."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Unpack

from sklearn.utils.validation import check_is_fitted

from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Section
from maxmargin.solvers import Solver
from maxmargin.structures.classes.taxonomy import Taxonomy
from maxmargin.training.flat import ClassScorer
from maxmargin.training.options import Options
from maxmargin.training.parameters import task_from


class TaxonomySVC(ClassScorer):
    """Minimise ½‖W‖² + C · mean_i max_k [cost(y_i, k) + s_k(x_i) - s_{y_i}(x_i)], with node weights added up.

    A node v of the taxonomy has a weight vector w_v, and s_k(x) = ⟨w_k, x⟩ + sharing · Σ ⟨w_v, x⟩ over all nodes v
    above class k but the root: Tsochantaridis et al. 2004, section 4.2, where sharing is 1.

    Parameters
    ----------
    taxonomy : dict, list of pairs, str or None
        {child: parent} or, in a lattice, {child: [parents]}; a list of (parent, child) pairs; a separator such as ".",
        where labels are paths ("6.2.0" is below "6.2" is below "6"); or None: no hierarchy, as in MulticlassSVC. There
        must be one root; the parent None is a root without a name, for {"cat": "animal", "animal": None, …}.
    sharing : float
        How much classes share what they have in common: 0 gives every class weights of its own (the taxonomy then
        serves the measure), 1 is the paper's model, in which weights of nodes above cost no more than a class's.
    measure : "tree" or "error"
        What a mistake costs. "tree": the height of the first common ancestor of truth and prediction, in edges (the
        larger of the two numbers where they are not equally deep). "error": 1.
    costs : None, dict or array
        A price list, which takes the place of `measure`: {label: cost of missing it}, or a matrix
        cost[true, predicted] in the order of classes_.
    predict_at : "leaves" or "nodes"
        Which nodes are classes: the leaves, and a training label at an inner node is an error; or all nodes with a
        name, so that training labels and predictions may be less specific.
    C : float
        Weight of the mean hinge.
    {fit_intercept}
    {kernel}
    {tol}
    The other parameters are those of StructuredSVM. metrics.tree_loss measures predictions.

    Attributes
    ----------
    classes_ : the labels that can be predicted, sorted: also those that no training example has.
    nodes_ : the nodes with weights: all but those that are above every class, such as the root.
    coef_ : (n_nodes, n_features).   intercept_ : (n_nodes,).
    weights_ : the same by name, features × nodes.   certificate_, history_, n_features_in_.
    """

    _default_tol = 1e-3

    def __init__(
        self,
        taxonomy: Any = None,
        sharing: float = 0.5,
        measure: str = "tree",
        costs: Any = None,
        predict_at: str = "leaves",
        C: float = 100.0,
        fit_intercept: bool = True,
        kernel: Any = None,
        solver: str | Solver = "bcfw",
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
        """The nodes with weights, in the order of coef_."""
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
