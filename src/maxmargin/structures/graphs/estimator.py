"""GraphLabeler: one label per node of a graph, with the labels of neighbours taken into account."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import MixedWeights, Weights
from maxmargin.base.predictions import Predictions
from maxmargin.base.progress_line import LiveLine
from maxmargin.report.findings import Findings, Section
from maxmargin.report.scoring.agreement import Agreement, share_right
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.graphs.edge_weights import Pairwise
from maxmargin.structures.graphs.node_labels import read_labels
from maxmargin.structures.graphs.stacking import StackedScores
from maxmargin.structures.graphs.task import Graph, LabellingBound, Method, Unlabelled
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.decoding import decoded
from maxmargin.training.feature_weights import refuse_kernel
from maxmargin.training.options import Options, n_examples, seed_of
from maxmargin.training.parameters import task_from
from maxmargin.training.probabilistic import ProbabilisticTrainer
from maxmargin.training.problem import Problem


class GraphLabeler(ProbabilisticTrainer):
    """Label the nodes of graphs, such as the pixels of images, with the labels of neighbours taken into account.

    The model is a pairwise conditional random field, trained with a large margin.

    X is a list of graphs: tasks.Nodes, of which Nodes.grid makes one from an image, or tuples (features, edges) or
    (features, edges, edge_features). Y is a list of labellings, each a list or array with one label per node, any
    hashable values; for a grid it may be an (H, W) array. Costs of single nodes come as tasks.Weighted(labels, costs).

    Features are used unchanged. Scale them to comparable sizes, because ½‖w‖² treats them alike, and add a column of
    ones if some labels are more frequent than others.

    The search for the best labelling, and the meaning of the certificate, depend on the graph:

    - forests, and graphs of small treewidth: exact;
    - two labels: a minimum cut, exact if neighbours attract each other (submodular edges), otherwise a relaxation;
    - other graphs: LP relaxation. If its solutions are labellings (see `certificate_.search`), training was exact.
      If they are fractional, training is exact for the relaxed problem, whose objective is never below the true one.

    Predictions are always labellings; `predict_bounds` bounds the distance of each from the best one.

    Parameters
    ----------
    C : float
        Weight of the mean structured hinge (per graph) against ½‖w‖². The loss counts nodes, so large graphs weigh
        more.
    {classes}
    {costs}
    {pairwise}
    {directed}
    {method}
    {attractive}
    {unlabelled}
    stack : None or classifier
        A scikit-learn classifier of single nodes, whose scores replace the nodes' features: log-probabilities
        (predict_proba, not below log 0.001) or decision_function, and a constant. In training every graph is scored by
        a classifier that was trained on others, so that its scores are as reliable as those of new graphs.
    stack_folds : int
        The number of folds for that.
    {kernel}
        Nodes are numbered over all graphs. Features of edges stay linear.
    objective : "hinge", "likelihood" or "softmax_margin"
        The term that C multiplies: the mean structured hinge, the negative mean log-likelihood of labellings, or the
        softmax-margin between them. The last two are for forests and graphs of small treewidth.
    sharpness : float
        For "softmax_margin": the larger, the closer to the hinge.
    solver : str, Solver or None
        None: "bcfw" for the hinge, "lbfgs" for other objectives.
    calibrate : int or None
        Number of folds of the cross-validation that finds temperature_; None leaves that to calibrate_on(X, Y).
    {options}

    Attributes
    ----------
    coef_ : array of shape (K, n_features)
        The weights of node features.
    edge_coef_ : array of shape (n_edge_features, K, K) or (n_edge_features,)
        The weights of edge features; with pairwise="potts" one for each.
    classes_ : list
        The labels, in the order of the weights.
    weights_ : dict of Weights
        The weights of nodes and edges by name.
    stack_ : StackedScores
        With `stack`: stack_.classifier is the classifier that was trained on all nodes.
    n_features_in_ : int
        The number of features.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    SequenceLabeler : Labels of the positions of sequences.
    maxmargin.tasks.Nodes : Graphs, also from images.

    Examples
    --------
    >>> from maxmargin import GraphLabeler
    >>> edges = [(0, 1), (1, 2)]
    >>> X = [([[1.0], [1.0], [-1.0]], edges), ([[-1.0], [-1.0], [-1.0]], edges)]
    >>> model = GraphLabeler().fit(X, [["a", "a", "b"], ["b", "b", "b"]])
    >>> [found.tolist() for found in model.predict([([[1.0], [-1.0], [-1.0]], edges)])]
    [['a', 'b', 'b']]
    """

    _described_by = (Graph,)

    _units = "nodes"

    stack_: StackedScores

    def __init__(
        self,
        C: float = 10.0,
        classes: Sequence[Hashable] | None = None,
        costs: Any = None,
        pairwise: Pairwise = "full",
        directed: bool | Sequence[bool] = True,
        method: Method = "auto",
        attractive: bool = False,
        unlabelled: Unlabelled = "error",
        stack: Any = None,
        stack_folds: int = 5,
        kernel: Any = None,
        solver: SolverName | Solver | None = None,
        **options: Unpack[Options],
    ):
        self.classes = classes
        self.costs = costs
        self.pairwise = pairwise
        self.directed = directed
        self.method = method
        self.attractive = attractive
        self.unlabelled = unlabelled
        self.stack = stack
        self.stack_folds = stack_folds
        self.kernel = kernel
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """Return the best labelling that was found for every graph: (N,) labels, or (H, W) for grids."""
        check_is_fitted(self)
        return Predictions(decoded(self, self._seen(X)))

    def predict_bounds(self, X: Any) -> list[LabellingBound]:
        """Return the score of every prediction, a proved upper bound on the best score, and the method."""
        check_is_fitted(self)
        return self.task_.predict_bounds(self.w_, self._seen(X))

    def predict_proba(self, X: Any) -> list[Array]:
        """Return (N, K) probabilities of the labels, in the order of classes_, at the nodes of every graph.

        The nodes of grids are row by row. Only for forests and graphs of small treewidth; `predict_marginals` also has
        those of label pairs at edges.
        """
        return Predictions(each.labels for each in self._sums(X).marginals())

    def score(self, X: Any, Y: Any) -> float:
        """Return the share of labelled nodes that are right, over all graphs. Labels unseen in training are wrong."""
        return share_right(self.predict(X), Y, _agreement, "graph", "node")

    @property
    def classes_(self) -> list[Hashable]:
        """The labels, in the order of the weights."""
        check_is_fitted(self)
        return self.task_.classes_

    @property
    def coef_(self) -> Array:
        """(K, n_features) weights of the nodes' features, a row for every label."""
        check_is_fitted(self)
        refuse_kernel(self)
        return self.task_.parts(self.w_)["nodes"].T

    @property
    def edge_coef_(self) -> Array:
        """The weights of the edges' features: (n_edge_features, K, K), by the labels of the first and second node.

        With pairwise="potts" (n_edge_features,), for equal labels.
        """
        check_is_fitted(self)
        return self.task_.parts(self.w_)["edges"]

    @property
    def n_features_in_(self) -> int:
        """The number of features per node."""
        check_is_fitted(self)
        return int(self.task_.n_features_ if self.stack is None else self.stack_.n_features)

    def _one_input(self, x: Any) -> tuple[Any, Any]:
        seen = self._seen([x])
        return seen, seen[0]

    def _layout(self, task: Graph, w: Array) -> dict[str, Weights]:
        parts, labels, features = task.parts(w), task.classes_, task.edge_feature_names_
        if task.pairwise == "potts":
            edges = Weights(parts["edges"], feature=features)
        else:
            kind = Weights if task.edge_weights_.single else MixedWeights
            edges = kind(parts["edges"], feature=features, first_label=labels, second_label=labels)
        if self.kernel is not None:
            return {"edges": edges}
        columns = range(task.n_features_) if self.stack is None else self.stack_.names
        return {"nodes": Weights(parts["nodes"].T, label=labels, feature=columns), "edges": edges}

    @contextmanager
    def _open(
        self, X: Any, Y: Any, sample_weight: Any, task: Any = None, checkpoint: Checkpoint | None = None
    ) -> Iterator[Problem]:
        """Open the problem of these graphs, with the scores of a classifier as features if `stack` is given."""
        if self.stack is not None:
            n, n_outputs = n_examples(X, "X"), n_examples(Y, "Y")
            if n != n_outputs:
                raise ValueError(f"X has {n} graphs but Y has {n_outputs} labellings; expected one per graph")
            seed = seed_of(self.random_state) if task is None else self.stack_.seed
            self.stack_ = StackedScores(self.stack, self.stack_folds, seed)
            with LiveLine(self.verbose, "scoring nodes") as line:
                X = self.stack_.fit_transform(X, Y, self.classes, line)
        with super()._open(X, Y, sample_weight, task, checkpoint) as problem:
            yield problem

    def _fit_more(self, task: Any, X: Any, Y: Any, sample_weight: Any) -> Self:
        if self.stack is not None:
            raise ValueError(
                "partial_fit is not available with stack, whose classifier is trained on all graphs at once"
            )
        return super()._fit_more(task, X, Y, sample_weight)

    def _seen(self, X: Any) -> Any:
        """Return the graphs with the features that the model uses."""
        return X if self.stack is None else self.stack_.transform(X)

    def _sums_at(self, beta: float, X: Any) -> Any:
        return super()._sums_at(beta, self._seen(X))

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.graphs.findings import graph_findings

        return graph_findings(self, X, Y)

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.graphs.findings import learnt_edges

        return learnt_edges(self)

    def _make_task(self, Y: Any) -> Graph:
        return task_from(self, Graph)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags


def _agreement(found: NDArray[Any], y: Any) -> Agreement:
    truth = read_labels(y, found.size, found.shape)
    return Agreement(int(np.count_nonzero(truth.shown_by(found))), int(np.count_nonzero(truth.known)))
