import numpy as np
import pytest
from counting.sets.checks import (
    check_best,
    check_better_than_random,
    check_large,
    check_samples,
    check_set,
    check_spectrum,
    rejects,
    scores,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.orders import PartialTournaments, Permutations


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_permutations_keep_the_contract(n):
    check_set(Permutations(n))
    check_spectrum(Permutations(n), expected=True)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_partial_tournaments_keep_the_contract(n):
    check_set(PartialTournaments(n))
    check_spectrum(PartialTournaments(n), expected=True)


@pytest.mark.parametrize("outputs", [Permutations(4), PartialTournaments(3), Permutations(("b", "a", (1, 2)))])
def test_samples_are_uniform(outputs):
    check_samples(outputs, uniform=True)


@pytest.mark.parametrize("method", ["exact", "local", "milp"])
def test_every_method_serves(method):
    check_set(Permutations(5, method=method))
    assert Permutations(5, method=method).decode(np.ones(10)).exact == (method != "local")


@given(st.integers(2, 5).flatmap(lambda n: scores(n * (n - 1) // 2)))
def test_the_best_order_is_found(f):
    n = round((1 + np.sqrt(1 + 8 * len(f))) / 2)
    assert check_best(Permutations(n), f).exact


@given(scores(3))
def test_the_best_tournament_is_found(f):
    assert check_best(PartialTournaments(3), f).exact


@pytest.mark.parametrize(("n", "exact"), [(15, True), (16, False), (30, False)])
def test_orders_beyond_enumeration(n, exact):
    f = np.random.default_rng(n).normal(size=n * (n - 1) // 2)
    assert check_better_than_random(Permutations(n), f).exact == exact


@pytest.mark.parametrize("outputs", [Permutations(200), PartialTournaments(40)])
def test_large_sets(outputs):
    check_large(outputs)


def test_the_eigenvalues():
    spaces = Permutations(5).cov_spectrum()
    assert [space.value for space in spaces] == pytest.approx([2.0, 1 / 3], rel=1e-12)
    assert [round(np.trace(space.project(np.eye(10)))) for space in spaces] == [4, 6]
    assert [space.value for space in PartialTournaments(4).cov_spectrum()] == [2 / 3]
    assert Permutations(3).repeats == PartialTournaments(3).repeats == 2


def test_outputs_are_written_with_the_items():
    outputs = Permutations(["x", "y", "z"])
    np.testing.assert_array_equal(outputs.features(("z", "x", "y")), [1, -1, -1])  # x y, x z, y z
    assert outputs.decode(np.array([1.0, -1.0, -1.0])) == (("z", "x", "y"), 3.0, True)
    tournaments = PartialTournaments(["x", "y", "z"])
    assert outputs.coordinates == tournaments.coordinates == [("x", "y"), ("x", "z"), ("y", "z")]
    np.testing.assert_array_equal(tournaments.features({("x", "y"), ("z", "x")}), [1, -1, 0])
    assert tournaments.decode(np.array([2.0, -1.0, 0.0])) == (frozenset({("x", "y"), ("z", "x")}), 3.0, True)


def test_what_is_no_order_is_refused():
    outputs = Permutations(4)
    rejects(outputs, (0, 1, 2), "3 items without 3", "expected all 4 items")
    rejects(outputs, (0, 1, 2, 2), "item 2 is repeated")
    rejects(outputs, (0, 1, 2, 4), "4 is not one of the items", "expected 0 … 3")
    rejects(outputs, {0, 1, 2, 3}, "a set has no order", "expected a tuple or list of items")
    rejects(outputs, "0123", "the order is")
    rejects(Permutations("ab"), ("a", "c"), "'c' is not one of the items", "expected 'a', 'b'")


def test_what_is_no_tournament_is_refused():
    outputs = PartialTournaments(3)
    rejects(outputs, {(0, 1), (1, 0)}, "is given twice or in both orders", "expected every pair once")
    rejects(outputs, [(0, 1), (0, 1)], "the pair (0, 1) is given twice")
    rejects(outputs, {(1, 1)}, "the pair (1, 1) compares an item with itself")
    rejects(outputs, {(0, 3)}, "3 is not one of the items")
    rejects(outputs, {(0, 1, 2)}, "(0, 1, 2) is not a pair", "expected (u, v)")
    rejects(outputs, {"01"}, "'01' is not a pair")
    rejects(outputs, [{0, 1}], "{0, 1} is not a pair")
    rejects(outputs, 5, "the partial tournament is 5")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Permutations(1), "there must be at least 2 items, got 1"),
        (lambda: PartialTournaments(0), "there must be at least 2 items, got 0"),
        (lambda: Permutations(3.0), "the items are given as 3.0"),
        (lambda: PartialTournaments(["a", "a"]), "item 'a' is named twice"),
        (lambda: Permutations(4, method="best"), "method must be one of"),
        (lambda: Permutations(21, method="exact"), "tries all subsets of 21 items"),
        (lambda: PartialTournaments(3).decode(np.zeros(2)), r"scores have the shape \(2,\); expected \(3,\)"),
        (lambda: PartialTournaments(3).decode(np.array([0, np.nan, 1])), "score 1 is nan; expected finite numbers"),
        (lambda: Permutations(3).decode(np.array([0, np.inf, 1])), "score 1 is inf; expected finite numbers"),
        (lambda: Permutations(3).decode(np.zeros((1, 3))), r"scores have the shape \(1, 3\); expected \(3,\)"),
    ],
)
def test_sets_and_scores_that_cannot_be_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
