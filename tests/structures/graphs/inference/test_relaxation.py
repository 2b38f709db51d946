import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import grids, models

from maxmargin.inference import Accuracy, PairwiseModel, best_relaxation
from maxmargin.structures.graphs.inference import relaxation

MODELS = models(most_nodes=6) | models(most_nodes=9, labels=(2, 2), edges=grids)


def cycle(n_nodes):
    """A cycle whose edges all want different labels."""
    edges = [(i, (i + 1) % n_nodes) for i in range(n_nodes)]
    different = 1.0 - np.eye(2)
    return PairwiseModel.of(np.zeros((n_nodes, 2)), edges, np.broadcast_to(different, (n_nodes, 2, 2)))


def spin_glass(rng, side, n_labels, strength):
    places = np.arange(side * side).reshape(side, side)
    right = np.stack([places[:, :-1], places[:, 1:]], -1).reshape(-1, 2)
    down = np.stack([places[:-1], places[1:]], -1).reshape(-1, 2)
    edges = np.concatenate([right, down])
    pair = strength * rng.normal(size=(len(edges), n_labels, n_labels))
    return PairwiseModel.of(rng.normal(size=(side * side, n_labels)), edges, pair)


def reached(answer):
    return answer.value if answer.relaxed is None else answer.relaxed.value


def check(model, answer, messages, best, tol):
    """All that an answer promises, where `best` is the value of the relaxation."""
    assert answer.value == pytest.approx(pairwise.value(model, answer.labels))
    assert answer.upper == pytest.approx(max(answer.value, pairwise.bound(model, messages)), abs=1e-9)
    assert reached(answer) - 1e-7 <= best <= answer.upper + 1e-7
    assert answer.upper - reached(answer) <= tol
    if answer.relaxed is not None:
        pairwise.assert_in_local_polytope(model, answer.relaxed)
        np.testing.assert_allclose(answer.relaxed.nodes.sum(axis=1), 1.0, atol=1e-12)
        assert answer.relaxed.value > answer.value
        assert answer.upper - answer.value > tol


@given(MODELS, st.sampled_from([1e-2, 1e-5]))
def test_answer_is_within_tol_of_the_relaxation(model, tol):
    answer, messages = best_relaxation(model, tol=tol)
    check(model, answer, messages, pairwise.relaxed_value(model), tol)
    assert answer.value <= pairwise.best_value(model) <= answer.upper + 1e-9


@given(MODELS, st.data())
def test_answer_from_other_messages_is_within_tol_too(model, data):
    start = data.draw(whole((model.n_edges, 2, model.n_labels)))
    before = start.copy()
    answer, messages = best_relaxation(model, start)
    np.testing.assert_array_equal(start, before)
    check(model, answer, messages, pairwise.relaxed_value(model), 1e-2)
    again, kept = best_relaxation(model, messages)
    check(model, again, kept, pairwise.relaxed_value(model), 1e-2)


@pytest.mark.parametrize("n_nodes", [3, 5, 9])
def test_odd_cycle_is_fractional(n_nodes):
    model = cycle(n_nodes)
    answer, _ = best_relaxation(model)
    assert answer.value == n_nodes - 1
    assert answer.upper == pytest.approx(n_nodes, abs=1e-2)
    assert answer.relaxed is not None
    assert answer.relaxed.value == pytest.approx(n_nodes, abs=1e-2)
    np.testing.assert_allclose(answer.relaxed.nodes, 0.5, atol=0.05)


def test_even_cycle_is_not():
    answer, _ = best_relaxation(cycle(6))
    assert answer.value == 6
    assert answer.relaxed is None


@pytest.mark.parametrize(("side", "n_labels", "strength"), [(5, 3, 1.0), (6, 4, 2.0), (4, 6, 3.0)])
@pytest.mark.parametrize("seed", range(3))
def test_frustrated_grids_are_solved_and_fractional(side, n_labels, strength, seed):
    model = spin_glass(np.random.default_rng(seed), side, n_labels, strength)
    best = pairwise.relaxed_value(model)
    cold, messages = best_relaxation(model)
    check(model, cold, messages, best, 1e-2)
    sharp, sharp_messages = best_relaxation(model, tol=1e-5)
    check(model, sharp, sharp_messages, best, 1e-5)
    rng = np.random.default_rng(seed + 100)
    changed = model._replace(unary=model.unary + 0.02 * rng.normal(size=model.unary.shape))
    warm, warm_messages = best_relaxation(changed, messages)
    check(changed, warm, warm_messages, pairwise.relaxed_value(changed), 1e-2)


