import numpy as np
from hypothesis import given
from structures.graphs.pairwise_strategies import models

from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs


@given(models())
def test_arcs_are_the_edges_from_both_sides(model):
    arcs = SortedArcs.of(model.n_nodes, model.edges)
    tails = np.repeat(np.arange(model.n_nodes), np.diff(arcs.bounds))
    assert len(arcs.head) == 2 * model.n_edges
    np.testing.assert_array_equal(
        np.sort(np.stack([tails, arcs.head]), axis=0), np.sort(model.edges[arcs.edge].T, axis=0)
    )
    np.testing.assert_array_equal(arcs.head[arcs.reverse], tails)
    np.testing.assert_array_equal(arcs.edge[arcs.reverse], arcs.edge)
    np.testing.assert_array_equal(np.stack([tails, arcs.head])[:, arcs.forward], model.edges.T)
    np.testing.assert_array_equal(arcs.edge[arcs.forward], np.arange(model.n_edges))
