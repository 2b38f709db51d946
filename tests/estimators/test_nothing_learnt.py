"""A model that is w = 0 is never silent, and its warning says no more than is proved."""

import warnings

import numpy as np
import pytest

from maxmargin import MulticlassSVC, SequenceLabeler, StructuredSVM
from maxmargin.errors import NothingLearnt
from maxmargin.problem.contract.task import Task
from maxmargin.solvers import Solver, Step
from maxmargin.tasks import Multiclass

ZEROS, LABELS = np.zeros((6, 2)), [0, 1, 2, 0, 1, 2]
CASES = {
    "classes": (MulticlassSVC(fit_intercept=False), ZEROS, LABELS),
    "any task": (StructuredSVM(Multiclass()), ZEROS, LABELS),
    "sequences": (SequenceLabeler(C=0.1), [np.zeros((1, 2))] * 2, [["a"], ["b"]]),
}


@pytest.mark.parametrize("case", CASES)
def test_optimum_at_zero_is_said_with_its_gap(case):
    model, X, Y = CASES[case]
    said = "w = 0, whose objective for C = .* is the lowest.*Try other features"
    with pytest.warns(NothingLearnt, match=said) as caught:
        model.fit(X, Y)
    assert caught[0].filename == __file__  # where fit was called
    assert not model.w_.any()
    gap = model.certificate_.relative_gap
    assert ("within the gap" in str(caught[0].message)) == (gap > 1e-9)


class Stays(Solver):
    """Proves something, and yet does not move."""

    def steps(self, oracle, C, seed, start):
        yield Step(np.zeros(oracle.dim), dual=self.bound * oracle.objective(np.zeros(oracle.dim), 1.0, C))

    bound: float = 0.5


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (Stays(), r"without converging \(no more progress possible; the gap is 50%\).*max_passes"),
        (Stays(bound=-np.inf), "this solver has no bound"),
        (Stays(bound=0.995), r"is the lowest within the gap of 0\.5%\. "),
        (Stays(bound=1.0), r"for C = 1 is the lowest\. "),
    ],
)
def test_what_is_not_proved_is_not_said(solver, message):
    rng = np.random.default_rng(0)
    with pytest.warns(NothingLearnt, match=message):
        MulticlassSVC(C=1.0, solver=solver).fit(rng.standard_normal((6, 2)), LABELS)


class OneAnswer(Task):
    def setup(self, X, Y):
        self.dim = 1

    def psi(self, x, z):
        return np.array([x])

    def loss(self, y, z):
        return 0.0

    def outputs(self, x):
        return [0]


def test_one_answer_is_nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = StructuredSVM(OneAnswer()).fit([1.0, 2.0], [0, 0])
    assert model.certificate_.primal == 0


def test_paths_say_it_too():
    with pytest.warns(NothingLearnt, match="for C = [12] is the lowest") as caught:
        MulticlassSVC(fit_intercept=False).fit_path(ZEROS, LABELS, Cs=[1.0, 2.0])
    assert len(caught) == 2