def test_frustration_shows_in_fractional_answers():
    models = [spin_glass(np.random.default_rng(seed), 6, 4, 2.0) for seed in range(6)]
    assert sum(best_relaxation(model)[0].relaxed is not None for model in models) >= 3


def test_answer_stays_honest_where_steps_run_out():
    model = spin_glass(np.random.default_rng(3), 6, 4, 2.0)
    answer, messages = best_relaxation(model, sweeps=1, steps=1)
    best = pairwise.relaxed_value(model)
    assert reached(answer) <= best + 1e-7
    assert best <= answer.upper + 1e-7
    assert answer.upper == pytest.approx(pairwise.bound(model, messages))
    if answer.relaxed is not None:
        pairwise.assert_in_local_polytope(model, answer.relaxed)


def test_value_does_not_depend_on_the_numbers_of_nodes_and_labels():
    rng = np.random.default_rng(5)
    model = spin_glass(rng, 5, 3, 2.0)
    nodes, labels = rng.permutation(model.n_nodes), rng.permutation(model.n_labels)
    number = np.argsort(nodes)
    other = PairwiseModel.of(
        model.unary[nodes][:, labels], number[model.edges], model.pair[:, labels][:, :, labels]
    )  # fmt: skip
    one, two = (best_relaxation(each, tol=1e-4)[0] for each in (model, other))
    assert reached(one) == pytest.approx(reached(two), abs=2e-4)


def test_models_without_edges_or_nodes_are_solved():
    no_edges = np.empty((0, 2), dtype=int), np.empty((0, 2, 2))
    answer, messages = best_relaxation(PairwiseModel.of([[1.0, 2.0], [4.0, 3.0]], *no_edges))
    assert answer.labels.tolist() == [1, 0]
    assert answer.value == answer.upper == 6.0
    assert messages.shape == (0, 2, 2)
    empty, _ = best_relaxation(PairwiseModel.of(np.empty((0, 2)), *no_edges))
    assert empty.value == empty.upper == 0.0


@pytest.mark.parametrize("scale", [1e-8, 1e-5, 1.0, 1e8])
def test_the_size_of_scores_does_not_matter(scale):
    rng = np.random.default_rng(1)
    every = [(1, 0), (2, 0), (2, 1)]
    for _ in range(40):
        edges = [every[e] for e in rng.integers(0, 3, 6)]
        model = PairwiseModel.of(scale * rng.standard_normal((3, 4)), edges, scale * rng.standard_normal((6, 4, 4)))
        size = np.abs(model.unary).sum() + np.abs(model.pair).sum()
        answer, _ = best_relaxation(model, None, 1e-6 * size)
        reached = answer.value if answer.relaxed is None else answer.relaxed.value
        assert answer.upper - reached <= 1.01e-6 * size


@given(MODELS, st.floats(-5.0, 5.0), st.floats(0.01, 1.0))
def test_the_more_is_news_the_less_the_rest_matters(model, below, share):
    best = pairwise.relaxed_value(model)
    accuracy = Accuracy(1e-3, known=best - below, news=share, least=1e-6)
    answer, messages = best_relaxation(model, tol=accuracy)
    allowed = max(1e-3, share * (reached(answer) - best + below))
    assert accuracy.allowed(reached(answer)) == pytest.approx(allowed)
    check(model, answer._replace(relaxed=None), messages, best, np.inf)
    assert answer.upper - reached(answer) <= allowed
    if answer.relaxed is not None:
        pairwise.assert_in_local_polytope(model, answer.relaxed)


def test_what_is_near_enough_depends_on_the_value():
    accuracy = Accuracy(1.0, base=10.0, near=0.1, known=14.0, news=0.5, least=0.01)
    assert [accuracy.allowed(value) for value in (9.0, 12.0, 14.2, 15.0, 100.0)] == pytest.approx(
        [0.01, 0.2, 0.42, 0.5, 43.0]
    )


def test_large_moves_of_labels_spare_the_linear_programme(monkeypatch):
    rng = np.random.default_rng(0)
    model = spin_glass(rng, 30, 3, 0.0)
    model = model._replace(pair=np.broadcast_to(1.5 * np.eye(3), model.pair.shape).copy())
    monkeypatch.setattr(relaxation, "ResidualModel", None)  # whoever needs one fails
    answer, _ = best_relaxation(model, tol=Accuracy(1e-9, base=0.0, near=1.0, known=0.0, news=0.01))
    assert answer.upper - answer.value <= 0.01 * answer.value
