import re
from fractions import Fraction
from math import factorial, log, perm

import numpy as np
import pytest
from counting.sets.checks import check_best, check_large, check_samples, check_set, check_spectrum, rejects, scores
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin.counting.sets.paths import Paths


@pytest.mark.parametrize("n", range(2, 9))
def test_paths_keep_the_contract(n):
    check_set(Paths(n), decodes=3)
    check_spectrum(Paths(n), expected=True)


def test_nodes_have_names():
    paths = Paths(["home", "shop", "park", "school", "work"])
    check_set(paths)
    check_samples(paths, uniform=True)
    y = ("home", "park", "shop", "work")
    on = [arc for arc, value in zip(paths.coordinates, paths.features(y), strict=True) if value]
    assert on == [("home", "park"), ("shop", "work"), ("park", "shop")]
    assert paths.decode(2 * paths.features(y) - 1).y == y


def test_coordinates_leave_out_what_no_path_has():
    assert Paths(4).coordinates == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 1), (2, 3)]


@pytest.mark.parametrize("n", [5, 60, 200])
def test_large_numbers_are_accurate(n):
    ways = [perm(n, k) for k in range(n + 1)]  # by the number k of inner nodes
    total = sum(ways)
    paths = Paths(n + 2)
    np.testing.assert_allclose(paths.log_size(), log(total), rtol=1e-13)
    mean = [sum(k * w for k, w in enumerate(ways)), sum(k * k * w for k, w in enumerate(ways))]
    mean = [Fraction(each, total) for each in mean]
    ones = np.ones((1, paths.dim))  # the number of arcs, k + 1
    np.testing.assert_allclose(paths.mean().sum(), float(mean[0] + 1), rtol=1e-12)
    np.testing.assert_allclose(paths.cov_apply(ones).sum(), float(mean[1] - mean[0] ** 2), rtol=1e-8)
    inner = Fraction(sum((k - 1) * w for k, w in enumerate(ways) if k), total * n * (n - 1))
    np.testing.assert_allclose(paths.mean()[paths.coordinates.index((1, 2))], float(inner), rtol=1e-12)


def test_what_always_holds_has_no_variance():
    paths = Paths(60)
    heads = np.array([head for _, head in paths.coordinates])
    tails = np.array([tail for tail, _ in paths.coordinates])
    leaves_source, kept = (tails == 0) * 1.0, (heads == 7) * 1.0 - (tails == 7)  # as often into 7 as out of it
    np.testing.assert_allclose(paths.cov_apply(np.array([leaves_source, kept])), 0, atol=1e-15)
    assert len(Paths(9).cov_spectrum()) == 8
    assert len(paths.cov_spectrum()) == 7  # P(s -> t) is 1/(58! e), and so is the smallest eigenvalue


@given(st.integers(0, 4).flatmap(lambda n: scores(n * n + n + 1)), st.sampled_from(["auto", "exact", "local", "milp"]))
@examples(20, 60)
def test_the_best_path_is_found(f, method):
    n = {1: 0, 3: 1, 7: 2, 13: 3, 21: 4}[len(f)]
    assert check_best(Paths(n + 2, method), f).exact == (method != "local" or n == 0)


def test_longer_paths_are_searched_locally_and_by_programs_on_request():
    f = np.random.default_rng(0).normal(size=17 * 17 + 17 + 1)
    local, whole = Paths(19).decode(f), Paths(19, "exact").decode(f)
    assert (local.exact, whole.exact) == (False, True)
    assert whole.value * 0.95 <= local.value <= whole.value + 1e-9
    np.testing.assert_allclose(Paths(19, "milp").decode(f).value, whole.value)


def test_sizes_beyond_doubles():
    assert factorial(171) > 2**1024
    check_large(Paths(180))


def test_what_is_no_path_is_explained():
    paths = Paths("sabt")
    rejects(paths, ("a", "b", "t"), "('a', 'b', 't') is not a path from 's' to 't'; expected these as its ends")
    rejects(paths, ("s", "b"), "is not a path from 's' to 't'")
    rejects(paths, (), "is not a path from 's' to 't'")
    rejects(paths, ("s", "a", "a", "t"), "node 'a' is repeated")
    rejects(paths, ("s", "c", "t"), "'c' is not one of the nodes; expected 's', 'a', 'b', 't'")
    rejects(paths, {"s", "t"}, "a set has no order")
    rejects(paths, 5, "the path is 5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), "there must be at least 2 nodes, got 1"),
        ((4, "best"), "method must be one of"),
        ((40, "exact"), "method='exact' tries all subsets"),
    ],
)
def test_what_are_no_parameters_is_explained(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Paths(*arguments)


def test_what_are_no_scores_is_explained():
    with pytest.raises(ValueError, match="score 0 is nan; expected finite numbers"):
        Paths(2).decode(np.array([np.nan]))
