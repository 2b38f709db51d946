import pytest
from hypothesis import given
from inputs.labels.compiled import spanning_forest_twin as twin
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import forest_edges, models

from maxmargin.inference import PairwiseModel, best_forest, best_junction_tree, forest_order, is_forest


@given(models(edges=forest_edges))
def test_labelling_of_a_forest_is_the_best(model):
    answer = best_forest(model, forest_order(model.n_nodes, model.edges))
    assert answer.value == pairwise.value(model, answer.labels) == pairwise.best_value(model) == answer.upper
    assert answer.proved
    assert answer.relaxed is None
    assert best_forest(model).value == best_junction_tree(model).value == answer.value


@given(models(most_nodes=6))
def test_forests_are_told_from_graphs_with_cycles(model):
    edges = model.edges.tolist()
    acyclic = len(twin.kruskal(model.n_nodes, edges)) == len(edges)
    assert is_forest(model.n_nodes, model.edges) == acyclic
    assert (forest_order(model.n_nodes, model.edges) is not None) == acyclic


def test_a_cycle_is_refused():
    model = PairwiseModel.of([[0.0, 1.0]] * 3, [[0, 1], [1, 2], [2, 0]], [[[1.0, 0.0], [0.0, 1.0]]] * 3)
    with pytest.raises(ValueError, match=r"3 nodes and 3 edges has a cycle.*best_junction_tree"):
        best_forest(model)


def test_two_edges_between_two_nodes_are_a_cycle():
    assert is_forest(2, [[0, 1]])
    assert not is_forest(2, [[0, 1], [1, 0]])
