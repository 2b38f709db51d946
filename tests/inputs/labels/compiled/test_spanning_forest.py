import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs.labels.compiled import spanning_forest_twin as twin
from strategies import whole
from structures.clustering.pair_strategies import graphs

from maxmargin.inputs.labels.compiled.spanning_forest import root, spanning_forests


def spanned(drawn, orders):
    """The edges that the compiled function takes of every graph, where all graphs lie in one table."""
    starts = np.append(0, np.cumsum([len(edges) for _, edges in drawn]))
    table = np.array([edge for _, edges in drawn for edge in edges], dtype=np.int32).reshape(-1, 2)
    n_items = np.array([n for n, _ in drawn], dtype=np.int64)
    order = np.concatenate([np.array(own, dtype=np.int64) + at for own, at in zip(orders, starts, strict=False)])
    bounds = np.append(0, np.cumsum(list(map(len, orders))))
    parent = np.full(int(n_items.max()), 77, dtype=np.int32)
    taken, counts = np.full(int((n_items - 1).sum()), -1, dtype=np.int64), np.empty(len(drawn), dtype=np.int64)
    first, second = (np.ascontiguousarray(table[:, side]) for side in (0, 1))
    spanning_forests(order, bounds, n_items, first, second, parent, taken, counts)
    ends = np.append(0, np.cumsum(counts))
    assert (taken[ends[-1] :] == -1).all()
    return [(taken[ends[j] : ends[j + 1]] - starts[j]).tolist() for j in range(len(drawn))]


@given(st.lists(graphs(most_items=7, most_edges=12), min_size=1, max_size=4), st.data())
def test_edges_that_close_no_cycle_are_taken_in_order(drawn, data):
    orders = []
    for _, edges in drawn:
        allowed = data.draw(st.permutations(range(len(edges))))
        orders.append(allowed[: data.draw(st.integers(0, len(edges)))])
    for (n_items, edges), order, taken in zip(drawn, orders, spanned(drawn, orders), strict=True):
        assert taken == [order[k] for k in twin.kruskal(n_items, [edges[e] for e in order])]


@given(graphs(), st.data())
def test_no_forest_weighs_more(graph, data):
    n_items, edges = graph
    weights = data.draw(whole(len(edges)))
    order = sorted((e for e in range(len(edges)) if weights[e] > 0), key=lambda e: -weights[e])
    (taken,) = spanned([graph], [order])
    best = max(sum(weights[e] for e in forest) for forest in twin.forests(n_items, edges))
    assert sum(weights[e] for e in taken) == pytest.approx(best)


@given(st.data())
def test_root_is_found_and_the_way_to_it_halved(data):
    n = data.draw(st.integers(1, 8))
    parent = np.array([data.draw(st.integers(0, i)) for i in range(n)], dtype=np.int32)

    def depth(links, item):
        return 0 if links[item] == item else 1 + depth(links, links[item])

    for item in range(n):
        links, top, before = parent.copy(), item, depth(parent, item)
        while parent[top] != top:
            top = parent[top]
        assert root(links, item) == top
        assert depth(links, item) == (before + 1) // 2
