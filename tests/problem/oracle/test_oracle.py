"""The oracle against enumeration: planes, slacks, risk and the averaged cut, in all formulations."""

import numpy as np
import pytest
from example_tasks import (
    Bags,
    Interval,
    Pairs,
    Sloppy,
    Tags,
    bag_data,
    interval_data,
    pair_data,
    partial_sequences,
    tag_data,
)

from maxmargin import Task
from maxmargin.errors import TaskError
from maxmargin.executors import Serial, Threads
from maxmargin.problem.contract.examples import Examples, dot
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.completions import completed, guessed, shifts
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.placement import CHUNK
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.tasks import Chain, Multiclass

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)
RNG = np.random.default_rng(0)
MULTICLASS = RNG.integers(-2, 3, (7, 3)).astype(float), RNG.integers(0, 3, 7).tolist()
CHAIN = [RNG.integers(-1, 2, (k, 2)).astype(float) for k in (1, 2, 3, 2)], [[0], [1, 2], [2, 2, 0], [1, 1]]
PROBLEMS = [(Multiclass(), *MULTICLASS), (Chain(), *CHAIN), (Interval(), *interval_data()), (Tags(), *tag_data())]
SEARCHED = [(Pairs(), *pair_data()), (Chain(costs={0: 0.3}), *CHAIN)]
problems = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem[0]).__name__)


def opened(problem, formulation=None, sample_weight=None, executor=None):
    task, X, Y = problem
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), formulation, sample_weight, executor)


def true_slacks(problem, formulation, w):
    task, X, Y = problem
    slacks = []
    for x, y in zip(X, Y, strict=True):
        right = dot(task.psi(x, y), w)
        values = [formulation.value(task.loss(y, z), right - dot(task.psi(x, z), w)) for z in task.outputs(x)]
        slacks.append(max(0.0, *values))
    return np.array(slacks)


def some_weights(dim):
    rng = np.random.default_rng(1)
    return [np.zeros(dim), *rng.integers(-1, 2, (2, dim)).astype(float), *rng.standard_normal((2, dim))]


@problems
@formulations
def test_slacks_and_risk(problem, formulation):
    weights = np.arange(len(problem[2])) + 1.0
    oracle = opened(problem, formulation, weights)
    for w in some_weights(oracle.dim):
        slacks = true_slacks(problem, formulation, w)
        assert oracle.slacks(w) == pytest.approx(slacks, abs=1e-9)
        penalty = 0.5 * slacks**2 if formulation.slack == "l2" else slacks
        assert oracle.risk(w) == pytest.approx(np.average(penalty, weights=weights))


@problems
@formulations
def test_planes_have_the_largest_violation(problem, formulation):
    oracle = opened(problem, formulation)
    index = np.array([2, 0, 3])
    for w in some_weights(oracle.dim):
        heights = oracle.planes(w, index).values(w)
        assert np.maximum(heights, 0) == pytest.approx(true_slacks(problem, formulation, w)[index])


@problems
@formulations
def test_scale_stands_for_scaled_weights(problem, formulation):
    oracle = opened(problem, formulation)
    index = np.arange(oracle.n)
    for w in some_weights(oracle.dim):
        heights = oracle.planes(4 * w, index, scale=0.25).values(w)
        assert np.maximum(heights, 0) == pytest.approx(true_slacks(problem, formulation, w))


@problems
@formulations
def test_mean_plane_touches_the_risk_and_stays_below(problem, formulation):
    oracle = opened(problem, formulation, np.arange(len(problem[2])) + 1.0)
    points = some_weights(oracle.dim)
    for w in points:
        plane = oracle.mean_plane(w)
        assert plane.risk == pytest.approx(oracle.risk(w))
        assert plane.offset - plane.a @ w == pytest.approx(plane.risk)
        for other in points:
            assert plane.offset - plane.a @ other <= oracle.risk(other) + 1e-9


@problems
def test_every_decoder_call_is_counted(problem):
    oracle = opened(problem)
    w = np.zeros(oracle.dim)
    oracle.planes(w, np.array([1, 0]))
    assert oracle.calls == 2
    oracle.predicted_planes(w, np.array([1]), 1e-12)
    assert oracle.calls == 3
    oracle.risk(w)
    oracle.mean_plane(w)
    assert oracle.calls == 3 + 2 * oracle.n


def test_predicted_planes_ignore_the_loss():
    task, X, Y = problem = PROBLEMS[0]
    oracle = opened(problem)
    w = np.random.default_rng(0).standard_normal(oracle.dim)
    rows = AtomRows.of(oracle.predicted_planes(w, np.arange(oracle.n), 1e-12).dpsi).toarray()
    for row, x, y in zip(rows, X, Y, strict=True):
        best = max(dot(task.psi(x, z), w) for z in task.outputs(x))
        assert row @ w == pytest.approx(dot(task.psi(x, y), w) - best)


