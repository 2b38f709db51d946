"""The speed of searches for the best labelling of a graph, method by method, and next to scipy where it has the same.

Scores are random and built as a trained model has them: those of nodes have one or a few labels ahead, those of an edge
are a weighted sum of two matrices of label pairs, the same for all edges, that favour equal labels. "Rough" scores are
drawn anew for each edge; their relaxations are fractional throughout, which is the hardest case. What depends on the
graph alone (the order of dynamic programming, the junction tree) is prepared outside the clock, as in training. Two
peers solve the same problems:

- scipy's maximum_flow, on two labels with whole-number scores, because it takes no others;
- HiGHS (scipy's linprog) on the linear programme over the local polytope, of small graphs.

Their flow networks and constraint matrices are built outside the clock.

"Superpixels" are Delaunay triangulations of random points: as many neighbours as superpixels have.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse

from benchmarks.timing import Report
from maxmargin.inference import Answer, PairwiseModel, plan

PROBLEMS = ("graph-inference",)
N_MODELS = 5  # of every kind
CHANGE = 0.02  # by how much scores change before a warm start, in their own size

Edges = np.ndarray


# --- graphs


def random_tree(rng: np.random.Generator, n: int) -> Edges:
    """Every node is attached to one of those before."""
    return np.column_stack([[rng.integers(0, v) for v in range(1, n)], np.arange(1, n)])


def grid(height: int, width: int) -> Edges:
    """Four neighbours."""
    numbers = np.arange(height * width).reshape(height, width)
    across, down = (numbers[:, :-1], numbers[:, 1:]), (numbers[:-1], numbers[1:])
    return np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in (across, down)])


def triangles(rng: np.random.Generator, n: int) -> Edges:
    """Neighbours in a Delaunay triangulation of n random points."""
    from scipy.spatial import Delaunay

    corners = Delaunay(rng.uniform(size=(n, 2))).simplices
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def random_model(rng: np.random.Generator, n: int, edges: Edges, n_labels: int, rough: float = 0.0) -> PairwiseModel:
    """Scores as a trained model has them; rough : how large the part is that differs at random from edge to edge."""
    weights = np.eye(n_labels) + 0.3 * rng.standard_normal((2, n_labels, n_labels))
    features = np.column_stack([np.ones(len(edges)), rng.uniform(size=len(edges))])
    pair = np.tensordot(features, weights, 1) + rough * rng.standard_normal((len(edges), n_labels, n_labels))
    return PairwiseModel.of(3.0 * rng.standard_normal((n, n_labels)), edges, pair)


def whole_model(rng: np.random.Generator, n: int, edges: Edges) -> PairwiseModel:
    """Two labels, whole-number scores, and edges with a bonus for equal labels."""
    bonus = rng.integers(0, 100, len(edges))
    return PairwiseModel.of(rng.integers(-100, 100, (n, 2)), edges, bonus[:, None, None] * np.eye(2))


def changed(rng: np.random.Generator, model: PairwiseModel) -> PairwiseModel:
    """The same graph with slightly other scores, as after one step of training."""
    return model._replace(
        unary=model.unary + CHANGE * model.unary.std() * rng.standard_normal(model.unary.shape),
        pair=model.pair + CHANGE * model.pair.std() * rng.standard_normal(model.pair.shape),
    )


# --- peers: each returns a search that is ready to run, and gives the value that it found

Search = Callable[[], float]


def scipy_flow(model: PairwiseModel) -> Search:
    """The best labelling of a `whole_model` by scipy's maximum flow."""
    from scipy.sparse.csgraph import maximum_flow

    n = model.n_nodes
    source, sink = n, n + 1
    lead = (model.unary[:, 1] - model.unary[:, 0]).astype(np.int32)
    bonus = model.pair[:, 0, 0].astype(np.int32)
    i, j = model.edges.T
    every = np.arange(n)
    capacities = np.concatenate([np.maximum(lead, 0), np.maximum(-lead, 0), bonus, bonus])
    tails = np.concatenate([np.full(n, source), every, i, j])
    heads = np.concatenate([every, np.full(n, sink), j, i])
    network = sparse.csr_array((capacities, (tails, heads)), shape=(n + 2, n + 2), dtype=np.int32)
    most = float(model.unary.max(axis=1).sum() + bonus.sum())
    return lambda: most - float(maximum_flow(network, source, sink).flow_value)


