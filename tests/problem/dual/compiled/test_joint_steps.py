"""Steps in few weights, against the same with whole vectors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.problem.dual.compiled.joint_steps import add_changes, add_places, fill_starts, list_changes, products

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-8, 3e8])


def vectors(count):
    return st.integers(1, 8).flatmap(
        lambda dim: st.lists(st.lists(NUMBERS, min_size=dim, max_size=dim), min_size=count, max_size=count).map(
            np.array
        )
    )


@given(vectors(2), st.sampled_from([1.0, 0.5, 3.0]))
def test_changes(drawn, scale):
    before, after = drawn
    places, changes = np.empty(len(before), dtype=np.int64), np.empty(len(before))
    count = list_changes(before, after, scale, places, changes)
    np.testing.assert_array_equal(places[:count], np.flatnonzero(after != before))
    np.testing.assert_array_equal(changes[:count], ((after - before) * scale)[places[:count]])
    total = before.copy()
    add_changes(places[:count], changes[:count], total)
    np.testing.assert_array_equal(total, before + np.where(after != before, (after - before) * scale, 0.0))


@given(st.lists(st.sets(st.integers(0, 9)), max_size=4))
def test_places_of_all(sets):
    marked, listed, count = np.zeros(10, dtype=np.bool_), np.empty(10, dtype=np.int64), 0
    for each in sets:
        count = add_places(np.array(sorted(each), dtype=np.int64), marked, listed, count)
    assert sorted(listed[:count].tolist()) == sorted(set().union(*sets))
    np.testing.assert_array_equal(np.flatnonzero(marked), sorted(listed[:count].tolist()))


@given(vectors(2))
def test_products(drawn):
    way, w = drawn
    along, square = products(np.flatnonzero(way), way, w)
    np.testing.assert_allclose([along, square], [way @ w, way @ way], rtol=1e-12, atol=1e-12 * np.abs(way) @ np.abs(w))


@given(vectors(4), st.sampled_from([0.0, 1.0, 0.5]), st.data())
def test_starts(drawn, ahead, data):
    free, last = drawn[0], np.ascontiguousarray(drawn[1:])
    places = np.array(data.draw(st.lists(st.integers(0, len(free) - 1), unique=True)), dtype=np.int64)
    starts = np.full_like(last, 7.0)
    fill_starts(places, free, last, ahead, starts)
    expected = free - ahead * (last - last.mean(axis=0))
    np.testing.assert_allclose(starts[:, places], expected[:, places], rtol=1e-12, atol=1e-6)
    assert (np.delete(starts, places, axis=1) == 7.0).all()
