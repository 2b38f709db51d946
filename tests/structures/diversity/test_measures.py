"""Shares of subtopics covered, against counting by hand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.structures.diversity.measures import coverage_curves, random_coverage, subtopic_loss, subtopic_recall

Y = [[{"a"}, {"a", "b"}, set(), {"c"}], [{1}, set()]]


def test_recall_counts_subtopics_once():
    np.testing.assert_allclose(subtopic_recall(Y, [[0, 1, 3], [1, 0]]), [1, 1])
    np.testing.assert_allclose(subtopic_recall(Y, [[0, 1, 3], [1, 0]], 1), [1 / 3, 0])
    np.testing.assert_allclose(subtopic_recall(Y, [[0, 1, 3], [1, 0]], 2), [2 / 3, 1])
    np.testing.assert_allclose(subtopic_recall(Y, [[], []]), [0, 0])


def test_loss_weighs_subtopics_by_documents():
    np.testing.assert_allclose(subtopic_loss(Y, [[0, 1, 3], [1, 0]], 1), [2 / 4, 1])
    np.testing.assert_allclose(subtopic_loss(Y, [[0, 1, 3], [1, 0]], 1, "equal"), [2 / 3, 1])


def test_curves():
    curves = coverage_curves(Y, [[2, 1, 0, 3], np.array([0])])
    np.testing.assert_allclose(curves[0], [0, 0, 2 / 3, 2 / 3, 1])
    np.testing.assert_allclose(curves[1], [0, 1])


@given(
    st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=5).filter(any),
    st.sampled_from(["equal", "documents"]),
    st.integers(1, 6),
)
def test_random_coverage_is_the_mean_over_all_orders(of, weights, n):
    orders = list(permutations(range(len(of))))
    mean = np.mean(coverage_curves([of] * len(orders), orders, weights), axis=0)
    np.testing.assert_allclose(random_coverage([of], n, weights)[0], mean[: n + 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: subtopic_recall(Y, [[0]]), "there are subtopics for 2 queries but 1 orders"),
        (lambda: subtopic_recall([], []), "there are no queries to compare"),
        (lambda: subtopic_recall(Y, [[0, 1], [0]], 2), "the order of query 1 has 1 documents; expected at least k = 2"),
        (
            lambda: subtopic_recall(Y, [[0, 4], [0]]),
            "query 0: the order names document 4; expected numbers from 0 to 3",
        ),
        (lambda: subtopic_recall(Y, [[0, 0], [0]]), "query 0: the order names document 0 twice"),
        (lambda: subtopic_recall(Y, [[0], "ab"]), "query 1: the order is 'ab'; expected the numbers of documents"),
        (lambda: subtopic_recall(Y, [[0], [0.5]]), "query 1: the order is .0.5.; expected the numbers of documents"),
        (lambda: subtopic_recall(Y, [[0], [0]], 0), "k must be a whole number of documents, 1 or more, got 0"),
        (lambda: subtopic_loss(Y, [[0], [0]], 1, "all"), "subtopic weights must be 'documents' or 'equal', got 'all'"),
        (lambda: subtopic_loss([[set()]], [[0]]), "query 0: no document has a subtopic"),
    ],
    ids=range(10),
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
