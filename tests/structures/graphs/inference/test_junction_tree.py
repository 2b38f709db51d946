from itertools import pairwise as neighbours

import numpy as np
import pytest
from hypothesis import given
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import grids, models

from maxmargin.inference import PairwiseModel, best_junction_tree, elimination_order, is_forest
from maxmargin.structures.graphs.inference import junction_tree as module


def grid(height, width):
    places = np.arange(height * width).reshape(height, width)
    return np.concatenate(
        [
            np.stack([places[:, :-1], places[:, 1:]], -1).reshape(-1, 2),
            np.stack([places[:-1], places[1:]], -1).reshape(-1, 2),
        ]
    )


@given(models() | models(most_nodes=9, labels=(2, 2), edges=grids))
def test_labelling_is_the_best(model):
    elimination = elimination_order(model.n_nodes, model.edges, model.n_labels)
    answer = best_junction_tree(model, elimination)
    assert answer.value == pairwise.value(model, answer.labels) == pairwise.best_value(model) == answer.upper
    assert answer.proved
    assert best_junction_tree(model).value == answer.value


@given(models(most_nodes=7))
def test_order_removes_every_node_with_all_neighbours_it_has_by_then(model):
    elimination = elimination_order(model.n_nodes, model.edges, model.n_labels)
    near = {i: set() for i in range(model.n_nodes)}
    for i, j in model.edges.tolist():
        near[i].add(j)
        near[j].add(i)

    def lacking(node):
        return sum(j not in near[i] for i in near[node] for j in near[node] if i < j)

    for node, clique in zip(elimination.order, elimination.cliques, strict=True):
        assert (lacking(node), len(near[node])) == min((lacking(i), len(near[i])) for i in near)
        around = near.pop(node)
        assert clique[0] == node
        assert sorted(clique[1:]) == sorted(around)
        for i in around:
            near[i] = (near[i] | around) - {i, node}
    assert not near
    assert elimination.width == max((len(clique) - 1 for clique in elimination.cliques), default=0)
    assert elimination.n_entries == sum(model.n_labels ** len(clique) for clique in elimination.cliques)
    if is_forest(model.n_nodes, model.edges):
        assert elimination.width == min(1, model.n_edges)


@pytest.mark.parametrize(
    ("n", "edges", "width"),
    [
        (6, [(i, (i + 1) % 6) for i in range(6)], 2),
        (5, [(i, j) for i in range(5) for j in range(i)], 4),
        (12, grid(3, 4), 3),
        (400, [*neighbours(range(400)), (0, 399), (10, 200)], 2),
    ],
    ids=["cycle", "complete", "grid", "chain with two more edges"],
)
def test_width_of_known_graphs(n, edges, width):
    assert elimination_order(n, edges, 2).width == width


def test_large_tables_are_given_up():
    assert elimination_order(16, grid(4, 4), 11).width == 4
    assert elimination_order(110, grid(10, 11), 11) is None
    assert elimination_order(30, [(i, j) for i in range(30) for j in range(i)], 1) is None
    assert elimination_order(16, grid(4, 4), 11, most_entries=11**5 - 1) is None
    needed = elimination_order(16, grid(4, 4), 3).n_entries
    assert elimination_order(16, grid(4, 4), 3, most_in_all=needed) is not None
    assert elimination_order(16, grid(4, 4), 3, most_in_all=needed - 1) is None


def test_large_entangled_graphs_are_given_up(monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTANGLED", 10)
    assert elimination_order(16, grid(4, 4), 2) is None
    ladder = grid(2, 50)  # has a node that is easy to remove at any time
    assert elimination_order(100, ladder, 2).width == 2


def test_errors_say_what_to_do():
    edges = grid(10, 11)
    model = PairwiseModel.of(np.zeros((110, 11)), edges, np.zeros((len(edges), 11, 11)))
    with pytest.raises(ValueError, match=r"110 nodes and 199 edges has too many cycles for 11 labels.*relaxation"):
        best_junction_tree(model)
    with pytest.raises(ValueError, match="is for 4 nodes and 11 labels; the model has 110 and 11"):
        best_junction_tree(model, elimination_order(4, [[0, 1]], 11))
