"""Sums over the labellings of graphs: against enumeration, on forests and with cycles, and training for them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proofs import prove_smooth_training_is_optimal
from structures.graphs.labelled_graphs import edges_of, labelled
from thorough import examples

from maxmargin import GraphLabeler
from maxmargin.errors import Uncalibrated
from maxmargin.problem.contract.tangents import Softness
from maxmargin.structures.graphs.inference.junction_sums import labelling_sum, log_partition
from maxmargin.structures.graphs.inference.junction_tree import elimination_order
from maxmargin.structures.graphs.inference.model import PairwiseModel
from maxmargin.tasks import Graph, Nodes
from maxmargin.testing import check_sums


def rings(n, seed=0, length=4):
    """Rings, with a tail, of two noisy labels."""
    rng = np.random.default_rng(seed)
    edges = [(i, (i + 1) % length) for i in range(length)] + [(0, length)]
    Y = [np.repeat(rng.integers(0, 2, 2), (length // 2, length - length // 2 + 1)).tolist() for _ in range(n)]
    X = [Nodes(np.column_stack([np.eye(2)[y] + rng.normal(size=(len(y), 2)), np.ones(len(y))]), edges) for y in Y]
    return X, Y


@examples(24, 60)
@given(
    data=st.data(),
    seed=st.integers(0, 10**6),
    n=st.integers(1, 5),
    n_labels=st.integers(1, 3),
    form=st.sampled_from(["forest", "cycle", "any"]),
    log_scale=st.floats(-8, 8),
    whole=st.booleans(),
)
def test_sums_of_one_graph(data, seed, n, n_labels, form, log_scale, whole):
    edges = np.array(data.draw(edges_of(n, form if n > 2 else "forest")), dtype=int).reshape(-1, 2)
    rng = np.random.default_rng(seed)
    unary, pair = (
        10.0**log_scale * rng.standard_normal(shape) for shape in ((n, n_labels), (len(edges), n_labels, n_labels))
    )
    if whole:
        unary, pair = np.rint(unary), np.rint(pair)
    model = PairwiseModel.of(unary, edges, pair)
    order = elimination_order(n, edges, n_labels)
    labellings = list(product(range(n_labels), repeat=n))
    scores = np.array([model.value(z) for z in labellings])
    log_z = np.logaddexp.reduce(scores)
    p = np.exp(scores - log_z)
    nodes, pairs = np.zeros_like(unary), np.zeros_like(pair)
    for z, share in zip(np.array(labellings), p, strict=True):
        nodes[np.arange(n), z] += share
        pairs[np.arange(len(edges)), z[edges[:, 0]], z[edges[:, 1]]] += share
    near = 1e-14 * (1 + np.abs(unary).sum() + np.abs(pair).sum())
    found = labelling_sum(model, order)
    assert found.log_z == pytest.approx(log_z, abs=near, rel=0)
    np.testing.assert_allclose(found.nodes, nodes, atol=1e-13 + 8 * near, rtol=0)
    np.testing.assert_allclose(found.edges, pairs, atol=1e-13 + 8 * near, rtol=0)
    assert found.entropy == pytest.approx(-np.dot(p[p > 0], np.log(p[p > 0])), abs=1e-11 + 64 * near)
    closed = unary.copy()
    closed[0, 0] = -np.inf
    agreeing = np.array([z[0] != 0 for z in labellings])
    left = log_partition(model._replace(unary=closed), order)
    if not agreeing.any():
        assert left == -np.inf
    else:
        assert left == pytest.approx(np.logaddexp.reduce(scores[agreeing]), abs=near, rel=0)


@settings(max_examples=6)
@given(data=st.data(), form=st.sampled_from(["forest", "cycle", "any"]), method=st.sampled_from(["auto", "relaxation"]))
def test_the_contract(data, form, method):
    task, X, Y, _ = data.draw(labelled(form, method=method, most_nodes=3, most_graphs=2))
    check_sums(task, X, Y, trials=1, samples=20)


def test_the_contract_of_potts_edges_and_large_scores():
    X, Y = rings(3)
    check_sums(Graph(pairwise="potts"), X, Y, trials=1)
    check_sums(Graph(), X, Y, trials=1, scale=1e3)


def test_probabilities_of_an_estimator():
    X, Y = rings(20)
    model = GraphLabeler(C=10.0, objective="likelihood").fit(X, Y)
    assert model.certificate_.converged
    sums = model.task_.sums(model.w_, X[:2])
    for x, proba, marginals, entropy in zip(
        X, model.predict_proba(X[:2]), model.predict_marginals(X[:2]), model.entropy(X[:2]), strict=False
    ):
        listed = [list(z) for z in product([0, 1], repeat=x.n_nodes)]
        p = np.exp(model.log_probability([x] * len(listed), listed))
        assert p.sum() == pytest.approx(1)
        expected = p @ (np.array(listed)[:, :, None] == [0, 1]).reshape(len(listed), -1)
        np.testing.assert_allclose(proba.ravel(), expected, atol=1e-10)
        np.testing.assert_allclose(marginals.pairs.sum(axis=2), proba[x.edges[:, 0]], atol=1e-10)
        assert entropy == pytest.approx(-np.dot(p, np.log(p)))
        open_ones = [None, *Y[0][1:]]
        both = model.log_probability([x, x], [[k, *Y[0][1:]] for k in (0, 1)])
        assert model.log_probability([x], [open_ones])[0] == pytest.approx(np.logaddexp(*both))
    assert len(sums.log_partitions) == 2
    assert model.log_probability(X[:1], [["never seen", *Y[0][1:]]])[0] == -np.inf
    with pytest.raises(ValueError, match="2 graphs but 1 labellings"):
        model.log_probability(X[:2], Y[:1])
    drawn = model.sample(X[:2], 5, random_state=0)
    assert np.shape(drawn) == (2, 5, 5)
    hinge = GraphLabeler(C=10.0).fit(X, Y)
    with pytest.warns(Uncalibrated):
        hinge.predict_proba(X[:1])
    assert GraphLabeler(C=10.0, calibrate=3).fit(X, Y).calibrated_


def test_grids_keep_their_shape():
    rng = np.random.default_rng(0)
    truths = [rng.integers(0, 2, (2, 3)) for _ in range(6)]
    X = [Nodes.grid(np.eye(2)[y] + rng.normal(size=(2, 3, 2))) for y in truths]
    model = GraphLabeler(C=1.0, objective="softmax_margin").fit(X, truths).calibrate_on(X, truths)
    assert model.predict_proba(X)[0].shape == (6, 2)
    assert model.sample(X, 2)[0][1].shape == (2, 3)
    assert (model.log_probability(X, truths) < 0).all()


def test_graphs_of_large_width_are_named():
    rng = np.random.default_rng(0)
    small, large = (Nodes.grid(rng.normal(size=(side, side, 1))) for side in (2, 25))
    Y = [rng.integers(0, 3, (side, side)) for side in (2, 25)]
    model = GraphLabeler(C=1.0, classes=[0, 1, 2], objective="likelihood")
    with pytest.raises(ValueError, match=r"graph 1 has 625 nodes, 1200 edges and too many cycles.* width is 10"):
        model.fit([small, large], Y)
    model.fit([small], Y[:1])
    with pytest.raises(ValueError, match=r"graph 0 has 625 nodes.*Nodes\.subgraph"):
        model.predict_proba([large])


@pytest.mark.slow
def test_long_forests_have_sums():
    """More entries in all than a junction tree may have; a chain without features of nodes, whose sum is a product."""
    n, K = 30_000, 9
    x = Nodes(np.ones((n, 1)), np.column_stack([np.arange(n - 1), np.arange(1, n)]))
    short = Nodes(np.ones((2, 1)), [(0, 1)])
    task = Graph(classes=list(range(K)), pairwise="potts")
    task.setup([short], [[0, 1]])
    w = np.zeros(task.dim)
    w[0] = 0.5
    assert task.sums(w, [x]).log_partitions[0] == pytest.approx(np.log(K) + (n - 1) * np.log(np.exp(0.5) + K - 1))


@pytest.mark.parametrize("softness", [Softness(), Softness(2.0, 1.0)])
def test_training_finds_the_optimum_over_all_labellings(softness):
    X, Y = rings(4)
    prove_smooth_training_is_optimal(Graph(costs={0: 1.0, 1: 2.0}), X, Y, 3.0, softness)
