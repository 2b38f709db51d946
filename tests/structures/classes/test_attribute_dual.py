"""The dual of classes that share attributes: the same optimum as with planes that are found one by one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from strategies import whole
from thorough import examples

from maxmargin import OrdinalSVC, TaxonomySVC
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW
from maxmargin.structures.classes.attribute_dual import AttributeDual
from maxmargin.structures.classes.class_dual import ClassDual
from maxmargin.tasks import Ordinal, Taxonomy
from maxmargin.testing import brute_force

LIMITS = Limits()
DIGITS, DIGIT_LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS / 16
TREE = {"a": "ab", "b": "ab", "c": "cd", "d": "cd", "ab": None, "cd": None}
PARENTS = {digit: "round" if digit in (0, 6, 8, 9) else "other" for digit in range(10)} | {"round": None, "other": None}
powers = st.integers(-4, 4).map(lambda k: 10.0**k)


@st.composite
def problems(draw):
    """(task, X, Y): a tree, all of its nodes, or an order."""
    n, n_features = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    X = draw(whole((n, n_features), -2, 2))
    kind = draw(st.sampled_from(["leaves", "nodes", "shared", "separate"]))
    if kind in ("leaves", "nodes"):
        task = Taxonomy(TREE, sharing=draw(st.sampled_from([0.3, 1.0, 2.0])), predict_at=kind)
        names = ["a", "b", "c", "d"] + (["ab", "cd"] if kind == "nodes" else [])
        return task, X, draw(st.lists(st.sampled_from(names), min_size=n, max_size=n))
    order = list(range(draw(st.integers(2, 4))))
    task = Ordinal(order, directions=kind, measure=draw(st.sampled_from(["distance", "error"])))
    return task, X, draw(st.lists(st.sampled_from(order), min_size=n, max_size=n))


def trained(task, X, Y, C, passes=3, weights=None):
    oracle, rng = Oracle(task.setup_and_pack(X, Y), None, weights), np.random.default_rng(0)
    blocks = oracle.block_dual(C, LIMITS)
    assert isinstance(blocks, AttributeDual)
    for _ in range(passes):
        blocks.search(oracle, rng.permutation(oracle.n), 16)
        blocks.revisit(oracle, rng)
    return oracle, blocks


def exact_dual(task, X, Y, alpha, cap):
    """D of the multiple of α that keeps to the caps, and its w, without any rounding."""
    alpha = [[Fraction(float(value)) for value in row] for row in alpha]
    over = max([1, *(sum(row) / Fraction(float(limit)) for row, limit in zip(alpha, cap, strict=True) if limit > 0)])
    w, linear = [Fraction(0)] * task.dim, Fraction(0)
    for x, y, row in zip(X, Y, alpha, strict=True):
        for z, value in zip(task.classes_, row, strict=True):
            linear += value / over * Fraction(task.loss(y, z))
            for sign, label in ((1, y), (-1, z)):
                for place, entry in zip(*task.psi(x, label), strict=True):
                    w[place] += sign * value / over * Fraction(float(entry))
    return linear, linear - sum(value * value for value in w) / 2, np.array([float(value) for value in w])


@examples(25, 300)
@given(problems(), powers, st.integers(-2, 4).map(lambda k: 10.0**k))
def test_point_and_bound(problem, scale, C):
    """α is feasible, w and D are those of α, and `bound` is no more than D without any rounding."""
    task, X, Y = problem
    X = scale * X
    weights = np.ones(len(Y))
    weights[-1] = len(Y) > 1 and 0.0
    weights[0] = 1.0
    _, blocks = trained(task, X, Y, C, weights=weights)
    assert (blocks.alpha >= 0).all()
    assert (blocks.alpha.sum(axis=1) <= blocks.cap * (1 + 1e-13)).all()
    assert not blocks.alpha[np.arange(len(Y)), blocks.classes.truths].any()
    linear, dual, w = exact_dual(task, X, Y, blocks.alpha, blocks.cap)
    assert Fraction(blocks.bound()) <= dual
    assert blocks.dual == pytest.approx(float(dual), rel=1e-8, abs=1e-9 * float(linear))
    assert blocks.bound() == pytest.approx(float(dual), rel=1e-8, abs=1e-9 * float(linear))
    added = float(max(np.abs(X).max(), 1.0) * blocks.alpha.sum())  # what may cancel
    np.testing.assert_allclose(blocks.vectors.sums, w, atol=1e-11 * max(added, 1e-300))
    blocks.refresh()
    assert blocks.dual == pytest.approx(float(dual), rel=1e-8, abs=1e-9 * float(linear))


@examples(20, 200)
@given(problems(), st.integers(-2, 3).map(lambda k: 10.0**k))
def test_equals_the_qp(problem, C):
    task, X, Y = problem
    certificate = BCFW(tol=1e-6).solve(Oracle(task.setup_and_pack(X, Y)), C).certificate
    optimum = brute_force(task, X, Y, C).value
    assert certificate.converged
    assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
    assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("model", [TaxonomySVC(PARENTS), TaxonomySVC(PARENTS, sharing=1), OrdinalSVC()])
def test_same_optimum_as_the_plane_cache(model):
    X, y = DIGITS[:200], DIGIT_LABELS[:200]
    model.set_params(C=10.0, tol=1e-3, random_state=0)
    one = model.fit(X, y).certificate_
    assert isinstance(model.solution_.memory, AttributeDual)
    other = model.set_params(solver="n_slack").fit(X, y).certificate_
    assert one.converged
    assert one.dual <= other.primal
    assert other.dual <= one.primal


def test_the_same_point_over_planes():
    for task in (Taxonomy(PARENTS), Ordinal(directions="separate")):
        _, blocks = trained(task, DIGITS[:60], DIGIT_LABELS[:60], 10.0, weights=np.r_[0.0, np.ones(59)])
        planes = PlaneDual.of(blocks)
        np.testing.assert_allclose(planes.w, blocks.vectors.sums, atol=1e-11)
        assert planes.dual == pytest.approx(blocks.dual, rel=1e-11)
        assert planes.joint_size == blocks.joint_size


@pytest.mark.parametrize("task", [Taxonomy(PARENTS), Ordinal(), Ordinal(directions="separate")])
def test_slacks_are_those_of_the_oracle(task):
    oracle, blocks = trained(task, DIGITS[:60], DIGIT_LABELS[:60], 10.0)
    w = np.random.default_rng(0).standard_normal(oracle.dim)
    np.testing.assert_allclose(blocks.slacks(w), oracle.slacks(w), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("task", [Taxonomy(PARENTS), Taxonomy(TREE, predict_at="nodes"), Ordinal(), Ordinal("cab")])
def test_no_plane_is_larger_than_the_largest(task):
    labels = list("abcabd") if isinstance(task, Taxonomy) and task.taxonomy is TREE else [3, 1, 4, 1, 5, 9]
    labels = list("abcabc") if isinstance(task, Ordinal) and task.order else labels
    batch = task.setup_and_pack(DIGITS[:6], labels)
    largest = Oracle(batch).block_dual(1.0, LIMITS)._largest
    for found in range(len(task.classes_)):
        planes = batch.scored().planes_of(np.full(6, found, dtype=np.int32))
        assert planes.dpsi.sizes.max() <= largest.dpsi.sizes.max() * (1 + 1e-14)
        assert np.diff(planes.dpsi.indptr).max() <= np.diff(largest.dpsi.indptr).max()
        assert np.abs(planes.loss).max() <= largest.loss.max()


def test_classes_that_share_nothing_are_those_of_a_projection():
    X, y = load_iris(return_X_y=True)
    model = TaxonomySVC({0: "a", 1: "a", 2: "b", "a": None, "b": None}, sharing=0, tol=0.1).fit(X, y)
    assert type(model.solution_.memory) is ClassDual
    assert isinstance(OrdinalSVC(tol=0.1).fit(X, y).solution_.memory, AttributeDual)


def test_from_one_c_to_the_next():
    X, y = DIGITS[:200], DIGIT_LABELS[:200]
    models = TaxonomySVC(PARENTS, tol=1e-3).fit_path(X, y, [1.0, 100.0, 3.0])
    for model, C in zip(models, [1.0, 100.0, 3.0], strict=True):
        cold = TaxonomySVC(PARENTS, tol=1e-3, C=C).fit(X, y).certificate_
        assert model.certificate_.converged
        assert model.certificate_.dual <= cold.primal
        assert cold.dual <= model.certificate_.primal
