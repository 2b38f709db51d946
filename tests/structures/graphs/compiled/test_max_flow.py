import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow
from strategies import whole
from structures.graphs.compiled import flow_twin as twin
from structures.graphs.pairwise_strategies import edge_lists

from maxmargin.structures.graphs.compiled.max_flow import (
    AT_TERMINAL,
    FAR,
    FREE,
    ORPHAN,
    SINK,
    SOURCE,
    components,
    max_flow,
    rooted,
)
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs


def arc_list(arcs, room):
    """(tail, head, room) of every arc."""
    return [(int(arcs.head[arcs.reverse[a]]), int(arcs.head[a]), room[a]) for a in range(len(room))]


def filled(arcs, supply, room, tol=0.0):
    """(flow, supply, room, tree) after the kernel, whose scratch arrays hold rubbish."""
    n = len(supply)
    left, space, work = supply.copy(), room.copy(), np.full((7, n), 77, dtype=np.int32)
    max_flow(n, arcs.bounds, arcs.head, arcs.reverse, left, space, tol, work)
    return supply[supply > 0].sum() - left[supply > 0].sum(), left, space, work[0]


def assert_is_largest(arcs, supply, room, found, tol=0.0):
    """What is left is a flow, and nothing more can be sent: what the source reaches is cut off from the sink."""
    flow, left, space, tree = found
    assert (space >= 0).all()
    assert ((left >= 0) | (supply < 0)).all()
    assert ((left <= 0) | (supply > 0)).all()
    np.testing.assert_allclose(space + space[arcs.reverse], room + room[arcs.reverse], atol=1e-9)
    out = np.zeros(len(supply))
    for a, (tail, _, _) in enumerate(arc_list(arcs, room)):
        out[tail] += room[a] - space[a]
    np.testing.assert_allclose(out, supply - left, atol=1e-9)
    open_arcs = [(tail, head) for tail, head, rest in arc_list(arcs, space) if rest > tol]
    source_side = twin.reached(np.flatnonzero(left > tol).tolist(), open_arcs)
    sink_side = twin.reached(np.flatnonzero(left < -tol).tolist(), [(head, tail) for tail, head in open_arcs])
    assert set(np.flatnonzero(tree == SOURCE)) == source_side
    assert set(np.flatnonzero(tree == SINK)) == sink_side
    assert not source_side & sink_side
    cut = sum(rest for tail, head, rest in arc_list(arcs, room) if tail in source_side and head not in source_side)
    for i, amount in enumerate(supply):
        cut += max(amount, 0.0) if i not in source_side else max(-amount, 0.0)
    assert flow == pytest.approx(cut, abs=1e-9)


@st.composite
def networks(draw, numbers):
    n = draw(st.integers(1, 7))
    arcs = SortedArcs.of(n, draw(edge_lists(n, most_edges=14)))
    supply = draw(hnp.arrays(np.float64, n, elements=numbers)) - draw(hnp.arrays(np.float64, n, elements=numbers))
    return arcs, supply, draw(hnp.arrays(np.float64, len(arcs.head), elements=numbers))


@given(networks(st.integers(0, 4)))
def test_flow_equals_that_of_augmenting_paths(network):
    arcs, supply, room = network
    found = filled(arcs, supply, room)
    assert found[0] == twin.largest_flow(supply, arc_list(arcs, room))
    assert_is_largest(arcs, supply, room, found)


@given(networks(st.floats(0, 1)))
def test_flow_of_any_capacities_ends_and_is_largest(network):
    arcs, supply, room = network
    assert_is_largest(arcs, supply, room, filled(arcs, supply, room, 1e-14), 1e-14)


