"""Sampled cuts: a true certificate on everything, whatever the samples were, and constant work per round."""

import numpy as np
import pytest
from example_tasks import Tags, tag_data
from kernel_problems import ALL, TASKS, multiclass_data, oracle_of

from maxmargin import MulticlassSVC
from maxmargin.kernels import RBF
from maxmargin.solvers import OneSlack, SampledCuts, as_solver
from maxmargin.tasks import Multiclass
from maxmargin.testing import brute_force, check_solver

MULTICLASS = Multiclass(), *multiclass_data(n=30)
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)


@pytest.mark.parametrize("problem", [MULTICLASS, (Tags(), *tag_data())], ids=["multiclass", "tags"])
@formulations
def test_keeps_the_contract(problem, formulation):
    solution = check_solver(SampledCuts(sample=10, check=20, max_passes=200), *problem, 2.0, formulation)
    optimum = brute_force(*problem, 2.0, formulation).value
    assert solution.certificate.primal <= 1.5 * optimum
    assert solution.certificate.dual >= 0.3 * optimum


@formulations
def test_large_samples_come_close(formulation):
    """A cut from many draws is nearly that of the whole data, and so is what it leads to."""
    X, Y = multiclass_data(n=12)
    optimum = brute_force(Multiclass(), X, Y, 2.0, formulation).value
    many = np.tile(X, (200, 1)), Y * 200
    certificate = (
        SampledCuts(sample=1200, check=2000).solve(oracle_of(Multiclass(), *many, formulation), 2.0).certificate
    )
    assert optimum <= certificate.primal * (1 + 1e-9)
    assert certificate.primal <= 1.03 * optimum
    assert 0.8 * optimum <= certificate.dual <= optimum * (1 + 1e-9)


@formulations
def test_a_sample_of_everything_is_the_one_slack_method(formulation):
    X, Y = multiclass_data(n=12)
    optimum = brute_force(Multiclass(), X, Y, 2.0, formulation).value
    certificate = SampledCuts(tol=1e-4).solve(oracle_of(Multiclass(), X, Y, formulation), 2.0).certificate
    assert certificate.primal == pytest.approx(optimum, rel=2e-4)
    assert optimum * (1 - 1e-3) <= certificate.dual <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("name", ["multiclass", "chain"])
def test_with_a_kernel(name):
    make, data = TASKS[name]
    X, Y = data()
    exact = OneSlack(tol=1e-6).solve(oracle_of(make(RBF(0.5)), X, Y), 3.0).certificate
    certificate = SampledCuts().solve(oracle_of(make(RBF(0.5)), X, Y), 3.0).certificate
    assert exact.dual <= certificate.primal <= 1.02 * exact.primal
    assert 0.9 * exact.dual <= certificate.dual <= exact.primal
    certificate = SampledCuts(sample=4, max_passes=300).solve(oracle_of(make(RBF(0.5)), X, Y), 3.0).certificate
    assert exact.dual <= certificate.primal <= 1.5 * exact.primal
    assert 0.3 * exact.dual <= certificate.dual <= exact.primal


def test_sample_weights_are_heeded():
    X, Y = multiclass_data(n=12)
    weights = np.arange(12.0)
    optimum = brute_force(Multiclass(), X, Y, 2.0, sample_weight=weights).value
    oracle = oracle_of(Multiclass(), X, Y, None, weights)
    certificate = SampledCuts(sample=6, max_passes=500).solve(oracle, 2.0).certificate
    assert optimum * (1 - 1e-9) <= certificate.primal <= 1.3 * optimum
    assert 0.5 * optimum <= certificate.dual <= optimum * (1 + 1e-9)


