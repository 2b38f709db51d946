"""Priors and bounds: every certified solver against a general-purpose QP solver that knows them, too."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import chain_data, multiclass_data
from thorough import examples

from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, Bundle, NSlack, OneSlack, Perceptron
from maxmargin.tasks import Chain, Multiclass
from maxmargin.testing import brute_force

TOL = 1e-6
ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
SOLVERS = [BCFW(tol=TOL), NSlack(tol=TOL), OneSlack(tol=TOL), Bundle(tol=TOL)]
RNG = np.random.default_rng(0)


@st.composite
def geometries(draw, dim, scale=1.0):
    """Priors, intervals, signs, fixed weights, and weights that are free."""
    numbers = st.integers(-4, 4).map(lambda k: scale * k / 4)
    origin = draw(st.just(np.zeros(dim)) | st.lists(numbers, min_size=dim, max_size=dim).map(np.array))
    low, high = np.full(dim, -np.inf), np.full(dim, np.inf)
    for j in range(dim):
        kind = draw(st.sampled_from(["free", "low", "high", "interval", "fixed"]))
        one, other = sorted([draw(numbers), draw(numbers)])
        if kind in ("low", "interval"):
            low[j] = one
        if kind in ("high", "interval"):
            high[j] = other
        if kind == "fixed":
            low[j] = high[j] = one
    return Geometry(origin, low, high)


def oracle_of(task, X, Y, geometry, formulation=None, weights=None):
    return Oracle(task.setup_and_pack(X, Y), formulation, weights, geometry=geometry)


@examples(20, 500)
@given(st.data(), st.sampled_from(ALL), st.sampled_from(SOLVERS), st.integers(-1, 2).map(lambda k: 10.0**k))
def test_equals_the_qp(data, formulation, solver, C):
    task, X, Y = data.draw(multiclass_data() | chain_data())
    task.setup(X, Y)
    geometry = data.draw(geometries(task.dim))
    optimum = brute_force(task, X, Y, C, formulation, geometry=geometry)
    solution = solver.solve(oracle_of(task, X, Y, geometry, formulation), C)
    certificate = solution.certificate
    assert certificate.converged, certificate
    assert certificate.dual <= optimum.value * (1 + 1e-7) + 1e-9
    assert optimum.value <= certificate.primal * (1 + 1e-7) + 1e-9
    assert (solution.w >= geometry.low).all()
    assert (solution.w <= geometry.high).all()
    distance = np.linalg.norm(solution.w - optimum.w)  # P is 1-strongly convex
    assert distance <= np.sqrt(2 * (TOL + 1e-6) * max(certificate.primal, 1e-6)) + 1e-4


@examples(50, 500)
@given(st.data(), st.integers(1, 5), st.sampled_from([1e-8, 1.0, 1e8]))
def test_potential_and_bound(data, dim, scale):
    """ψ is a maximum, w(s) is where it is, and the lowered dual is below the one without rounding."""
    geometry = data.draw(geometries(dim, scale))
    s = scale * np.array(data.draw(st.lists(st.floats(-3, 3), min_size=dim, max_size=dim)))
    w = geometry.point(s)
    value = geometry.potential(s, w)
    others = geometry.allowed(scale * RNG.normal(size=(20, dim)))
    away = others - geometry.origin
    sizes = float(np.abs(s) @ np.abs(w)) + geometry.square(w)
    assert (others @ s - 0.5 * (away**2).sum(axis=1) <= value + 1e-12 * sizes + 1e-300).all()
    exact = Fraction(0)
    for x, m, a, b in zip(s, geometry.origin, geometry.low, geometry.high, strict=True):
        best = Fraction(float(m)) + Fraction(float(x))
        best = max(best, Fraction(float(a))) if np.isfinite(a) else best
        best = min(best, Fraction(float(b))) if np.isfinite(b) else best
        exact += Fraction(float(x)) * best - (best - Fraction(float(m))) ** 2 / 2
    assert Fraction(geometry.lowered_dual(1.0 * scale**2, scale**2, s, 0.0, 1.0)) <= max(Fraction(scale**2) - exact, 0)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_paths_and_shares(solver):
    """A solution for one C starts the next, and examples have weights."""
    X, Y = RNG.normal(size=(20, 3)), RNG.integers(0, 3, 20).tolist()
    weights, geometry = RNG.integers(1, 4, 20).astype(float), Geometry(np.ones(9), np.zeros(9), np.full(9, 1.5))
    start = None
    for C in (0.1, 1.0, 30.0, 3.0):
        start = solver.solve(oracle_of(Multiclass(), X, Y, geometry, weights=weights), C, start)
        optimum = brute_force(Multiclass(), X, Y, C, sample_weight=weights, geometry=geometry)
        assert start.certificate.converged
        assert start.certificate.primal == pytest.approx(optimum.value, rel=2 * TOL)


def test_badly_scaled_features_get_joint_rounds():
    X = RNG.normal(size=(40, 4)) * [1e-2, 1.0, 1e2, 1e3]
    Y = (X @ [100.0, 1.0, 0.01, 0.001] + RNG.normal(size=40) > 0).astype(int).tolist()
    geometry = Geometry(np.full(8, 0.1), np.full(8, -0.2), np.full(8, 0.5))
    optimum = brute_force(Multiclass(), X, Y, 100.0, geometry=geometry)
    solution = BCFW(tol=1e-4).solve(oracle_of(Multiclass(), X, Y, geometry), 100.0)
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(optimum.value, rel=2e-4)


def test_what_takes_none():
    oracle = oracle_of(Multiclass(), np.array([[1.0], [2.0]]), [0, 1], Geometry(np.zeros(2), np.zeros(2), np.ones(2)))
    with pytest.raises(ValueError, match="hard margin"):
        BCFW().solve(oracle, np.inf)
    with pytest.raises(ValueError, match="solver 'perceptron' needs weights without bounds and without a prior; use"):
        Perceptron().solve(oracle, 1.0)


@pytest.mark.parametrize("task", [Multiclass(), Chain()], ids=["classes", "chains"])
def test_a_point_moves_to_another_problem_between_rounds(task):
    """Visits leave Σ α a to `refresh`, and the best multiple needs it."""
    X = [RNG.integers(-2, 3, (8, 3)).astype(float) for _ in range(4)]
    Y = [[int(k) for k in RNG.integers(0, 4, 8)] for _ in range(4)]
    if isinstance(task, Multiclass):
        X, Y = np.vstack(X), [k for y in Y for k in y]
    task.setup(X, Y)
    geometry = Geometry(np.zeros(task.dim), np.full(task.dim, -3.0), np.full(task.dim, 3.0))
    oracle, rng = oracle_of(task, X, Y, geometry), np.random.default_rng(0)
    point = oracle.block_dual(1.0, Limits(50, 100.0))
    for _ in range(3):
        point.search(oracle, np.arange(oracle.n), 1)
        point.revisit(oracle, rng)
    before = point.bound()
    point.move_to(point.problem._replace(C=100.0))
    assert point.bound() >= before * (1 - 1e-9)
    assert point.dual == pytest.approx(point.bound(), rel=1e-6)
