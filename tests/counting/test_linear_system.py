"""The system against the definition: sums over all pairs of outputs, and one dense linear system."""

from __future__ import annotations

import numpy as np
import pytest
from counting.dense_training import trained
from hypothesis import example, given
from hypothesis import strategies as st
from thorough import examples

from maxmargin.counting.least_squares import as_rows
from maxmargin.counting.linear_system import LinearSystem
from maxmargin.counting.moments import Moments
from maxmargin.counting.sets.assignments import Assignments
from maxmargin.counting.sets.classes import Classes, OrderedClasses
from maxmargin.counting.sets.cycles import CyclicPermutations
from maxmargin.counting.sets.hierarchy import HierarchyPaths
from maxmargin.counting.sets.orders import Permutations
from maxmargin.counting.sets.sequences import LabelSequences
from maxmargin.counting.sets.spanning_trees import SpanningTrees
from maxmargin.counting.sets.subsets import AllSubsets, Subsets

SETS = [
    Classes(3),
    OrderedClasses(4),
    Subsets(4, 2),
    AllSubsets(3),
    Permutations(3),
    CyclicPermutations(4),
    Assignments(3, 3),
    SpanningTrees(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),  # no known spectrum
]
X3 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def drawn(outputs, n, p, most, seed):
    """Inputs, and up to `most` different outputs for each."""
    rng = np.random.default_rng(seed)
    members = list(outputs.outputs())
    X = rng.integers(-2, 3, (n, p)).astype(float)
    counts = rng.integers(1, min(most, len(members)) + 1, n)
    return X, [[members[j] for j in rng.permutation(len(members))[:count]] for count in counts]


def bracket(outputs, F, Y):
    """Σ over examples, right outputs y and all other outputs z of δ + δ²/2, δ = h(z) - h(y), divided by |Y|."""
    members = list(outputs.outputs())
    rows = outputs.feature_rows(members)
    total = 0.0
    for f, right in zip(F, Y, strict=True):
        h = rows @ f
        inside = np.array([y in right for y in members])
        delta = h[~inside][None, :] - h[inside][:, None]
        total += float((delta + delta**2 / 2).sum()) / len(members)
    return total


def opened(outputs, X, Y, several=True, linear=True, K=None):
    """The system of one set for all, or of one each."""
    moments = Moments(outputs, len(X))
    rows, owner = as_rows(moments, Y, several)
    return LinearSystem(
        moments, rows, owner, X if linear else None, lambda own: (X @ X.T if K is None else K)[own][:, own]
    )


def problem_of(outputs, X, Y, lam):
    return opened(outputs, X, Y).problem(lam * outputs.repeats)


def weights(outputs, X, Y, lam, solver, linear=True):
    system = opened(outputs, X, Y, linear=linear).decomposed(solver, 1e-12, 500)
    solution = system.solve(lam * outputs.repeats)
    assert solution.certificate.residual < 1e-9
    assert solution.certificate.converged
    assert solution.certificate.stop_reason == "converged"
    return (solution.coefficients if system.primal else X.T @ solution.coefficients), solution.certificate


@pytest.mark.parametrize("outputs", SETS, ids=str)
@examples(6, 15)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 3))
def test_the_objective_is_the_sum_over_all_pairs(outputs, seed, most):
    X, Y = drawn(outputs, 4, 3, most, seed)
    W = np.random.default_rng(seed).normal(size=(3, outputs.dim))
    value = problem_of(outputs, X, Y, 0.7).value(X @ W, float(np.vdot(W, W)))
    expected = 0.7 * np.vdot(W, W) + bracket(outputs, X @ W, Y)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("outputs", SETS, ids=str)
