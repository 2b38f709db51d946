"""Sums over outputs that a task in plain Python lists: the contract, probabilities, and training for them."""

import numpy as np
import pytest
from example_tasks import Interval, Points, Tags, interval_data, tag_data
from proofs import prove_smooth_training_is_optimal
from scipy.special import logsumexp

from maxmargin import StructuredSVM, Task
from maxmargin.errors import TaskError, Uncalibrated
from maxmargin.problem.contract.tangents import Softness
from maxmargin.tasks import Chain
from maxmargin.testing import check_sums

TASKS = [(Interval(), interval_data()), (Tags(), tag_data())]


@pytest.mark.parametrize(("task", "data"), TASKS)
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e8])
def test_contract(task, data, scale):
    check_sums(task, *data, trials=1, scale=scale)


@pytest.mark.parametrize(("task", "data"), TASKS)
@pytest.mark.parametrize("softness", [Softness(), Softness(2.0, 1.0)])
def test_training_finds_the_optimum_over_all_outputs(task, data, softness):
    prove_smooth_training_is_optimal(task, *data, 2.0, softness)


def test_probabilities_of_a_task_in_plain_python():
    X, Y = interval_data(12)
    model = StructuredSVM(Interval(), C=5.0, objective="likelihood").fit(X, Y)
    x, y = X[0], tuple(Y[0])
    scores = {z: float(model.task_.psi(x, z) @ model.w_) for z in model.task_.outputs(x)}
    log_z = logsumexp(list(scores.values()))
    assert model.log_probability([x], [y])[0] == pytest.approx(scores[y] - log_z)
    (listed,) = model.predict_marginals([x])
    assert [each.output for each in listed[:1]] == model.predict([x])
    assert sum(each.probability for each in listed) == pytest.approx(1)
    assert listed[0].probability == pytest.approx(np.exp(max(scores.values()) - log_z))
    assert model.entropy([x])[0] == pytest.approx(-sum(p * np.log(p) for _, p in listed))
    assert set(model.sample([x], 30, random_state=0)[0]) <= set(scores)
    hinge = StructuredSVM(Interval(), C=5.0).fit(X, Y)
    with pytest.warns(Uncalibrated):
        hinge.entropy(X)
    assert hinge.calibrate_on(X, Y).calibrated_


def test_a_compiled_task_has_its_own_sums():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((3, 2)) for _ in range(6)]
    Y = [[int(k) for k in rng.integers(0, 2, 3)] for _ in X]
    model = StructuredSVM(Chain(), C=2.0, objective="likelihood").fit(X, Y)
    twin = Task.sums(model.task_, model.w_, X)  # by enumeration
    np.testing.assert_allclose(model.log_probability(X, Y), twin.log_probabilities(Y), atol=1e-10)
    np.testing.assert_allclose(model.entropy(X), twin.entropies, atol=1e-10)


class Endless(Interval):
    """Far too many outputs to list."""

    def outputs(self, x):
        return ((0, 1 + k % len(x)) for k in range(10**9))


class Elsewhere(Interval):
    """Does not list the truth."""

    def outputs(self, x):
        return [(0, 1)]


def test_what_cannot_be_summed_is_named():
    X, Y = interval_data()
    model = StructuredSVM(Endless(), objective="likelihood")
    with pytest.raises(ValueError, match="example 0 has more than 100,000 outputs"):
        model._make_task(Y).pack(X, Y).add_tangents(np.zeros(3), np.ones(len(X)), Softness(), np.zeros(3))
    task = Elsewhere()
    task.setup(X, Y)
    i = next(i for i, y in enumerate(Y) if tuple(y) != (0, 1))
    far = task.psi(X[i], Y[i]) - task.psi(X[i], (0, 1))
    with pytest.raises(TaskError, match="is not among its listed outputs: its score exceeds the sum over all of them"):
        task.pack(X, Y).add_tangents(10 * far, np.ones(len(X)), Softness(), np.zeros(3))
    with pytest.raises(ValueError, match="Points cannot sum over its outputs"):
        Points().sums(np.zeros(1), [0])
    with pytest.raises(ValueError, match="X has 1 examples but Y has 2"):
        Task.sums(task, np.zeros(3), X[:1]).log_probabilities(Y[:2])
