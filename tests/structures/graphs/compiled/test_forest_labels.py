import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from inputs.labels.compiled import spanning_forest_twin as twin
from structures.graphs.compiled import pairwise_twin as pairwise
from structures.graphs.pairwise_strategies import edge_lists, forest_edges, models

from maxmargin.structures.graphs.compiled.forest_labels import best_labels, breadth_first
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs


def walked(n_nodes, edges):
    arcs = SortedArcs.of(n_nodes, edges)
    order, parent, link = np.full((3, n_nodes), 77, dtype=np.int32)
    return breadth_first(arcs.bounds, arcs.head, arcs.edge, order, parent, link), order, parent, link


@given(st.data())
def test_all_nodes_are_visited_after_their_parents(data):
    n = data.draw(st.integers(0, 7))
    edges = data.draw(edge_lists(n))
    spanned, order, parent, link = walked(n, edges)
    parts = twin.trees(n, edges.tolist())
    assert spanned == n - len(parts)
    assert sorted(order) == list(range(n))
    place = {int(node): at for at, node in enumerate(order)}
    for i in range(n):
        if parent[i] < 0:
            assert parent[i] == link[i] == -1
        else:
            assert place[int(parent[i])] < place[i]
            assert sorted(edges[link[i]]) == sorted([i, parent[i]])
    assert sum(parent[i] < 0 for i in range(n)) == len(parts)


@given(models(edges=forest_edges))
def test_score_is_that_of_enumeration_and_of_the_labels(model):
    _, *order = walked(model.n_nodes, model.edges)
    below, choice = np.full(model.unary.shape, np.nan), np.full(model.unary.shape, 77, dtype=np.int32)
    labels = np.full(model.n_nodes, 77, dtype=np.int32)
    found = best_labels(*model, *order, below, choice, labels)
    assert found == pairwise.best_value(model) == pairwise.value(model, labels)