def highs(model: PairwiseModel) -> Search:
    """The linear programme over the local polytope by HiGHS."""
    from scipy.optimize import linprog

    n, m, k = model.n_nodes, model.n_edges, model.n_labels
    simplex = sparse.hstack([sparse.kron(sparse.eye_array(n), np.ones((1, k))), sparse.csr_array((n, m * k * k))])
    rows = []
    for end, sums in enumerate((np.kron(np.eye(k), np.ones((1, k))), np.kron(np.ones((1, k)), np.eye(k)))):
        is_end = sparse.csr_array((np.ones(m), (np.arange(m), model.edges[:, end])), shape=(m, n))
        rows.append(sparse.hstack([-sparse.kron(is_end, np.eye(k)), sparse.kron(sparse.eye_array(m), sums)]))
    costs = -np.concatenate([model.unary.ravel(), model.pair.ravel()])
    matrix = sparse.csr_array(sparse.vstack([simplex, *rows]))
    right = np.concatenate([np.ones(n), np.zeros(2 * m * k)])
    return lambda: -float(linprog(costs, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs").fun)


# --- what is measured


@dataclass
class Case:
    """A method on a kind of graph."""

    method: str
    graph: str
    models: list[PairwiseModel]
    warm: bool = False
    peer: tuple[str, Callable[[PairwiseModel], Search]] | None = None


def cases(quick: bool) -> list[Case]:
    rng = np.random.default_rng(0)
    side = 40 if quick else 100

    def several(make: Callable[[], PairwiseModel]) -> list[PairwiseModel]:
        return [make() for _ in range(2 if quick else N_MODELS)]

    def trees() -> PairwiseModel:
        return random_model(rng, 1000, random_tree(rng, 1000), 20)

    def ladders() -> PairwiseModel:
        return random_model(rng, 300, grid(3, 100), 8)

    def superpixels(n: int = 120, n_labels: int = 21, rough: float = 0.0) -> PairwiseModel:
        return random_model(rng, n, triangles(rng, n), n_labels, rough)

    def images(n_labels: int, rough: float = 0.0) -> PairwiseModel:
        return random_model(rng, side**2, grid(side, side), n_labels, rough)

    def cuts(edges: Edges) -> PairwiseModel:
        return whole_model(rng, side**2, edges)

    fine, flow = several(superpixels), ("scipy maximum_flow", scipy_flow)
    return [
        Case("forest", "random trees", several(trees)),
        Case("junction_tree", "grids 3 × 100", several(ladders)),
        Case("min_cut", f"grids {side} × {side}", several(lambda: cuts(grid(side, side))), peer=flow),
        Case("min_cut", "superpixels", several(lambda: cuts(triangles(rng, side**2))), peer=flow),
        Case("roof_dual", f"grids {side} × {side}, rough", several(lambda: images(2, 1.0))),
        Case("relaxation", "superpixels", fine),
        Case("relaxation", "superpixels", fine, warm=True),
        Case("expansion", "superpixels", fine),
        Case("relaxation", "superpixels", several(lambda: superpixels(60, 8)), peer=("HiGHS", highs)),
        Case("relaxation", "superpixels, rough", several(lambda: superpixels(20, 5, 2.0)), peer=("HiGHS", highs)),
        Case("relaxation", "superpixels, rough", several(lambda: superpixels(60, 8, 2.0)), peer=("HiGHS", highs)),
        Case("relaxation", f"grids {side} × {side}", several(lambda: images(5))),
        Case("expansion", f"grids {side} × {side}", several(lambda: images(5))),
    ]


@dataclass
class Found:
    """One answer, and the CPU seconds that it took."""

    answer: Answer
    seconds: float
    peer_value: float | None = None
    peer_seconds: float | None = None


def fastest(call: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    """The result, and the fewest CPU seconds; short calls are made several times in a row."""
    gc.collect()
    start = time.process_time()
    result = call()
    once = time.process_time() - start
    number = max(1, int(0.05 / max(once, 1e-6)))
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        for _ in range(number):
            call()
        seconds.append((time.process_time() - start) / number)
    return result, min(seconds)


def search(case: Case, model: PairwiseModel, repeat: int) -> Found:
    """Run the method, and its peer, on one model."""
    how = plan(model.n_nodes, model.edges, model.n_labels, case.method)
    messages = None
    if case.warm:
        messages = how.solve(model).messages
        model = changed(np.random.default_rng(1), model)
    found = Found(*fastest(partial(how.solve, model, messages), repeat))
    if case.peer is not None:
        found.peer_value, found.peer_seconds = fastest(case.peer[1](model), repeat)
    return found


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All methods; the fastest of `repeat` rounds for every model, and the mean over models."""
    table = Table(
        title=f"{name}: one search for the best labelling",
        caption="Times are CPU times. Fractional: the share of models whose relaxation is. Gap: how far the "
        "labelling is at most from the best one, in percent of its score. Faster: the peer's CPU seconds over ours. "
        "Difference: the largest one between the peer's optimum and our value (of the relaxation), in percent.",
    )
    table.add_column("method")
    table.add_column("graphs")
    for heading in (
        "nodes", "edges", "labels", "ms", "nodes × labels\nmillions / s", "fractional\n%", "gap\n%", "peer", "faster",
        "difference\n%",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    for case in cases(quick):
        title = case.method + (", warm" if case.warm else "")
        report(f"{title}: {case.graph}")
        search(case, case.models[0], 1)  # compiles
        found = [search(case, model, repeat) for model in case.models]
        answers = [each.answer for each in found]
        size = np.mean([model.unary.size for model in case.models])
        seconds = np.mean([each.seconds for each in found])
        gaps = [(each.upper - each.value) / abs(each.value) for each in answers]
        table.add_row(
            title,
            case.graph,
            f"{case.models[0].n_nodes}",
            f"{np.mean([model.n_edges for model in case.models]):.0f}",
            f"{case.models[0].n_labels}",
            f"{1000 * seconds:.2f}",
            f"{size / 1e6 / seconds:.2f}",
            f"{100 * np.mean([each.relaxed is not None for each in answers]):.0f}",
            f"{100 * np.mean(gaps):.3f}" if np.isfinite(gaps).all() else "",
            *_against_peer(case, found),
        )
    return table


def _against_peer(case: Case, found: list[Found]) -> tuple[str, str, str]:
    if case.peer is None:
        return "", "", ""
    faster = sum(each.peer_seconds or 0.0 for each in found) / sum(each.seconds for each in found)
    ours = [(each.answer.relaxed or each.answer).value for each in found]
    apart = [abs(each.peer_value - own) / abs(own) for each, own in zip(found, ours, strict=True)]  # type: ignore[operator]
    return case.peer[0], f"{faster:.1f}", f"{100 * max(apart):.3f}"
