"""The master problem against general-purpose solvers, closed forms and its own certificate.

The factor F of the Gram matrix is made of small integers, so that FFᵀ is exact and degeneracy is plentiful:
equal cuts, opposite cuts, zero cuts, ties, more cuts than features. Some cuts are then made almost equal.
"""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import linprog
from thorough import examples

from maxmargin.solvers.qp import UnboundedMaster, solve_master

many = examples(40, 100)
magnitudes = st.integers(-12, 12).map(lambda k: 10.0**k)


@st.composite
def cuts(draw, almost_equal=True):
    """A factor F (cuts × features) and demands b."""
    m, p = draw(st.integers(1, 14)), draw(st.integers(1, 5))
    F = draw(hnp.arrays(float, (m, p), elements=st.integers(-3, 3)))
    b = draw(hnp.arrays(float, m, elements=st.integers(-2, 3)))
    pairs = st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, m - 1)), max_size=3)
    for i, j in draw(pairs):
        F[i], b[i] = F[j], b[j]
    for i, j in draw(pairs) if almost_equal else []:
        F[i], b[i] = F[j] + 1e-9, b[j] - 1e-9
    return F, b


def dual(G, b, a):
    return b @ a - 0.5 * a @ G @ a


def rounding(G, b, a):
    """What rounding errors of G, b and a may amount to in g = b - Ga."""
    return 1e-14 * (np.abs(b).max() + np.abs(G).max() * a.sum())


def clarabel_minimum(P, q, A, bound):
    """The status and value of: minimise ½ x'Px + q'x subject to Ax <= bound."""
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    P, A = sparse.csc_matrix(np.triu(P)), sparse.csc_matrix(A)
    cones = [clarabel.NonnegativeConeT(len(bound))]
    solution = clarabel.DefaultSolver(P, q, A, bound, cones, options).solve()
    return str(solution.status), solution.obj_val


def clarabel_master(G, b, C):
    """The status and value of the dual."""
    m, unit = len(b), min(C, 1.0)
    A = np.vstack([-np.eye(m), np.ones((1, m))])
    # In terms of a / unit, which suits clarabel's absolute tolerances.
    status, value = clarabel_minimum(unit * G, -b, A, np.append(np.zeros(m), C / unit))
    return status, -unit * value


@many
@given(cuts(), st.integers(-30, 30).map(lambda k: 10 ** (k / 10)), magnitudes, magnitudes)
def test_value_agrees_with_clarabel_whatever_the_scales(problem, C, weight, demand):
    F, b = problem
    G = F @ F.T
    status, expected = clarabel_master(G, b, C)
    assume(status == "Solved")  # clarabel gives up now and then
    # Multiplying a by the one factor and b by the other is the same problem in other units.
    solution = solve_master(G * (demand / weight), b * demand, C * weight)
    unit = demand * weight
    assert abs(solution.value / unit - expected) <= 1e-7 * (1 + expected)
    assert solution.kkt / unit <= 1e-9 * (1 + expected)


@many
@given(cuts(), magnitudes)
def test_result_is_feasible_and_certified(problem, C):
    F, b = problem
    G = F @ F.T
    G_before, b_before = G.copy(), b.copy()
    alpha, value, kkt = solve_master(G, b, C)
    assert (alpha >= 0).all()
    assert alpha.sum() <= C
    assert abs(value - dual(G, b, alpha)) <= C * rounding(G, b, alpha)
    g = b - G @ alpha
    assert abs(kkt - (C * max(0.0, g.max()) - g @ alpha)) <= C * rounding(G, b, alpha)
    assert 0 <= kkt <= 1e-10 * value + C * rounding(G, b, alpha)
    np.testing.assert_array_equal(G, G_before)
    np.testing.assert_array_equal(b, b_before)


