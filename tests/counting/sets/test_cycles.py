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

from maxmargin.counting.sets.cycles import CyclicPermutations, HamiltonianCycles

KINDS = [{}, {"directed": True}, {"directed": True, "signed": True}]


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("signed", [True, False])
def test_cycles_keep_the_contract(n, signed):
    check_set(CyclicPermutations(n, signed))
    check_spectrum(CyclicPermutations(n, signed), expected=True)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_hamiltonian_cycles_keep_the_contract(n, kind):
    check_set(HamiltonianCycles(n, **kind))
    check_spectrum(HamiltonianCycles(n, **kind), expected=True)


@pytest.mark.every(3)
@pytest.mark.parametrize("method", ["exact", "local", "milp"])
def test_every_method_serves(method):
    for signed in (True, False):
        check_set(CyclicPermutations(5, signed, method))
    for kind in KINDS:
        check_set(HamiltonianCycles(5, **kind, method=method))
    assert CyclicPermutations(5, method=method).decode(np.ones(10)).exact == (method != "local")


@pytest.mark.parametrize(
    "outputs", [CyclicPermutations("dbac"), CyclicPermutations(5), *(HamiltonianCycles(5, **kind) for kind in KINDS)]
)
def test_samples_are_uniform(outputs):
    check_samples(outputs, uniform=True)


@given(st.integers(3, 5), st.booleans(), st.data())
def test_the_best_cycle_is_found(n, signed, data):
    outputs = CyclicPermutations(n, signed)
    assert check_best(outputs, data.draw(scores(outputs.dim))).exact


@given(st.integers(3, 5), st.sampled_from(KINDS), st.data())
def test_the_best_hamiltonian_cycle_is_found(n, kind, data):
    outputs = HamiltonianCycles(n, **kind)
    assert check_best(outputs, data.draw(scores(outputs.dim))).exact


@pytest.mark.parametrize(("n", "exact"), [(15, True), (16, False), (30, False)])
def test_cycles_beyond_enumeration(n, exact):
    rng = np.random.default_rng(n)
    for outputs in (CyclicPermutations(n), CyclicPermutations(n, signed=False), HamiltonianCycles(n)):
        assert check_better_than_random(outputs, rng.normal(size=outputs.dim)).exact == exact


@pytest.mark.parametrize("outputs", [CyclicPermutations(200), CyclicPermutations(180, signed=False)])
def test_large_sets(outputs):
    check_large(outputs)


@pytest.mark.parametrize("kind", KINDS)
def test_large_sets_of_hamiltonian_cycles(kind):
    check_large(HamiltonianCycles(175, **kind))


@pytest.mark.parametrize(
    ("n", "log_size", "p2", "p3"),
    [
        (5, np.log(74), 30 / 74, 10 / 74),
        (10, 13.921695933332, 0.1971173387720, 0.02463966734651),
        (20, 40.394125255062, 0.09970565669433, 0.005539203149685),
        (50, 145.586372292086, 48 * 0.04164893550617 / 50, 0.04164893550617 / 50),
    ],
)
def test_golden_numbers(n, log_size, p2, p3):
    outputs = CyclicPermutations(n)
    assert outputs.log_size() == pytest.approx(log_size, rel=1e-11)
    assert outputs.shares() == pytest.approx((p2, p3), rel=1e-11)
    assert [space.value for space in outputs.cov_spectrum()] == pytest.approx([n * p3, 0.0], rel=1e-11)
    variances = np.diag(outputs.covariance()) if n < 50 else outputs.cov_apply(np.eye(1, outputs.dim))[0, :1]
    np.testing.assert_allclose(variances, p2, rtol=1e-11)
    np.testing.assert_allclose(CyclicPermutations(n, signed=False).mean(), p2 / 2, rtol=1e-11)


def test_a_large_set_in_numbers():
    outputs = CyclicPermutations(200)
    assert outputs.log_size() == pytest.approx(858.9, abs=0.05)
    assert outputs.dim == 19900
    # the covariance of a large signed set is that of arcs there less that of arcs back
    plain = CyclicPermutations(200, signed=False)
    f = np.random.default_rng(0).normal(size=(2, outputs.dim))
    tails, heads = np.triu_indices(200, 1)
    there, back = tails * 199 + heads - 1, heads * 199 + tails
    F = np.zeros((2, plain.dim))
    F[:, there], F[:, back] = f, -f
    S = plain.cov_apply(F)
    np.testing.assert_allclose(S[:, there] - S[:, back], outputs.cov_apply(f), rtol=1e-10, atol=1e-16)


