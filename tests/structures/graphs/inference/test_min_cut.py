import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import two_label_models

from maxmargin.inference import PairwiseModel, best_cut, best_roof_dual, submodular
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs

DIFFERENT = [[0.0, 1.0], [1.0, 0.0]]
EQUAL = [[1.0, 0.0], [0.0, 1.0]]


@given(two_label_models(prefer_equal=True))
def test_cut_is_the_best_labelling(model):
    assert submodular(model)
    answer = best_cut(model, SortedArcs.of(model.n_nodes, model.edges))
    assert answer.value == pairwise.value(model, answer.labels) == pairwise.best_value(model)
    assert answer.proved
    assert answer.relaxed is None
    assert best_roof_dual(model).value == best_cut(model).value == answer.value


@given(two_label_models(prefer_equal=True), st.integers(-40, 40))
def test_a_cut_of_any_scale_is_proved(model, exponent):
    factor = 1.1 * 2.0**exponent
    model = model._replace(unary=model.unary * factor / 3, pair=model.pair * factor / 7)
    answer = best_cut(model)
    scale = np.abs(model.unary).sum() + np.abs(model.pair).sum()
    assert answer.value == pytest.approx(pairwise.best_value(model), abs=1e-12 * scale)
    assert answer.value <= answer.upper <= answer.value + 1e-12 * scale


@given(two_label_models())
def test_roof_duality_solves_the_relaxation(model):
    answer = best_roof_dual(model, SortedArcs.of(model.n_nodes, model.edges))
    best = pairwise.best_value(model)
    assert answer.value == pairwise.value(model, answer.labels) <= best <= answer.upper
    assert answer.upper == pytest.approx(pairwise.relaxed_value(model), abs=1e-7)
    if answer.relaxed is None:
        assert answer.proved
        assert answer.value == best
    else:
        pairwise.assert_in_local_polytope(model, answer.relaxed)
        assert answer.relaxed.value == pytest.approx(answer.upper)
        assert answer.upper > best  # where the relaxation has a whole solution, it is found
        assert set(np.unique(answer.relaxed.nodes)) <= {0.0, 0.5, 1.0}
        known = (answer.relaxed.nodes != 0.5).all(axis=1)
        assert not known.all()
        labels = answer.relaxed.nodes.argmax(axis=1)
        assert any((np.array(z)[known] == labels[known]).all() for z in pairwise.best_labellings(model))


@given(two_label_models(prefer_equal=True), st.data())
def test_models_that_are_submodular_up_to_names_are_solved(model, data):
    """Labels of some nodes are exchanged: edges prefer different labels, but there is no conflict."""
    turned = np.array(data.draw(st.lists(st.booleans(), min_size=model.n_nodes, max_size=model.n_nodes)), dtype=bool)
    unary = np.where(turned[:, None], model.unary[:, ::-1], model.unary)
    first, second = turned[model.edges].T
    pair = np.where(first[:, None, None], model.pair[:, ::-1], model.pair)
    pair = np.where(second[:, None, None], pair[:, :, ::-1], pair)
    answer = best_roof_dual(PairwiseModel.of(unary, model.edges, pair))
    assert answer.relaxed is None
    assert answer.proved
    assert answer.value == pairwise.best_value(model)


def test_a_conflict_halves_the_nodes_of_its_cycle_only():
    # three nodes that would all differ, and a fourth with an opinion of its own
    model = PairwiseModel.of([[0, 0], [0, 0], [0, 0], [0, 3]], [[0, 1], [1, 2], [2, 0], [0, 3]], [DIFFERENT] * 4)
    answer = best_roof_dual(model)
    np.testing.assert_array_equal(answer.relaxed.nodes, [[0.5, 0.5]] * 3 + [[0, 1]])
    assert answer.upper == answer.relaxed.value == pytest.approx(6.5)
    assert answer.value == pairwise.best_value(model) == 6
    assert not answer.proved


def test_ties_are_decided():
    model = PairwiseModel.of(np.zeros((4, 2)), [[0, 1], [1, 2], [2, 3], [3, 0]], [DIFFERENT] * 4)
    answer = best_roof_dual(model)
    assert answer.relaxed is None
    assert answer.value == answer.upper == 4


def test_large_grids_of_conflicts_are_bounded_from_both_sides():
    rng, side = np.random.default_rng(0), 40
    places = np.arange(side * side).reshape(side, side)
    right, down = ((places[:, :-1], places[:, 1:]), (places[:-1], places[1:]))
    edges = np.concatenate([np.stack(ends, -1).reshape(-1, 2) for ends in (right, down)])
    model = PairwiseModel.of(rng.normal(size=(side * side, 2)), edges, 0.5 * rng.normal(size=(len(edges), 2, 2)))
    answer = best_roof_dual(model)
    assert model.value(answer.labels) == answer.value
    assert answer.value <= answer.upper
    if answer.relaxed is not None:
        pairwise.assert_in_local_polytope(model, answer.relaxed)
        assert answer.relaxed.value == pytest.approx(answer.upper, rel=1e-12)


def test_edges_that_prefer_different_labels_are_named():
    model = PairwiseModel.of(np.zeros((3, 2)), [[0, 1], [2, 1]], [EQUAL, DIFFERENT])
    assert not submodular(model)
    with pytest.raises(ValueError, match=r"edge 1 between the nodes \(2, 1\) prefers different labels.*roof duality"):
        best_cut(model)


@pytest.mark.parametrize("method", [submodular, best_cut, best_roof_dual])
def test_more_labels_are_refused(method):
    with pytest.raises(ValueError, match=f"{method.__name__} is for two labels, the model has 3"):
        method(PairwiseModel.of(np.zeros((1, 3)), [], np.zeros((0, 3, 3))))
