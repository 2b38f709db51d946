"""The joint problem of all planes against a general-purpose QP solver, and over all scales against its definition."""

import clarabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.solvers.interior_point import JointProblem, solve

scales = st.integers(-8, 8).map(lambda k: 10.0**k)


@st.composite
def problems(draw, spread=2.0):
    """Blocks of planes of any number, equal ones among them; features whose sizes differ by powers of ten."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = rng.integers(1, 6, draw(st.integers(1, 12)))
    dim, total = draw(st.integers(1, 20)), counts.sum()
    rows = rng.normal(size=(total, dim)) * 10.0 ** rng.uniform(-spread, spread, dim)
    twins = rng.integers(total, size=(2, total // 4))
    rows[twins[0]] = rows[twins[1]]
    offset = rng.integers(0, 4, total).astype(float)
    cap = rng.uniform(0.1, 2.0, len(counts))
    return JointProblem(rows, offset, np.repeat(np.arange(len(counts)), counts), cap, draw(st.booleans()))


def scaled(problem, of_rows, of_caps):
    return problem._replace(rows=of_rows * problem.rows, cap=of_caps * problem.cap)


def primal(problem, w):
    slacks = np.zeros(len(problem.cap))
    np.maximum.at(slacks, problem.owner, problem.offset - problem.rows @ w)
    return 0.5 * w @ w + problem.cap @ (0.5 * slacks**2 if problem.squared else slacks)


def dual(problem, alpha):
    w, sums = problem.rows.T @ alpha, np.bincount(problem.owner, alpha)
    return problem.offset @ alpha - 0.5 * w @ w - (0.5 * np.sum(sums**2 / problem.cap) if problem.squared else 0.0)


def reference(problem):
    """The optimum by clarabel, in the variables w and ξ."""
    (total, dim), blocks = problem.rows.shape, len(problem.cap)
    slacks = sparse.csr_matrix((np.ones(total), (np.arange(total), problem.owner)), shape=(total, blocks))
    below = sparse.bmat([[-sparse.csr_matrix(problem.rows), -slacks], [None, -sparse.eye(blocks)]]).tocsc()
    zeros = np.zeros(blocks)
    squares = sparse.diags(np.concatenate([np.ones(dim), problem.cap if problem.squared else zeros])).tocsc()
    linear = np.concatenate([np.zeros(dim), zeros if problem.squared else problem.cap])
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(total + blocks)]
    found = clarabel.DefaultSolver(
        squares, linear, below, np.concatenate([-problem.offset, zeros]), cones, options
    ).solve()
    return found.obj_val, found.status == clarabel.SolverStatus.Solved


@given(problems(spread=1.0), st.integers(-1, 1).map(lambda k: 10.0**k))
def test_optimum_of_an_independent_solver(problem, scale):
    problem = scaled(problem, scale, 1.0)
    optimum, solved = reference(problem)
    point = solve(problem, 1e-7)
    if solved:
        assert primal(problem, point.w) == pytest.approx(optimum, rel=1e-5, abs=1e-7)


@given(problems(), scales, scales)
def test_gap_and_constraints_at_all_scales(problem, of_rows, of_caps):
    problem = scaled(problem, of_rows, of_caps)
    point = solve(problem, 1e-4)
    assert (point.alpha >= 0).all()
    if not problem.squared:
        assert (np.bincount(problem.owner, point.alpha) <= problem.cap * (1 + 1e-9)).all()
    value, bound = primal(problem, point.w), dual(problem, point.alpha)
    norms = np.linalg.norm(problem.rows, axis=1)
    rounding = 1e-15 * (point.alpha @ norms) * (1 + np.linalg.norm(point.w) + 1e-15 * (point.alpha @ norms))
    if value > 0:  # else there is nothing to be relative to
        assert value - bound <= 2e-2 * value + 100 * rounding
        assert point.gap == pytest.approx((value - bound) / value, abs=1e-6 + 100 * rounding / value)


@given(problems(spread=1.0))
def test_mixture_is_w(problem):
    point = solve(problem, 1e-3)
    np.testing.assert_allclose(problem.rows.T @ point.mixture, point.w, atol=1e-6 * (1 + np.abs(point.w).max()))


@pytest.mark.parametrize("squared", [False, True])
def test_one_plane_in_closed_form(squared):
    """α = b / (‖a‖² + ridge), cut to the cap."""
    problem = JointProblem(np.array([[3.0, 4.0]]), np.array([2.0]), np.array([0]), np.array([0.05]), squared)
    expected = 2.0 / (25 + 1 / 0.05) if squared else min(0.05, 2.0 / 25)
    assert solve(problem, 1e-9).alpha[0] == pytest.approx(expected, rel=1e-4)


def test_planes_without_violation():
    problem = JointProblem(np.zeros((2, 3)), np.zeros(2), np.array([0, 1]), np.ones(2))
    np.testing.assert_array_equal(solve(problem, 1e-3).w, 0.0)
