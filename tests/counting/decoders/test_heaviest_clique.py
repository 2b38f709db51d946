from itertools import combinations

import numpy as np
import pytest
from counting.compiled.clique_moves_twin import moved, value_of
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.decoders import heaviest_clique as decoder


@st.composite
def weights(draw, least=1, most=7):
    n = draw(st.integers(least, most))
    upper = np.triu(np.array(draw(st.lists(st.integers(-3, 3), min_size=n * n, max_size=n * n))).reshape(n, n), 1)
    h = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    return (upper + upper.T).astype(float), h


def best_value(W, h, sizes):
    sets = (np.isin(np.arange(len(h)), A) for k in sizes for A in combinations(range(len(h)), k))
    return max(value_of(W, h, members) for members in sets)


@given(weights())
def test_complete_searches_find_the_best(drawn):
    W, h = drawn
    n = len(h)
    assert value_of(W, h, decoder.best_of_all(W, h)) == best_value(W, h, range(n + 1))
    for size in range(n + 1):
        for found in (decoder.best_of_all(W, h, size), decoder.best_of_size(W, h, size)):
            assert found.sum() == size
            assert value_of(W, h, found) == best_value(W, h, [size])


@given(weights(), st.integers(0, 3))
def test_what_is_settled_belongs_to_an_optimum(drawn, searched):
    W, _ = drawn
    nothing = np.zeros(len(W))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder, "SEARCHED", searched)
        members, exact = decoder.heaviest_clique(W)
    if exact:
        assert value_of(W, nothing, members) == best_value(W, nothing, range(len(W) + 1))
    assert value_of(W, nothing, members) <= best_value(W, nothing, range(len(W) + 1))


@given(weights(least=3), st.data())
def test_listed_sets_of_one_size_are_the_best(drawn, data):
    W, _ = drawn
    size = data.draw(st.integers(2, len(W)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder, "SEARCHED", 0)
        members, exact = decoder.heaviest_clique_of(W, size)
    assert exact
    assert value_of(W, np.zeros(len(W)), members) == best_value(W, np.zeros(len(W)), [size])


@given(weights(least=4, most=8), st.data())
def test_local_searches_end_where_no_step_improves(drawn, data):
    W, h = drawn
    n, nothing = len(h), np.zeros(len(h))
    found = decoder.tabu_flips(W, h)
    assert value_of(W, h, found) >= max(value_of(W, h, moved(found, v)) for v in range(n))
    size = data.draw(st.integers(2, n - 1))
    found = decoder.tabu_swaps(W, size)
    assert found.sum() == size
    others = [moved(found, u, v) for u in np.flatnonzero(found) for v in np.flatnonzero(~found)]
    assert value_of(W, nothing, found) >= max(value_of(W, nothing, other) for other in others)


def test_local_searches_find_the_best_of_twenty_vertices():
    rng, nothing = np.random.default_rng(0), np.zeros(20)
    for _ in range(5):
        upper = np.triu(rng.normal(size=(20, 20)), 1)
        W = upper + upper.T
        best = value_of(W, nothing, decoder.best_of_all(W, nothing))
        assert value_of(W, nothing, decoder.tabu_flips(W, nothing)) == pytest.approx(best)
        best = value_of(W, nothing, decoder.best_of_all(W, nothing, 7))
        assert value_of(W, nothing, decoder.tabu_swaps(W, 7)) == pytest.approx(best)
