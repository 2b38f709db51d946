"""Training with searches that miss the best output, or that search a larger set: what certificates may say."""

from itertools import product
from math import e, inf

import numpy as np
import pytest
from example_tasks import Interval, Sloppy, interval_data
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin import StructuredSVM
from maxmargin.base.search import Search
from maxmargin.errors import NotSeparable, TaskError
from maxmargin.problem.contract.examples import Examples, dot
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.planes import Planes, bound_by_ratio
from maxmargin.solvers import BCFW, CCCP, Bundle, NSlack, OneSlack
from maxmargin.testing import brute_force, check_task, objective

ALL = [Formulation(rescaling, slack) for slack in ("l1", "l2") for rescaling in ("margin", "slack")]
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)
CERTIFIED = [BCFW(), NSlack(), OneSlack(), Bundle()]
certified_solvers = pytest.mark.parametrize("solver", CERTIFIED, ids=lambda solver: type(solver).__name__)


def oracle_of(task, X, Y, formulation=None):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), formulation)


class Erratic(Interval):
    """Returns anything at all: which output depends on the weights' digits only. Often it is worse than the truth."""

    search = Search.UNDERGENERATING

    def argmax(self, w, x, y=None):
        every = self.outputs(x)
        return every[int(1e6 * np.abs(w).sum()) * 7919 % len(every)]

    def pack(self, X, Y):
        return Examples(self, X, Y)  # which does not list outputs, so that rescaled ones are searched


class Short(Interval):
    """A decoder that stops at the worst output whose value is still `ratio` of the maximum, where that is >= 0."""

    search, ratio = Search.UNDERGENERATING, 0.6

    def argmax(self, w, x, y=None):
        every = self.outputs(x)
        values = np.array([dot(self.psi(x, z), w) + (0.0 if y is None else self.loss(y, z)) for z in every])
        if values.max() < 0:
            return every[0]
        enough = np.flatnonzero(values >= self.ratio * values.max())
        return every[enough[np.argmin(values[enough])]]

    def pack(self, X, Y):
        return Examples(self, X, Y)  # which does not list outputs, so that rescaled ones are searched


# --- undergenerating searches


@formulations
@certified_solvers
@pytest.mark.parametrize("task", [Erratic, Sloppy, Short])
def test_poor_planes_never_break_training(task, solver, formulation):
    """Whatever comes back, training ends, its lower bound holds, and its estimate knows all that was found."""
    X, Y = interval_data(10)
    optimum = brute_force(Interval(), X, Y, 2.0, formulation).value
    solution = type(solver)(max_passes=60).solve(oracle_of(task(), X, Y, formulation), 2.0)
    certificate = solution.certificate
    assert solution.error is None
    assert certificate.search == "undergenerating"
    assert certificate.dual <= optimum * (1 + 1e-9)
    assert certificate.primal >= certificate.dual * (1 - 1e-9)
    assert certificate.upper >= objective(Interval(), X, Y, 2.0, solution.w, formulation) * (1 - 1e-9)


@certified_solvers
def test_the_estimate_is_no_less_than_what_cuts_of_other_weights_know(solver):
    """The search of Sloppy sees half of the outputs; what was found at other weights counts at these too."""
    X, Y = interval_data(12, seed=3)
    solution = solver.solve(oracle_of(Sloppy(), X, Y), 5.0)
    assert solution.memory.risk(solution.w) > 0
    known = 0.5 * solution.w @ solution.w + 5.0 * solution.memory.risk(solution.w)
    assert solution.certificate.primal >= known * (1 - 1e-9)


def test_remembered_risk_is_that_of_the_cuts():
    X, Y = interval_data(12, seed=3)
    for solver in CERTIFIED:  # of an exact task, where they end at the same optimum
        oracle = oracle_of(Interval(), X, Y)
        solution = solver.solve(oracle, 5.0)
        w = solution.w
        assert solution.memory.risk(w) == pytest.approx(oracle.risk(w), rel=0.05)
        for other in np.random.default_rng(0).standard_normal((5, oracle.dim)):
            assert solution.memory.risk(other) <= oracle.risk(other) * (1 + 1e-12)


