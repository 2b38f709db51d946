"""Regrets by hand."""

import numpy as np
import pytest
from structures.decisions.listed import EachByItself, Listed, Together, subsets

from maxmargin.metrics import Scorer, decision_regret, regret


@pytest.mark.parametrize("kind", [Listed, Together])
def test_regret_by_hand(kind):
    one_of_three = kind(subsets(3, 1))
    true, predicted = [[1.0, 2.0, 5.0], [3.0, 3.0, 2.0]], [[4.0, 1.0, 9.0], [2.0, 9.0, 1.0]]
    assert regret(one_of_three, predicted, true) == pytest.approx((1 + 0) / (1 + 2))
    assert regret(one_of_three, true, true) == 0
    dearest = kind(subsets(3, 1), "max")
    assert regret(dearest, predicted, true) == pytest.approx((0 + 0) / 8)
    assert regret(dearest, [[1, 2, 0], [0, 0, 1]], true) == pytest.approx((3 + 1) / (5 + 3))


def test_optimisers_of_their_own_and_other_sizes():
    own = [Listed(subsets(3, 1)), Listed(subsets(2, 1))]
    assert regret(own, [[0, 1, 1], [1, 0]], [[2.0, 1.0, 1.0], [1.0, 4.0]]) == pytest.approx((1 + 3) / 2)


def test_where_the_best_decisions_cost_nothing():
    assert regret(EachByItself(), np.ones((2, 3)), np.ones((2, 3))) == 0
    assert regret(EachByItself(), -np.ones((2, 3)), np.ones((2, 3))) == np.inf


def test_decisions_are_judged_however_they_were_made():
    one_of_two = Listed(subsets(2, 1))
    assert decision_regret([[1.0, 3.0]], [[0, 1]], one_of_two) == 2.0
    scorer = Scorer(decision_regret, sign=-1, optimiser=one_of_two)

    class Second:
        def predict(self, X):
            return np.array([[0, 1]])

    assert scorer(Second(), None, [[1.0, 3.0]]) == -2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: regret(o, [[1, 2]], [[1, 2], [2, 1]]), "true costs of 2 examples but predicted costs of 1"),
        (lambda o: regret(o, [[1, 2, 3]], [[1, 2]]), "the decision of example 0 has 3 numbers; expected 2, one per"),
        (lambda o: regret(o, np.zeros((0, 2)), np.zeros((0, 2))), "nothing to score"),
        (lambda o: regret(o, [[1, 2], [1, np.nan]], [[1, 2], [2, 1]]), "the costs of example 1 are not finite"),
        (lambda o: regret(o, [[1, 2]], [[1, 2]], sense="low"), "sense must be 'min', 'max' or None"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(lambda costs: (costs == costs.min()).astype(float))
