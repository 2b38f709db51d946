import numpy as np
import pytest
from counting.compiled import clique_moves_twin as twin
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.compiled import clique_moves


@st.composite
def searches(draw):
    """Whole-numbered weights, a start, resting times, and a best set so far."""
    n = draw(st.integers(1, 6))
    upper = np.triu(np.array(draw(st.lists(st.integers(-3, 3), min_size=n * n, max_size=n * n))).reshape(n, n), 1)
    h = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    members = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    before = np.array(draw(st.permutations(members.tolist())))
    tenures = np.array(draw(st.lists(st.integers(0, 4), max_size=12)), dtype=np.int64)
    return (upper + upper.T).astype(float), h, members, tenures, before


@pytest.mark.parametrize("search", ["flip_search", "swap_search"])
@given(drawn=searches(), first=st.booleans())
def test_searches_are_their_twins(search, drawn, first):
    W, h, members, tenures, before = drawn
    highest = -np.inf if first else twin.value_of(W, h, before)
    expected, value = getattr(twin, search)(W, h, members.copy(), tenures, before.copy(), highest)
    best, gains, free_at = before.copy(), np.empty(len(h)), np.empty(len(h), dtype=np.int64)
    found = getattr(clique_moves, search)(W, h, members.copy(), gains, free_at, tenures, best, highest)
    assert found == value == twin.value_of(W, h, best)
    np.testing.assert_array_equal(best, expected)