@examples(10, 50)
@given(st.integers(0, 10**6), st.sampled_from([1 - 1 / e, 0.5, 0.9, 1.0]))
def test_a_known_ratio_bounds_the_slack(seed, ratio):
    """Spec of the bound: ξ <= (1/ρ)(⟨w, Ψ(x, y)⟩ + found) - ⟨w, Ψ(x, y)⟩, against enumeration."""
    X, Y = interval_data(6, seed=seed)
    task = Short()
    task.ratio = ratio
    oracle = oracle_of(task, X, Y)
    w = np.random.default_rng(seed).integers(-2, 3, oracle.dim).astype(float)
    exact = oracle_of(Interval(), X, Y).slacks(w)
    planes = task.pack(X, Y).planes(w)
    assert (planes.upper >= exact - 1e-9).all()
    if ratio == 1.0:
        positive = np.isfinite(planes.upper)
        assert planes.upper[positive] == pytest.approx(exact[positive], abs=1e-9)


def test_the_bound_of_a_ratio_by_hand():
    heights, truths = np.array([1.0, 1.0, -5.0]), np.array([3.0, -4.0, 4.0])
    # values 4, -3 (tells nothing), -1 (nothing)
    assert bound_by_ratio(heights, truths, 0.5).tolist() == [5.0, inf, inf]


@formulations
def test_certificate_with_a_ratio(formulation):
    """The bound holds, and is no worse than ½‖w‖² + C/(nρ) Σ [ξ + (1 - ρ) ⟨w, Ψ(x, y)⟩] at the returned weights."""
    X, Y = interval_data(10, seed=5)
    oracle = oracle_of(Short(), X, Y, formulation)
    solution = OneSlack(max_passes=200).solve(oracle, 2.0)
    certificate = solution.certificate
    true = objective(Interval(), X, Y, 2.0, solution.w, formulation)
    assert true <= certificate.upper * (1 + 1e-9)
    if formulation.plain and np.isfinite(certificate.upper):
        task, rho = Short(), Short.ratio
        task.setup(X, Y)
        slacks = np.maximum(task.pack(X, Y).planes(solution.w).values(solution.w), 0)
        truths = np.array([dot(task.psi(x, y), solution.w) for x, y in zip(X, Y, strict=True)])
        formula = 0.5 * solution.w @ solution.w + 2.0 / rho * np.mean(slacks + (1 - rho) * truths)
        assert certificate.upper <= formula * (1 + 1e-9)
    assert "not certified" in str(certificate)


def test_an_undergenerating_search_without_a_ratio_proves_nothing():
    X, Y = interval_data(10)
    for formulation in ALL:
        certificate = OneSlack().solve(oracle_of(Sloppy(), X, Y, formulation), 2.0).certificate
        assert certificate.upper == inf
        assert certificate.proved_gap == inf


def test_a_bound_of_the_task_reaches_the_certificate():
    class WithBound(Examples):
        def planes(self, w, augment=1.0):
            exact = Examples(self.task._exact, self.X, self.Y).take(self.ids).planes(w, augment)
            lam = np.broadcast_to(augment, len(self))
            return super().planes(w, augment)._replace(upper=lam * exact.loss - exact.dpsi @ w)

    class Bounded(Sloppy):
        def pack(self, X, Y):
            return WithBound(self, X, Y)

        def setup(self, X, Y):
            super().setup(X, Y)
            self._exact = Interval()
            self._exact.setup(X, Y)

    X, Y = interval_data(10)
    for formulation in ALL:
        solution = BCFW().solve(oracle_of(Bounded(), X, Y, formulation), 2.0)
        true = objective(Interval(), X, Y, 2.0, solution.w, formulation)
        assert true * (1 - 1e-9) <= solution.certificate.upper
        if formulation.plain:
            assert solution.certificate.upper == pytest.approx(true)


# --- overgenerating searches


class Triangle(Task):
    """Three binary labels, each pair with its own weight; outputs may be half 0 and half 1 if `halves`.

    Ψ = (Σ_i x_i z_i, agreement of z_0 z_1, z_1 z_2, z_0 z_2). Two halves disagree, so that three labels can all
    disagree with each other: that is what a relaxation sees in an odd cycle, and no true output.
    """

    def __init__(self, halves=False):
        self.halves = halves

    def setup(self, X, Y):
        self.dim = 4

    def psi(self, x, z):
        z = np.array(z)
        pairs = []
        for i, j in ((0, 1), (1, 2), (0, 2)):
            pairs.append(1 - abs(z[i] - z[j]) if not z[i] == z[j] == 0.5 else 0.0)
        return np.array([float(x @ z), *pairs])

    def loss(self, y, z):
        return float(np.abs(np.array(y) - np.array(z)).sum())

    def outputs(self, x):
        return list(product((0.0, 0.5, 1.0) if self.halves else (0.0, 1.0), repeat=3))


class RelaxedTriangle(Triangle):
    search = Search.OVERGENERATING

    def __init__(self, halves=True):
        super().__init__(halves)

    def decode(self, w, X):
        true = Triangle()
        true.setup(X, None)
        return [true.argmax(w, x) for x in X]