@pytest.mark.parametrize("strength", [3, 30, 300])
@pytest.mark.parametrize("n_neighbours", [4, 8])
def test_flow_of_a_grid_equals_scipys(strength, n_neighbours):
    rng, side = np.random.default_rng(strength), 30
    places = np.arange(side * side).reshape(side, side)
    shifts = [(0, 1), (1, 0), (1, 1), (1, -1)][: n_neighbours // 2]
    edges = np.concatenate(
        [
            np.stack([places[: side - a, max(0, -b) : side - max(0, b)], places[a:, max(0, b) : side + min(0, b)]], -1)
            for a, b in shifts
        ],
        axis=None,
    ).reshape(-1, 2)
    arcs = SortedArcs.of(side * side, edges)
    supply = rng.integers(-100, 101, side * side).astype(float)
    room = rng.integers(0, strength + 1, len(arcs.head)).astype(float)
    tails, heads, rests = map(np.array, zip(*arc_list(arcs, room), strict=True))
    n = side * side
    rows = np.concatenate([tails, np.full((supply > 0).sum(), n), np.flatnonzero(supply < 0)])
    columns = np.concatenate([heads, np.flatnonzero(supply > 0), np.full((supply < 0).sum(), n + 1)])
    values = np.concatenate([rests, supply[supply > 0], -supply[supply < 0]]).astype(np.int32)
    graph = sparse.csr_array((values, (rows, columns)), shape=(n + 2, n + 2))
    found = filled(arcs, supply, room)
    assert found[0] == maximum_flow(graph, n, n + 1).flow_value
    assert_is_largest(arcs, supply, room, found)


@given(st.data())
def test_depth_is_counted_to_the_terminal_or_an_orphan_is_found(data):
    # node i hangs on a node before it, node 0 on the terminal; head[i - 1] is that node, along arc i - 1
    n = data.draw(st.integers(1, 7))
    head = np.array([data.draw(st.integers(0, i)) for i in range(n - 1)] + [0], dtype=np.int32)
    parent = np.array([AT_TERMINAL, *range(n - 1)], dtype=np.int32)
    for i in data.draw(st.sets(st.integers(0, n - 1), max_size=2)):
        parent[i] = ORPHAN
    stamp, depth = np.zeros(n, dtype=np.int32), np.full(n, 99, dtype=np.int32)

    def steps(i):
        if parent[i] == ORPHAN:
            return FAR
        return 1 if parent[i] == AT_TERMINAL else min(FAR, 1 + steps(head[parent[i]]))

    for i in data.draw(st.permutations(range(n))):
        assert rooted(i, parent, head, stamp, depth, 5) == steps(i)
    assert all(depth[i] == steps(i) for i in range(n) if stamp[i] == 5)
    assert all(stamp[i] == 5 for i in range(n) if steps(i) < FAR)


@given(st.data())
def test_components_are_those_of_mutual_reach_and_numbered_against_the_arcs(data):
    n = data.draw(st.integers(1, 7))
    arcs = SortedArcs.of(n, data.draw(edge_lists(n, most_edges=12)))
    room = data.draw(whole(len(arcs.head), 0, 1))
    skip = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, 1)))
    component, *work = np.full((5, n), 77, dtype=np.int32)
    found = components(n, arcs.bounds, arcs.head, room, 0.5, skip, component, *work)
    pairs = [(i, j) for i, j, rest in arc_list(arcs, room) if rest and not skip[i] and not skip[j]]
    reach = [twin.reached([i], pairs) for i in range(n)]
    assert set(component[skip == 0]) == set(range(found))
    assert (component[skip == 1] == -1).all()
    for i in np.flatnonzero(skip == 0):
        for j in np.flatnonzero(skip == 0):
            assert (component[i] == component[j]) == (i in reach[j] and j in reach[i])
            if j in reach[i]:
                assert component[j] <= component[i]


def test_nodes_without_supply_are_free():
    arcs = SortedArcs.of(2, [[0, 1]])
    flow, _, _, tree = filled(arcs, np.zeros(2), np.ones(2))
    assert flow == 0
    assert (tree == FREE).all()
