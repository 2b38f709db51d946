"""Certificates against rational arithmetic: what they state holds in floating point, at any C and any scale.

The problems are small enough to list all outputs, and P(w) is computed without any rounding. So a certificate is tested
against numbers, not against tolerances: dual <= P(v) for every v that anybody finds, and P(w) <= primal.
"""

import warnings
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

import maxmargin as mm

SOLVERS = ["bcfw", "n_slack", "one_slack", "bundle"]


def exact(array):
    return [Fraction(float(value)) for value in np.ravel(array)]


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


class Classes:
    """MulticlassSVC: Ψ(x, k) is x at class k."""

    def __init__(self, X, y, **options):
        self.X, self.Y, self.K = X, [int(k) for k in y], int(max(y)) + 1
        self.model = lambda **kw: mm.MulticlassSVC(fit_intercept=False, **options, **kw)

    def outputs(self, x):
        return range(self.K)

    def psi(self, x, z):
        zero, row = [Fraction(0)] * len(x), exact(x)
        return [value for k in range(self.K) for value in (row if k == z else zero)]

    def weights(self, model):
        return np.ravel(np.asarray(model.w_).reshape(-1, self.K).T)

    def loss(self, y, z):
        return Fraction(int(y != z))


class Chains:
    """SequenceLabeler: tokens at labels, transitions, starts and ends."""

    def __init__(self, X, Y, **options):
        self.X, self.Y, self.K = X, [list(map(int, y)) for y in Y], 2
        self.model = lambda **kw: mm.SequenceLabeler(**options, **kw)

    def outputs(self, x):
        return product(range(self.K), repeat=len(x))

    def psi(self, x, z):
        K = self.K
        links = [Fraction(0)] * (K * K + 2 * K)
        for a, b in pairwise(z):
            links[K * a + b] += 1
        links[K * K + z[0]] += 1
        links[K * K + K + z[-1]] += 1
        rows = [[Fraction(0)] * K for _ in range(x.shape[1])]
        for token, label in zip(x, z, strict=True):
            for f, value in enumerate(exact(token)):
                rows[f][label] += value
        return links + [value for row in rows for value in row]

    def weights(self, model):
        return model.w_

    def loss(self, y, z):
        return Fraction(sum(a != b for a, b in zip(y, z, strict=True)))


class Errors(Classes):
    """MeasureSVC("error"): one example, whose outputs are labellings of all rows."""

    def __init__(self, X, y, **options):
        self.X, self.Y = [X], [np.asarray(y) % 2]
        self.model = lambda **kw: mm.MeasureSVC(
            "error", fit_intercept=False, train_for="measure", cut="trained", **options, **kw
        )

    def outputs(self, x):
        return product((0, 1), repeat=len(x))

    def psi(self, x, z):
        total = [Fraction(0)] * x.shape[1]
        for row, label in zip(x, map(int, z), strict=True):
            total = [t + label * v for t, v in zip(total, exact(row), strict=True)]
        return [self.unit * t for t in total]

    def weights(self, model):
        self.unit = Fraction(float(model.task_.unit_))
        return model.w_

    def loss(self, y, z):
        return Fraction(sum(int(a) != int(b) for a, b in zip(y, z, strict=True)), len(y))


def objective(problem, w, C, rescaling="margin", slack="l1", weights=None):
    """P(w), without rounding; squared slacks for losses that are 0 or 1."""
    w, risk = exact(w), Fraction(0)
    weights = [Fraction(1)] * len(problem.X) if weights is None else exact(weights)
    for x, y, weight in zip(problem.X, problem.Y, weights, strict=True):
        truth, worst = dot(w, problem.psi(x, tuple(y) if not isinstance(y, int) else y)), Fraction(0)
        for z in problem.outputs(x):
            loss, margin = problem.loss(y, z), truth - dot(w, problem.psi(x, z))
            worst = max(worst, loss * (1 - margin) if rescaling == "slack" else loss - margin)
        risk += weight * (worst**2 / 2 if slack == "l2" else worst)
    return dot(w, w) / 2 + Fraction(C) * risk / sum(weights)


