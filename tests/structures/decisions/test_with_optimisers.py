"""CostLearner with the optimisers that come along."""

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import CostLearner, optimisers

OPTIMISERS = {
    "grid": optimisers.GridPath(3, 3),
    "knapsack": optimisers.Knapsack([[3, 4, 2, 5, 1, 6], [1, 1, 2, 3, 3, 1]], [9, 6]),
    "assignment": optimisers.Assignment(3, 3),
    "tracking": optimisers.Assignment(2, 3, births=True, deaths=True),
    "tree": optimisers.SpanningTree(4, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]),
    "programme": optimisers.LinearProgram([[1, 2, 1, 1]], [3], bounds=(0, 2), sense="max"),
}


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("measure", ["regret", "parts"])
def test_costs_are_learnt(name, measure):
    optimiser, rng = OPTIMISERS[name], np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    Y = X @ rng.standard_normal((3, optimiser.n_parts)) + 0.1 * rng.standard_normal((80, optimiser.n_parts))
    if measure == "parts":
        Y = optimiser.solve_many(Y)
        if not np.isin(Y, [0, 1]).all():
            with pytest.raises(ValueError, match="expected 0 or 1, or NaN"):
                CostLearner(optimiser, measure).fit(X, Y)
            return
    model = clone(CostLearner(optimiser, measure)).fit(X[:60], Y[:60])
    assert model.certificate_.converged
    assert model.score(X[60:], Y[60:]) > 0.75
    for z in model.predict(X[60:]):
        optimiser.check(z)


def test_dijkstra_is_refused():
    graph = optimisers.ShortestPath([(0, 1), (1, 2), (0, 2)], 0, 2)
    with pytest.raises(ValueError, match="dynamic programming instead of Dijkstra"):
        CostLearner(graph).fit(np.ones((4, 1)), np.ones((4, 3)))
