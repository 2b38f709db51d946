"""Certificates of counting-based training against rational arithmetic: for every set, at any scale and any λ."""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from counting.rational_training import Quadratic, dot, rational

import maxmargin as mm
from maxmargin.counting.certificate import CountingCertificate
from maxmargin.counting.sets.arborescences import Arborescences
from maxmargin.counting.sets.assignments import Assignments
from maxmargin.counting.sets.classes import Classes, OrderedClasses
from maxmargin.counting.sets.cycles import CyclicPermutations, HamiltonianCycles
from maxmargin.counting.sets.dag_paths import DagPaths
from maxmargin.counting.sets.graphs import Cliques, EdgeSets, KCliques
from maxmargin.counting.sets.hierarchy import HierarchyLabels, HierarchyPaths
from maxmargin.counting.sets.matchings import Matchings, PerfectMatchings
from maxmargin.counting.sets.orders import PartialTournaments, Permutations
from maxmargin.counting.sets.paths import Paths
from maxmargin.counting.sets.sequences import LabelSequences
from maxmargin.counting.sets.spanning_trees import SpanningTrees
from maxmargin.counting.sets.subsets import AllSubsets, Subsets

TREE = {0: None, 1: 0, 2: 0, 3: 1, 4: 1}
SETS = [
    Classes(3),
    OrderedClasses(4),
    Subsets(4, 2),
    AllSubsets(3),
    Permutations(3),
    PartialTournaments(3),
    CyclicPermutations(4),
    CyclicPermutations(3, signed=False),
    HamiltonianCycles(4),
    HamiltonianCycles(3, directed=True),
    HamiltonianCycles(4, directed=True, signed=True),
    Assignments(2, 3),
    Assignments(3, 3),
    SpanningTrees(3),
    SpanningTrees(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
    Arborescences(3),
    Arborescences(3, [(0, 1), (0, 2), (1, 2)]),
    DagPaths([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)], 0, 3),
    EdgeSets(3),
    Cliques(3),
    KCliques(4, 2),
    Matchings(4),
    PerfectMatchings(4),
    Paths(4),
    LabelSequences("ab", 3),
    LabelSequences("ab", 3, forbidden=[("a", "b")]),
    HierarchyPaths(TREE),
    HierarchyLabels(TREE),
]
MOST = 15  # the most unknowns of an exact solution
MANY = range(10, 40)  # the seeds of the problems of each set in the long campaign


