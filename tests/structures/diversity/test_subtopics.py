"""Subtopics against all sets of k documents. Errors of training data are in test_estimator.py."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from maxmargin.structures.diversity.subtopics import Subtopics


@given(st.lists(st.sets(st.integers(0, 5), max_size=3), min_size=2, max_size=8), st.integers(1, 4), st.booleans())
def test_best_sets_cover_as_much_as_any(of, k, by_documents):
    of[0].add(0)
    k = min(k, len(of))
    subtopics = Subtopics(of, "documents" if by_documents else "equal")
    most = max(subtopics.covered(z) for z in combinations(range(len(of)), k))
    assert subtopics.most(k) == most
    best = subtopics.best(k)
    assert len(best) <= k
    own = [frozenset(each.tolist()) for each in subtopics.numbers]
    assert set(best) <= set(own)
    assert subtopics.covered([own.index(each) for each in best]) == most
    for size in range(len(best)):  # none of them adds nothing
        assert not best[size] <= frozenset().union(*best[:size])
