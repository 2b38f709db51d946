"""Compiled coverage against sets of documents written out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.diversity.compiled import coverage_twin as twin
from structures.diversity.coverage_strategies import Collection, collections

from maxmargin.structures.diversity.compiled.coverage import cover_bound, gain_terms, greedy_cover, swap_documents


def counted(drawn, order):
    counts = np.zeros(len(drawn.values), dtype=np.int32)
    for d in order:
        counts[drawn.documents[d]] += 1
    return counts


def greedy(drawn, k=None):
    """The order that is found, and how often it has looked at a document."""
    order = np.full(drawn.k if k is None else k, -1, dtype=np.int64)
    counts, bounds = np.full(len(drawn.values), 77, dtype=np.int32), np.full(len(drawn.base), np.nan)
    looks = greedy_cover(drawn.indptr, drawn.items, drawn.values, drawn.base, counts, bounds, order)
    np.testing.assert_array_equal(counts, counted(drawn, order))
    return order, looks


def bound(drawn, k=None, floor=-np.inf, steps=10):
    k = drawn.k if k is None else k
    n_documents = np.bincount(drawn.items, minlength=len(drawn.values)).astype(np.int64)
    theta, counts = np.full(len(drawn.values), np.nan), np.full(len(drawn.values), 77, dtype=np.int32)
    top, best = np.full(k, np.nan), np.full(k, -1, dtype=np.int64)
    arrays = drawn.indptr, drawn.items, drawn.values, drawn.base, n_documents
    return cover_bound(*arrays, floor, steps, theta, counts, top, best)


@given(collections(), st.data())
def test_gain_is_what_a_document_adds(drawn, data):
    before = data.draw(st.sets(st.integers(0, len(drawn.base) - 1)))
    d = data.draw(st.sampled_from([d for d in range(len(drawn.base)) if d not in before] or [None]))
    if d is None:
        return
    counts = counted(drawn, before)
    more, less = gain_terms(drawn.indptr, drawn.items, drawn.values, drawn.base, counts, d)
    assert less >= 0
    added = twin.worth(drawn.documents, drawn.values, drawn.base, [*before, d])
    assert more - less == pytest.approx(added - twin.worth(drawn.documents, drawn.values, drawn.base, list(before)))


@given(collections())
def test_lazy_evaluation_gives_the_plain_greedy_order(drawn):
    """To the last bit: ties go to the first document in both, and sums are rounded in the same way."""
    order, _ = greedy(drawn, len(drawn.base))
    assert order.tolist() == twin.greedy(drawn.documents, drawn.values, drawn.base, len(drawn.base))


@given(collections())
def test_shorter_orders_are_how_longer_ones_begin(drawn):
    assert greedy(drawn)[0].tolist() == greedy(drawn, len(drawn.base))[0][: drawn.k].tolist()


def test_lazy_evaluation_is_lazy():
    """Documents with nothing in common are looked at once, except the best one of every round."""
    n = 50
    documents = [[d] for d in range(n)]
    indptr, items = np.arange(n + 1, dtype=np.int64), np.arange(n, dtype=np.int32)
    values = np.arange(n, 0, -1.0)
    order, counts, bounds = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32), np.empty(n)
    assert greedy_cover(indptr, items, values, np.zeros(n), counts, bounds, order) == n + n - 1
    assert order.tolist() == twin.greedy(documents, values, np.zeros(n), n)


@given(collections(low=0))
def test_ratio_holds_where_all_values_are_positive(drawn):
    """Greedy reaches 1 - (1 - 1/k)^k >= 1 - 1/e of the best set (Nemhauser, Wolsey and Fisher 1978)."""
    found = twin.worth(drawn.documents, drawn.values, drawn.base, greedy(drawn)[0].tolist())
    best = twin.best(drawn.documents, drawn.values, drawn.base, drawn.k)
    assert found >= (1 - (1 - 1 / drawn.k) ** drawn.k) * best - 1e-9


def test_ratio_does_not_hold_with_negative_values():
    """Two documents share an item of value -6: each alone gains -1, so that greedy takes others; both gain 4."""
    documents, values = [[0, 1], [0, 2], [3], [4]], [-6.0, 5.0, 5.0, 0.5, 0.5]
    base = [0.0] * 4
    order = twin.greedy(documents, values, base, 2)
    assert order == [2, 3]
    found, best = twin.worth(documents, values, base, order), twin.best(documents, values, base, 2)
    assert (found, best) == (1.0, 4.0)
    assert found < (1 - 1 / np.e) * best
    indptr, items = np.array([0, 2, 4, 5, 6]), np.array([0, 1, 0, 2, 3, 4], dtype=np.int32)
    order_found = np.empty(2, dtype=np.int64)
    greedy_cover(indptr, items, np.array(values), np.zeros(4), np.empty(5, dtype=np.int32), np.empty(4), order_found)
    assert order_found.tolist() == order


@given(collections(), st.integers(1, 30), st.sampled_from([0.0, 1.0, 5.0]))
def test_bound_is_never_below_the_best_set(drawn, steps, below):
    """Whatever the floor, which decides how far steps go."""
    best = twin.best(drawn.documents, drawn.values, drawn.base, drawn.k)
    found = twin.worth(drawn.documents, drawn.values, drawn.base, greedy(drawn)[0].tolist())
    assert bound(drawn, floor=found - below, steps=steps) >= best - 1e-9


@given(collections())
def test_first_bound_counts_every_item_of_every_document(drawn):
    """θ = 1: the k documents that are worth most, each by itself."""
    owners = [sum(item in document for document in drawn.documents) for item in range(len(drawn.values))]

    def score(d):
        own = [(drawn.values[v], owners[v]) for v in drawn.documents[d]]
        return drawn.base[d] + sum(value if value > 0 else value / min(drawn.k, n) for value, n in own)

    scores = sorted(map(score, range(len(drawn.base))), reverse=True)
    assert bound(drawn, floor=-100.0, steps=1) == pytest.approx(sum(scores[: drawn.k]))


def test_steps_lower_the_bound():
    """Four documents with the same item: θ = 1 counts it twice, and the steps find out."""
    drawn = Collection([[0]] * 4, np.array([3.0]), np.zeros(4), np.arange(5), np.zeros(4, dtype=np.int32), 2)
    assert bound(drawn, floor=3.0, steps=1) == 6.0
    assert bound(drawn, floor=3.0, steps=2) == pytest.approx(3.0)


@given(collections())
def test_bound_is_tight_for_one_document(drawn):
    """With k = 1 nothing overlaps: greedy is exact, and the bound says so."""
    order, _ = greedy(drawn, 1)
    best = twin.best(drawn.documents, drawn.values, drawn.base, 1)
    assert twin.worth(drawn.documents, drawn.values, drawn.base, order.tolist()) == pytest.approx(best)
    assert bound(drawn, 1, best) == pytest.approx(best)


@given(collections(), st.data())
def test_swaps_end_where_no_swap_helps(drawn, data):
    order = np.array(data.draw(st.permutations(range(len(drawn.base))))[: drawn.k], dtype=np.int64)
    before = twin.worth(drawn.documents, drawn.values, drawn.base, order.tolist())
    counts, chosen = counted(drawn, order), np.full(len(drawn.base), 7, dtype=np.int8)
    swaps = swap_documents(drawn.indptr, drawn.items, drawn.values, drawn.base, counts, chosen, order, 100)
    found = order.tolist()
    assert len(set(found)) == drawn.k
    np.testing.assert_array_equal(counts, counted(drawn, found))
    after = twin.worth(drawn.documents, drawn.values, drawn.base, found)
    assert (after > before) if swaps else (after == before)
    rest = [d for d in range(len(drawn.base)) if d not in found]
    for place in range(drawn.k):
        for d in rest:
            other = [*found[:place], d, *found[place + 1 :]]
            assert twin.worth(drawn.documents, drawn.values, drawn.base, other) <= after + 1e-9


def test_swaps_stop_after_the_given_rounds():
    documents = [[0], [1], [2]]
    values, indptr = np.array([1.0, 2.0, 3.0]), np.arange(4, dtype=np.int64)
    items, order = np.arange(3, dtype=np.int32), np.array([0])
    counts, chosen = np.array([1, 0, 0], dtype=np.int32), np.empty(3, dtype=np.int8)
    assert swap_documents(indptr, items, values, np.zeros(3), counts, chosen, order, 0) == 0
    assert order.tolist() == [0]
    assert swap_documents(indptr, items, values, np.zeros(3), counts, chosen, order, 1) == 1
    assert order.tolist() == [2]
    assert max(combinations(range(3), 1), key=lambda z: twin.worth(documents, values, np.zeros(3), z)) == (2,)
