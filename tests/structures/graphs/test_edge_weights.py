"""Weights of edges: tables, scores and Ψ agree; what bounds make attractive; training against an independent QP."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.graphs.labelled_graphs import labelled
from thorough import examples

import maxmargin as mm
from maxmargin.inference import PairwiseModel, submodular
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.structures.graphs.edge_weights import FullTables, SubmodularTables, edge_weights
from maxmargin.tasks import Graph, Nodes
from maxmargin.testing import brute_force, check_task, objective

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")  # random data teach nothing

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


@st.composite
def weights(draw):
    """Any kind of weights, and numbers of any size for them."""
    n_labels, directed = draw(st.integers(2, 4)), draw(st.lists(st.booleans(), min_size=1, max_size=3))
    pairwise = draw(st.sampled_from(["full", "potts"]))
    own = edge_weights(pairwise, directed if pairwise == "full" else True, len(directed), n_labels, draw(st.booleans()))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    return own, 10.0 ** draw(st.integers(-8, 8)) * rng.normal(size=own.count + 3), len(directed), n_labels, rng


@given(weights())
def test_scores_are_sums_of_tables_and_features_are_their_gradient(drawn):
    own, w, n_features, n_labels, rng = drawn
    tables, features = own.tables(w), rng.normal(size=(4, n_features))
    assert tables.shape == (n_features, n_labels, n_labels)
    size = np.abs(w).max()
    expected = [sum(f * table for f, table in zip(row, tables, strict=True)) for row in features]
    np.testing.assert_allclose(own.pair_scores(w, features), expected, atol=1e-13 * size * n_features)
    assert own.pair_scores(w, np.empty((0, 1))).shape == (0, n_labels, n_labels)
    sums = rng.normal(size=tables.shape)
    assert own.gathered(sums) @ w[: own.count] == pytest.approx(np.vdot(sums, tables), abs=1e-12 * size)


@given(st.lists(st.booleans(), min_size=1, max_size=3), st.integers(0, 999))
def test_the_basis_of_submodular_tables_is_orthonormal(directed, seed):
    """Weights are as long as the tables are, written as full ones."""
    own, full = SubmodularTables(directed), FullTables(directed, 2)
    assert own.count == full.count
    v = np.random.default_rng(seed).normal(size=own.count)
    same = np.empty(full.count)
    same[full.coordinates] = own.tables(v)
    np.testing.assert_allclose(full.tables(same), own.tables(v))  # both orders of an undirected feature are one number
    assert same @ same == pytest.approx(v @ v)


@given(st.lists(st.booleans(), min_size=1, max_size=3), st.integers(0, 9999))
def test_tables_are_submodular_just_where_their_last_coordinates_are_not_negative(directed, seed):
    own, rng = SubmodularTables(directed), np.random.default_rng(seed)
    v = rng.normal(size=own.count)
    tables = own.tables(v)
    preference = tables[:, 0, 0] + tables[:, 1, 1] - tables[:, 0, 1] - tables[:, 1, 0]
    np.testing.assert_array_equal(np.sign(preference.round(12)), np.sign(v[own.equal].round(12)))


@given(weights(), st.integers(-8, 8))
def test_attractive_edges_never_prefer_different_labels(drawn, power):
    """Not even by rounding: a minimum cut is found whatever the weights are."""
    own, w, n_features, n_labels, rng = drawn
    w[: own.count] *= 10.0 ** rng.integers(-4, 5, own.count)
    low, high = own.attractive()
    w = np.clip(w[: own.count], low, high)
    if n_labels == 2 and not isinstance(own, FullTables):
        zero = rng.random(len(w)) < 0.5
        w = np.where(zero & (low == 0), 0.0, w)
        features = np.abs(rng.normal(size=(6, n_features))) * 10.0**power
        pair = own.pair_scores(w, features)
        assert submodular(PairwiseModel.of(np.zeros((12, 2)), [(i, i + 6) for i in range(6)], pair))
    equal = np.eye(n_labels, dtype=bool)
    if n_labels > 2:
        tables = own.tables(w)
        assert (tables[:, equal] >= 0).all()
        assert (tables[:, ~equal] <= 0).all()


@examples(5, 12)
@given(labelled(n_labels=2, attractive=True), st.sampled_from([0.5, 5.0]), st.sampled_from(["bcfw", "one_slack"]))
def test_attractive_training_is_the_optimum_within_the_bounds(problem, C, solver):
    task, X, Y, _ = problem
    model = mm.StructuredSVM(task, C=C, tol=1e-3, solver=solver).fit(X, Y)
    best = brute_force(task, X, Y, C, geometry=Geometry(np.zeros(task.dim), *task.bounds_)).value
    assert model.certificate_.exact
    assert model.certificate_.method == "min-cut"
    assert model.certificate_.dual <= best + 1e-7 * (1 + best)
    assert best - 1e-7 * (1 + best) <= model.certificate_.primal <= best * 1.002 + 1e-7


@examples(5, 12)
@given(labelled(n_labels=2, attractive=True, pairwise="full"), st.integers(0, 99))
def test_the_objective_is_that_of_full_tables(problem, seed):
    """In other coordinates of the same weights."""
    task, X, Y, _ = problem
    plain = Graph(costs=task.costs, directed=task.directed)
    plain.setup(X, Y)
    w = np.random.default_rng(seed).normal(size=task.dim)
    same = w.copy()
    same[plain.edge_weights_.coordinates] = task.edge_weights_.tables(w)
    expected = objective(plain, X, Y, 3.0, same)
    free = Graph(costs=task.costs, directed=task.directed, attractive=True, method="junction_tree")
    assert objective(free, X, Y, 3.0, w) == pytest.approx(expected)


@examples(5, 8)
@given(labelled(n_labels=2, attractive=True, method="junction_tree"), st.integers(0, 99))
def test_contract_of_attractive_edges(problem, seed):
    check_task(problem.task, problem.X, problem.Y, trials=1, seed=seed)


@examples(5, 8)
@given(labelled(n_labels=3, pairwise="potts", attractive=True), st.sampled_from([0.5, 5.0]))
def test_three_labels_that_attract(problem, C):
    task, X, Y, _ = problem
    model = mm.StructuredSVM(task, C=C, tol=1e-3).fit(X, Y)
    best = brute_force(task, X, Y, C, geometry=Geometry(np.zeros(task.dim), *task.bounds_)).value
    assert model.w_[: task.first_].min(initial=0.0) >= 0
    assert model.certificate_.dual <= best + 1e-7 * (1 + best)
    assert best - 1e-7 * (1 + best) <= model.certificate_.primal <= best * 1.002 + 1e-7


def rings(n=8, n_labels=2, seed=0):
    rng = np.random.default_rng(seed)
    Y = [np.repeat(rng.integers(0, n_labels, 4), 3) for _ in range(n)]
    edges = [(i, (i + 1) % 12) for i in range(12)]
    X = [Nodes(np.eye(n_labels)[y] + rng.normal(size=(12, n_labels)), edges, np.ones((12, 2)) * [1, 0.5]) for y in Y]
    return X, Y


def test_potts_weights_have_names():
    X, Y = rings(n_labels=3)
    model = mm.GraphLabeler(C=1.0, pairwise="potts").fit(X, Y)
    assert model.edge_coef_.shape == (2,)
    edges = model.weights_["edges"]
    assert edges.axes == ("feature",)
    np.testing.assert_array_equal(edges, model.edge_coef_)
    assert edges[0] == model.edge_coef_[0] > 0  # neighbours are equal as a rule
    assert any(each.name == "edges: feature=0" for each in model.top_weights(n=20))
    fixed = mm.GraphLabeler(C=1.0, pairwise="potts", bounds={("edges", 1): (0, 0)}, prior={("edges", 0): 0.5})
    fixed.fit(X, Y)
    assert fixed.edge_coef_[1] == 0
    near = mm.GraphLabeler(C=1e-6, pairwise="potts", prior={("edges", 0): 0.5}).fit(X, Y)
    assert near.edge_coef_[0] == pytest.approx(0.5, abs=1e-4)


def test_potts_edges_with_a_kernel_of_nodes():
    X, Y = rings()
    linear, dual = (
        mm.GraphLabeler(C=5, kernel=kernel, pairwise="potts", tol=1e-4).fit(X, Y) for kernel in (None, "linear")
    )
    assert dual.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=3e-4)
    assert dual.weights_["edges"].shape == (2,)


def test_sums_of_weights_have_no_bounds_by_name():
    X, Y = rings()
    for option in ({"bounds": {"edges": (0, 1)}}, {"prior": {"edges": 0.5}}):
        with pytest.raises(ValueError, match="these are not weights that are learnt"):
            mm.GraphLabeler(attractive=True, **option).fit(X, Y)
    model = mm.GraphLabeler(attractive=True, bounds={"nodes": (-1, 1)}).fit(X, Y)
    tables = model.edge_coef_
    assert (tables[:, 0, 0] + tables[:, 1, 1] >= tables[:, 0, 1] + tables[:, 1, 0] - 1e-12).all()


def test_what_makes_no_sense():
    X, Y = rings()
    with pytest.raises(ValueError, match="pairwise must be 'full' or 'potts', got 'table'"):
        mm.GraphLabeler(pairwise="table").fit(X, Y)
    with pytest.raises(ValueError, match=r"directed is \[True, False\], but with pairwise='potts'"):
        mm.GraphLabeler(pairwise="potts", directed=[True, False]).fit(X, Y)
