import re
from fractions import Fraction
from math import comb, log, prod

import numpy as np
import pytest
from counting.sets.checks import check_best, check_large, check_samples, check_set, check_spectrum, rejects, scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.matchings import Matchings, PerfectMatchings


def involutions(n):
    """T(0) … T(n), the numbers of matchings."""
    T = [1, 1]
    for k in range(2, n + 1):
        T.append(T[-1] + (k - 1) * T[-2])
    return T


@pytest.mark.parametrize("n", range(2, 10))
def test_matchings_keep_the_contract(n):
    check_set(Matchings(n))
    check_spectrum(Matchings(n), expected=True)


@pytest.mark.parametrize("n", [2, 4, 6, 8, 10])
def test_perfect_matchings_keep_the_contract(n):
    check_set(PerfectMatchings(n))
    check_spectrum(PerfectMatchings(n), expected=True)


@pytest.mark.parametrize("outputs", [Matchings("abcde"), PerfectMatchings(["a", 1, None, (2, 3), "b", "c"])])
def test_vertices_have_names(outputs):
    check_set(outputs)
    check_samples(outputs, uniform=True)


def test_edges_are_read_in_any_direction_and_form():
    matchings = Matchings("abcd")
    assert matchings.coordinates[:4] == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c")]
    for y in ({("a", "c")}, [("c", "a")], (["c", "a"],), {frozenset("ac")}):
        np.testing.assert_array_equal(matchings.features(y), [0, 1, 0, 0, 0, 0])
    assert not matchings.features(()).any()


def test_known_numbers():
    matchings = Matchings(10)
    np.testing.assert_allclose(matchings.log_size(), log(9496), rtol=1e-13)
    mean = matchings.mean()[0]
    np.testing.assert_allclose(mean, 764 / 9496, rtol=1e-13)
    np.testing.assert_allclose(mean, 0.0804549284, atol=5e-11)
    disjoint = matchings.covariance()[0, -1] + mean**2  # (0, 1) and (8, 9)
    np.testing.assert_allclose(disjoint, 76 / 9496, rtol=1e-12)
    np.testing.assert_allclose(disjoint, 0.0080033698, atol=5e-11)


@pytest.mark.parametrize("n", [30, 400])
def test_large_numbers_are_accurate(n):
    T = involutions(n)
    one, two = Fraction(T[n - 2], T[n]), Fraction(T[n - 4], T[n])
    edges = comb(n, 2)
    eigenvalues = [one + two, one - (n - 3) * two, one + comb(n - 2, 2) * two - edges * one**2]
    matchings = Matchings(n)
    np.testing.assert_allclose(matchings.log_size(), log(T[n]), rtol=1e-13)
    np.testing.assert_allclose(matchings.mean()[0], float(one), rtol=1e-12)
    found = [space.value for space in matchings.cov_spectrum()]
    np.testing.assert_allclose(found, sorted(map(float, eigenvalues), reverse=True), rtol=1e-9)
    perfect = PerfectMatchings(n)
    np.testing.assert_allclose(perfect.log_size(), log(prod(range(1, n, 2))), rtol=1e-13)
    found = [space.value for space in perfect.cov_spectrum()]
    np.testing.assert_allclose(found, [(n - 2) / ((n - 1) * (n - 3)), 0])


@given(st.integers(2, 6).flatmap(lambda n: scores(n * (n - 1) // 2)))
def test_the_best_matching_is_found(f):
    n = {1: 2, 3: 3, 6: 4, 10: 5, 15: 6}[len(f)]
    assert check_best(Matchings(n), f).exact
    if n % 2 == 0:
        assert check_best(PerfectMatchings(n), f).exact


@pytest.mark.parametrize("outputs", [Matchings(300), PerfectMatchings(320)])
def test_sizes_beyond_doubles(outputs):
    check_large(outputs)


def test_what_is_no_matching_is_explained():
    rejects(Matchings(5), {(0, 1), (1, 2)}, "vertex 1 is in 2 edges; expected at most one")
    rejects(Matchings(5), {(0, 5)}, "5 is not one of the vertices; expected 0 … 4")
    rejects(Matchings(5), [(0, 1), (1, 0)], "the edge (1, 0) is repeated")
    rejects(Matchings(5), [(1, 1)], "joins a vertex with itself")
    rejects(Matchings(5), (0, 1), "0 is not an edge; expected two different vertices")
    rejects(Matchings(5), "01", "the matching is '01'; expected a set, list or tuple of edges")
    rejects(PerfectMatchings("abcd"), {("a", "c")}, "vertex 'b' is in no edge; expected every vertex in one")


@pytest.mark.parametrize(
    ("family", "argument", "message"),
    [
        (Matchings, 1, "there must be at least 2 vertices, got 1"),
        (Matchings, None, "the vertices are given as None"),
        (PerfectMatchings, 5, "5 vertices have no perfect matching; expected an even number of them"),
        (PerfectMatchings, 0, "there must be at least 2 vertices, got 0"),
    ],
)
def test_what_are_no_vertices_is_explained(family, argument, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        family(argument)


def test_what_are_no_scores_is_explained():
    with pytest.raises(ValueError, match=r"scores have the shape \(3,\); expected \(6,\)"):
        Matchings(4).decode(np.zeros(3))
