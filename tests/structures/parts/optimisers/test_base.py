"""What all solvers share: checks of costs and answers, defaults, parameters."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin.base.arrays import read_only
from maxmargin.optimisers import (
    Arborescence,
    Assignment,
    CostSolver,
    DagPath,
    GridPath,
    Knapsack,
    LinearProgram,
    MinCostFlow,
    Optimiser,
    ShortestPath,
    SpanningTree,
)


class Cheapest(Optimiser):
    """One part of any number."""

    same_size = True

    def solve(self, costs):
        return np.eye(len(costs))[costs.argmin()]


def test_a_solver_of_ones_own():
    solver: CostSolver = Cheapest()
    np.testing.assert_array_equal(solver([3, 1, 2]), [0, 1, 0])
    np.testing.assert_array_equal(solver.solve_many([[3, 1], [1, 3]]), [[0, 1], [1, 0]])
    solver.check([0, 1, 0])
    assert (solver.n_parts, solver.sense, solver.exact, solver.nonnegative) == (None, "min", True, False)
    with pytest.raises(NotImplementedError, match="Optimiser has no solve"):
        Optimiser()([1.0])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1, 2], r"costs have shape \(2,\); expected \(4,\), a number for every part"),
        (np.ones((2, 4)), r"costs have shape \(2, 4\); expected \(4,\)"),
        ([1, np.nan, 1, 1], "the cost of part 1 is nan; expected a finite number"),
        ([1, 1, 1, -np.inf], "the cost of part 3 is -inf; expected a finite number"),
        ([1, 1, 1e308, 1], r"the cost of part 2 is 1e\+308; expected costs whose sum is a finite number"),
        (np.ones(4) * 1j, "Complex data not supported"),
    ],
)
def test_costs_that_are_refused(costs, message):
    with pytest.raises(ValueError, match=message):
        GridPath(2, 2)(costs)


def test_rows_of_costs_that_are_refused():
    with pytest.raises(ValueError, match=r"costs have shape \(4,\); expected \(n, 4\)"):
        GridPath(2, 2).solve_many(np.ones(4))
    with pytest.raises(ValueError, match="row 1: the cost of part 2 is nan"):
        GridPath(2, 2).solve_many([[1, 1, 1, 1], [1, 1, np.nan, 1]])
    with pytest.raises(ValueError, match=r"row 0: the cost of part 1 is -2.0; expected a number >= 0"):
        ShortestPath([(0, 1), (0, 1)], 0, 1).solve_many([[0, -2]])


@pytest.mark.parametrize(
    ("z", "message"),
    [
        ([1, 0], r"z has shape \(2,\); expected \(4,\)"),
        ([1, 0, 0.5, 0], "part 2 has z = 0.5; expected 0 or 1"),
        ([1, 0, np.nan, 0], "part 2 has z = nan; expected a finite number"),
    ],
)
def test_answers_that_are_none(z, message):
    with pytest.raises(ValueError, match=message):
        GridPath(2, 2).check(z)


def test_parameters():
    solver = Knapsack([1, 2, 3], capacity=3)
    assert solver.get_params() == {"weights": [1, 2, 3], "capacity": 3}
    assert repr(solver) == "Knapsack(capacity=3, weights=[1, 2, 3])"
    bigger = clone(solver).set_params(capacity=6)
    assert solver([1, 1, 9]).tolist() == [0, 0, 1]
    assert bigger([1, 1, 9]).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="Knapsack has no parameter 'weight'"):
        solver.set_params(weight=1)
    with pytest.raises(ValueError, match="capacity must be whole numbers"):
        solver.set_params(capacity=-1)
    assert solver.capacity == 3


SOLVERS = [
    GridPath(3, 4),
    DagPath([(0, 1), (1, 2), (0, 2)], 0, 2),
    ShortestPath([(0, 1), (1, 2), (0, 2)], 0, 2, directed=False),
    Knapsack([1, 2, 3, 4], 5),
    Knapsack([[1, 2, 3, 4]] * 3, [5, 6, 7]),
    Assignment(3, 4, births=True, deaths=True),
    LinearProgram([[1, 1, 1]], [2], bounds=(0, 1)),
    MinCostFlow([(0, 1), (1, 2), (0, 2)], 2, {0: -2, 2: 2}),
    SpanningTree(3, [(0, 1), (1, 2), (0, 2)]),
    Arborescence(3, [(0, 1), (1, 2), (0, 2), (2, 1)]),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_threads_share_a_solver(solver):
    costs = np.random.default_rng(0).random((40, solver.n_parts))
    expected = solver.solve_many(costs)
    with ThreadPoolExecutor(4) as threads:
        np.testing.assert_array_equal(list(threads.map(solver, costs)), expected)
        halves = list(threads.map(solver.solve_many, np.array_split(costs, 4)))
    np.testing.assert_array_equal(np.concatenate(halves), expected)


@pytest.mark.every(3)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_costs_are_left_as_they_are(solver):
    costs = np.random.default_rng(0).random((3, solver.n_parts))
    before = costs.copy()
    solver(read_only(costs[0]))
    solver.solve_many(read_only(costs))
    solver.solve_many(np.asfortranarray(costs))
    np.testing.assert_array_equal(costs, before)
