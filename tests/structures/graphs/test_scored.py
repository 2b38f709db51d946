"""Score space of graphs: against enumeration, with ties, at all scales; planes and predictions go through it."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import costs, whole
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.structures.graphs.inference.model import Relaxed
from maxmargin.tasks import Graph, GraphScores, GraphSpace, Nodes, Weighted
from maxmargin.testing import check_scored


@st.composite
def graphs(draw, most_nodes=4):
    n = draw(st.integers(1, most_nodes))
    every = list(combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(every), max_size=5, unique=True)) if every else []
    return n, np.array(edges, dtype=np.int64).reshape(-1, 2)


@examples(30, 200)
@given(
    st.data(),
    st.lists(graphs(), min_size=1, max_size=2),
    st.integers(2, 3),
    st.sampled_from(["auto", "relaxation", "expansion"]),
    st.integers(-4, 4),
    st.sampled_from([0.0, 1.0, 0.5, 3.0]),
)
def test_best_of_a_space_without_features_is_that_of_all_labellings(data, given_, K, method, power, augment):
    """Relaxations may be fractional: then their value is no lower, and `upper` bounds all labellings."""
    scale, cost = 10.0**power, data.draw(costs(K))
    scores = [
        GraphScores(scale * data.draw(whole((n, K))), scale * data.draw(whole((len(e), K, K)))) for n, e in given_
    ]
    truth = [data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, K - 1))) for n, _ in given_]
    space = GraphSpace.of_graphs(given_, K, truth, cost, method)
    best = space.best(scores, augment)
    losses, ones = space.losses(best.found), np.eye(len(given_))
    for j, (n, edges) in enumerate(given_):
        listed = [np.array(z) for z in product(range(K), repeat=n)]
        links = [scores[j].pair[np.arange(len(edges)), z[edges[:, 0]], z[edges[:, 1]]].sum() for z in listed]
        each = np.array([scores[j].unary[np.arange(n), z].sum() for z in listed]) + links
        loss = np.array([cost[truth[j], z].sum() for z in listed])
        highest, size = float(np.max(each + augment * loss)), 1 + scale * n**2 * K
        found = inner(space.indicator(best.found, ones[j]), scores)
        assert best.values[j] == pytest.approx(found + augment * losses[j], rel=1e-9, abs=1e-9 * size)
        if best.upper is None:
            assert best.values[j] == pytest.approx(highest, rel=1e-12, abs=1e-12 * size)
        else:
            assert best.upper[j] >= highest - 1e-9 * size
        if not isinstance(best.found[j], Relaxed):
            assert best.values[j] <= highest + 1e-9 * size
            assert losses[j] == pytest.approx(cost[truth[j], best.found[j]].sum())
        if method == "auto":
            log_z = space.sums(scores).log_partitions[j]
            assert log_z == pytest.approx(np.logaddexp.reduce(each), rel=1e-9, abs=1e-9)
    assert space.losses(space.truth).tolist() == [0.0] * len(given_)


CYCLE = np.array([[0, 1], [1, 2], [2, 0]])


def test_what_does_not_fit_is_refused():
    for what, message in (
        (lambda: GraphSpace.of_graphs([(3, CYCLE)], 2, [[0, 1]]), "expected 3 whole numbers"),
        (lambda: GraphSpace.of_graphs([(3, CYCLE)], 2, [[0, 1, 2]]), "expected 3 whole numbers"),
        (lambda: GraphSpace.of_graphs([(3, CYCLE)], 2, cost=np.zeros((3, 3))), "cost has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            what()
    space = GraphSpace.of_graphs([(3, CYCLE)], 2)
    good = GraphScores(np.zeros((3, 2)), np.zeros((3, 2, 2)))
    for scores, augment, message in (
        (good._replace(unary=np.zeros((2, 2))), 0.0, "`unary` have shape"),
        (good._replace(unary=np.full((3, 2), -np.inf)), 0.0, "all scores must be finite"),
        (good, 1.0, "need true outputs"),
    ):
        with pytest.raises(ValueError, match=message):
            space.best([scores], augment)


def test_a_fractional_solution_is_found_as_such():
    """Three nodes that all prefer to differ, with two labels: the relaxation has every label half."""
    pair = np.tile(1.0 - np.eye(2), (3, 1, 1))
    space = GraphSpace.of_graphs([(3, CYCLE)], 2, [[0, 1, 0]], method="roof_dual")
    best = space.best([GraphScores(np.zeros((3, 2)), pair)])
    assert isinstance(best.found[0], Relaxed)
    assert best.values[0] == pytest.approx(3.0)
    assert inner(space.indicator(best.found), [GraphScores(np.zeros((3, 2)), pair)]) == pytest.approx(3.0)
    assert space.losses(best.found)[0] == pytest.approx(1.5)


rng = np.random.default_rng(0)
X = [
    Nodes(rng.standard_normal((3, 2)), [[0, 1], [1, 2]], rng.uniform(0, 1, (2, 2))),
    Nodes(rng.standard_normal((1, 2)), np.zeros((0, 2), dtype=int), np.zeros((0, 2))),
    Nodes(rng.standard_normal((3, 2)), CYCLE, rng.uniform(0, 1, (3, 2))),
]
Y = [["a", "b", "a"], ["b"], ["b", "b", "a"]]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"costs": {"a": 2.0}},
        {"pairwise": "potts"},
        {"directed": False},
        {"method": "relaxation"},
        {"method": "roof_dual"},
        {"classes": ["a", "b", "c"]},
    ],
    ids=str,
)
def test_scored_graphs_keep_the_contract(settings):
    check_scored(Graph(**settings), X, Y)


def test_costs_of_nodes_keep_the_contract():
    each = [[1.0, 0.0, 2.0], [3.0], [0.5, 1.0, 1.0]]
    check_scored(Graph(), X, [Weighted(y, own) for y, own in zip(Y, each, strict=True)])


@pytest.mark.parametrize("method", ["auto", "relaxation"])
def test_batches_and_predictions_go_through_score_space(method):
    task = Graph(method=method)
    batch = task.setup_and_pack(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for index in ([0, 1, 2], [2, 0]):
        scored = batch.take(np.array(index)).scored()
        planes = scored.planes_of(scored.best(scored.scores(w), 1.0).found)
        expected = batch.take(np.array(index)).planes(w)
        np.testing.assert_allclose(planes.values(w), expected.values(w), atol=1e-3)
    bare = task.scored(X)
    for j, (own, z) in enumerate(zip(bare.scores(w), task.decode(w, X), strict=True)):
        found = bare.searched(j, own, 0.0).answer
        assert task.class_array_[found.labels].tolist() == z.tolist()
    assert task.decode(w, []) == []