def test_cycles_may_begin_anywhere():
    outputs = CyclicPermutations("abcd")
    np.testing.assert_array_equal(outputs.features(("b", "c", "a")), outputs.features(("a", "b", "c")))
    np.testing.assert_array_equal(outputs.features(("a", "b", "c")), [1, -1, 0, 1, 0, 0])
    np.testing.assert_array_equal(outputs.features(["c", "b", "a"]), [-1, 1, 0, -1, 0, 0])
    assert outputs.decode(np.array([1.0, -1, 0, 1, 0, 0])).y in {("a", "b", "c"), ("a", "b", "c", "d")}
    undirected = HamiltonianCycles(4)
    for y in [(0, 1, 3, 2), (3, 2, 0, 1), (0, 2, 3, 1), (2, 3, 1, 0)]:
        np.testing.assert_array_equal(undirected.features(y), [1, 1, 0, 0, 1, 1])
    assert undirected.decode(np.array([1.0, 1, 0, 0, 1, 1])) == ((0, 1, 3, 2), 4.0, True)


def test_parameters_may_change():
    outputs = CyclicPermutations(4)
    assert outputs.decode(np.ones(6)).exact
    outputs.set_params(items="abcde", signed=False)
    assert outputs.dim == 20
    check_set(outputs)


def test_coordinates_are_pairs_of_items():
    assert CyclicPermutations("abc").coordinates == [("a", "b"), ("a", "c"), ("b", "c")]
    assert HamiltonianCycles("abc").coordinates == [("a", "b"), ("a", "c"), ("b", "c")]
    arcs = [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")]
    assert CyclicPermutations("abc", signed=False).coordinates == arcs
    assert HamiltonianCycles("abc", directed=True).coordinates == arcs
    for outputs in (CyclicPermutations("abcd", signed=False), HamiltonianCycles("abcd", directed=True)):
        phi = outputs.features(("c", "a", "b", "d"))
        taken = {pair for pair, value in zip(outputs.coordinates, phi, strict=True) if value}
        assert taken == {("c", "a"), ("a", "b"), ("b", "d"), ("d", "c")}


def test_signed_features_count_twice():
    assert CyclicPermutations(4).repeats == HamiltonianCycles(4, directed=True, signed=True).repeats == 2
    assert CyclicPermutations(4, signed=False).repeats == HamiltonianCycles(4).repeats == 1
    assert HamiltonianCycles(4, directed=True).repeats == 1


def test_what_is_no_cycle_is_refused():
    outputs = CyclicPermutations(5)
    rejects(outputs, (0, 1), "the cycle has 2 items", "expected at least 3")
    rejects(outputs, (), "the cycle has 0 items")
    rejects(outputs, (0, 1, 2, 0), "item 0 is repeated", "expected every item at most once")
    rejects(outputs, (0, 1, 5), "5 is not one of the items", "expected 0 … 4")
    rejects(outputs, {0, 1, 2}, "a set has no order", "expected a tuple or list of items")
    rejects(outputs, 3, "the cycle is 3")
    every = HamiltonianCycles(5)
    rejects(every, (0, 1, 2, 4), "4 items without 3", "expected all 5 items")
    rejects(every, (0, 1, 2, 4, 4), "item 4 is repeated")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CyclicPermutations(2), "there must be at least 3 items, got 2"),
        (lambda: HamiltonianCycles(["a", "b"]), "there must be at least 3 items, got 2"),
        (lambda: CyclicPermutations(None), "the items are given as None"),
        (lambda: HamiltonianCycles(4, signed=True), "expected directed=True with signed=True"),
        (lambda: CyclicPermutations(4, method="best"), "method must be one of"),
        (lambda: HamiltonianCycles(21, method="exact"), "tries all subsets of 21 items"),
        (lambda: CyclicPermutations(3).decode(np.array([0, np.nan, 1])), "score 1 is nan; expected finite numbers"),
        (lambda: HamiltonianCycles(4).decode(np.zeros(12)), r"scores have the shape \(12,\); expected \(6,\)"),
    ],
)
def test_sets_and_scores_that_cannot_be_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
