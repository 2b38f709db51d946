"""Measures of one ranking against scikit-learn's, and their ties against all orders."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

from maxmargin.structures.ranking.orders import (
    average_precision,
    concordance,
    discounts,
    gains,
    ideal_dcg,
    ndcg,
    precision_at,
    worst_order,
)


@st.composite
def rankings(draw, high=3, ties=True, most=7):
    """Levels, of which at least two differ, and scores."""
    n = draw(st.integers(2, most))
    levels = draw(hnp.arrays(np.float64, n, elements=st.integers(0, high)))
    levels[:2] = 0, draw(st.integers(1, high))
    if ties:
        return levels, draw(hnp.arrays(np.float64, n, elements=st.integers(-1, 1)))
    return levels, np.array(draw(st.permutations(range(n))), dtype=float)


def orders(scores):
    """All orders that go by these scores."""
    return [o for o in map(list, permutations(range(len(scores)))) if (np.diff(scores[o]) <= 0).all()]


@given(rankings(ties=False), st.sampled_from([None, 1, 2, 20]))
def test_without_ties_they_are_those_of_scikit_learn(drawn, k):
    levels, scores = drawn
    order = worst_order(levels, scores)
    assert (np.diff(scores[order]) < 0).all()
    assert ndcg(levels, order, k) == pytest.approx(ndcg_score([2**levels - 1], [scores], k=k))
    assert ideal_dcg(levels, k) == pytest.approx(dcg_score([2**levels - 1], [levels], k=k, ignore_ties=True))
    relevant = (levels >= 1).astype(float)
    assert average_precision(relevant, order) == pytest.approx(average_precision_score(relevant, scores))
    assert concordance(relevant, scores) == pytest.approx(roc_auc_score(relevant, scores))


@given(rankings(most=6), st.sampled_from([None, 1, 3]))
def test_ties_count_in_the_worst_order(drawn, k):
    levels, scores = drawn
    relevant = (levels >= 1).astype(float)
    every, worst = orders(scores), worst_order(levels, scores)
    assert worst.tolist() in every
    assert ndcg(levels, worst, k) == pytest.approx(min(ndcg(levels, order, k) for order in every))
    worst = worst_order(relevant, scores)
    assert average_precision(relevant, worst) == pytest.approx(min(average_precision(relevant, o) for o in every))
    for n in (1, 2, 9):
        assert precision_at(relevant, worst, n) == min(precision_at(relevant, np.array(o), n) for o in every)


@given(rankings(high=1))
def test_area_under_the_curve_with_ties(drawn):
    levels, scores = drawn
    assert concordance(levels, scores) == pytest.approx(roc_auc_score(levels, scores))


@given(rankings(high=1), st.data())
def test_weighted_area_under_the_curve(drawn, data):
    levels, scores = drawn
    weights = data.draw(hnp.arrays(np.float64, len(levels), elements=st.integers(1, 3)))
    assert concordance(levels, scores, weights) == pytest.approx(roc_auc_score(levels, scores, sample_weight=weights))
    times = weights.astype(int)
    assert concordance(levels, scores, weights) == pytest.approx(
        concordance(np.repeat(levels, times), np.repeat(scores, times))
    )


@given(rankings())
def test_concordance_counts_pairs_of_different_level(drawn):
    levels, scores = drawn
    pairs = [(i, j) for i, j in product(range(len(levels)), repeat=2) if levels[i] > levels[j]]
    right = [(scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]) for i, j in pairs]
    assert concordance(levels, scores) == pytest.approx(np.mean(right))


@given(rankings(most=6), st.sampled_from([None, 1, 3]))
def test_no_ranking_is_better_than_the_ideal_one(drawn, k):
    levels, _ = drawn
    every = [list(order) for order in permutations(range(len(levels)))]
    assert max(ndcg(levels, order, k) for order in every) == pytest.approx(1)
    assert ndcg(levels, np.argsort(-levels), k) == 1  # to the last digit, or the truth would have a loss


def test_gains_and_discounts():
    assert gains([0, 1, 2, 4]).tolist() == [0, 1, 3, 15]
    np.testing.assert_allclose(discounts(4), [1, 1 / np.log2(3), 0.5, 1 / np.log2(5)])
    assert discounts(4, 2)[2:].tolist() == [0, 0]
    assert discounts(2, 9).tolist() == discounts(2).tolist()
    assert discounts(0).tolist() == []


def test_precision_of_fewer_rows_than_wanted():
    assert precision_at(np.array([1.0, 0.0]), np.array([0, 1]), 4) == 0.25