def test_the_mean_plane_of_a_sample():
    X, Y = multiclass_data(n=20)
    for formulation in ALL:
        oracle = oracle_of(Multiclass(), X, Y, formulation, np.arange(1.0, 21))
        w = np.random.default_rng(0).normal(size=oracle.dim)
        whole, every = oracle.mean_plane(w), oracle.mean_plane(w, np.arange(20))
        assert every.a == pytest.approx(whole.a)
        assert (every.offset, every.risk) == pytest.approx((whole.offset, whole.risk))
        assert whole.planes is None
        each = [oracle.mean_plane(w, np.array([i])) for i in (3, 3, 7)]
        some = oracle.mean_plane(w, np.array([3, 3, 7]))
        assert some.a == pytest.approx(np.mean([plane.a for plane in each], axis=0))
        assert some.offset == pytest.approx(np.mean([plane.offset for plane in each]))
        assert some.risk == pytest.approx(np.mean([plane.risk for plane in each]))
        assert np.asarray(some.planes.values(w))[0] == pytest.approx(each[0].planes.values(w)[0])


def test_work_per_round_does_not_grow_with_the_data():
    """Decoder calls and kernel values of ten rounds; measuring at the end is another matter."""
    calls, evaluations = [], []
    for n in (1000, 4000):
        X, Y = multiclass_data(n=n, ties=False)
        oracle = oracle_of(Multiclass(kernel=RBF(0.5)), X, Y)
        steps = SampledCuts(sample=20, check=20, tol=1e-9).steps(oracle, 10.0, 0, None)
        for _ in range(10):
            next(steps)
        calls.append(oracle.calls)
        evaluations.append(oracle.batch.kernel.rows.evaluations)
    assert max(calls) <= 10 * (20 + 20)
    assert 0 < max(evaluations) <= (10 * 20) * 10 * (20 + 20)  # units of cuts × units drawn


def test_fewer_kernel_values_than_with_whole_cuts():
    """Where the cache does not hold the kernel matrix: if it does, no trainer computes more than all of it."""
    X, _ = multiclass_data(n=1700, ties=False)
    Y = (X[:, 0] * X[:, 1] > 0).astype(int)
    kernel = RBF(0.5, cache_mb=1.0)
    models = [
        MulticlassSVC(C=300, kernel=kernel, solver=solver, tol=0.05).fit(X[:1500], Y[:1500])
        for solver in (OneSlack(), SampledCuts(sample=150, check=300))
    ]
    assert 3 * models[1].kernel_evaluations_ < models[0].kernel_evaluations_
    scores = [model.score(X[1500:], Y[1500:]) for model in models]
    assert scores[1] >= scores[0] - 0.06


def test_stops_within_its_passes():
    X, Y = multiclass_data(n=30)
    certificate = SampledCuts(sample=10, tol=1e-9, max_passes=12).solve(oracle_of(Multiclass(), X, Y), 5.0).certificate
    assert certificate.passes <= 14
    assert certificate.primal < np.inf
    assert certificate.dual > 0


def test_options():
    assert isinstance(as_solver("sampled_cuts"), SampledCuts)
    X, Y = multiclass_data()
    for option in ({"sample": 0}, {"check": 2.5}, {"sample": True}):
        with pytest.raises(ValueError, match=f"{next(iter(option))} must be a whole number >= 1"):
            SampledCuts(**option).solve(oracle_of(Multiclass(), X, Y), 1.0)
    with pytest.raises(ValueError, match="solver 'sampled_cuts' needs a finite C; use solver='bcfw', 'n_slack'"):
        SampledCuts().solve(oracle_of(Multiclass(), X, Y), np.inf)


def test_the_bound_of_a_precomputed_kernel():
    """Of a sample's own kernel matrix both rows and columns are those of the sample."""
    from maxmargin import MulticlassSVC

    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 3))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        gram = np.exp(-np.square(X[:, None] - X[None]).sum(axis=2))
        exact = MulticlassSVC(C=60, kernel="precomputed", tol=1e-4).fit(gram, y).certificate_
        sampled = MulticlassSVC(C=60, kernel="precomputed", solver=SampledCuts(sample=20), tol=0.05).fit(gram, y)
        assert sampled.certificate_.dual <= exact.primal * (1 + 1e-9)
