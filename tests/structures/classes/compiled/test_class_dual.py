from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import costs, whole
from structures.classes.compiled import class_dual_twin as twin
from thorough import examples

from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.classes.compiled.class_arrays import ClassProblem
from maxmargin.structures.classes.compiled.class_dual import GAIN, MOVED, PENALTY, best_block, visit_classes

powers = st.integers(-8, 8).map(lambda k: 10.0**k)


@st.composite
def blocks(draw):
    """(square, cap, α, heights) of the wrong labels of an example, at any scale, ties included."""
    wrong = draw(st.integers(1, 4))
    square, cap = draw(powers), draw(powers)
    shares = draw(whole(wrong, 0, 3))
    alpha = cap * shares / max(shares.sum(), 1.0) * draw(st.sampled_from([0.0, 1e-9, 0.5, 1.0]))
    return square, cap, alpha, draw(whole(wrong, -3, 3)) * draw(st.sampled_from([1e-6, 1.0, square * cap, 1e3]))


@examples(100, 1000)
@given(blocks())
def test_a_block_is_solved(drawn):
    square, cap, alpha, heights = drawn
    new = np.empty(len(alpha))
    best_block(len(alpha), square, cap, alpha.sum(), alpha, heights, new)
    expected, _ = twin.best_block(square, cap, alpha, heights)
    assert (new >= 0).all()
    assert new.sum() <= cap * (1 + 1e-14)
    moved = max(np.abs(heights).max() / square, alpha.max())  # what the answer is a difference of
    for value, exact in zip(new, expected, strict=True):
        assert abs(Fraction(float(value)) - exact) <= 1e-14 * Fraction(float(moved))


def test_what_is_small_beside_the_cap_is_not_lost():
    """Long rows have small weights: by projecting all of the simplex, only multiples of ε · cap would be found."""
    new = np.empty(2)
    best_block(2, 1e16, 1.0, 0.0, np.zeros(2), np.array([1.0, 0.5]), new)
    np.testing.assert_allclose(new, [0.5e-16, 0.0], rtol=1e-14)


@st.composite
def problems(draw):
    n, n_features, K = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    X = draw(whole((n, n_features), -2, 2))
    truths = np.array(draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n)), dtype=np.int32)
    cap = draw(whole(n, 0, 3)) * draw(st.sampled_from([0.01, 1.0, 100.0]))
    return X, truths, draw(costs(K, 2)), cap


def visited(X, truths, cost, cap, alpha, w, order, least=0.0):
    atoms, report = Atoms(X, len(cost), 0), np.zeros(3)
    problem = ClassProblem(np.arange(len(X)), truths, cost, atoms.lengths, atoms.lengths**2, cap)
    scratch = np.empty((4, len(cost))), np.empty(len(cost), dtype=np.uint64)
    visit_classes(order, problem, atoms.arrays, alpha, w, None, *scratch, least, report)
    return report


@examples(50, 500)
@given(problems(), st.randoms(use_true_random=False))
def test_a_pass(drawn, random):
    X, truths, cost, cap = drawn
    n, K = len(X), len(cost)
    alpha, w = np.zeros((n, K)), np.zeros(X.shape[1] * K)
    for _ in range(3):
        order = np.array(random.sample(range(n), n))
        expected, penalty, gain = twin.visit(order.tolist(), X, truths, cost, cap, alpha)
        before = alpha.copy()
        report = visited(X, truths, cost, cap, alpha, w, order.copy())
        counted = X.any(axis=1)  # where x = 0 all weights are as good
        scale = max(np.abs(np.array(expected, dtype=float)).max(), 1.0)
        np.testing.assert_allclose(alpha[counted], np.array(expected, dtype=float)[counted], atol=1e-8 * scale)
        assert (alpha >= 0).all()
        assert (alpha.sum(axis=1) <= cap * (1 + 1e-14)).all()
        assert not alpha[np.arange(n), truths].any()
        sums = twin.weights([twin.rational(x) for x in X], truths, [twin.rational(row) for row in alpha], K)
        np.testing.assert_allclose(w, np.array(sums, dtype=float).T.ravel(), atol=1e-10 * scale)
        assert abs(report[PENALTY] - float(penalty)) <= 1e-8 * (1 + float(penalty))
        empty = np.sum((alpha - before)[~counted] * cost[truths[~counted]])
        assert abs(report[GAIN] - float(gain) - empty) <= 1e-8 * (1 + float(gain) + empty)
        assert report[MOVED] <= n


def test_who_gained_most_stands_first():
    X, truths, cost = np.diag([1.0, 3.0, 2.0, 1.0]), np.array([0, 1, 0, 1], dtype=np.int32), 1 - np.eye(2)
    order, w = np.array([3, 0, 1, 2]), np.zeros(8)
    report = visited(X, truths, cost, np.array([1.0, 0.01, 5.0, 5.0]), np.zeros((4, 2)), w, order, least=0.2)
    assert int(report[MOVED]) == 2  # the largest gains are ¼, ¼, 0.01 and 1/16
    assert set(order[:2].tolist()) == {0, 3}
    assert sorted(order.tolist()) == [0, 1, 2, 3]


def test_rows_without_features_have_their_weight_on_the_dearest_label():
    alpha, cost = np.zeros((2, 3)), np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    X, w = np.zeros((2, 2)), np.zeros(6)
    report = visited(X, np.array([0, 2], dtype=np.int32), cost, np.array([2.0, 1.0]), alpha, w, np.arange(2))
    np.testing.assert_array_equal(alpha, [[0, 0, 2.0], [0, 0, 0]])
    assert report[GAIN] == report[PENALTY] == 6.0