@many
@given(cuts(), magnitudes, st.data())
def test_a_start_never_makes_the_result_worse(problem, C, data):
    F, b = problem
    G = F @ F.T
    known = data.draw(st.integers(0, len(b)))
    shape = data.draw(hnp.arrays(float, known, elements=st.integers(0, 3)))
    start = shape * (C / max(1.0, shape.sum())) * data.draw(st.sampled_from([1e-3, 0.5, 1.0]))
    cold, warm = solve_master(G, b, C), solve_master(G, b, C, start)
    extended = np.append(start, np.zeros(len(b) - known))
    assert warm.value >= dual(G, b, extended) - C * rounding(G, b, extended)
    assert abs(warm.value - cold.value) <= 1e-10 * cold.value + C * rounding(G, b, cold.alpha + warm.alpha)


def test_an_infeasible_start_is_moved_into_the_feasible_set():
    G, b = np.diag([1.0, 2.0, 3.0]), np.ones(3)
    solution = solve_master(G, b, 0.5, np.array([5.0, -1.0, 7.0]))
    assert (solution.alpha >= 0).all()
    assert solution.alpha.sum() <= 0.5
    assert solution.value == pytest.approx(solve_master(G, b, 0.5).value, rel=1e-12)


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_a_start_within_the_tolerance_is_returned_as_it_is(tol):
    rng = np.random.default_rng(0)
    F, b = rng.normal(size=(30, 10)), rng.random(30)
    rough = solve_master(F @ F.T, b, 10.0, tol=tol)
    assert rough.kkt <= tol * rough.value
    np.testing.assert_array_equal(solve_master(F @ F.T, b, 10.0, rough.alpha, tol=tol).alpha, rough.alpha)


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
@pytest.mark.parametrize(("m", "p"), [(250, 6), (120, 60)])
def test_growing_set_of_cuts(m, p, C):
    """As a cutting-plane method calls it: one more cut each time, started from the last solution."""
    rng = np.random.default_rng(m)
    F = np.cumsum(rng.normal(size=(m, p)), axis=0) / np.sqrt(np.arange(1, m + 1))[:, None]
    F[rng.random(m) < 0.1] = F[0]
    b = rng.random(m)
    G = F @ F.T
    alpha, value = np.zeros(0), 0.0
    for k in range(1, m + 1):
        solution = solve_master(G[:k, :k], b[:k], C, alpha)
        error = rounding(G[:k, :k], b[:k], solution.alpha)
        assert solution.value >= value - solution.alpha.sum() * error
        assert solution.kkt <= 1e-10 * solution.value + C * error
        alpha, value = solution.alpha, solution.value
    assert clarabel_master(G, b, C) == ("Solved", pytest.approx(value, rel=1e-7))
    assert value == pytest.approx(solve_master(G, b, C).value, rel=1e-9)


@given(magnitudes, st.sampled_from([1e-6, 1.0, 1e6]), st.sampled_from([1e-6, 1.0, 1e6]))
def test_single_cut(C, square, demand):
    a = min(C, demand / square)
    solution = solve_master(np.array([[square]]), np.array([demand]), C)
    assert solution.alpha[0] == pytest.approx(a, rel=1e-9)
    assert solution.value == pytest.approx(demand * a - 0.5 * square * a**2, rel=1e-12)


@pytest.mark.parametrize("C", [1e-12, 1.0, 1e12, np.inf])
def test_nothing_to_gain(C):
    solution = solve_master(np.diag([1.0, 0.0]), np.array([-1.0, 0.0]), C)
    assert solution.value == solution.kkt == 0
    np.testing.assert_array_equal(solution.alpha, 0)


@many
@given(cuts())
def test_a_tiny_total_leaves_only_the_linear_part(problem):
    F, b = problem
    G = F @ F.T
    linear = 1e-12 * max(0.0, b.max())
    value = solve_master(G, b, 1e-12).value
    assert linear - 0.5e-24 * G.max() <= value * (1 + 1e-9)
    assert value <= linear * (1 + 1e-12)


