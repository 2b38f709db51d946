"""Orders without learning, against cases worked by hand."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from structures.diversity.coverage_strategies import queries

from maxmargin.baselines import essential_pages, marginal_relevance, okapi, random_order, unweighted_words
from maxmargin.tasks import Documents

TEXTS = ["red apple", "red apple pie", "green tea pot", "red"]


def test_random_order_is_a_permutation_by_seed():
    texts = ["word"] * 20
    orders = [random_order(texts, random_state=seed).tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == list(range(20)) for order in orders)
    assert random_order(texts, 3).tolist() == orders[0][:3]


def test_unweighted_words_cover_most_words():
    # 1 and 2 have three new words each, then all others are covered
    assert unweighted_words(TEXTS).tolist() == [1, 2, 0, 3]
    assert unweighted_words(["one", "", "one two"]).tolist() == [2, 0, 1]


def test_essential_pages_weigh_words_by_frequency():
    """-r log2 r: 0.5 for a word in one or two of four documents, 0.311 in three, 0 in all."""
    # red 0.311, apple 0.5, pie 0.5; green, tea, pot 0.5 each
    assert essential_pages(TEXTS).tolist() == [2, 1, 0, 3]
    # all words common to all documents are worth nothing: the first wins, whatever its length
    assert essential_pages(["all of them", "all of them"]).tolist() == [0, 1]
    # unweighted, the long document of rare words wins; here the words that several share do
    texts = ["a1 a2 a3", "shared two", "shared two", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"]
    assert unweighted_words(texts, 1).tolist() == [0]
    rare, shared = -1 / 12 * np.log2(1 / 12), -2 / 12 * np.log2(2 / 12)
    assert 3 * rare > 2 * shared  # not yet
    assert essential_pages(texts, 1).tolist() == [0]
    assert essential_pages(["a1 a2", *texts[1:]], 1).tolist() == [1]


def test_okapi_by_hand():
    x = Documents(["jaguar car", "jaguar jaguar", "cat", "car jaguar engine oil"], query="jaguar")
    # word in three of four documents, lengths 2, 2, 1, 4 of mean 2.25
    rarity = log(1 + (4 - 3 + 0.5) / (3 + 0.5))

    def score(times, length):
        return rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / 2.25))

    scores = [score(1, 2), score(2, 2), 0.0, score(1, 4)]
    assert okapi(x).tolist() == sorted(range(4), key=lambda d: -scores[d]) == [1, 0, 3, 2]
    two = Documents(["jaguar car", "jaguar jaguar", "cat", "car jaguar engine oil"], query="car")
    assert okapi(two).tolist() == [0, 3, 1, 2]
    # without damping by length, longer documents are no worse
    assert okapi(Documents(["car oil oil", "car"], query="car"), b=0.0).tolist() == [0, 1]
    assert okapi(Documents(["car oil oil", "car"], query="car")).tolist() == [1, 0]
    assert okapi(Documents(TEXTS, query="unknown")).tolist() == [0, 1, 2, 3]


def test_marginal_relevance_by_hand():
    texts = ["jaguar car", "jaguar car", "jaguar cat wild animal", "other"]
    x = Documents(texts, query="jaguar")
    assert okapi(x).tolist() == [0, 1, 2, 3]
    assert marginal_relevance(x, balance=1.0).tolist() == [0, 1, 2, 3]
    # the second is the first again
    assert marginal_relevance(x, balance=0.5).tolist()[:2] == [0, 2]
    assert marginal_relevance(x, balance=0.0).tolist()[:2] == [0, 3]  # 3 has no word of 0 at all
    # at the balance where both are equal, the switch: relevance r2 against 1 - balance · (1 - cosine)
    mean, lengths = 9 / 4, (2, 4)
    scores = [1 / (1 + 1.2 * (0.25 + 0.75 * length / mean)) for length in lengths]
    weights = {"jaguar": log(5 / 4), "car": log(5 / 3), "cat": log(5 / 2)}
    norms = sqrt(weights["jaguar"] ** 2 + weights["car"] ** 2), sqrt(weights["jaguar"] ** 2 + 3 * weights["cat"] ** 2)
    cosine = weights["jaguar"] ** 2 / norms[0] / norms[1]
    lost = 1 - scores[1] / scores[0]
    switch = (1 - cosine) / (1 - cosine + lost)
    assert marginal_relevance(x, 2, balance=switch - 1e-6).tolist() == [0, 2]
    assert marginal_relevance(x, 2, balance=switch + 1e-6).tolist() == [0, 1]


@given(queries(most=1))
def test_orders_name_every_document_once(drawn):
    ((counts, _),) = drawn[0][:1]
    x = Documents(counts, query=[0])
    n = len(x)
    for order in (random_order, unweighted_words, essential_pages, okapi, marginal_relevance):
        found = order(x)
        assert found.dtype == np.int64
        assert sorted(found.tolist()) == list(range(n))
        assert order(x, 1).tolist() == found[:1].tolist()


def test_bad_input():
    for order in (okapi, marginal_relevance):
        with pytest.raises(ValueError, match=r"the query is not known; use tasks.Documents\(documents, query="):
            order(TEXTS)
    with pytest.raises(ValueError, match="n is 5; expected a number of documents from 1 to 4"):
        essential_pages(TEXTS, 5)
    with pytest.raises(ValueError, match="balance must be a number from 0"):
        marginal_relevance(Documents(TEXTS, query="red"), balance=1.5)
