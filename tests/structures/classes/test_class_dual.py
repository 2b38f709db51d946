"""The dual of classes: the same optimum as with planes that are found one by one, and a bound that holds."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from strategies import multiclass_data
from structures.classes.compiled import class_dual_twin as twin
from thorough import examples

from maxmargin import MulticlassSVC
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, NSlack
from maxmargin.structures.classes.class_dual import ClassDual
from maxmargin.tasks import Multiclass
from maxmargin.testing import brute_force

LIMITS = Limits()
RNG = np.random.default_rng(0)
DIGITS, DIGIT_LABELS = load_digits(return_X_y=True)
powers = st.integers(-8, 8).map(lambda k: 10.0**k)


def trained(task, X, Y, C, passes=3, weights=None, seed=0):
    """A dual point after a few passes, and its oracle."""
    oracle, rng = Oracle(task.setup_and_pack(X, Y), None, weights), np.random.default_rng(seed)
    blocks = oracle.block_dual(C, LIMITS)
    assert isinstance(blocks, ClassDual)
    for _ in range(passes):
        blocks.search(oracle, rng.permutation(oracle.n), 16)
        blocks.revisit(oracle, rng)
    return oracle, blocks


@examples(25, 200)
@given(multiclass_data(), powers, st.integers(-2, 4).map(lambda k: 10.0**k), st.data())
def test_point_and_bound(problem, scale, C, data):
    """α is feasible, w and D are those of α, and `bound` is no more than D without any rounding."""
    task, X, Y = problem
    weights = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(Y), max_size=len(Y))), dtype=float)
    weights[0] += 1
    _, blocks = trained(task, scale * X, Y, C, weights=weights)
    K, truths = len(task.classes_), blocks.classes.truths
    assert (blocks.alpha >= 0).all()
    assert (blocks.alpha.sum(axis=1) <= blocks.cap * (1 + 1e-14)).all()
    alpha = [twin.rational(row) for row in blocks.alpha]
    # the multiple of α that keeps to the caps
    over = max([1, *(sum(a) / Fraction(float(cap)) for a, cap in zip(alpha, blocks.cap, strict=True) if cap > 0)])
    alpha = [[value / over for value in row] for row in alpha]
    w = twin.weights([twin.rational(x) for x in scale * X], truths, alpha, K)
    prices = [twin.rational(blocks.classes.cost[y]) for y in truths]
    linear = sum(a * b for row, price in zip(alpha, prices, strict=True) for a, b in zip(row, price, strict=True))
    dual = linear - sum(value * value for row in w for value in row) / 2
    assert Fraction(blocks.bound()) <= dual
    assert blocks.bound() == pytest.approx(float(dual), rel=1e-9, abs=1e-9 * float(linear))
    blocks.refresh()
    assert blocks.dual == pytest.approx(float(dual), rel=1e-9, abs=1e-9 * float(linear))
    exact = np.array([[float(value) for value in row] for row in w]).T.ravel()
    added = float(np.abs(scale * X).max() * blocks.alpha.sum())  # what may cancel
    np.testing.assert_allclose(blocks.vectors.sums, exact, atol=1e-12 * max(added, 1e-300))


def test_the_model_is_the_mean_of_the_revisits():
    """Of a round; where features are rare it is Σ α a itself."""
    X, y, rng = DIGITS[:300] / 16, DIGIT_LABELS[:300], np.random.default_rng(0)
    oracle, blocks = trained(Multiclass(), X, y, 100.0, passes=2)
    blocks.search(oracle, rng.permutation(300), 16)
    np.testing.assert_array_equal(blocks.w, blocks.vectors.sums)
    seen = []
    for _ in range(3):
        blocks.revisit(oracle, rng)
        seen.append(blocks.vectors.sums.copy())
    np.testing.assert_allclose(blocks.w, np.mean(seen, axis=0), atol=1e-12)
    blocks.refresh()
    np.testing.assert_allclose(blocks.w, np.mean(seen, axis=0), atol=1e-12)
    np.testing.assert_allclose(blocks.vectors.sums, seen[-1], atol=1e-12)
    blocks.move_to(blocks.problem._replace(C=10.0))
    np.testing.assert_array_equal(blocks.w, blocks.vectors.sums)
    _, few = trained(Multiclass(), X[:15], y[:15], 100.0)
    assert few.vectors.sums is few.w


@examples(20, 200)
@given(multiclass_data(), st.integers(-2, 3).map(lambda k: 10.0**k))
def test_equals_the_qp(problem, C):
    task, X, Y = problem
    oracle = Oracle(task.setup_and_pack(X, Y))
    certificate = BCFW(tol=1e-6).solve(oracle, C).certificate
    optimum = brute_force(task, X, Y, C).value
    assert certificate.converged
    assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
    assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 1e3, 1e8])
def test_same_optimum_as_the_plane_cache(scale):
    """With the C that makes the same problem of scaled features, and n_slack, which has its planes one by one."""
    X, y = load_iris(return_X_y=True)
    cost = np.array([[0.0, 1.0, 3.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]])
    options = {"costs": cost, "C": 10.0 / scale**2, "tol": 1e-4, "random_state": 0}
    weights = RNG.random(len(y))
    one = MulticlassSVC(**options).fit(scale * (X - X.mean(axis=0)), y, sample_weight=weights).certificate_
    other = MulticlassSVC(solver="n_slack", **options).fit(scale * (X - X.mean(axis=0)), y, sample_weight=weights)
    assert one.converged
    assert one.dual <= other.certificate_.primal
    assert other.certificate_.dual <= one.primal


def test_a_seed_fixes_the_weights():
    X, y = DIGITS[:300] / 16, DIGIT_LABELS[:300]
    first, second, other = (MulticlassSVC(random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.w_, second.w_)
    assert not np.array_equal(first.w_, other.w_)


def test_every_visit_is_counted():
    """A visit looks at all outputs, also one of those that are visited again."""
    oracle, blocks = trained(Multiclass(), DIGITS[:50] / 16, DIGIT_LABELS[:50], 10.0, passes=0)
    rng = np.random.default_rng(0)
    assert blocks.search(oracle, rng.permutation(50), 16).work == 1.0
    assert oracle.calls == 50
    report = blocks.revisit(oracle, rng)
    assert 0 < report.work <= 1
    assert oracle.calls == 50 + round(50 * report.work)


def test_nobody_to_visit_again():
    _, blocks = trained(Multiclass(), np.eye(2), [0, 1], 1.0, passes=0)
    assert blocks.revisit(SimpleNamespace(), np.random.default_rng(0)) == (0.0, 0, 0.0, 0.0, 0.0)


def test_from_one_c_to_the_next():
    X, y = DIGITS[:300] / 16, DIGIT_LABELS[:300]
    task, solver = Multiclass(), BCFW(tol=1e-3)
    oracle, start = Oracle(task.setup_and_pack(X, y)), None
    for C in (1.0, 10.0, 100.0, 3.0, 0.01):
        start = solver.solve(oracle, C, start)
        cold = solver.solve(Oracle(task.setup_and_pack(X, y)), C)
        assert isinstance(start.memory, ClassDual)
        assert start.certificate.converged
        assert start.certificate.dual <= cold.certificate.primal
        assert cold.certificate.dual <= start.certificate.primal
        assert (start.memory.alpha.sum(axis=1) <= start.memory.cap * (1 + 1e-14)).all()


def test_the_same_point_over_planes():
    _, blocks = trained(Multiclass(), DIGITS[:60] / 16, DIGIT_LABELS[:60], 10.0, weights=np.r_[0.0, np.ones(59)])
    planes = PlaneDual.of(blocks)
    np.testing.assert_allclose(planes.w, blocks.vectors.sums, atol=1e-12)
    assert planes.dual == pytest.approx(blocks.dual, rel=1e-12)
    assert planes.bound() == pytest.approx(blocks.bound(), rel=1e-10)  # each allows for its own rounding
    np.testing.assert_allclose(planes.alpha_sums, blocks.alpha.sum(axis=1))
    assert planes.joint_size == blocks.joint_size
    assert PlaneDual.of(planes) is planes
    assert planes.visit(np.arange(60)).gain > 0  # with Gram matrices that belong to the planes:
    w, dual = planes.w.copy(), planes.dual
    planes.refresh()
    assert planes.dual == pytest.approx(dual, rel=1e-12)
    np.testing.assert_allclose(planes.w, w, atol=1e-12)


def test_many_labels_over_planes():
    """More planes of an example than a plane cache has places for as a rule."""
    X, y = np.ones((40, 1)), np.arange(40)
    _, blocks = trained(Multiclass(), X, y, 1e4, passes=5)
    planes = PlaneDual.of(blocks)
    assert planes.slots == np.count_nonzero(blocks.alpha, axis=1).max() > 32
    assert planes.dual == pytest.approx(blocks.dual, rel=1e-9)


def test_slacks_are_those_of_the_oracle():
    oracle, blocks = trained(Multiclass(), DIGITS[:60] / 16, DIGIT_LABELS[:60], 10.0)
    w = RNG.standard_normal(oracle.dim)
    np.testing.assert_allclose(blocks.slacks(w), oracle.slacks(w), rtol=1e-9, atol=1e-9)
    assert blocks.risk(w) == pytest.approx(oracle.risk(w))
    gains = np.linspace(0, 1, 60)
    np.testing.assert_allclose(blocks.slacks(w, gains), np.maximum(blocks.slacks(w) - gains, 0), atol=1e-12)


PLAIN = Formulation()


@pytest.mark.parametrize(
    ("task", "formulation", "C", "limits"),
    [
        (Multiclass(), Formulation("slack", "l1"), 1.0, LIMITS),
        (Multiclass(), Formulation("margin", "l2"), 1.0, LIMITS),
        (Multiclass(), PLAIN, np.inf, LIMITS),
        (Multiclass(kernel="rbf"), PLAIN, 1.0, LIMITS),
        (Multiclass(), PLAIN, 1.0, LIMITS._replace(cache_mb=1e-6)),
    ],
)
def test_where_planes_are_found_one_by_one(task, formulation, C, limits):
    oracle = Oracle(task.setup_and_pack(DIGITS[:20], DIGIT_LABELS[:20]), formulation)
    assert isinstance(oracle.block_dual(C, limits), PlaneDual)


def test_other_solvers_start_from_it():
    X, y = DIGITS[:100] / 16, DIGIT_LABELS[:100]
    oracle = Oracle(Multiclass().setup_and_pack(X, y))
    start = BCFW().solve(oracle, 1.0)
    assert isinstance(start.memory, ClassDual)
    dual = start.memory.bound()
    for solver, C in ((NSlack(), 1.0), (BCFW(), np.inf)):
        solution = solver.solve(oracle, C, start)
        assert isinstance(solution.memory, PlaneDual)
        assert solution.certificate.converged
        assert solution.certificate.dual >= dual * (1 - 1e-12)
