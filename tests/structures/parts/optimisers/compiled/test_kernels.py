"""Compiled searches against their twins, on problems too large to list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from structures.parts.optimisers.compiled import solver_twins as twins

from maxmargin.counting.decoders.arborescence import best_heads
from maxmargin.optimisers import Arborescence, DagPath, Knapsack, ShortestPath, SpanningTree
from maxmargin.structures.parts.optimisers import knapsack

seeds = st.integers(0, 2**32 - 1)


def drawn(rng, n, whole):
    return rng.integers(-4, 5, n).astype(float) if whole else rng.standard_normal(n)


@given(seeds, st.booleans())
def test_paths(seed, whole):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(3, 30))
    arcs = [tuple(sorted(rng.choice(n_nodes, 2, replace=False))) for _ in range(3 * n_nodes)]
    arcs += [(i, i + 1) for i in range(n_nodes - 1)]
    costs = drawn(rng, len(arcs), whole)
    z = DagPath(arcs, 0, n_nodes - 1)(costs)
    assert costs @ z == pytest.approx(twins.cheapest_path(costs, arcs, 0, n_nodes - 1), abs=1e-12)


@pytest.mark.parametrize("table", [0, 2**40])
@given(seed=seeds, whole=st.booleans(), kinds=st.integers(1, 2))
def test_knapsacks(table, seed, whole, kinds):
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(1, 12))
    weights, capacities = rng.integers(0, 6, (kinds, n_items)), rng.integers(0, 20, kinds)
    values = drawn(rng, n_items, whole)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(knapsack, "TABLE", table)
        solver = Knapsack(weights, capacities)
        assert solver.method == ("table" if table else "search")
        z = solver(values)
    solver.check(z)
    assert values @ z == pytest.approx(twins.fullest_knapsack(values, weights, capacities), abs=1e-12)


@given(seeds, st.booleans())
def test_spanning_trees(seed, whole):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 20))
    arcs = [(int(rng.integers(v)), v) for v in range(1, n_nodes)]
    arcs += [tuple(map(int, rng.integers(0, n_nodes, 2))) for _ in range(2 * n_nodes)]
    costs = drawn(rng, len(arcs), whole)
    solver = SpanningTree(n_nodes, arcs)
    z = solver(costs)
    solver.check(z)
    assert costs @ z == pytest.approx(twins.cheapest_tree(costs, arcs, n_nodes), abs=1e-12)


@given(seeds, st.booleans())
def test_arborescences(seed, whole):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 7))
    arcs = [(int(rng.integers(v)), v) for v in range(1, n_nodes)]
    arcs += [tuple(map(int, rng.integers(0, n_nodes, 2))) for _ in range(2 * n_nodes)]
    costs = drawn(rng, len(arcs), whole)
    solver = Arborescence(n_nodes, arcs)
    z = solver(costs)
    solver.check(z)
    assert costs @ z == pytest.approx(twins.cheapest_arborescence(costs, arcs, n_nodes, 0), abs=1e-12)


@given(seeds)
def test_cycles_within_cycles(seed):
    """A cheap cycle in a cheap cycle … of pairs: as many rounds of contraction as there are levels.

    Every level's arcs are dearer than those within, so that each contraction makes the next cycle.
    """
    rng = np.random.default_rng(seed)
    levels = int(rng.integers(2, 7))
    n_nodes = 2**levels + 1
    arcs, costs = [(0, v) for v in range(1, n_nodes)], list(1e6 + rng.random(n_nodes - 1))
    for level in range(levels):
        size = 2**level
        for first in range(1, n_nodes, 2 * size):
            for tail, head in ((first, first + size), (first + size, first)):
                arcs.append((tail + int(rng.integers(size)), head + int(rng.integers(size))))
                costs.append(10.0**level * (1 + rng.random()))
    costs = np.array(costs)
    solver = Arborescence(n_nodes, arcs)
    z = solver(costs)
    solver.check(z)
    assert costs @ z == pytest.approx(_by_matrices(costs, arcs, n_nodes), rel=1e-9)


def _by_matrices(costs, arcs, n_nodes):
    """By the decoder of dense matrices that counting has."""
    scores = np.full((n_nodes, n_nodes), -np.inf)
    for (u, v), cost in zip(arcs, costs, strict=True):
        scores[u, v] = max(scores[u, v], -cost)
    return -scores[best_heads(scores), np.arange(1, n_nodes)].sum()


@given(seeds, st.booleans(), st.booleans())
def test_shortest_paths(seed, whole, directed):
    """Against scipy, of graphs with no costs of 0 and no arc twice, which it would read in another way."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 40))
    pairs = {tuple(map(int, rng.integers(0, n_nodes, 2))) for _ in range(4 * n_nodes)}
    pairs |= {(i, i + 1) for i in range(n_nodes - 1)}
    arcs = sorted((u, v) for u, v in pairs if directed or u < v)
    costs = 1e-3 + np.abs(drawn(rng, len(arcs), whole))
    solver = ShortestPath(arcs, 0, n_nodes - 1, directed)
    z = solver(costs)
    solver.check(z)
    matrix = sparse.coo_array((costs, np.array(arcs).T), shape=(n_nodes, n_nodes)).tocsr()
    assert costs @ z == pytest.approx(dijkstra(matrix, directed, 0)[n_nodes - 1], rel=1e-12)
