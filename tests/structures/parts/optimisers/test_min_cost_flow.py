"""MinCostFlow against all whole flows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parts.optimisers.listed_graphs import arc_lists
from structures.parts.optimisers.proofs_of_solvers import cost_rows

from maxmargin.optimisers import MinCostFlow


def all_flows(arcs, capacities, demands):
    every = np.array(list(product(*(range(c + 1) for c in capacities))))
    nodes = sorted({node for arc in arcs for node in arc})
    balance = np.array([[(v == node) - (u == node) for u, v in arcs] for node in nodes])
    return every[(every @ balance.T == [demands.get(node, 0) for node in nodes]).all(axis=1)]


@given(st.data(), st.integers(2, 4))
def test_all_flows(data, n_nodes):
    arcs = data.draw(arc_lists(n_nodes, most=6))
    capacities = data.draw(st.lists(st.integers(0, 2), min_size=len(arcs), max_size=len(arcs)))
    source, sink = arcs[0][0], arcs[-1][1]
    amount = data.draw(st.integers(0, 2))
    demands = {source: -amount, sink: amount} if source != sink else {}
    flows = all_flows(arcs, capacities, demands)
    if not len(flows):
        with pytest.raises(
            ValueError, match=r"the demands cannot be met within the capacities: at best, .*(lack|keep)"
        ):
            MinCostFlow(arcs, capacities, demands)
        return
    solver = MinCostFlow(arcs, capacities, demands)
    costs = data.draw(cost_rows(len(arcs)))
    for c, z in zip(costs, solver.solve_many(costs), strict=True):
        solver.check(z)
        assert (flows == z).all(axis=1).any()
        assert c @ z == pytest.approx((flows @ c).min(), abs=1e-6 * np.abs(c).max())
        np.testing.assert_array_equal(solver(c), z)


def test_goods():
    """From two stores to two shops; the cheap way is too narrow for all."""
    arcs = [("store", "shop"), ("store", "market"), ("barn", "shop"), ("barn", "market")]
    solver = MinCostFlow(arcs, [3, np.inf, np.inf, np.inf], {"store": -5, "barn": -2, "shop": 4, "market": 3})
    np.testing.assert_array_equal(solver([1, 5, 3, 3]), [3, 2, 1, 1])


def test_what_is_refused():
    arcs = [("a", "b"), ("b", "c")]
    with pytest.raises(ValueError, match="at best, 'a' keeps 1 of 2, 'c' lacks 1 of 2"):
        MinCostFlow(arcs, [2, 1], {"a": -2, "c": 2})
    with pytest.raises(ValueError, match="nodes take 2 out of the network and put 1 in; expected equal amounts"):
        MinCostFlow(arcs, 1, {"a": -1, "c": 2})
    with pytest.raises(ValueError, match=r"the demand of 'a' is 0.5; expected a whole number"):
        MinCostFlow(arcs, 1, {"a": 0.5})
    with pytest.raises(ValueError, match="a node with a demand is 'd', which is not an end of any arc"):
        MinCostFlow(arcs, 1, {"d": 1})
    with pytest.raises(ValueError, match=r"expected \{node: whole number\}"):
        MinCostFlow(arcs, 1, [1, 2, 3])
    with pytest.raises(ValueError, match=r"the capacity of arc 1 \('b' -> 'c'\) is -1.0; expected a whole number >= 0"):
        MinCostFlow(arcs, [1, -1], {})
    with pytest.raises(ValueError, match=r"capacities have shape \(3,\); expected a number, or \(2,\)"):
        MinCostFlow(arcs, [1, 2, 3], {})
    with pytest.raises(ValueError, match=r"no best solution: .*[Uu]nbounded"):
        MinCostFlow([(0, 1), (1, 0)], np.inf, {})([-1, 0])


def test_what_is_no_flow_is_named():
    solver = MinCostFlow([("a", "b"), ("b", "c")], 2, {"a": -1, "c": 1})
    with pytest.raises(ValueError, match=r"arc 0 \('a' -> 'b'\) has z = 3.0; expected a whole number from 0 to 2.0"):
        solver.check([3, 3])
    with pytest.raises(ValueError, match="1 more flows into node 'b' than out of it; expected 0"):
        solver.check([1, 0])