def test_more_examples_than_fit_into_one_call():
    n = 2 * CHUNK + 3
    rng = np.random.default_rng(0)
    X, Y = rng.integers(-2, 3, (n, 2)).astype(float), rng.integers(0, 3, n)
    problem = Multiclass(), X, Y
    oracle = opened(problem)
    w = rng.standard_normal(oracle.dim)
    slacks = true_slacks(problem, Formulation(), w)
    assert oracle.slacks(w) == pytest.approx(slacks)
    assert oracle.mean_plane(w).risk == pytest.approx(slacks.mean())
    assert oracle.calls == 3 * n  # and once at w = 0, to know how large planes can be


@pytest.mark.parametrize("problem", [*PROBLEMS, *SEARCHED], ids=lambda problem: type(problem[0]).__name__)
@formulations
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("chunk", [4, CHUNK])
def test_number_of_threads_changes_no_bit(monkeypatch, problem, formulation, workers, chunk):
    monkeypatch.setattr("maxmargin.problem.oracle.placement.CHUNK", chunk)
    task, X, Y = problem
    bigger = task, [*X, *X, *X] if isinstance(X, list) else np.tile(X, (3, 1)), [*Y, *Y, *Y]
    here, there = opened(bigger, formulation, executor=Serial()), opened(bigger, formulation, executor=Threads(workers))
    for w in some_weights(here.dim):
        a, b = here.mean_plane(w), there.mean_plane(w)
        assert np.array_equal(a.a, b.a)
        assert (a.offset, a.risk) == (b.offset, b.risk)
        assert np.array_equal(here.slacks(w), there.slacks(w))
        assert here.proved_risk(w) == there.proved_risk(w)
        index = np.arange(here.n)[::-1]
        one, two = here.planes(w, index), there.planes(w, index)
        assert np.array_equal(one.loss, two.loss)
        assert np.array_equal(AtomRows.of(one.dpsi).toarray(), AtomRows.of(two.dpsi).toarray())
    there.placement.executor.close()


def test_search_is_used_where_a_task_cannot_enumerate():
    X, Y = pair_data()
    oracle = opened((Pairs(), X, Y), Formulation("slack", "l1"))
    w = np.array([0.5, -0.5, 0.2])
    assert (oracle.slacks(w) >= np.maximum(oracle.planes(w, np.arange(oracle.n)).values(w), 0) - 1e-12).all()


class Broken(Interval):
    """Returns the worst output on the example of length 4."""

    def argmax(self, w, x, y=None):
        choose = min if len(x) == 4 else max
        return choose(self.outputs(x), key=lambda z: self.psi(x, z) @ w + (0.0 if y is None else self.loss(y, z)))


def test_broken_promise_names_the_example():
    X, Y = [np.ones(3), np.ones(4), np.ones(3)], [(0, 3), (1, 3), (0, 1)]
    oracle = opened((Broken(), X, Y))
    with pytest.raises(TaskError, match=r"Broken broke its promise on example 1.*search = Search.UNDERGENERATING"):
        oracle.risk(np.array([10.0, 0.0, 0.0]))


def test_approximate_decoders_may_do_worse_than_the_truth():
    X, Y = interval_data(8)
    oracle = opened((Sloppy(), X, Y))
    for w in some_weights(3):
        assert oracle.risk(w) >= 0
        assert oracle.mean_plane(w).risk >= 0


class Fragile(Interval):
    def psi(self, x, z):
        return super().psi(x, z) * (np.inf if len(x) == 4 else 1.0)


def test_features_that_are_not_finite_are_named():
    X, Y = [np.ones(3), np.ones(4)], [(0, 3), (1, 3)]
    oracle = opened((Fragile(), X, Y))
    with np.errstate(invalid="ignore"), pytest.raises(TaskError, match="example 1 contains NaN or infinite"):
        oracle.risk(np.zeros(3))


def test_weights_that_are_not_numbers_are_named():
    oracle = opened((Interval(), *interval_data()))
    with pytest.raises(TaskError, match=r"example \d is NaN"):
        oracle.risk(np.full(3, np.nan))


class Latent(Task):
    """y in {0, 1}; the latent part h says which of two numbers explains it."""

    latent = True

    def setup(self, X, Y):
        self.dim = 2

    def psi(self, x, z):
        label, h = z if isinstance(z, tuple) else (z, 0)
        return np.array([x[h] * label, float(h)])

    def loss(self, y, z):
        return float(y != (z[0] if isinstance(z, tuple) else z))

    def outputs(self, x):
        return [(label, h) for label in (0, 1) for h in (0, 1)]

    def complete(self, w, x, y):
        return max(((y, h) for h in (0, 1)), key=lambda z: self.psi(x, z) @ w)

    def label(self, z):
        return z[0]


def test_completion_replaces_the_target():
    X, Y = [np.array([1.0, 5.0]), np.array([2.0, -1.0])], [1, 1]
    oracle = opened((Latent(), X, Y))
    after = completed(oracle, np.array([1.0, 0.0]))
    assert after.batch.truth == [(1, 1), (1, 0)]
    assert oracle.batch.truth == [1, 1]
    assert isinstance(after.batch, Examples)
    with pytest.raises(TaskError, match="does not support hidden parts"):
        completed(opened(PROBLEMS[0]), np.zeros(9))