def case(outputs, seed, law=None, several=True):
    """Draw a training problem, train, and compare with exact numbers; return whether a gap was proved to be small."""
    rng = np.random.default_rng([seed, outputs.dim])
    n = int(rng.integers(2, max(MOST // outputs.dim, 2) + 1))
    p = int(rng.integers(1, 5))
    scale = 2.0 ** int(rng.choice([-40, -30, -20, -10, 0, 10, 20, 25, 30, 40]))
    X = rng.integers(-2, 3, (n, p)).astype(float) if rng.random() < 0.5 else rng.standard_normal((n, p))
    if rng.random() < 0.3:
        X[-1] = X[0]
    X, lam = X * scale, 10.0 ** int(rng.integers(-12, 13))
    # Cliques of less than two vertices have the same features, of which an example may have only one.
    members = list({tuple(outputs.features(y)): y for y in outputs.outputs()}.values())
    most = min(int(rng.integers(1, 4)), len(members)) if several else 1
    Y = [[members[k] for k in rng.permutation(len(members))[: rng.integers(1, most + 1)]] for _ in range(n)]
    target = str(rng.choice(["margin", "margin", "similarity"]))
    kernel, intercept = str(rng.choice(["linear", "linear", "precomputed"])), bool(rng.random() < 0.3)
    solver = str(rng.choice(["cg", "cg", "closed" if outputs.cov_spectrum() is not None else "auto"]))
    max_iter = int(rng.choice([1, 3, 1000]))
    quadratic = Quadratic(outputs, Y, lam, target, law)
    if kernel == "precomputed":
        Z = rng.integers(-2, 3, (n, p))
        K, intercept = (Z @ Z.T).astype(float) * scale**2, False
        inputs, exact = K, rational(K)
    else:
        inputs, whole = X, np.hstack([X, np.ones((n, 1))]) if intercept else X
        exact = [[dot(u, v) for v in rational(whole)] for u in rational(whole)]
    model = mm.CountingPredictor(
        outputs,
        kernel=kernel,
        alpha=lam,
        solver=solver,
        fit_intercept=intercept,
        target=target,
        max_iter=max_iter,
        tol=float(rng.choice([1e-8, 1e-8, 1e-3])),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(inputs, Y, several=True)
    found = model.certificate_
    if kernel == "precomputed":
        value = quadratic.of_coefficients(K, model.dual_coef_)
    else:
        weights = model.coef_.T
        value = quadratic.of_weights(whole, np.vstack([weights, model.intercept_]) if intercept else weights)
    optimum = quadratic.minimum(exact)
    assert optimum <= value
    assert found.primal == np.inf or value <= Fraction(found.primal), "the objective is higher than stated"
    assert found.dual == -np.inf or Fraction(found.dual) <= optimum, "the bound is above the optimum"
    assert found.dual <= found.primal
    assert found.at_zero == pytest.approx(float(quadratic.at_zero), rel=1e-10)
    whole = quadratic.at_zero + value
    gap = found.relative_gap
    assert gap == np.inf or (value - optimum) <= Fraction(gap) * whole * (1 + Fraction(1, 10**9)) + Fraction(1, 10**300)
    assert not found.converged or gap <= max(10 * model.tol, 1e-6) or found.dual == -np.inf
    return found.converged


@pytest.mark.parametrize("outputs", SETS, ids=str)
def test_certificates_hold_without_rounding(outputs):
    for seed in range(3):
        case(outputs, seed)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", SETS, ids=str)
def test_certificates_of_many_problems_hold_without_rounding(outputs):
    converged = sum(case(outputs, seed) for seed in MANY)
    assert converged > 5, "nearly nothing converges"


def test_certificates_of_a_law_that_is_not_uniform():
    weights = [1.0, 5.0, 2.0]
    outputs = SpanningTrees(3, weights=weights)
    known = dict(zip(outputs.coordinates, weights, strict=True))
    for seed in range(5):
        case(outputs, seed, lambda tree: prod((Fraction(known[edge]) for edge in tree), start=Fraction(1)), False)


@pytest.mark.parametrize("power", [20, 30, 40])
def test_certificates_of_large_inputs(power):
    """More features than examples: the model is found in coefficients of the kernel, which lose digits."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((6, 9)) * 2.0**power, [int(k) for k in np.arange(6) % 3]
    model = mm.CountingClassifier(kernel="linear", solver="cg", alpha=1.0, fit_intercept=False).fit(X, Y)
    quadratic = Quadratic(Classes(3), [[k] for k in Y], 1.0, "margin")
    value = quadratic.of_weights(X, model.coef_.T)
    optimum = quadratic.minimum([[dot(u, v) for v in rational(X)] for u in rational(X)])
    found = model.certificate_
    assert Fraction(found.dual) <= optimum <= value <= Fraction(found.primal)
    assert found.converged == (found.relative_gap <= 1e-6)


def test_a_gap_is_not_zero_where_the_objective_is_lost():
    kept = {"residual": 0.0, "converged": False, "solver": "", "iterations": 0, "seconds": 0.0, "cpu_seconds": 0.0}
    for primal, dual, expected in [(-3.0, -2.0, 0.0), (-2.0, -3.0, np.inf), (-1.0, -2.0, 1.0), (np.inf, 0.0, np.inf)]:
        found = CountingCertificate(primal=primal, dual=dual, at_zero=2.0, stop_reason="", **kept)
        assert found.relative_gap == expected
