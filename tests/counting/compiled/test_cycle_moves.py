import numpy as np
import pytest
from counting.compiled import tours_twin as twin
from counting.tour_strategies import started
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.compiled.cycle_moves import (
    climb_cycle,
    exchange,
    move_stretch,
    resize,
    reverse,
    reverse_stretch,
    shift,
)

TOLERANCE = 1e-9


def arrays(W, cycle):
    """The cycle with room for all nodes, and which nodes are in it."""
    tour, inside = np.full(len(W), -1), np.zeros(len(W), dtype=np.uint8)
    tour[: len(cycle)] = cycle
    inside[cycle] = 1
    return tour, inside


def check_move(W, cycle, tour, size, inside, gain, neighbours):
    """The move made the best of all neighbours, or nothing if none is better; and gained what it says."""
    found = tour[:size].tolist()
    before = twin.cycle_value(W, cycle)
    best = max((twin.cycle_value(W, each) for each in neighbours), default=before)
    assert len(set(found)) == size
    assert sorted(found) == np.flatnonzero(inside).tolist()
    assert found[0] == cycle[0]
    assert gain == max(best - before, 0.0)
    assert twin.cycle_value(W, found) == before + gain
    if gain == 0.0:
        assert found == list(cycle)


@given(started())
def test_the_best_node_is_inserted_or_removed(drawn):
    W, shortest, longest, cycle = drawn
    tour, inside = arrays(W, cycle)
    size, gain = resize(W, tour, len(cycle), inside, shortest, longest, TOLERANCE)
    assert shortest <= size <= longest
    check_move(W, cycle, tour, size, inside, gain, twin.resized(cycle, len(W), shortest, longest))


MOVES = {
    "stretch moved": (lambda W, tour, size, inside: move_stretch(W, tour, size, TOLERANCE), lambda c, n: twin.moved(c)),
    "stretch reversed": (
        lambda W, tour, size, inside: reverse_stretch(W, tour, size, TOLERANCE),
        lambda c, n: twin.turned(c),
    ),
    "node exchanged": (lambda W, tour, size, inside: exchange(W, tour, size, inside, TOLERANCE), twin.exchanged),
}


@pytest.mark.parametrize("move", MOVES)
@given(drawn=started())
def test_the_best_move_of_every_kind_is_made(drawn, move):
    make, neighbours = MOVES[move]
    W, _, _, cycle = drawn
    tour, inside = arrays(W, cycle)
    gain = make(W, tour, len(cycle), inside)
    check_move(W, cycle, tour, len(cycle), inside, gain, neighbours(cycle, len(W)))


@given(started())
def test_no_move_improves_the_end(drawn):
    W, shortest, longest, cycle = drawn
    tour, inside = arrays(W, cycle)
    size = climb_cycle(W, tour, len(cycle), inside, shortest, longest, TOLERANCE)
    found = tour[:size].tolist()
    assert shortest <= size <= longest
    assert sorted(found) == np.flatnonzero(inside).tolist()
    assert found[0] == cycle[0]
    value = twin.cycle_value(W, found)
    assert value >= twin.cycle_value(W, cycle)
    for neighbours in (
        twin.resized(found, len(W), shortest, longest),
        twin.moved(found),
        twin.turned(found),
        twin.exchanged(found, len(W)),
    ):
        assert all(twin.cycle_value(W, each) <= value for each in neighbours)


@given(st.integers(2, 9), st.data())
def test_stretches_are_shifted_and_reversed(n, data):
    begin = data.draw(st.integers(1, n - 1))
    length = data.draw(st.integers(1, n - begin))
    after = data.draw(st.sampled_from([p for p in range(n) if not begin - 1 <= p < begin + length] or [begin - 1]))
    tour = np.arange(n)
    at = shift(tour, begin, length, after)
    stretch, rest = list(range(begin, begin + length)), [*range(begin), *range(begin + length, n)]
    place = rest.index(after) + 1
    assert tour.tolist() == [*rest[:place], *stretch, *rest[place:]]
    assert at == place
    reverse(tour, at, at + length)
    assert tour.tolist() == [*rest[:place], *stretch[::-1], *rest[place:]]