@examples(6, 15)
@given(seed=st.integers(0, 10**6), lam=st.sampled_from([0.01, 1.0, 30.0]), most=st.integers(1, 3))
@example(seed=1697, lam=0.01, most=3)  # rounding on the null space of the kernel matrix
def test_all_ways_solve_the_same_system(outputs, seed, lam, most):
    X, Y = drawn(outputs, 5, 3, most, seed)
    expected, objective = trained(outputs, X, Y, lam)
    solvers = [("cg", True), ("cg", False), ("auto", True)]
    if outputs.cov_spectrum() is not None:
        solvers.append(("closed", True))
    for solver, linear in solvers:
        found, certificate = weights(outputs, X, Y, lam, solver, linear)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
        assert certificate.primal == pytest.approx(objective, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("outputs", SETS, ids=str)
def test_gradient_and_curvature_are_those_of_the_objective(outputs):
    X, Y = drawn(outputs, 4, 3, 2, seed=1)
    problem, rng = problem_of(outputs, X, Y, 0.5), np.random.default_rng(0)
    W, V = rng.normal(size=(2, 3, outputs.dim))

    def value(t):
        moved = W + t * V
        return problem.value(X @ moved, float(np.vdot(moved, moved)))

    slope = 2 * 0.5 * np.vdot(W, V) + np.vdot(X @ V, problem.curvature(X @ W) - problem.target())
    bend = 2 * 0.5 * np.vdot(V, V) + np.vdot(X @ V, problem.curvature(X @ V))
    assert (value(1.0) - value(-1.0)) / 2 == pytest.approx(slope, rel=1e-9)  # exact: the objective is quadratic
    assert value(1.0) - 2 * value(0.0) + value(-1.0) == pytest.approx(bend, rel=1e-9)


def test_known_numbers():
    found, certificate = weights(Classes(3), X3, [[0], [1], [2]], 1.0, "closed")
    expected = [[0.1403508772, -0.2280701754, 0.0877192982], [-0.2280701754, 0.1403508772, 0.0877192982]]
    np.testing.assert_allclose(found, expected, atol=5e-11)
    assert certificate.primal == pytest.approx(-0.228070175439, abs=5e-13)
    Y = [[frozenset({0})], [frozenset({1, 2})], [frozenset({0, 1})]]
    found, certificate = weights(AllSubsets(3), X3, Y, 1.0, "closed")
    expected = [[0.2768361582, -0.0395480226, -0.2768361582], [-0.0564971751, 0.2937853107, 0.0564971751]]
    np.testing.assert_allclose(found, expected, atol=5e-11)
    assert certificate.primal == pytest.approx(-0.423728813559, abs=5e-13)
    Y[0] = [frozenset({0}), frozenset({0, 1})]
    found, certificate = weights(AllSubsets(3), X3, Y, 4 / 3, "closed")
    expected = [[0.2991250417, 0.0684538491, -0.2991250417], [-0.0579497385, 0.2226028785, 0.0579497385]]
    np.testing.assert_allclose(found, expected, atol=5e-11)
    assert certificate.primal == pytest.approx(-0.577102464165, abs=5e-13)


def test_sets_of_their_own():
    """Row i of the system has the moments of its own set."""
    sets = [Subsets(4, 1), Subsets(4, 2), Subsets(4, 2), AllSubsets(4)]
    Y = [frozenset({2}), frozenset({0, 3}), frozenset({1, 2}), frozenset()]
    X = np.random.default_rng(0).normal(size=(4, 2))
    system = opened(sets, X, Y, several=False)
    solution = system.decomposed("auto", 1e-12, 200).solve(0.3)
    hessian, target = 0.6 * np.eye(8), np.zeros(8)
    for x, each, y in zip(X, sets, Y, strict=True):
        c = each.features(y) - each.mean()
        hessian += np.kron(np.outer(x, x), each.covariance() + np.outer(c, c))
        target += np.kron(x, c)
    np.testing.assert_allclose(solution.coefficients.ravel(), np.linalg.solve(hessian, target), rtol=1e-8, atol=1e-10)
    with pytest.raises(ValueError, match="2 output sets were given for 4 examples"):
        Moments(sets[:2], 4)
    with pytest.raises(ValueError, match=r"features of one length, got \[3, 4\]"):
        Moments([Classes(3), Classes(4)], 2)
    with pytest.raises(ValueError, match="use solver='cg'"):
        system.decomposed("closed", 1e-8, 10)


def test_equal_sets_are_one():
    """Whether examples share a set or have equal ones, the same system is solved in the same way."""
    shared = Moments([Subsets(4, 2)] * 3, 3)
    own = Moments([Subsets(["a", "b", "c", "d"], 2) for _ in range(3)], 3)
    assert shared.common is not None
    assert own.common is not None
    different = [Subsets(4, 2), Subsets(4, 1), Subsets(range(4), 2), AllSubsets(4), Subsets(4, 2)]
    groups = Moments(different, 5).groups
    assert [members.tolist() for _, members in groups] == [[0, 4], [1], [2], [3]]
    taxonomies = [{"a": None, "b": None, "c": "a"}, {"a": None, "b": None, "c": "b"}]
    assert Moments([HierarchyPaths(each) for each in taxonomies], 2).common is None
    trees = [SpanningTrees(3, weights=np.array(weights)) for weights in ([1.0, 2, 3], [3.0, 2, 1])]
    assert Moments(trees, 2).common is None  # arrays cannot be keys: only the same object is the same set
    moved = Subsets(4, 2)
    _ = moved.dim  # what a set has computed is no part of what it is
    assert Moments([moved, Subsets(4, 2)], 2).common is moved


def test_pairs_kept_once_are_counted_twice():
    """The paper's features have both φ_uv and φ_vu = -φ_uv; the norm of a function is then half as large."""
    outputs = CyclicPermutations(4)
    X, Y = drawn(outputs, 5, 2, 1, seed=0)
    system = opened(outputs, X, Y)
    solution = system.decomposed("closed", 1e-10, 100).solve(1.0)
    both = np.hstack([np.eye(outputs.dim), -np.eye(outputs.dim)])
    S, c = both.T @ outputs.covariance() @ both, (system.rows - outputs.mean()) @ both
    hessian, target = 2.0 * np.eye(2 * S.shape[0]), np.zeros(2 * S.shape[0])
    for x, row in zip(X, c, strict=True):
        hessian += np.kron(np.outer(x, x), S + np.outer(row, row))
        target += np.kron(x, row)
    ordered = np.linalg.solve(hessian, target).reshape(2, -1)
    np.testing.assert_allclose(X.T @ solution.coefficients, ordered @ both.T, rtol=1e-8, atol=1e-10)


def test_a_system_decomposed_once_has_the_solutions_of_single_fits():
    outputs = Permutations(4)
    X, Y = drawn(outputs, 8, 3, 1, seed=3)
    system = opened(outputs, X, Y).decomposed("closed", 1e-10, 100)
    lams = [0.01, 1.0, 50.0]
    for lam in lams:
        alone = weights(outputs, X, Y, lam / outputs.repeats, "cg")[0]
        np.testing.assert_allclose(system.weights(system.solve(lam)), alone, rtol=1e-7, atol=1e-9)


def test_a_kernel_matrix_must_be_one():
    indefinite = np.array([[0.0, 1.0], [1.0, 0.0]])
    system = opened(Classes(2), X3[:2], [0, 1], several=False, linear=False, K=indefinite)
    with pytest.raises(ValueError, match="not positive semidefinite: its smallest eigenvalue is -1"):
        system.decomposed("closed", 1e-8, 10)


def test_a_system_is_made_without_work():
    """The kernel matrix is asked for when the system is decomposed, and not where weights are solved for."""
    asked = []
    moments = Moments(Classes(3), 3)
    rows, owner = as_rows(moments, [0, 1, 2], several=False)
    for X, solver, wanted in [(None, "closed", True), (None, "cg", True), (X3, "closed", True), (X3, "cg", False)]:
        system = LinearSystem(moments, rows, owner, X, lambda own: asked.append(1) or X3 @ X3.T)
        assert not asked
        assert system.decomposed(solver, 1e-8, 10).primal == (not wanted)
        assert bool(asked) == wanted
        asked.clear()


def test_outputs_are_named_by_their_example():
    moments = Moments(Classes(3), 2)
    with pytest.raises(ValueError, match=r"^example 1: "):
        as_rows(moments, [0, 7], several=False)
    with pytest.raises(ValueError, match="example 0 has no output"):
        as_rows(moments, [[], [1]], several=True)
    for wrong in (1, "a", None):
        with pytest.raises(
            ValueError, match=f"example 1 has {wrong!r}; expected a list of outputs, because of several"
        ):
            as_rows(moments, [[0], wrong], several=True)
    with pytest.raises(ValueError, match="outputs 1 and 2 of example 0 have the same features; expected different"):
        as_rows(Moments(LabelSequences("ab", 5), 1), [["aaaab", "aabab", "abaab"]], several=True)


def test_iterations_go_on_until_the_measured_residual_is_small():
    """It is the larger one where kernel coefficients are solved for among features of very different variances."""
    outputs = HierarchyPaths({k: (k - 1) // 3 if k else None for k in range(200)})
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 5)), [outputs.sample(rng) for _ in range(60)]
    K = np.exp(-((X[:, None] - X) ** 2).sum(2) / 5)
    system = opened(outputs, X, Y, several=False, linear=False, K=K)
    for tol in (1e-3, 1e-4, 1e-5):
        certificate = system.decomposed("cg", tol, 200).solve(0.01).certificate
        assert certificate.residual <= 10 * tol
        assert certificate.converged


def test_iterations_can_run_out():
    outputs = SpanningTrees(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    X, Y = drawn(outputs, 8, 5, 1, seed=0)
    certificate = opened(outputs, X, Y).decomposed("cg", 1e-12, 1).solve(0.01).certificate
    assert not certificate.converged
    assert certificate.stop_reason == "max_iter reached"
    assert "1 iterations" in str(certificate)
    assert "max_iter reached" in str(certificate)


@pytest.mark.parametrize("outputs", SETS, ids=str)
@examples(6, 15)
@given(
    seed=st.integers(0, 10**6),
    lam=st.sampled_from([0.01, 1.0, 30.0]),
    most=st.integers(1, 3),
    steps=st.integers(1, 4),
    linear=st.booleans(),
)
def test_the_lower_bound_is_one(outputs, seed, lam, most, steps, linear):
    """However early conjugate gradients are stopped."""
    X, Y = drawn(outputs, 5, 3, most, seed)
    _, best = trained(outputs, X, Y, lam)
    system = opened(outputs, X, Y, linear=linear)
    certificate = system.decomposed("cg", 1e-12, steps).solve(lam * outputs.repeats).certificate
    rounding = 1e-9 * (certificate.at_zero + abs(best))
    assert certificate.dual - rounding <= best <= certificate.primal + rounding
    assert certificate.gap == certificate.primal - certificate.dual >= 0
    assert certificate.at_zero == 0.5 * sum(map(len, Y))
    # the whole objective is a sum of squares, and the gap is a share of it
    assert certificate.at_zero + certificate.primal > 0
    assert 0 <= certificate.relative_gap <= 1
    assert certificate.relative_gap == pytest.approx(certificate.gap / (certificate.at_zero + certificate.primal))


def test_the_gap_closes_as_the_residual_does():
    outputs = SpanningTrees(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    X, Y = drawn(outputs, 8, 5, 1, seed=0)
    system = opened(outputs, X, Y)
    loose, tight = (system.decomposed("cg", tol, 100).solve(0.5).certificate for tol in (0.03, 1e-12))
    assert 0 < tight.residual < loose.residual
    assert 0 <= tight.relative_gap < 1e-12 < loose.relative_gap < 1
    assert f"lower bound {loose.dual:.6g}: relative gap {100 * loose.relative_gap:.3g}%" in str(loose)


def test_no_bound_is_claimed_that_is_not_proved():
    """Several outputs of a law that is not uniform: the objective may not be convex."""
    uneven = [1.0, 5.0, 1.0]
    for law, several, proved in [(None, True, True), (uneven, True, False), (uneven, False, True)]:
        outputs = SpanningTrees(3, weights=law)
        trees = list(outputs.outputs())
        Y = [trees[:2], trees[1:], trees[:2]] if several else [[tree] for tree in trees]
        certificate = opened(outputs, X3, Y).decomposed("cg", 1e-10, 100).solve(1.0).certificate
        assert np.isfinite(certificate.dual) == np.isfinite(certificate.relative_gap) == proved
        assert ("no lower bound" in str(certificate)) == (not proved)
