"""Graph: the task of labelling every node of a graph, with scores for the labels of neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import LabelArray, LabelList, NumberArray, Whole, afford
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.base.search import Search
from maxmargin.inputs.labels.labels import Labels, cost_matrix, label_array, label_numbers, label_set
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.graphs.batch import GraphBatch
from maxmargin.structures.graphs.edge_weights import EdgeWeights, Pairwise, edge_weights
from maxmargin.structures.graphs.graph_space import NodeNames
from maxmargin.structures.graphs.graph_sums import GraphSums
from maxmargin.structures.graphs.inference.messages import pass_messages
from maxmargin.structures.graphs.inference.model import Answer, PairwiseModel, Relaxed
from maxmargin.structures.graphs.inference.plan import Plan, plan
from maxmargin.structures.graphs.node_labels import NodeLabels, different, flat_labels, read_all_labels, read_labels
from maxmargin.structures.graphs.nodes import Nodes, read_all, stacked_features
from maxmargin.structures.graphs.packed_graph import PackedGraph
from maxmargin.structures.graphs.pieces import graph_pieces
from maxmargin.structures.graphs.rows import added_up
from maxmargin.structures.graphs.scored import GraphFeatures, ScoredGraphs
from maxmargin.structures.graphs.searches import solved

Unlabelled = Literal["error", "leave_out"]
Method = Literal["auto", "forest", "junction_tree", "min_cut", "roof_dual", "relaxation", "expansion"]

UNLABELLED = get_args(Unlabelled)


class LabellingBound(NamedTuple):
    """A bound on a predicted labelling: no labelling of this graph has a score above `upper`."""

    score: float
    upper: float  # equal to the score if the prediction is proved to be the best labelling; inf if nothing is proved
    method: str  # the name of the method that found it


class Graph(UnitTask):
    """The task of labelling graphs: nodes i and edges e = (i, j) have features, and an output z has a label per node.

        ⟨w, Ψ(x, z)⟩ = Σ_e Σ_g f_eg W[g, z_i, z_j] + Σ_i ⟨U[:, z_i], x_i⟩,      w = (W, U)
        Δ(y, z)      = Σ_i c_i · cost[y_i, z_i]      (Hamming; all costs 1 unless given)

    Δ is a sum over nodes, so the search for argmax ⟨w, Ψ⟩ + λΔ is the same as for prediction: the best labelling of a
    pairwise model. The method depends on the graph, see maxmargin.inference:

        a forest                            dynamic programming                 exact
        small treewidth                     junction tree                       exact
        two labels                          min-cut with roof duality           exact if edges are submodular
        else                                LP relaxation by message passing    of the relaxation

    If a relaxation is fractional, its solution also has Ψ and Δ, both linear in the indicators of labels at nodes and
    of label pairs at edges, and training is exact for the relaxed problem (overgenerating; Finley and Joachims 2008).
    Predictions are always labellings.

    x is Nodes, or a tuple (features, edges) or (features, edges, edge_features). y is a list or array of labels, one
    per node; for a grid an (H, W) array. Weighted(labels, costs) has costs of single nodes.

    Parameters
    ----------
    classes : sequence or None
        The label set, if the training data may not contain all labels.
    costs : None, dict or array
        None, {label: cost of missing it}, or a (K, K) matrix cost[true, predicted] in the order of `classes`.
    pairwise : "full" or "potts"
        "full": every edge feature has a weight for each pair of labels. "potts": it has one weight, which counts if
        both nodes have the same label, W[g, k, l] = w_g [k = l]. This has few weights, for few data.
    directed : bool or list of bool
        For full tables, True if the weight W[g, k, l] depends on which label is at the first node of an edge; if False,
        W[g] is symmetric. A list has one value per edge feature.
    method : "auto", "forest", "junction_tree", "min_cut", "roof_dual", "relaxation" or "expansion"
        "auto" chooses by the graph; the others force one method. "expansion" is fast for large graphs with many labels,
        but proves nothing.
    attractive : bool
        True: neighbours never prefer different labels. Edge features must be >= 0. Potts weights are kept >= 0, full
        tables of two labels submodular (W[g, 0, 0] + W[g, 1, 1] >= W[g, 0, 1] + W[g, 1, 0]), and those of more labels
        >= 0 for equal labels and <= 0 for different ones. The search for two labels is then an exact minimum cut.
    unlabelled : "error" or "leave_out"
        The treatment of training nodes whose label is None. "leave_out" removes them with their edges.
    kernel : None, str, callable or Kernel
        None, or a kernel of nodes (maxmargin.kernels), whose features replace x_i.
    """

    saved: ClassVar[Fields] = {
        "n_features_": Whole(),
        "n_edge_features_": Whole(most=2**20),
        "edge_feature_names_": LabelList("n_edge_features_"),
        "classes_": LabelList(least=1),
        "numbers_": Derived(lambda task: {label: k for k, label in enumerate(task.classes_)}),
        "n_labels_": Derived(lambda task: len(task.classes_)),
        "class_array_": LabelArray("n_labels_"),
        "cost_": NumberArray(float, "n_labels_", "n_labels_", least=0),
        "edge_weights_": Derived(lambda task: task._laid_out_edges()),
        "first_": Derived(lambda task: task.edge_weights_.count),
    }

    def __init__(
        self,
        classes: Sequence[Hashable] | None = None,
        costs: Any = None,
        pairwise: Pairwise = "full",
        directed: bool | Sequence[bool] = True,
        method: Method = "auto",
        attractive: bool = False,
        unlabelled: Unlabelled = "error",
        kernel: Any = None,
    ):
        self.classes = classes
        self.costs = costs
        self.pairwise = pairwise
        self.directed = directed
        self.method = method
        self.attractive = attractive
        self.unlabelled = unlabelled
        self.kernel = kernel

    def _check_saved(self) -> None:
        self._check_length(self.n_features_, self.n_labels_, self.first_)

    def _laid_out_edges(self) -> EdgeWeights:
        """Return the weights of edges."""
        sizes = self.n_edge_features_, self.n_labels_
        afford(sizes[0] * sizes[1] ** 2, "weights of edges")
        return edge_weights(self.pairwise, self.directed, *sizes, self.attractive)

    def setup(self, X: Any, Y: Any) -> None:
        self._set_up(X, Y)

    def setup_and_pack(self, X: Any, Y: Any) -> GraphBatch:
        """Read the graphs, and plan their search, once for both."""
        return self._packed(*self._set_up(X, Y))

    def _set_up(self, X: Any, Y: Any) -> tuple[list[LabelledPart], list[Plan]]:
        """Run `setup`, and return the graphs and plans that it makes."""
        if self.unlabelled not in UNLABELLED:
            raise ValueError(f"unlabelled must be 'error' or 'leave_out', got {self.unlabelled!r}")
        graphs = read_all(X)
        if not graphs:
            raise ValueError("no graphs given: at least one example is needed")
        with_edges = next((x for x in graphs if len(x.edges)), graphs[0])
        self.n_features_, self.n_edge_features_ = graphs[0].n_features, with_edges.edge_features.shape[1]
        _check_sizes(graphs, self.n_features_, self.n_edge_features_, "in the graphs before")
        self.edge_feature_names_ = _edge_names(graphs, self.n_edge_features_)
        labels = read_all_labels(graphs, Y)
        kinds = [k for each in labels for k in each.kinds if k is not None]
        if not kinds:
            raise ValueError("no node of any graph has a label: there is nothing to learn from")
        self.classes_ = label_set(self.classes, kinds)
        self.numbers_ = {label: k for k, label in enumerate(self.classes_)}
        self.n_labels_ = len(self.classes_)
        self.class_array_ = label_array(self.classes_, flat_labels(Y[0]))
        self.cost_ = cost_matrix(self.costs, self.classes_)
        self.edge_weights_ = self._laid_out_edges()
        self.first_ = self.edge_weights_.count  # the first weight of U
        examples = self._examples(graphs, labels)
        seen = [each.x for each in examples] if self.kernel is not None else graphs[:1]
        self._set_dim(stacked_features(seen), self.n_labels_, self.first_)
        self.bounds_ = self._signs() if self.attractive else None
        plans = self._plans([each.x for each in examples])
        self.search = Search.worst({each.kind for each in plans})
        return examples, plans

    # --- the plain form: one graph at a time

    def psi(self, x: Any, z: Any) -> Any:
        self._refuse_kernel("psi(x, z)")
        (x,) = self._graphs([x])
        nodes, edges = (z.nodes, z.edges) if isinstance(z, Relaxed) else self._indicators(x, z)
        total = np.zeros(self.dim)
        if len(x.edges):
            total[: self.first_] = self.edge_weights_.gathered(added_up(x.edge_features, edges))
        total[self.first_ :] = (x.features.T @ nodes).ravel()
        if not sparse.issparse(x.features):
            return total
        indices = np.flatnonzero(total)
        return indices, total[indices]

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) of a labelling by nodes and edges."""
        self._refuse_kernel("psi(x, z)")
        (x,) = self._graphs([x])
        labels = self._numbers(z)
        if len(labels) != x.n_nodes:
            raise ValueError(f"the output has {len(labels)} labels for {x.n_nodes} nodes; expected one label for each")
        return graph_pieces(x, labels, self.n_labels_, self.edge_weights_)

    def loss(self, y: Any, z: Any) -> float:
        """Return the loss of a labelling.

        It is 0 at nodes without a true label, and the cost of the worst mistake if the true label is not a class.
        """
        nodes = z.nodes if isinstance(z, Relaxed) else np.eye(self.n_labels_)[self._numbers(z)]
        prices = read_labels(y, len(nodes)).prices(self.numbers_, self.cost_)
        return float(np.vdot(prices, nodes))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Any:
        """Return a labelling; if a relaxation has a better fractional solution, that one (inference.Relaxed)."""
        (x,) = self._graphs([x])
        prices = np.zeros((x.n_nodes, self.n_labels_))
        if y is not None:
            prices = read_labels(y, x.n_nodes, x.label_shape).prices(self.numbers_, self.cost_)
        scores = self._unit_scores(w, x.features, self.n_labels_, self.first_)
        pair = self.edge_weights_.pair_scores(w, x.edge_features)
        size = 1 + np.abs(scores).sum() + prices.sum() + np.abs(pair).sum()
        answer = solved(self._plans([x])[0], PairwiseModel(scores + prices, x.edges, pair), 1e-11 * size, 0)
        return self._named(answer.labels, x) if answer.relaxed is None else answer.relaxed

    def outputs(self, x: Any) -> Iterator[NDArray[Any]]:
        (x,) = self._graphs([x])
        for labels in product(range(self.n_labels_), repeat=x.n_nodes):
            yield self._named(np.array(labels, dtype=np.int32), x)

    def decode(self, w: Array, X: Any) -> list[NDArray[Any]]:
        return [self._named(answer.labels, x) for x, _, _, answer in self._answers(w, X)]

    def predict_bounds(self, w: Array, X: Any) -> list[LabellingBound]:
        """Return the score of every prediction, and an upper bound on the scores of all labellings.

        If the search gives no bound, message passing does.
        """
        bounds = []
        for _, how, model, answer in self._answers(w, X):
            upper = answer.upper if np.isfinite(answer.upper) else pass_messages(model).answer.upper
            bounds.append(LabellingBound(answer.value, max(answer.value, upper), how.title))
        return bounds

    def sums(self, w: Array, X: Any) -> GraphSums:
        """Return the distributions of the labellings of every graph: forests, and small junction trees."""
        scored = self.scored(X)
        return scored.sums(scored.scores(w))

    # --- the compiled form: packed graphs

    def pack(self, X: Any, Y: Any) -> GraphBatch:
        graphs = self._graphs(X)
        examples = self._examples(graphs, read_all_labels(graphs, Y))
        return self._packed(examples, self._plans([each.x for each in examples]))

    def _packed(self, examples: list[LabelledPart], plans: list[Plan]) -> GraphBatch:
        atoms, units = self._atoms([each.x for each in examples])
        packed = [
            PackedGraph.of(own, each.x, each.truth, each.prices, how)
            for own, each, how in zip(units, examples, plans, strict=True)
        ]
        return GraphBatch(self, atoms, packed, np.array([each.has_labels for each in examples], dtype=bool))

    def scored(self, X: Any, Y: Any = None) -> ScoredGraphs:
        """Return the graphs, with their labels if Y is given, ready for scoring and search."""
        if Y is not None:
            return self.pack(X, Y).scored()
        graphs = self._graphs(X)
        atoms, units = self._atoms(graphs) if graphs else (Atoms.coordinates(self.dim), [])
        features = [GraphFeatures(own, x.edge_features) for own, x in zip(units, graphs, strict=True)]
        most = [x.n_nodes * float(self.cost_.max()) for x in graphs]
        return ScoredGraphs(atoms, self.edge_weights_, features, self._plans(graphs), most, self.names(graphs))

    def names(self, shapes: Sequence[Any]) -> NodeNames:
        """Return the labels by name and by number, for graphs of these shapes."""
        return NodeNames(self.class_array_, self.numbers_, shapes)

    def parts(self, w: Array) -> dict[str, Array]:
        """Return the weights by name: edges (G, K, K), for Potts edges (G,), and, without a kernel, nodes (F, K)."""
        edges = {"edges": self.edge_weights_.shown(w)}
        return edges if self.kernel is not None else {**edges, "nodes": w[self.first_ :].reshape(-1, self.n_labels_)}

    # --- helpers

    def _graphs(self, X: Any) -> list[Nodes]:
        """Return graphs; raise a ValueError unless they have as many features as in training."""
        graphs = read_all(X)
        _check_sizes(graphs, self.n_features_, self.n_edge_features_, "in training")
        return graphs

    def _examples(self, graphs: list[Nodes], labels: list[NodeLabels]) -> list[LabelledPart]:
        """Return the part of the graphs that training uses: the labelled nodes."""
        examples = []
        for i, (x, y) in enumerate(zip(graphs, labels, strict=True)):
            known = y.known
            if not known.all():
                if self.unlabelled == "error":
                    raise ValueError(
                        f"graph {i}: node {int(np.argmin(known))} has no label (None), like {np.count_nonzero(~known)} "
                        f"of its {len(known)} nodes; label them, train on Nodes.subgraph of the others, or use "
                        "unlabelled='leave_out', which does that"
                    )
                if known.any():
                    x, y = x.subgraph(known), y.at(known)
            try:
                truth = y.numbers(self.numbers_)
            except ValueError as error:
                raise ValueError(f"graph {i}: {error}") from None
            examples.append(LabelledPart(x, truth, y.prices(self.numbers_, self.cost_), bool(known.any())))
        return examples

    def _signs(self) -> tuple[Array, Array]:
        """Return bounds of all weights that make edges attractive."""
        low, high = np.full(self.dim, -np.inf), np.full(self.dim, np.inf)
        low[: self.first_], high[: self.first_] = self.edge_weights_.attractive()
        return low, high

    def _plans(self, graphs: list[Nodes]) -> list[Plan]:
        """Return the search plan of each graph; graphs of one structure, like grids of one size, share it."""
        method = "min_cut" if self.attractive and self.method == "auto" and self.n_labels_ == 2 else self.method
        plans: dict[tuple[int, bytes], Plan] = {}
        chosen = []
        for i, x in enumerate(graphs):
            if self.attractive and np.min(x.edge_features, initial=0.0) < 0:
                edge = int(np.flatnonzero((x.edge_features < 0).any(axis=1))[0])
                raise ValueError(
                    f"graph {i}: edge {edge} has the features {x.edge_features[edge].tolist()}; attractive=True needs "
                    "features of edges that are >= 0"
                )
            key = x.n_nodes, x.edges.tobytes()
            if key not in plans:
                try:
                    plans[key] = plan(x.n_nodes, x.edges, self.n_labels_, method)
                except ValueError as error:
                    raise ValueError(f"graph {i}: {error}") from None
            chosen.append(plans[key])
        return chosen

    def _atoms(self, graphs: list[Nodes]) -> tuple[Atoms, list[NDArray[np.int64]]]:
        """Return the atoms of the nodes of all graphs, and the numbers of each graph's own nodes among them."""
        ends = np.append(0, np.cumsum([x.n_nodes for x in graphs])).astype(np.int64)
        owner = np.repeat(np.arange(len(graphs)), np.diff(ends))
        atoms = self._unit_atoms(stacked_features(graphs), self.n_labels_, self.first_, owner)
        return atoms, [np.arange(a, b) for a, b in pairwise(ends)]

    def _answers(self, w: Array, X: Any) -> Iterator[tuple[Nodes, Plan, PairwiseModel, Answer]]:
        """Yield every graph with its scores and the best labelling."""
        graphs = self._graphs(X)
        scored = self.scored(graphs)
        for i, (x, how) in enumerate(zip(graphs, scored.plans, strict=True)):
            scores = scored.scores_of(i, w)
            yield x, how, PairwiseModel(scores.unary, x.edges, scores.pair), scored.searched(i, scores, 0.0).answer

    def _numbers(self, z: Any) -> Labels:
        kinds, places = different(flat_labels(z))
        return label_numbers(kinds, self.numbers_)[places]

    def _indicators(self, x: Nodes, z: Any) -> tuple[Array, Array]:
        """Return (N, K) indicators of the labels of nodes, and (E, K, K) indicators of the pairs of labels of edges."""
        one = np.eye(self.n_labels_)[self._numbers(z)]
        return one, one[x.edges[:, 0], :, None] * one[x.edges[:, 1], None, :]

    def _named(self, labels: Labels, x: Nodes) -> NDArray[Any]:
        return self.class_array_[labels].reshape(x.label_shape)


class LabelledPart(NamedTuple):
    """The part of a graph that training uses."""

    x: Nodes  # the nodes with labels, and the edges between them; the whole graph if there are none
    truth: Labels  # the true label of every node of x
    prices: Array  # (N, K) the cost of a label at a node
    has_labels: bool  # True if any node has a label


def _check_sizes(graphs: list[Nodes], n_features: int, n_edge_features: int, where: str) -> None:
    for i, x in enumerate(graphs):
        if x.n_features != n_features:
            raise ValueError(f"graph {i} has {x.n_features} features per node; expected {n_features} as {where}")
        if x.n_edge_features not in (None, n_edge_features):
            raise ValueError(
                f"graph {i} has {x.n_edge_features} features per edge; expected {n_edge_features} as {where}"
            )


def _edge_names(graphs: list[Nodes], n_features: int) -> list[Hashable]:
    """Return the names of the edge features if all graphs agree on them; otherwise their numbers."""
    names = {x.edge_names for x in graphs if len(x.edges)}
    chosen = names.pop() if len(names) == 1 else None
    return list(range(n_features) if chosen is None else chosen)