@many
@given(cuts(almost_equal=False))
def test_hard_margin(problem):
    """C = inf against the primal: minimise ½|w|² subject to Fw >= b, which is feasible or is not."""
    F, b = problem
    G = F @ F.T
    status, expected = clarabel_minimum(np.eye(F.shape[1]), np.zeros(F.shape[1]), -F, -b)
    if status == "PrimalInfeasible":
        with pytest.raises(UnboundedMaster, match="cannot all be satisfied"):
            solve_master(G, b, np.inf)
        return
    assert status == "Solved"
    solution = solve_master(G, b, np.inf)
    assert solution.value == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert solution.kkt <= 1e-9 * solution.value
    assert (solution.alpha >= 0).all()
    # The penalty is exact: from C = Σ alpha on, C no longer matters.
    enough = 1 + 2 * solution.alpha.sum()
    for C in (enough, 1e6 * enough):
        assert solve_master(G, b, C).value == pytest.approx(solution.value, rel=1e-8)


@many
@given(cuts(almost_equal=False), st.sampled_from([1e4, 1e7, 1e10]))
def test_a_huge_total_finds_the_least_violation(problem, C):
    """The limit of D / C is the least violation that a w attains: max b'd over d >= 0, Σd <= 1, F'd = 0."""
    F, b = problem
    p = F.shape[1]
    program = linprog(-b, A_ub=np.ones((1, len(b))), b_ub=[1.0], A_eq=F.T, b_eq=np.zeros(p), method="highs")
    least = -program.fun
    solution = solve_master(F @ F.T, b, C)
    error = 1e-8 + rounding(F @ F.T, b, solution.alpha)
    assert solution.value / C >= least - error
    # The primal at a w of least violation bounds D from above; with these integers some such w is moderate.
    assert solution.value / C <= least + 1e5 / C + error


@pytest.mark.parametrize(
    ("F", "b"),
    [
        ([[0.0, 0.0]], [1.0]),
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, 1e-3]),
        ([[1.0, 2.0], [-1.0, -2.0]], [1.0, 1.0]),
        ([[1.0, 2.0], [-1e3, -2e3]], [1.0, -999.0]),
        ([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [3.0, 1.0]], [1.0, 1.0, -1.9, 0.0]),
    ],
)
def test_contradictory_cuts(F, b):
    G = np.array(F) @ np.transpose(F)
    for start in (None, np.ones(len(b))):
        with pytest.raises(UnboundedMaster, match="cannot all be satisfied"):
            solve_master(G, np.array(b), np.inf, start)
        assert solve_master(G, np.array(b), 1e3, start).value > 0


def test_cuts_that_barely_agree_are_no_contradiction():
    angle = 1e-4
    F = np.array([[1.0, angle], [-1.0, angle]])  # w = (0, 1 / angle)
    assert solve_master(F @ F.T, np.ones(2), np.inf).value == pytest.approx(0.5 / angle**2, rel=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_cuts_that_leave_no_room_are_no_contradiction(seed):
    """Opposite cuts that pin w to a hyperplane agree up to the rounding of b."""
    rng = np.random.default_rng(seed)
    F = 1 + np.cumsum(rng.normal(size=(8, 5)), axis=0) / 10
    F[rng.integers(4, 8, size=2)] = -F[rng.integers(4, size=2)]
    w = rng.normal(size=5)
    b = F @ w - np.maximum(0.0, rng.normal(size=8)) * (rng.random(8) < 0.3)
    value = solve_master(F @ F.T, b, np.inf).value
    assert 0 <= value <= 0.5 * w @ w * (1 + 1e-9)


@pytest.mark.parametrize(
    ("gram", "b", "C", "alpha", "message"),
    [
        (np.eye(2), np.ones(2), 0.0, None, "C must be positive"),
        (np.eye(2), np.ones(2), np.nan, None, "C must be positive"),
        (np.eye(3), np.ones(2), 1.0, None, "to match"),
        (np.eye(0), np.ones(0), 1.0, None, "to match"),
        (np.eye(2), np.ones(2), 1.0, np.ones(3), "at most 2"),
        (np.eye(2), np.ones(2), 1.0, np.array([1.0, np.nan]), "finite"),
        (np.eye(2), np.array([1.0, np.inf]), 1.0, None, "finite"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), np.ones(2), 1.0, None, "finite"),
    ],
)
def test_bad_input_is_rejected(gram, b, C, alpha, message):
    with pytest.raises(ValueError, match=message):
        solve_master(gram, b, C, alpha)