def fitted(problem, weights=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(problem, Errors):
            return problem.model(**options).fit(problem.X[0], problem.Y[0])
        X = problem.X if isinstance(problem.X, list) else np.asarray(problem.X)
        return problem.model(**options).fit(X, problem.Y, sample_weight=weights)


@st.composite
def problems(draw, kinds=("classes", "chains", "errors")):
    """Small data of any scale, with ties and duplicates."""
    seed, n, d = draw(st.integers(0, 10**6)), draw(st.integers(2, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(seed)
    scale = 10.0 ** draw(st.integers(-8, 8))
    whole = draw(st.booleans())

    def numbers(*shape):
        return (rng.integers(-2, 3, shape).astype(float) if whole else rng.standard_normal(shape)) * scale

    kind = draw(st.sampled_from(kinds))
    if kind == "chains":
        lengths = rng.integers(1, 4, n)
        labels = [rng.integers(0, 2, k) for k in lengths]
        labels[0][:], labels[1][:] = 0, 1
        return Chains([numbers(k, d) for k in lengths], labels)
    X, y = numbers(n, d), np.arange(n) % (2 if kind == "errors" else 3)
    if draw(st.booleans()):
        X[-1] = X[0]
    return Classes(X, y) if kind == "classes" else Errors(X, y)


def check(problem, C, solver, weights=None, rescaling="margin", slack="l1", **options):
    """The objective is no higher than stated; returns the bound, the weights and their objective."""
    model = fitted(problem, weights, C=C, solver=solver, rescaling=rescaling, slack=slack, **options)
    certificate, w = model.certificate_, problem.weights(model)
    assert np.isfinite(certificate.primal)
    value = objective(problem, w, C, rescaling, slack, weights)
    assert value <= Fraction(certificate.primal), "the objective is higher than stated"
    assert certificate.dual <= certificate.primal
    assert not certificate.converged or certificate.relative_gap <= 0.01
    return Fraction(certificate.dual), value


def check_all(problem, C, **options):
    """What is reached by one solver is no lower than what another one states as a bound."""
    found = [check(problem, C, solver, **options) for solver in SOLVERS]
    best = min(value for _, value in found)
    for (dual, _), solver in zip(found, SOLVERS, strict=True):
        assert dual <= best, f"{solver} states the bound {float(dual)!r}, and {float(best)!r} is reached"


@given(problems(), st.integers(-6, 12), st.booleans())
@examples(20, 500)
def test_certificates_hold_without_rounding(problem, power, interrupted):
    check_all(problem, 10.0**power, max_passes=3 if interrupted else 60)


@given(problems(["classes"]), st.integers(-6, 12), st.data())
@examples(20, 1000)
def test_certificates_of_all_formulations_hold(problem, power, data):
    rescaling, slack = data.draw(st.sampled_from(["margin", "slack"])), data.draw(st.sampled_from(["l1", "l2"]))
    weights = data.draw(st.sampled_from([None, np.arange(len(problem.X)) + 1.0, np.arange(len(problem.X)) % 2 + 1e-6]))
    passes = data.draw(st.sampled_from([3, 20, 300]))
    options = {"rescaling": rescaling, "slack": slack, "max_passes": passes}
    check_all(problem, 10.0**power, weights=weights, **options)


@pytest.mark.slow
@given(problems(["classes", "chains"]), st.lists(st.integers(-6, 12), min_size=2, max_size=3))
@examples(10, 500)
def test_certificates_of_warm_starts_hold(problem, powers):
    for solver in SOLVERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = problem.X if isinstance(problem.X, list) else np.asarray(problem.X)
            models = problem.model(solver=solver, max_passes=30).fit_path(X, problem.Y, [10.0**p for p in powers])
        for model, power in zip(models, powers, strict=True):
            C, certificate = 10.0**power, model.certificate_
            assert objective(problem, problem.weights(model), C) <= Fraction(certificate.primal)
            assert Fraction(certificate.dual) <= min(objective(problem, problem.weights(m), C) for m in models)


# --- decoders and solvers that state what is not true


class Positions(mm.Task):
    """Independent positions with four labels; the decoder adds `share` of the loss, and may write into w."""

    def __init__(self, share=1.0, writes=False):
        self.share, self.writes = share, writes

    def setup(self, X, Y):
        self.dim = 4 * X[0].shape[1]

    def psi(self, x, z):
        features = np.zeros((4, x.shape[1]))
        np.add.at(features, list(z), x)
        return features.ravel()

    def loss(self, y, z):
        return float(sum(a != b for a, b in zip(y, z, strict=True)))

    def argmax(self, w, x, y=None):
        if self.writes:
            w[0] = 0.0
        scores = x @ w.reshape(4, -1).T
        if y is not None:
            scores += self.share
            scores[np.arange(len(y)), list(y)] -= self.share
        return tuple(scores.argmax(axis=1))


@pytest.fixture(scope="module")
def positions():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((5, 6)) for _ in range(30)]
    W = rng.standard_normal((6, 4))
    return X, [tuple(((x + 0.5 * rng.standard_normal(x.shape)) @ W).argmax(axis=1)) for x in X]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_decoder_that_adds_half_of_the_loss_is_named(positions, solver):
    with pytest.raises(mm.errors.TaskError, match=r"Positions broke its promise on example \d+: argmax.*earlier"):
        mm.StructuredSVM(Positions(share=0.5), C=10, solver=solver).fit(*positions)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_a_right_decoder_is_not(positions, solver, scale):
    X, Y = positions
    model = mm.StructuredSVM(Positions(), C=10 / scale**2, solver=solver, max_passes=60)
    assert model.fit([scale * x for x in X], Y).certificate_.primal < np.inf


def test_a_decoder_cannot_change_the_weights(positions):
    with pytest.raises(ValueError, match="read-only"):
        mm.StructuredSVM(Positions(writes=True)).fit(*positions)


def test_certify_certifies_no_such_decoder(positions):
    model = mm.StructuredSVM(Positions(share=0.5), C=10, solver="perceptron", max_passes=3).fit(*positions)
    with pytest.raises(mm.errors.TaskError, match=r"Positions broke its promise on example \d+: argmax.*earlier"):
        model.certify(*positions)


class Boaster(mm.solvers.Solver):
    """States a bound that is not true."""

    def steps(self, oracle, C, seed, start):
        yield mm.solvers.Step(np.zeros(oracle.dim), dual=1e9)


def test_a_bound_above_the_objective_is_the_solvers_fault(positions):
    with pytest.raises(mm.errors.SolverError, match="Boaster states that no weights have an objective below 1e"):
        mm.StructuredSVM(Positions(), solver=Boaster()).fit(*positions)


# --- the known cases


def test_bounds_of_cuts_that_cancel():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((8, 2)) * 1e6, np.arange(8) % 3
    check_all(Classes(X, y), 1e6)


def test_a_warm_start_from_separating_weights():
    """At such weights a decoder returns truths alone, of which nothing is long."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((8, 3)) * 1e6
    y = (X[:, 0] > 0).astype(int)
    problem = Classes(X, y)
    model = problem.model(C=1e12, solver="bundle", warm_start=True, max_passes=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            model.fit(X, y)
            assert objective(problem, problem.weights(model), 1e12) <= Fraction(model.certificate_.primal)


class Listed(mm.Task):
    """x has a row of features for every output; all of them may have much in common."""

    def setup(self, X, Y):
        self.dim = X[0].shape[1]

    def psi(self, x, z):
        return x[z]

    def loss(self, y, z):
        return float(y != z) / (1 + z)

    def outputs(self, x):
        return range(len(x))


class ListedProblem(Listed):
    def __init__(self, X, Y):
        self.X, self.Y = X, Y
        self.model = lambda **options: mm.StructuredSVM(Listed(), **options)

    def psi(self, x, z):
        return exact(x[z])

    def loss(self, y, z):
        return Fraction(float(y != z) / (1 + z))

    def weights(self, model):
        return model.w_


@pytest.mark.parametrize("C", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("common", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("seed", range(3))
def test_features_that_all_outputs_share(seed, common, C):
    rng = np.random.default_rng(seed)
    X = [np.round(common * rng.standard_normal(4)) + rng.standard_normal((3, 4)) for _ in range(5)]
    check_all(ListedProblem(X, [int(z) for z in rng.integers(0, 3, 5)]), C, max_passes=60)


@pytest.mark.parametrize("C", [1e4, 1e8, 1e10])
def test_outputs_that_are_never_returned(C):
    rows = np.array([[0, 0, 0], [-1, -1, -1], [-51132755.0, -97624371.0, 148757124.50000003]])
    check_all(ListedProblem([rows], [0]), C, max_passes=60)


class Chosen:
    """Parts: two of four, all with nearly the same features."""

    def __init__(self, X, Y):
        self.X, self.Y = X, Y
        self.model = lambda **options: mm.StructuredSVM(mm.tasks.Parts(best_two), **options)

    def outputs(self, x):
        return combinations(range(len(x)), 2)

    def psi(self, x, z):
        return [sum(column, Fraction(0)) for column in zip(*(exact(x[i]) for i in z), strict=True)]

    def loss(self, y, z):
        return Fraction(len(set(map(int, y)) ^ set(z)))

    def weights(self, model):
        return model.w_


def best_two(scores, x):
    return np.argsort(-np.asarray(scores), kind="stable")[:2]


@pytest.mark.parametrize(("mean", "deviation", "C"), [(1e3, 1e-2, 1e6), (1e6, 1e-5, 1e12)])
def test_planes_whose_rows_cancel(mean, deviation, C):
    rng = np.random.default_rng(2)
    X = [mean + deviation * rng.standard_normal((4, 2)) for _ in range(3)]
    check_all(Chosen(X, [np.sort(rng.choice(4, 2, replace=False)) for _ in X]), C, max_passes=100)


@pytest.mark.parametrize("weight", [1e-310, 1e307])
def test_any_sample_weights(weight):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 2)), np.arange(9) % 3
    plain, weighted = (mm.MulticlassSVC(tol=0.01).fit(X, y, sample_weight=v) for v in (None, np.full(9, weight)))
    assert weighted.certificate_.primal == pytest.approx(plain.certificate_.primal)