def triangles(n=8, seed=0):
    rng = np.random.default_rng(seed)
    X = list(rng.integers(-2, 3, (n, 3)).astype(float))
    task = Triangle()
    return X, [task.argmax(np.array([1.0, -2.0, -2.0, -2.0]), x) for x in X]  # neighbours should disagree


@formulations
@certified_solvers
def test_a_relaxation_is_trained_to_its_own_optimum(solver, formulation):
    """Primal and dual meet at the optimum over all fractional outputs, which is no lower than the true one."""
    X, Y = triangles()
    relaxed = brute_force(Triangle(halves=True), X, Y, 30.0, formulation).value
    solution = type(solver)(tol=1e-3).solve(oracle_of(RelaxedTriangle(), X, Y, formulation), 30.0)
    certificate = solution.certificate
    assert certificate.converged
    assert certificate.search == "overgenerating"
    assert certificate.dual <= relaxed * (1 + 1e-9)
    assert relaxed <= certificate.primal * (1 + 1e-9)
    assert objective(Triangle(), X, Y, 30.0, solution.w, formulation) <= certificate.primal * (1 + 1e-9)
    assert brute_force(Triangle(), X, Y, 30.0, formulation).value <= relaxed * (1 + 1e-9)


def test_halves_make_a_difference():
    X, Y = triangles()
    assert brute_force(Triangle(), X, Y, 30.0).value < brute_force(Triangle(halves=True), X, Y, 30.0).value - 0.1


def test_a_relaxation_solved_to_a_tolerance_is_measured_by_its_bound():
    class WithBound(Examples):
        def planes(self, w, augment=1.0):
            exact = super().planes(w, augment)
            lam = np.broadcast_to(augment, len(self))
            return Planes(exact.dpsi, exact.loss, lam * exact.loss - exact.dpsi @ w + 0.25)

    class Tolerant(RelaxedTriangle):
        def pack(self, X, Y):
            return WithBound(self, X, Y, listed=True)

    X, Y = triangles()
    for formulation in ALL:
        solution = BCFW(max_passes=50).solve(oracle_of(Tolerant(), X, Y, formulation), 30.0)
        true = objective(Triangle(halves=True), X, Y, 30.0, solution.w, formulation)
        assert true <= solution.certificate.primal * (1 + 1e-9)
        if formulation.plain:
            assert solution.certificate.primal == pytest.approx(true + 30.0 * 0.25)


# --- the contract


@pytest.mark.parametrize("task", [Sloppy(), Short(), Erratic()], ids=lambda task: type(task).__name__)
def test_check_task_accepts_undergenerating_tasks(task):
    check_task(task, *interval_data(4))


def test_check_task_accepts_overgenerating_tasks():
    check_task(RelaxedTriangle(), *triangles(4), outputs=Triangle().outputs)


def test_check_task_finds_a_relaxation_that_misses_outputs():
    class TooSmall(RelaxedTriangle):
        def outputs(self, x):
            return super().outputs(x)[::3]

        def pack(self, X, Y):
            return Examples(self, X, Y)

    with pytest.raises(AssertionError, match=r"argmax returned .*, but the best output has"):
        check_task(TooSmall(), *triangles(4), outputs=Triangle().outputs)


def test_check_task_finds_a_bound_that_is_too_low():
    class TooSure(Short):
        ratio = 0.999

        def argmax(self, w, x, y=None):
            shadow = Short()
            shadow.dim = self.dim
            return shadow.argmax(w, x, y)

    with pytest.raises(AssertionError, match=r"the upper bound .* is below the best output's"):
        check_task(TooSure(), *interval_data(6))


def test_an_overgenerating_task_must_decode_itself():
    class Forgetful(Triangle):
        search = Search.OVERGENERATING

    with pytest.raises(TaskError, match=r"Forgetful is overgenerating.*decode\(w, X\)"):
        StructuredSVM(Forgetful(halves=True)).fit(*triangles())


@pytest.mark.parametrize("search", ["greedy", True, None])
def test_an_unknown_kind_of_search(search):
    task = Interval()
    type(task).search = search
    try:
        with pytest.raises(TaskError, match=r"Interval.search is .*; expected one of Search.EXACT, Search.UNDER"):
            StructuredSVM(Interval()).fit(*interval_data())
    finally:
        del type(task).search


def test_an_impossible_ratio():
    class Boastful(Sloppy):
        ratio = 1.5

    with pytest.raises(TaskError, match=r"Boastful.ratio is 1.5; expected a number in \(0, 1\]"):
        StructuredSVM(Boastful()).fit(*interval_data())


