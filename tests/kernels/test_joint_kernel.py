"""Tasks that know their outputs by a joint kernel only."""

import pickle

import numpy as np
import pytest
from kernel_problems import ALL, exact_map

from maxmargin import StructuredSVM
from maxmargin.errors import TaskError
from maxmargin.problem.contract.task import Task
from maxmargin.solvers import OneSlack
from maxmargin.tasks import JointKernelTask
from maxmargin.testing import brute_force

RNG = np.random.default_rng(1)
X = [tuple(row) for row in RNG.integers(-2, 3, (10, 2)).tolist()]
Y = ["abc"[k] for k in RNG.permutation(10) % 3]


def similar(a, b):
    return (1 + np.dot(a[0], b[0])) ** 2 * (1.0 if a[1] == b[1] else 0.25)


class ByKernel(JointKernelTask):
    """Three classes; classes are alike to a quarter."""

    def joint_kernel(self, first, second):
        return similar(first, second)

    def loss(self, y, z):
        return abs(ord(y) - ord(z))

    def outputs(self, x):
        return ["a", "b", "c"]


class ByFeatures(Task):
    """The same with the exact map of the training pairs."""

    def setup(self, X, Y):
        pairs = [(x, z) for x in X for z in "abc"]
        features = exact_map(np.array([[similar(p, q) for q in pairs] for p in pairs]))
        self.table_ = dict(zip(pairs, features, strict=True))
        self.dim = features.shape[1]

    def psi(self, x, z):
        return self.table_[x, z]

    def loss(self, y, z):
        return abs(ord(y) - ord(z))

    def outputs(self, x):
        return ["a", "b", "c"]


@pytest.mark.parametrize("formulation", ALL, ids=str)
@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
def test_optimum_is_that_of_the_features(formulation, solver):
    optimum = brute_force(ByFeatures(), X, Y, 2.0, formulation).value
    options = {"rescaling": formulation.rescaling, "slack": formulation.slack}
    model = StructuredSVM(ByKernel(), C=2.0, solver=solver, tol=1e-5, **options).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(optimum, rel=2e-5)
    assert model.certificate_.dual <= optimum * (1 + 1e-9)


def test_predictions_are_those_of_the_features():
    models = [StructuredSVM(task(), C=20.0, tol=1e-6).fit(X, Y) for task in (ByKernel, ByFeatures)]
    assert models[0].predict(X) == models[1].predict(X)
    assert models[0].score(X, Y) == models[1].score(X, Y)
    again = pickle.loads(pickle.dumps(models[0]))
    assert again.predict(X) == models[0].predict(X)
    assert len(models[0].support_) <= 30
    assert models[0].certify(X, Y).primal == pytest.approx(models[0].certificate_.primal, rel=1e-6)


class Odd(ByKernel):
    """The truth is not always listed."""

    def outputs(self, x):
        return ["a", "b"]


def test_a_truth_that_is_not_listed_is_still_the_truth():
    model = StructuredSVM(Odd(), C=5.0).fit(X, Y)
    assert model.certificate_.converged
    assert set(model.predict(X)) <= {"a", "b"}


class Negative(ByKernel):
    def joint_kernel(self, first, second):
        return -similar(first, second)


class Broken(ByKernel):
    def loss(self, y, z):
        return 1.0


class Missing(JointKernelTask):
    def outputs(self, x):
        return [0, 1]

    def loss(self, y, z):
        return float(y != z)


def test_bad_tasks():
    with pytest.raises(ValueError, match="smallest eigenvalue is -"):
        StructuredSVM(Negative()).fit(X, Y)
    with pytest.raises(TaskError, match=r"loss\(y, y\) of example 0 is 1.0; the loss must be 0 at the truth"):
        StructuredSVM(Broken()).fit(X, Y)
    with pytest.raises(TaskError, match=r"Missing must define joint_kernel"):
        StructuredSVM(Missing()).fit(X, [0] * 10)
    with pytest.raises(ValueError, match="partial_fit is not available with a kernel, because"):
        StructuredSVM(ByKernel(), solver="perceptron").partial_fit(X, Y)
    model = StructuredSVM(ByKernel(), solver=OneSlack()).fit(X, Y)
    with pytest.raises(TaskError, match=r"with a kernel there is no psi\(x, z\)"):
        model.task_.psi(X[0], "a")
    with pytest.raises(TaskError, match="needs packed training data"):
        model.task_.argmax(model.w_, X[0], "a")
    assert model.task_.argmax(model.w_, X[0]) == model.predict(X[:1])[0]
