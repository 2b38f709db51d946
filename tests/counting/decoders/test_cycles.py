import numpy as np
import pytest
from counting.compiled import tours_twin as twin
from counting.tour_strategies import squares, started
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin.counting.decoders import bounded_cycle as bounded_module
from maxmargin.counting.decoders.bounded_cycle import bounded_cycle
from maxmargin.counting.decoders.cycle_program import programmed_cycle
from maxmargin.counting.decoders.cycle_search import local_cycle
from maxmargin.counting.decoders.cycles import best_cycle
from maxmargin.counting.decoders.held_karp import exact_cycle


def check_cycle(W, shortest, longest, front, found, best):
    """A cycle of the right length with the highest value, or one that no single move improves (best is None)."""
    assert len(set(found)) == len(found)
    assert shortest <= len(found) <= longest
    assert 0 in found or not front
    values = [twin.cycle_value(W, each) for each in twin.cycles(len(W), shortest, longest, front)]
    assert twin.cycle_value(W, found) == max(values) if best else twin.cycle_value(W, found) in values


@given(started(most=6), st.booleans())
def test_all_subsets_give_the_best_cycle(drawn, front):
    W, shortest, longest, _ = drawn
    check_cycle(W, shortest, longest, front, exact_cycle(W, shortest, longest, front), best=True)


@examples(10, 25)
@given(started(most=5), st.booleans())
def test_the_program_gives_the_best_cycle(drawn, front):
    W, shortest, longest, _ = drawn
    check_cycle(W, shortest, longest, front, programmed_cycle(W, shortest, longest, front), best=True)


@examples(6, 15)
@given(started(most=6), st.booleans())
def test_local_search_ends_in_a_cycle_that_no_move_improves(drawn, front):
    W, shortest, longest, _ = drawn
    found = local_cycle(W, shortest, longest, front)
    check_cycle(W, shortest, longest, front, found, best=False)
    assert front is False or found[0] == 0
    value = twin.cycle_value(W, found)
    assert all(twin.cycle_value(W, each) <= value for each in twin.resized(found, len(W), shortest, longest))
    assert all(twin.cycle_value(W, each) <= value for each in twin.moved(found))
    assert all(twin.cycle_value(W, each) <= value for each in twin.turned(found))
    assert all(twin.cycle_value(W, each) <= value for each in twin.exchanged(found, len(W)))
    assert local_cycle(W, shortest, longest, front) == found


@given(squares(3, 7), st.data())
def test_branch_and_bound_gives_the_best_cycle_through_the_front(W, data):
    size = data.draw(st.integers(2, len(W)))
    others = data.draw(st.permutations(range(1, len(W))))
    found, exact = bounded_cycle(W, size, [0, *others[: size - 1]])
    assert exact
    check_cycle(W, size, size, True, found, best=True)


def test_branch_and_bound_says_if_it_did_not_finish(monkeypatch):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(12, 12)) * (1 - np.eye(12))
    best = exact_cycle(W, 8, 8, True)
    known = list(range(8))
    monkeypatch.setattr(bounded_module, "STAGES", ((1, 30),))
    found, exact = bounded_cycle(W, 8, known)
    assert not exact
    assert twin.cycle_value(W, known) <= twin.cycle_value(W, found) <= twin.cycle_value(W, best)
    monkeypatch.undo()
    found, exact = bounded_cycle(W, 8, known)
    assert exact
    assert twin.cycle_value(W, found) == pytest.approx(twin.cycle_value(W, best))


@pytest.mark.parametrize("n", [16, 18])
@pytest.mark.parametrize(("shortest", "front"), [(3, False), (9, True)])
def test_searches_agree_beyond_enumeration(n, shortest, front):
    W = np.random.default_rng(n).integers(-9, 10, (n, n)) * (1.0 - np.eye(n))
    longest = shortest if front else n
    best = twin.cycle_value(W, best_cycle(W, shortest, longest, "exact", front)[0])
    assert twin.cycle_value(W, programmed_cycle(W, shortest, longest, front)) == best
    found, exact = best_cycle(W, shortest, longest, "auto", front)
    assert exact == front  # by branch and bound
    assert twin.cycle_value(W, found) <= best
    assert not exact or twin.cycle_value(W, found) == best
    local, exact = best_cycle(W, shortest, longest, "local", front)
    assert not exact
    assert best - twin.cycle_value(W, local) <= 0.05 * abs(best)


def test_the_choice_of_the_search():
    W = np.random.default_rng(0).normal(size=(15, 15))
    np.fill_diagonal(W, np.nan)  # is not read
    before = W.copy()
    assert best_cycle(W, 3, 15)[1]
    np.testing.assert_array_equal(W, before)
    assert not best_cycle(np.random.default_rng(0).normal(size=(16, 16)), 3, 16)[1]
    W[2, 4] = np.inf
    with pytest.raises(ValueError, match=r"the arc from 2 to 4 is inf; expected finite numbers"):
        best_cycle(W, 3, 15)