# --- certificates of other ways to train


@pytest.mark.parametrize("solver", ["perceptron", "subgradient"])
def test_certify_bounds_the_objective_of_these_weights(solver):
    X, Y = interval_data(10)
    model = StructuredSVM(Short(), C=50.0, solver=solver, max_passes=2).fit(X, Y)
    certificate = model.certify(X, Y)
    true = objective(Interval(), X, Y, 50.0, model.w_)
    assert certificate.upper >= true * (1 - 1e-9)
    assert certificate.dual <= certificate.primal * (1 + 1e-9)
    assert certificate.search == "undergenerating"


def test_what_the_batch_says_overrides_the_task():
    class Told(Examples):
        search, method = Search.UNDERGENERATING, "a guess"

    class Half(Interval):
        """Exact in general, but not on these data."""

        def argmax(self, w, x, y=None):
            return self.outputs(x)[1]

        def pack(self, X, Y):
            return Told(self, X, Y)

    X, Y = interval_data(10)
    for formulation in ALL:
        certificate = BCFW(max_passes=20).solve(oracle_of(Half(), X, Y, formulation), 2.0).certificate
        assert (certificate.search, certificate.method, certificate.upper) == ("undergenerating", "a guess", inf)


@certified_solvers
def test_cuts_of_fractional_outputs_are_not_forgotten(solver):
    """A warm start carries them on: the certificate stays that of the relaxed problem."""
    X, Y = triangles()
    first = type(solver)().solve(oracle_of(RelaxedTriangle(), X, Y), 30.0)

    class Whole(RelaxedTriangle):
        search = Search.EXACT

        def outputs(self, x):
            return Triangle().outputs(x)

    again = type(solver)().solve(oracle_of(Whole(), X, Y), 30.0, start=first)
    assert again.certificate.search == "overgenerating"
    assert type(solver)().solve(oracle_of(Whole(), X, Y), 30.0).certificate.search == "exact"


class Hidden(Task):
    """Three labels with a hidden bit; the decoder leaves out some outputs, other ones at other weights."""

    latent, search = True, Search.UNDERGENERATING

    def setup(self, X, Y):
        self.dim = 4

    def outputs(self, x):
        return [(y, h) for y in range(3) for h in range(2)]

    def psi(self, x, z):
        y, h = z
        features = np.zeros(4)
        features[(y + h) % 4] += x[0]
        features[(2 * y + h) % 4] += x[1]
        return features

    def loss(self, y, z):
        return float(y != z[0])

    def label(self, z):
        return z[0]

    def argmax(self, w, x, y=None):
        every = self.outputs(x)
        if y is not None:
            bits = int(1e6 * np.abs(w).sum()) * 7919
            every = [z for t, z in enumerate(every) if (bits >> t) & 1] or every[:1]
        return max(every, key=lambda z: dot(self.psi(x, z), w) + (0 if y is None else self.loss(y, z)))

    def pack(self, X, Y):
        return Examples(self, X, Y)  # which does not list outputs, so that rescaled ones are searched


@pytest.mark.parametrize("inner", ["bcfw", "one_slack", "n_slack", "bundle"])
def test_hidden_parts_and_a_poor_search(inner):
    """What cuts know of these weights counts, so that the objective is never measured below the bound."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, Y = rng.standard_normal((6, 2)), list(rng.integers(0, 3, 6))
        certificate = CCCP(inner=inner, rounds=8, max_passes=150).solve(oracle_of(Hidden(), X, Y), 5.0).certificate
        assert certificate.dual <= certificate.primal * (1 + 1e-9)


def test_a_hard_margin_that_only_the_relaxation_misses():
    class Reaching(Task):
        """Outputs A and B can be told apart; the relaxation adds R, which cannot be told from A."""

        search = Search.OVERGENERATING

        def setup(self, X, Y):
            self.dim = 1

        def psi(self, x, z):
            return np.array([{"A": 1.0, "B": -1.0, "R": 2.0}[z]])

        def loss(self, y, z):
            return float(y != z)

        def argmax(self, w, x, y=None):
            return max("ABR", key=lambda z: w[0] * self.psi(x, z)[0] + (0.0 if y is None else self.loss(y, z)))

        def decode(self, w, X):
            return [max("AB", key=lambda z: w[0] * self.psi(x, z)[0]) for x in X]

    for solver in ("bcfw", "n_slack", "one_slack"):
        with pytest.raises(NotSeparable) as caught:
            StructuredSVM(Reaching(), C=inf, solver=solver).fit([0], ["A"])
        assert "the true one may be separable" in "".join(caught.value.__notes__)
