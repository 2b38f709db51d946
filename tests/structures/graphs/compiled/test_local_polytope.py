import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import whole
from structures.graphs.compiled import local_polytope_twin as twin
from structures.graphs.compiled import messages_twin as message_twin
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import models

from maxmargin.inference import PairwiseModel
from maxmargin.structures.graphs.compiled.local_polytope import gather, project, repair, residual_bound, settle, step
from maxmargin.structures.graphs.inference.messages import NodeLinks
from maxmargin.structures.graphs.inference.residual import ResidualModel

MODELS = models(labels=(2, 3))


@st.composite
def kept_labels(draw, model):
    """At least one label of every node."""
    kept = draw(hnp.arrays(bool, model.unary.shape))
    for row in kept:
        row[draw(st.integers(0, model.n_labels - 1))] = True
    return kept


def restricted(model, kept):
    """The same model, where labels that are not kept are too bad to be used."""
    return PairwiseModel(model.unary - 1000.0 * ~kept, model.edges, model.pair)


def drawn_messages(data, model):
    return data.draw(whole((model.n_edges, 2, model.n_labels)))


def everything(model):
    return np.ones(model.unary.shape, dtype=bool)


QUARTERS = st.integers(-20, 20).map(lambda n: n / 4)


@given(hnp.arrays(np.float64, st.integers(1, 6), elements=QUARTERS | st.floats(-5, 5)))
def test_projection_is_the_nearest_point_of_the_simplex(numbers):
    row = np.concatenate([[7.0], numbers, [8.0]])
    project(row, 1, len(row) - 1)
    np.testing.assert_allclose(row, [7.0, *twin.project(numbers), 8.0], atol=1e-12)


def test_projection_of_huge_numbers_is_still_a_point_of_the_simplex():
    row = np.array([1e17, 1e17, 1e17])
    project(row, 0, 3)
    np.testing.assert_allclose(row.sum(), 1.0)


@given(MODELS, st.data())
def test_step_and_bound_are_their_twins_where_all_labels_are_left(model, data):
    messages = drawn_messages(data, model)
    residual = ResidualModel.of(model, everything(model), messages)
    nodes = np.array([twin.project(row) for row in data.draw(whole(model.unary.shape))]).reshape(model.unary.shape)
    tables = np.abs(data.draw(whole(model.pair.shape)))
    x, z, y = np.empty(len(residual.scores)), np.empty(len(residual.tables)), residual.messages.copy()
    gather(residual, nodes, tables, x, z)
    np.testing.assert_array_equal(x, nodes.ravel())
    np.testing.assert_array_equal(z, tables.ravel())
    bound = residual_bound(residual, y, np.empty(len(x)))
    np.testing.assert_allclose(bound, pairwise.bound(model, messages))
    weight = data.draw(st.sampled_from([0.25, 1.0, 3.0]))
    scratch = np.empty(len(x)), np.empty(model.n_labels)
    step(residual, x, z, y, weight, *scratch)
    new_nodes, new_tables, new_messages = twin.step(model, nodes, tables, messages, weight)
    np.testing.assert_allclose(x, new_nodes.ravel(), atol=1e-12)
    np.testing.assert_allclose(z, new_tables.ravel(), atol=1e-12)
    np.testing.assert_allclose(y, new_messages.ravel(), atol=1e-12)


@given(MODELS, st.data())
def test_repaired_tables_are_their_twins_and_feasible(model, data):
    residual = ResidualModel.of(model, everything(model), np.zeros((model.n_edges, 2, model.n_labels)))
    nodes = np.array([twin.project(row) for row in data.draw(whole(model.unary.shape))]).reshape(model.unary.shape)
    tables = np.abs(data.draw(whole(model.pair.shape))) / 4
    out = np.empty(len(residual.tables))
    value = repair(residual, nodes.ravel(), tables.ravel(), out, np.empty(model.n_labels))
    out = out.reshape(model.pair.shape)
    for e, (i, j) in enumerate(model.edges):
        np.testing.assert_allclose(out[e], twin.repair(tables[e], nodes[i], nodes[j]), atol=1e-12)
        np.testing.assert_allclose(out[e].sum(axis=1), nodes[i], atol=1e-12)
        np.testing.assert_allclose(out[e].sum(axis=0), nodes[j], atol=1e-12)
    assert (out >= 0).all()
    np.testing.assert_allclose(value, model.relaxed_value(nodes, out), atol=1e-9)


def solved_residual(model, data):
    """Some labels and messages of a model, and the residual with these and its solution."""
    kept, start = data.draw(kept_labels(model)), drawn_messages(data, model)
    residual = ResidualModel.of(model, kept, start)
    return kept, start, residual, residual.solved(None, np.inf, 1e-6, 100_000)


@pytest.mark.slow
@given(MODELS, st.data())
def test_residual_is_the_model_without_the_other_labels(model, data):
    kept, _, residual, solved = solved_residual(model, data)
    pairwise.assert_in_local_polytope(model, solved.point)
    assert (solved.point.nodes[~kept] == 0.0).all()
    best = pairwise.relaxed_value(restricted(model, kept))
    np.testing.assert_allclose(solved.point.value, best, atol=2e-6)
    again = residual.solved(solved.point, np.inf, 1e-6, 100_000)
    np.testing.assert_allclose(again.point.value, best, atol=2e-6)


@pytest.mark.slow
@given(MODELS, st.data())
def test_messages_of_a_residual_that_settle_prove_its_bound_of_the_model(model, data):
    kept, start, residual, solved = solved_residual(model, data)
    settled = residual.extended(solved.messages, start)
    np.testing.assert_allclose(settled.upper, pairwise.bound(model, settled.messages), atol=1e-9)
    assert settled.upper >= pairwise.relaxed_value(model) - 1e-7
    assert (settled.excess[kept] == -np.inf).all()
    if (settled.excess <= 0).all():
        np.testing.assert_allclose(settled.upper, solved.point.value, atol=1e-5)


@given(MODELS, st.data(), st.booleans())
def test_settling_is_its_twin(model, data, forward):
    kept = data.draw(kept_labels(model))
    messages = drawn_messages(data, model)
    before, expected = messages.copy(), messages.copy()
    first_link, _, links, _, order = NodeLinks.of(model.n_nodes, model.edges)
    excess, scratch = np.empty(model.unary.shape), (np.empty(model.n_labels), np.empty(model.n_labels))
    worst = settle(model.unary, model.pair, first_link, links, order, forward, kept, messages, *scratch, excess)
    found = message_twin.settle(model, order.tolist() if forward else order[::-1].tolist(), kept, expected)
    np.testing.assert_allclose(messages, expected, atol=1e-9)
    np.testing.assert_allclose(excess, found, atol=1e-9)
    assert worst == excess.max(initial=-np.inf)
    for e, ends in enumerate(model.edges):
        for side, i in enumerate(ends):
            np.testing.assert_array_equal(messages[e, side, kept[i]], before[e, side, kept[i]])
