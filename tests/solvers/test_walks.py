"""The stochastic solvers beside plain twins: dense vectors, every average summed up, nothing put off."""

import warnings
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin import MulticlassSVC
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import Perceptron, Subgradient
from maxmargin.tasks import Multiclass


class Table(Task):
    """x holds Ψ(x, z) and the losses of some outputs; the truth is z = 0. Remembers the weights that it was given."""

    def setup(self, X, Y):
        self.dim, self.given = X[0][0].shape[1], []

    def psi(self, x, z):
        used = np.flatnonzero(x[0][z])
        return used, x[0][z][used]

    def loss(self, y, z):
        return float(z != y)

    def outputs(self, x):
        return range(len(x[0]))

    def argmax(self, w, x, y=None):
        self.given.append(w)  # kept, so that no two of them are at the same place
        return int(np.argmax(x[0] @ w + (0 if y is None else x[1])))


def table(rng, n, dim, outputs, scale, whole=False):
    """Examples with some zeros among their features."""
    size = (n, outputs, dim)
    psi = rng.integers(-3, 4, size) if whole else rng.standard_normal(size)
    psi = scale * psi * (rng.random(size) < 0.5)
    losses = np.append(0.0, np.ones(outputs - 1))
    return [(each, losses) for each in psi], [0] * n


def opened(task, X, Y, formulation=None, sample_weight=None):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), formulation, sample_weight)


def plain_perceptron(X, weights, seed, passes):
    """The mean of all w. Of outputs with the same score the one with the largest loss is predicted."""
    rng, w, seen = np.random.default_rng(seed), np.zeros(X[0][0].shape[1]), []
    for _ in range(passes):
        before = w.copy(), len(seen)
        for i in rng.permutation(len(X)):
            psi, losses = X[i]
            z = max(range(len(psi)), key=lambda z: (psi[z] @ w, losses[z]))
            w = w + weights[i] * (psi[0] - psi[z])
            seen.append(w)
        if all(np.array_equal(w, before[0]) for w in seen[before[1] :]):
            break
    return np.mean(seen, axis=0)


def plain_subgradient(X, C, weights, seed, passes, block, squared):
    """w and the average that weighs step t by t."""
    n, dim = len(X), X[0][0].shape[1]
    rng, w, average, t = np.random.default_rng(seed), np.zeros(dim), np.zeros(dim), 0

    def cut(i, w):
        psi, losses = X[i]
        offsets = np.sqrt(losses) if squared else losses
        z = int(np.argmax(psi @ w + offsets))
        return psi[0] - psi[z], offsets[z]

    first = [cut(i, w) for i in range(min(n, 64))]
    head_start = max(n / block, C * np.mean([a @ a for a, _ in first]) / np.mean([b for _, b in first]))
    factor, due = 1 / head_start, 1
    for _ in range(passes):
        order = rng.permutation(n)
        for begin in range(0, n, block):
            index = order[begin : begin + block]
            cuts = [cut(i, w) for i in index]
            slacks = [max(b - a @ w, 0) for a, b in cuts]
            t += 1
            if t >= due or begin + block >= n:
                w = w / (t + head_start) / factor
                factor, due = 1 / (t + head_start), t + sqrt(t + head_start)
            for i, (a, _), slack in zip(index, cuts, slacks, strict=True):
                push = C * factor * weights[i] / len(index)
                if squared:
                    push = min(push, 1 / (len(index) * max(a @ a, 1e-300))) * slack
                w = w + push * a
            average = (1 - 2 / (t + 1)) * average + 2 / (t + 1) * w
    return w, average


def close(found, expected):
    return np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


sizes = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(1, 12),
    "dim": st.integers(1, 6),
    "outputs": st.integers(2, 4),
    "power": st.integers(-27, 27),  # of two: scales from 1e-8 to 1e8
}


@given(**sizes, weighted=st.booleans(), whole=st.booleans(), passes=st.integers(1, 6))
@examples(20, 60)
def test_perceptron_is_the_plain_average(seed, n, dim, outputs, power, weighted, whole, passes):
    rng = np.random.default_rng(seed)
    X, Y = table(rng, n, dim, outputs, 2.0**power, whole and not weighted)
    oracle = opened(Table(), X, Y, sample_weight=rng.random(n) + 0.1 if weighted else None)
    solution = Perceptron(max_passes=2 * passes).solve(oracle, 1.0, seed=seed)  # every other pass measures P(w)
    assert close(solution.w, plain_perceptron(X, oracle.weights, seed, passes))
    assert solution.certificate.primal == oracle.objective(solution.w, oracle.risk(solution.w), 1.0)


