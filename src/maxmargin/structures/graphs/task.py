"""Graph: one label for every node of a graph, with the labels of neighbours taken into account."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.atoms import Atoms
from maxmargin.inputs.labels import Labels, cost_matrix, label_array, label_numbers, label_set
from maxmargin.kernels.units import Lifted
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.search import Search
from maxmargin.structures.graphs.batch import NAMES, GraphBatch, PackedGraph
from maxmargin.structures.graphs.inference.messages import pass_messages
from maxmargin.structures.graphs.inference.model import ROUNDING, Answer, PairwiseModel, Relaxed
from maxmargin.structures.graphs.inference.plan import Plan, plan
from maxmargin.structures.graphs.node_labels import NodeLabels, different, flat_labels, read_labels
from maxmargin.structures.graphs.nodes import Nodes, read_all
from maxmargin.structures.graphs.rows import GraphRows, by_place

FINE = 1e-4  # relaxations are solved up to this share of the largest loss,
NEAR = 1e-3  # and up to this share of the violation that was found, where that is less
LEAST = 1e-2  # a loss of less weight than this is a hint in a search for the prediction, and no measure of it
UNLABELLED = ("error", "leave_out")


class Bound(NamedTuple):
    """How good a predicted labelling is: no labelling of this graph has a score above `upper`."""

    score: float
    upper: float  # = score where the prediction is the best labelling; inf where nothing is known
    method: str


class Graph(Lifted):
    """x is a graph whose nodes i and edges e = (i, j) have features, an output z has one label per node.

        ⟨w, Ψ(x, z)⟩ = Σ_e Σ_g f_eg W[g, z_i, z_j] + Σ_i ⟨U[:, z_i], x_i⟩,      w = (W, U)
        Δ(y, z)      = Σ_i c_i · cost[y_i, z_i]      (Hamming; all costs 1 unless given)

    Δ is a sum over nodes, so that the search for argmax ⟨w, Ψ⟩ + λΔ is the same as that for prediction, the best
    labelling of a pairwise model. How it is found depends on the graph, see maxmargin.inference:

        a forest                            dynamic programming                 exact
        small treewidth                     junction tree                       exact
        two labels                          min-cut with roof duality           exact where edges are submodular
        else                                LP relaxation by message passing    of the relaxation

    Where a relaxation is fractional, its solution has Ψ and Δ too, both linear in the indicators of labels at nodes and
    of label pairs at edges, and training is exact for the relaxed problem (overgenerating; Finley and Joachims 2008).
    Predictions are always labellings.

    x is Nodes, or a tuple (features, edges) or (features, edges, edge_features). y is a list or array of labels, one
    per node; for a grid an (H, W) array. Weighted(labels, costs) has costs of single nodes.

    classes : the label set, where the training data may not show all of it.
    costs : None, {label: cost of missing it}, or a (K, K) matrix cost[true, predicted] in the order of `classes`.
    directed : True: W[g, k, l] is the weight of label k at the first and l at the second node of an edge. False: the
        order of the nodes does not matter, W[g] is symmetric. A list says it for every edge feature.
    inference : "auto", or one method for all graphs: "forest", "junction_tree", "min_cut", "roof_dual", "relaxation",
        "expansion" (α-expansion: fast, finds a good labelling without a proof; undergenerating).
    unlabelled : what to do in training with nodes whose label is None: "error", or "leave_out" them and their edges.
    kernel : None, or a kernel of nodes (maxmargin.kernels), whose features take the place of x_i.
    """

    def __init__(
        self,
        classes: Sequence[Hashable] | None = None,
        costs: Any = None,
        directed: bool | Sequence[bool] = True,
        inference: str = "auto",
        unlabelled: str = "error",
        kernel: Any = None,
    ):
        self.classes = classes
        self.costs = costs
        self.directed = directed
        self.inference = inference
        self.unlabelled = unlabelled
        self.kernel = kernel

    _last: tuple[Any, Any, list[_Example], list[Plan]] | None = None  # what setup has read, for the `pack` that follows

    def setup(self, X: Any, Y: Any) -> None:
        if self.unlabelled not in UNLABELLED:
            raise ValueError(f"unlabelled must be 'error' or 'leave_out', got {self.unlabelled!r}")
        graphs = read_all(X)
        if not graphs:
            raise ValueError("no graphs given: at least one example is needed")
        with_edges = next((x for x in graphs if len(x.edges)), graphs[0])
        self.n_features_, self.n_edge_features_ = graphs[0].n_features, with_edges.edge_features.shape[1]
        _check_sizes(graphs, self.n_features_, self.n_edge_features_, "in the graphs before")
        labels = _all_labels(graphs, Y)
        kinds = [k for each in labels for k in each.kinds if k is not None]
        if not kinds:
            raise ValueError("no node of any graph has a label: there is nothing to learn from")
        self.classes_ = label_set(self.classes, kinds)
        self.numbers_ = {label: k for k, label in enumerate(self.classes_)}
        self.n_labels_ = len(self.classes_)
        self.class_array_ = label_array(self.classes_, flat_labels(Y[0]))
        self.cost_ = cost_matrix(self.costs, self.classes_)
        self.places_ = _places(self.directed, self.n_edge_features_, self.n_labels_)
        self.first_ = int(self.places_.max(initial=-1)) + 1  # where U begins
        examples = self._examples(graphs, labels)
        seen = [each.x for each in examples] if self.kernel is not None else graphs[:1]
        self._set_dim(_stacked(seen), self.n_labels_, self.first_)
        plans = self._plans([each.x for each in examples])
        self.search = Search.worst({Search(each.kind) for each in plans})
        self._last = X, Y, examples, plans

    # --- the plain form: one graph at a time

    def psi(self, x: Any, z: Any) -> Any:
        self._refuse_kernel("psi(x, z)")
        (x,) = self._graphs([x])
        nodes, edges = (z.nodes, z.edges) if isinstance(z, Relaxed) else self._indicators(x, z)
        total = np.empty(self.dim)
        total[: self.first_] = by_place(self.places_, x.edge_features, edges, self.first_)
        total[self.first_ :] = (x.features.T @ nodes).ravel()
        if not sparse.issparse(x.features):
            return total
        indices = np.flatnonzero(total)
        return indices, total[indices]

    def loss(self, y: Any, z: Any) -> float:
        """Nodes without a true label count nothing; a true label that is not among the classes is the worst mistake."""
        nodes = z.nodes if isinstance(z, Relaxed) else np.eye(self.n_labels_)[self._numbers(z)]
        prices = read_labels(y, len(nodes)).prices(self.numbers_, self.cost_)
        return float(np.vdot(prices, nodes))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Any:
        """A labelling; where a relaxation has a fractional solution that is better, that one (inference.Relaxed)."""
        (x,) = self._graphs([x])
        prices = np.zeros((x.n_nodes, self.n_labels_))
        if y is not None:
            prices = read_labels(y, x.n_nodes, x.label_shape).prices(self.numbers_, self.cost_)
        scores = self._unit_scores(w, x.features, self.n_labels_, self.first_)
        pair = _pair_scores(w[self.places_], x.edge_features)
        size = 1 + np.abs(scores).sum() + prices.sum() + np.abs(pair).sum()
        answer = _solved(self._plans([x])[0], PairwiseModel(scores + prices, x.edges, pair), 1e-11 * size, 0)
        return self._named(answer.labels, x) if answer.relaxed is None else answer.relaxed

    def outputs(self, x: Any) -> Iterator[NDArray[Any]]:
        (x,) = self._graphs([x])
        for labels in product(range(self.n_labels_), repeat=x.n_nodes):
            yield self._named(np.array(labels, dtype=np.int32), x)

    def decode(self, w: Array, X: Any) -> list[NDArray[Any]]:
        return [self._named(answer.labels, x) for x, _, _, answer in self._answers(w, X)]

    def bounds(self, w: Array, X: Any) -> list[Bound]:
        """Of every prediction its score, and a bound on all others; from messages where the search has none itself."""
        bounds = []
        for _, how, model, answer in self._answers(w, X):
            upper = answer.upper if np.isfinite(answer.upper) else pass_messages(model).answer.upper
            bounds.append(Bound(answer.value, max(answer.value, upper), NAMES[how.method]))
        return bounds

    # --- the compiled form: packed graphs

    def pack(self, X: Any, Y: Any) -> GraphBatch:
        last, self._last = self._last, None
        if last is not None and last[0] is X and last[1] is Y:
            _, _, examples, plans = last
        else:
            graphs = self._graphs(X)
            examples = self._examples(graphs, _all_labels(graphs, Y))
            plans = self._plans([each.x for each in examples])
        atoms, units = self._atoms([each.x for each in examples])
        packed = [
            PackedGraph.of(own, each.x, each.truth, each.prices, how)
            for own, each, how in zip(units, examples, plans, strict=True)
        ]
        return GraphBatch(atoms, packed, np.array([each.told for each in examples], dtype=bool))

    def planes(self, w: Array, batch: GraphBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))
        W, rows = w[self.places_], GraphRows(batch.atoms, self.places_)
        loss, upper = np.zeros(len(batch)), np.empty(len(batch))
        for j, g in enumerate(batch.ids):
            graph = batch.graphs[g]
            scores = batch.atoms.scores(w, graph.units) + lam[j] * graph.prices
            model = PairwiseModel(scores, graph.edges, _pair_scores(W, graph.edge_features))
            truth = model.value(graph.truth)
            answer = _refined(graph.plan, model, _tol(graph.most, lam[j]), g, batch.warm[g], truth)
            batch.warm[g] = answer.messages
            found = answer.relaxed or answer
            if found.value < truth and graph.plan.kind != "exact":  # a search may miss even the truth
                rows.add_truth()
            elif answer.relaxed is None:
                loss[j] = rows.add_labelling(graph, answer.labels)
            else:
                loss[j] = rows.add_relaxed(graph, answer.relaxed)
            upper[j] = max(answer.upper, truth, found.value) - truth
            best = max(truth, answer.value)
            if graph.plan.kind != "exact":
                batch.relaxed[g] |= answer.relaxed is not None or not answer._replace(value=best).proved
        proved = any(batch.graphs[g].plan.kind != "exact" for g in batch.ids) and bool(np.isfinite(upper).any())
        return Planes(rows.stacked(), loss, upper if proved else None)

    def rescaled_planes(self, w: Array, batch: GraphBatch, formulation: Formulation) -> Planes | None:
        """None: only `planes` can search."""
        return None

    def parts(self, w: Array) -> dict[str, Array]:
        """The weights by meaning: edges (G, K, K) and, without a kernel, nodes (F, K)."""
        edges = {"edges": w[self.places_]}
        return edges if self.kernel is not None else {**edges, "nodes": w[self.first_ :].reshape(-1, self.n_labels_)}

    # --- inside

    def _graphs(self, X: Any) -> list[Nodes]:
        """Graphs with as many features as in training."""
        graphs = read_all(X)
        _check_sizes(graphs, self.n_features_, self.n_edge_features_, "in training")
        return graphs

    def _examples(self, graphs: list[Nodes], labels: list[NodeLabels]) -> list[_Example]:
        """What training sees of the graphs: the part that has labels."""
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
            examples.append(_Example(x, truth, y.prices(self.numbers_, self.cost_), bool(known.any())))
        return examples

    def _plans(self, graphs: list[Nodes]) -> list[Plan]:
        """How each graph is searched; graphs of one structure, like grids of one size, share the plan."""
        plans: dict[tuple[int, bytes], Plan] = {}
        chosen = []
        for i, x in enumerate(graphs):
            key = x.n_nodes, x.edges.tobytes()
            if key not in plans:
                try:
                    plans[key] = plan(x.n_nodes, x.edges, self.n_labels_, self.inference)
                except ValueError as error:
                    raise ValueError(f"graph {i}: {error}") from None
            chosen.append(plans[key])
        return chosen

    def _atoms(self, graphs: list[Nodes]) -> tuple[Atoms, list[NDArray[np.int64]]]:
        """The nodes of all graphs one after another, and which are whose."""
        ends = np.append(0, np.cumsum([x.n_nodes for x in graphs])).astype(np.int64)
        owner = np.repeat(np.arange(len(graphs)), np.diff(ends))
        atoms = self._unit_atoms(_stacked(graphs), self.n_labels_, self.first_, owner)
        return atoms, [np.arange(a, b) for a, b in pairwise(ends)]

    def _answers(self, w: Array, X: Any) -> Iterator[tuple[Nodes, Plan, PairwiseModel, Answer]]:
        """The best labelling of every graph."""
        graphs = self._graphs(X)
        if not graphs:
            return
        plans, (atoms, units), W = self._plans(graphs), self._atoms(graphs), w[self.places_]
        for i, (x, how, own) in enumerate(zip(graphs, plans, units, strict=True)):
            model = PairwiseModel(atoms.scores(w, own), x.edges, _pair_scores(W, x.edge_features))
            yield x, how, model, _solved(how, model, _tol(x.n_nodes * self.cost_.max()), i)

    def _numbers(self, z: Any) -> Labels:
        kinds, places = different(flat_labels(z))
        return label_numbers(kinds, self.numbers_)[places]

    def _indicators(self, x: Nodes, z: Any) -> tuple[Array, Array]:
        """(N, K) which label every node has, and (E, K, K) which two every edge has."""
        one = np.eye(self.n_labels_)[self._numbers(z)]
        return one, one[x.edges[:, 0], :, None] * one[x.edges[:, 1], None, :]

    def _named(self, labels: Labels, x: Nodes) -> NDArray[Any]:
        return self.class_array_[labels].reshape(x.label_shape)


class _Example(NamedTuple):
    x: Nodes  # the part of the graph that has labels
    truth: Labels
    prices: Array  # (N, K)
    told: bool  # whether any node has a label


def _tol(most: float, lam: float = 1.0) -> float:
    """How near to its optimum a relaxation is solved, where `most` is the largest loss and lam its weight."""
    return FINE * float(most) * (lam if lam > LEAST else 1.0)


def _solved(plan: Plan, model: PairwiseModel, tol: float, i: int, warm: Any = None) -> Answer:
    """The answer for graph i; a relaxation is solved up to tol."""
    try:
        return plan.solve(model, warm, tol)
    except ValueError as error:
        way_out = ", with inference='roof_dual' or 'auto'" if plan.method == "min_cut" else ""
        raise ValueError(f"graph {i}: {error}{way_out}") from None


def _refined(plan: Plan, model: PairwiseModel, tol: float, i: int, warm: Any, truth: float) -> Answer:
    """The answer up to tol, or nearer where little is violated: there tol would be all that is measured."""
    answer = _solved(plan, model, tol, i, warm)
    least = ROUNDING * max(1.0, abs(truth))
    while plan.method == "relaxation" and tol > least:
        known = max((answer.relaxed or answer).value, truth)
        if answer.upper - known <= max(NEAR * (known - truth), least):
            break
        tol = max(0.1 * tol, least)
        answer = _solved(plan, model, tol, i, answer.messages)
    return answer


def _stacked(graphs: list[Nodes]) -> Any:
    """The features of all nodes, one graph after another."""
    if any(sparse.issparse(x.features) for x in graphs):
        return sparse.vstack([sparse.csr_array(x.features) for x in graphs], format="csr")
    return np.concatenate([x.features for x in graphs])


def _pair_scores(W: Array, edge_features: Array) -> Array:
    """(E, K, K) the scores of all label pairs at all edges."""
    if not len(edge_features):  # without edges nothing tells how many features they would have
        return np.empty((0, *W.shape[1:]))
    n_labels = W.shape[1]
    return (edge_features @ W.reshape(len(W), n_labels**2)).reshape(-1, n_labels, n_labels)


def _places(directed: Any, n_features: int, n_labels: int) -> NDArray[np.int64]:
    """(G, K, K) the coordinate of every weight of an edge; undirected features have one for both orders of labels."""
    flags = [directed] * n_features if isinstance(directed, bool | np.bool_) else directed
    if not isinstance(flags, Sequence | np.ndarray) or not all(isinstance(each, bool | np.bool_) for each in flags):
        raise ValueError(f"directed must be True, False, or a list of them, got {directed!r}")
    if len(flags) != n_features:
        raise ValueError(f"directed has {len(flags)} values; expected {n_features}, one per edge feature")
    places = np.empty((n_features, n_labels, n_labels), dtype=np.int64)
    first = 0
    for g, one_way in enumerate(flags):
        if one_way:
            places[g] = first + np.arange(n_labels**2).reshape(n_labels, n_labels)
        else:
            rows, columns = np.triu_indices(n_labels)
            places[g, rows, columns] = places[g, columns, rows] = first + np.arange(len(rows))
        first = int(places[g].max()) + 1
    return places


def _check_sizes(graphs: list[Nodes], n_features: int, n_edge_features: int, where: str) -> None:
    for i, x in enumerate(graphs):
        if x.n_features != n_features:
            raise ValueError(f"graph {i} has {x.n_features} features per node; expected {n_features} as {where}")
        if x.n_edge_features not in (None, n_edge_features):
            raise ValueError(
                f"graph {i} has {x.n_edge_features} features per edge; expected {n_edge_features} as {where}"
            )


def _all_labels(graphs: list[Nodes], Y: Any) -> list[NodeLabels]:
    labels = []
    for i, (x, y) in enumerate(zip(graphs, Y, strict=True)):
        try:
            labels.append(read_labels(y, x.n_nodes, x.label_shape))
        except ValueError as error:
            raise ValueError(f"graph {i}: {error}") from None
    return labels
