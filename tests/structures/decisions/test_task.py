"""Decisions: the contract, the optimum, and SPO+ as it is written in the literature, all by listing decisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from structures.decisions.listed import (
    Hasty,
    Listed,
    ListedDecisions,
    Nonnegative,
    Together,
    some_points,
    some_sets,
    subsets,
)
from thorough import examples

from maxmargin.base.search import Search
from maxmargin.problem.contract.examples import Examples
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, OneSlack
from maxmargin.structures.decisions.cases import Cases
from maxmargin.testing import brute_force, check_solver, check_task

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
FORMS = ["whole", "sparse", "parts", "listed", "own"]
WAYS = ["costs", "real costs", "decisions", "partial"]


def drawn(form, way, sense, seed, n=4, kind=Together, scale=1.0, unit=1.0, whole=True):
    """(task, X, Y): features of this form, and costs (of this scale) or decisions (real ones: in this unit)."""
    rng = np.random.default_rng(seed)

    def numbers(*shape):
        return (rng.integers(-2, 3, shape) if whole else rng.standard_normal(shape)).astype(float)

    def optimiser(n_parts):
        outputs = some_points(rng, n_parts, scale=unit) if way == "real costs" else some_sets(rng, n_parts)
        return kind(outputs, sense)

    sizes = rng.integers(3, 5, n) if form == "own" else np.full(n, 4)
    own = [optimiser(size) for size in sizes] if form == "own" else [optimiser(4)] * n
    X = [numbers(size, 3) for size in sizes]
    if form in ("whole", "sparse"):
        X = numbers(n, 3)
        X = sparse.csr_array(X) if form == "sparse" else X
    elif form == "parts":
        X = np.array(X)
    elif form == "listed":
        X = [sparse.csr_array(x) if i % 2 else x for i, x in enumerate(X)]
    Y = [scale * numbers(size) for size in sizes]
    if way in ("decisions", "partial"):
        Y = [each.outputs[int(rng.integers(len(each.outputs)))].copy() for each in own]
    if way == "partial":
        for y in Y:
            y[rng.random(len(y)) < 0.4] = np.nan
    measure = "parts" if way in ("decisions", "partial") else "regret"
    task = ListedDecisions(own if form == "own" else own[0], measure, sense)
    cases = Cases.of(X, optimisers=own if form == "own" else None)
    return task, cases, task.observed(cases, Y)


problems = given(
    form=st.sampled_from(FORMS),
    way=st.sampled_from(WAYS),
    sense=st.sampled_from(["min", "max"]),
    seed=st.integers(0, 10**6),
)


@examples(30, 150)
@problems
def test_contract(form, way, sense, seed):
    check_task(*drawn(form, way, sense, seed), seed=seed)


@examples(15, 60)
@given(
    way=st.sampled_from(WAYS),
    sense=st.sampled_from(["min", "max"]),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-8, 1e-4, 1e4, 1e8]),
    unit=st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_contract_at_any_scale(way, sense, seed, scale, unit):
    check_task(*drawn("whole", way, sense, seed, scale=scale, unit=unit), seed=seed)


@examples(30, 100)
@problems
def test_planes_are_those_of_plain_examples(form, way, sense, seed):
    task, X, Y = drawn(form, way, sense, seed)
    task.setup(X, Y)
    batch, plain = task.pack(X, Y), Examples(task, X, Y)
    w = np.random.default_rng(seed).standard_normal(task.dim)  # without ties
    if task.latent:
        batch, plain = batch.completed(w), plain.completed(w)
    found, expected = batch.planes(w), plain.planes(w)
    np.testing.assert_allclose(found.dpsi.toarray(), expected.dpsi, atol=1e-12)
    np.testing.assert_allclose(found.loss, expected.loss, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS[:3])
@pytest.mark.parametrize("sense", ["min", "max"])
def test_training_ends_at_the_optimum_of_all_constraints(form, way, sense):
    task, X, Y = drawn(form, way, sense, seed=1, n=5, whole=False)
    optimum = brute_force(task, X, Y, 2.0).value
    for solver in (BCFW(tol=1e-5), OneSlack(tol=1e-5)):
        certificate = check_solver(solver, task, X, Y, 2.0).certificate
        assert certificate.converged
        assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
        assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


@examples(10, 60)
@given(
    way=st.sampled_from(WAYS[:3]),
    sense=st.sampled_from(["min", "max"]),
    seed=st.integers(0, 10**6),
    formulation=st.sampled_from(ALL),
)
def test_optima_of_random_problems(way, sense, seed, formulation):
    """Regrets in other formulations are searched through λ, with bounds that hold; parts exactly."""
    task, X, Y = drawn("whole", way, sense, seed, n=3, whole=False)
    optimum = brute_force(task, X, Y, 2.0, formulation).value
    task.setup(X, Y)
    certificate = BCFW(tol=1e-4, max_passes=200).solve(Oracle(task.pack(X, Y), formulation), 2.0).certificate
    assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
    assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9
    if formulation.plain or way == "decisions":
        assert certificate.converged


@examples(20, 100)
@given(
    form=st.sampled_from(FORMS),
    sense=st.sampled_from(["min", "max"]),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
    real=st.booleans(),
)
def test_the_risk_is_spo_plus(form, sense, seed, scale, real):
    """max_z [(c - 2ĉ)·z] + 2ĉ·z* - c·z* (Elmachtoub and Grigas 2022, Eq. 8), with -c and -ĉ where one maximises."""
    task, X, Y = drawn(form, "real costs" if real else "costs", sense, seed, scale=scale, whole=False)
    task.setup(X, Y)
    w = scale * np.random.default_rng(seed).standard_normal(task.dim)
    sign, expected = 1 if sense == "min" else -1, []
    for x, y, predicted in zip(X, Y, task.costs(w, X), strict=True):
        outputs, c, p = task.outputs(x), y.added, sign * predicted
        best = outputs[np.argmin(outputs @ c)]
        expected.append(np.max(outputs @ (c - 2 * p)) + 2 * p @ best - c @ best)
    found = Oracle(task.pack(X, Y)).slacks(w)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_constant_is_added_for_optimisers_that_need_costs_of_one_sign(way, sense):
    task, X, _ = drawn("whole", way, sense, seed=3)
    choices = subsets(4, 2)
    plain, shifted = (task.__class__(kind(choices, sense), task.measure, sense) for kind in (Listed, Nonnegative))
    rng = np.random.default_rng(0)
    raw = rng.standard_normal((4, 4)) if task.measure == "regret" else np.array(choices[:4])
    planes = []
    for each in (plain, shifted):
        batch = each.setup_and_pack(X, raw)
        planes.append(batch.planes(np.linspace(-1.0, 1.5, batch.dim)))
        check_task(each, X, each.observed(X, raw))
    np.testing.assert_array_equal(planes[0].dpsi.toarray(), planes[1].dpsi.toarray())


@pytest.mark.parametrize("way", WAYS[:3])
def test_an_optimiser_that_is_not_exact(way):
    """The bound holds, the objective is an estimate from below."""
    task, X, Y = drawn("whole", way, "min", seed=5, n=6, whole=False)
    optimum = brute_force(task, X, Y, 2.0).value
    hasty = task.__class__(Hasty(task.optimiser.outputs), task.measure)
    hasty.setup(X, Y)
    assert hasty.search is Search.UNDERGENERATING
    certificate = BCFW(tol=1e-3).solve(Oracle(hasty.pack(X, Y)), 2.0).certificate
    assert certificate.search is Search.UNDERGENERATING
    assert certificate.upper is None or not np.isfinite(certificate.upper)
    assert certificate.dual <= optimum * (1 + 1e-7)


def test_completions_agree_with_what_is_known():
    for sense in ("min", "max"):
        for scale in (0.0, 1e-8, 1.0, 1e8):
            task, X, Y = drawn("whole", "partial", sense, seed=11, n=20)
            task.setup(X, Y)
            batch = task.pack(X, Y).completed(scale * np.random.default_rng(0).standard_normal(task.dim))
            known = ~np.isnan(batch.labels.decision)
            np.testing.assert_array_equal(batch.truth[known], batch.labels.decision[known])