@given(
    **sizes,
    C=st.sampled_from([1e-3, 1.0, 100.0]),
    weighted=st.booleans(),
    passes=st.integers(1, 6),
    block=st.integers(1, 4),
    squared=st.booleans(),
)
@examples(20, 60)
def test_subgradient_is_the_plain_average(seed, n, dim, outputs, power, C, weighted, passes, block, squared):
    rng = np.random.default_rng(seed)
    X, Y = table(rng, n, dim, outputs, 2.0**power)
    C = C / 4.0**power  # the same problem at every scale
    weights = rng.random(n) + 0.1 if weighted else None
    oracle = opened(Table(), X, Y, Formulation(slack="l2" if squared else "l1"), weights)
    steps = Subgradient(block=block).steps(oracle, C, seed, None)
    for _ in range(passes):
        walk = next(steps).memory
    w, average = plain_subgradient(X, C, oracle.weights, seed, passes, block, squared)
    assert close(walk.w, w)
    assert close(walk.average, average)


@pytest.mark.parametrize("solver", [Perceptron(max_passes=8), Subgradient(max_passes=8)], ids=repr)
def test_compiled_tasks_walk_as_plain_ones_do(solver):
    """A search that weighs the loss is asked in another way, at a multiple of the same weights."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 3, 40).tolist()
    compiled, plain = Multiclass(), Multiclass()
    plain.pack = lambda X, Y: Task.pack(plain, list(X), Y)
    found = [solver.solve(opened(task, X, y), 2.0).w for task in (compiled, plain)]
    assert close(*found)


@given(seed=st.integers(0, 10**6), power=st.integers(-100, 100))
@examples(12, 30)
def test_perceptron_knows_no_scale(seed, power):
    """It is the same walk in other units, to the bit: what decides ties is no loss to be reckoned with."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (12, 2)).astype(float), rng.integers(0, 3, 12).tolist()
    one, other = (
        Perceptron().solve(opened(Multiclass(), factor * X, y), 1.0, seed=seed) for factor in (1.0, 2.0**power)
    )
    assert np.array_equal(one.w * 2.0**power, other.w)


# --- what the model is


@pytest.mark.parametrize("stop", [None, 3, KeyboardInterrupt], ids=["max_passes", "callback", "Ctrl-C"])
def test_perceptron_keeps_its_last_average(stop):
    rng = np.random.default_rng(1)
    X, Y = table(rng, 30, 4, 3, 1.0)
    seen = []

    def watch(record):
        seen.append(record)
        if stop is KeyboardInterrupt and len(seen) == 3:
            raise KeyboardInterrupt
        return len(seen) == stop

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = Perceptron(max_passes=20).solve(opened(Table(), X, Y), 10.0, callback=watch)
    assert [str(each.message) for each in caught] == (
        ["training was interrupted; the model is the last one so far (press Ctrl-C twice to end the program)"]
        if stop is KeyboardInterrupt
        else []
    )
    assert seen[-1].primal > min(record.primal for record in seen)  # an earlier average has a lower objective
    assert np.array_equal(solution.w, seen[-1].w)
    assert solution.certificate.primal == seen[-1].primal
    assert np.array_equal(solution.memory.w - solution.memory.average / solution.memory.t, solution.w)


def test_subgradient_keeps_the_best_average():
    rng = np.random.default_rng(1)
    X, Y = table(rng, 30, 4, 3, 1.0)
    seen = []
    solution = Subgradient().solve(opened(Table(), X, Y), 10.0, callback=seen.append)
    assert solution.certificate.primal == min(record.primal for record in seen)


def test_more_passes_of_the_perceptron_are_more_training():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    short, long = (MulticlassSVC(solver="perceptron", max_passes=passes).fit(X[:900], y[:900]) for passes in (4, 60))
    assert long.score(X[900:], y[900:]) > short.score(X[900:], y[900:]) + 0.005


# --- what a step costs


@pytest.mark.parametrize("solver", [Perceptron(max_passes=6), Subgradient(max_passes=6)], ids=repr)
def test_steps_form_no_vector_of_weights(solver):
    """The decoder is given the walk's own array: a step that made another one would cost as much as w is long."""
    X, Y = table(np.random.default_rng(0), 200, 5, 3, 1.0)
    task = Table()
    solution = solver.solve(opened(task, X, Y), 1.0)
    assert len(task.given) >= 6 * 200
    places = {w.__array_interface__["data"][0] for w in task.given}
    assert len(places) <= 2 + len(solution.history)  # the walk, where it begins, and an average per pass