LATENT = [(Bags(), *bag_data()), (Bags(listed=True), *bag_data()), (Chain(classes=[0, 1, 2]), *partial_sequences())]
latent_problems = pytest.mark.parametrize("problem", LATENT, ids=["dense", "csr", "atoms"])


def written(task, x, z):
    row = np.zeros((1, task.dim))
    features = task.psi(x, z)
    if isinstance(features, tuple):
        np.add.at(row[0], features[0], features[1])
    else:
        row[0] = features
    return row


@latent_problems
def test_shifts_are_differences_of_truths(problem):
    task, X, Y = problem
    oracle = opened(problem)
    a, b = np.random.default_rng(0).standard_normal((2, oracle.dim))
    first, second = completed(oracle, a), completed(oracle, b)
    expected = np.vstack(
        [
            written(task, x, task.complete(b, x, y)) - written(task, x, task.complete(a, x, y))
            for x, y in zip(X, Y, strict=True)
        ]
    )
    assert expected.any()
    assert shifts(first, second).toarray() == pytest.approx(expected)
    assert not shifts(first, first).toarray().any()


@latent_problems
@formulations
def test_truths_in_the_mean_plane(problem, formulation):
    """By moving the truths: a after minus a before is what the factors say."""
    weights = [1.0, 2.0, 0.0, 0.5, 1.0, 3.0]
    oracle = opened(problem, formulation, weights)
    at = np.random.default_rng(1).standard_normal((2, oracle.dim))
    before, after = completed(oracle, at[0]), completed(oracle, at[1])
    moves = shifts(before, after).toarray()
    for w in some_weights(oracle.dim):
        plane = before.mean_plane(w)
        batch = before.batch
        planes = batch.planes(w) if formulation.plain else batch.rescaled_planes(w, formulation)
        loss = planes.loss
        scale = np.sqrt(loss) if formulation.slack == "l2" else loss
        heights = formulation.value(loss, AtomRows.of(planes.dpsi) @ w)
        share = before.weights / before.n * (heights > 0) * (heights if formulation.slack == "l2" else 1.0)
        factors = share * (scale if formulation.rescaling == "slack" else 1.0)
        assert plane.truths == pytest.approx(factors)
        # and so the moved cut lies below the risk of the new problem
        for v in some_weights(oracle.dim):
            moved = plane.offset - plane.a @ v - plane.truths @ (moves @ v)
            assert moved <= after.risk(v) + 1e-9 * (1 + abs(moved))


def test_only_latent_tasks_keep_factors_of_truths():
    for problem in PROBLEMS:
        oracle = opened(problem)
        assert oracle.mean_plane(np.zeros(oracle.dim)).truths is None


@latent_problems
def test_guesses_explain_and_differ(problem):
    oracle = opened(problem)
    found = [guessed(oracle, np.random.default_rng(seed)) for seed in (0, 1, 2, 3, 0)]
    moves = [shifts(found[0], other).toarray() for other in found]
    assert not moves[4].any()
    assert any(each.any() for each in moves[1:4])
    for each in found:
        assert each.risk(np.zeros(oracle.dim)) == pytest.approx(
            completed(oracle, np.zeros(oracle.dim)).risk(np.zeros(oracle.dim))
        )


def test_completions_do_not_share_what_they_search_with():
    oracle = opened(LATENT[0], Formulation("slack", "l1"))
    other = completed(oracle, np.ones(oracle.dim))
    other.searches.lam[:] = 5.0
    other.risk(np.zeros(oracle.dim))
    assert (oracle.searches.lam == 1).all()
    assert oracle.calls == 0
    assert other.calls == oracle.n


def test_latent_tasks_that_cannot_complete_say_so():
    class Silent(Bags):
        outputs = Task.outputs

        def argmax(self, w, x, y=None):
            return 0, 0

    with pytest.raises(TaskError, match="Silent is latent, so it must define complete"):
        completed(opened((Silent(), *bag_data())), np.zeros(6))

    class Unexplained(Bags):
        def loss(self, y, z):
            return super().loss(y, z) + 1.0

    with pytest.raises(TaskError, match="no output explains the label 0") as caught:
        completed(opened((Unexplained(), *bag_data())), np.zeros(6))
    assert any("Unexplained on training example 0" in note for note in caught.value.__notes__)


def test_sample_weights_sum_to_n():
    assert np.array_equal(normalised_weights(None, 3), np.ones(3))
    assert np.array_equal(normalised_weights([1, 2, 3], 3), [0.5, 1.0, 1.5])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"shape \(2,\); expected \(3,\)"),
        ([1, -1, 1], r"sample_weight\[1\] is -1.0"),
        ([1, 1, np.nan], r"sample_weight\[2\] is nan"),
        ([np.inf, 1, 1], r"sample_weight\[0\] is inf"),
        ([0, 0, 0], "all sample weights are zero"),
    ],
)
def test_sample_weights_that_make_no_sense(weights, message):
    with pytest.raises(ValueError, match=message):
        normalised_weights(weights, 3)
