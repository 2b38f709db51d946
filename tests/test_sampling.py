"""Products of parameters: the sample that make test runs has every value, and finds values where they are."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling import place, sample, sampled


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5).map(tuple))
def test_every_value_of_every_list_is_in_the_sample(sizes):
    chosen = sample(sizes)
    assert len(chosen) <= max(4, *sizes)
    for i, size in enumerate(sizes):
        assert {places[i] for places in chosen} == set(range(size))


def test_two_lists_of_two_values_are_all_there():
    assert sample((2, 2)) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert len({places[1:] for places in sample((4, 2, 2))}) == 4


def item(every=None, **params):
    """A test with two lists of parameters."""
    marks = [pytest.mark.parametrize(("a", "b"), PAIRS).mark, pytest.mark.parametrize("c", SINGLES).mark]
    return SimpleNamespace(
        nodeid="test",
        callspec=SimpleNamespace(params=params),
        iter_markers=lambda name: marks,
        get_closest_marker=lambda name: every and pytest.mark.every(every).mark,
    )


PAIRS = [(0, "x"), pytest.param(0, "y", marks=pytest.mark.slow), (1, "x"), (1, "y"), (2, "z")]
SINGLES = [None, "one", 2.5]


def test_values_are_found_where_they_are():
    one = item(a=0, b="y", c="one")
    assert place(one, "a, b", PAIRS) == 1
    assert place(one, ["c"], SINGLES) == 1
    with pytest.raises(LookupError, match="are not in the list"):
        place(item(a=0, b="z", c=None), "a,b", PAIRS)


def test_an_item_is_in_the_sample_or_among_every_so_many():
    def run(every):
        return [
            (i, k)
            for i, pair in enumerate(PAIRS)
            for k, c in enumerate(SINGLES)
            for a, b in [getattr(pair, "values", pair)]
            if sampled(item(every, a=a, b=b, c=c))
        ]

    assert set(run(None)) == sample((5, 3))
    assert run(3) == [(i, k) for i in range(5) for k in range(3) if (i + k) % 3 == 0]
