"""The checks themselves: each finds the fault that it is there for, and brute_force finds known optima."""

import sys
from math import inf

import numpy as np
import pytest
from example_tasks import Interval, Pairs, Tags, interval_data, pair_data, tag_data

from maxmargin.errors import NotSeparable
from maxmargin.objective import Formulation
from maxmargin.solvers import BCFW, Solver, Step
from maxmargin.task import Planes
from maxmargin.tasks import Multiclass
from maxmargin.testing import brute_force, check_solver, check_task


class WorstDecoder(Interval):
    def argmax(self, w, x, y=None):
        return min(self.outputs(x), key=lambda z: self.psi(x, z) @ w + (0.0 if y is None else self.loss(y, z)))


class IgnoresTruth(Interval):
    def argmax(self, w, x, y=None):
        return max(self.outputs(x), key=lambda z: self.psi(x, z) @ w)


class NegativeLoss(Interval):
    def loss(self, y, z):
        return super().loss(y, z) - 9 * (z == (0, 1) and y != z)


class LossAtTheTruth(Interval):
    def loss(self, y, z):
        return super().loss(y, z) + 1


class TooLong(Interval):
    def psi(self, x, z):
        return np.zeros(4)


class ChangesInput(Interval):
    def argmax(self, w, x, y=None):
        x[0] += 1
        return super().argmax(w, x, y)


class ChangesWeights(Interval):
    def decode(self, w, X):
        found = super().decode(w, X)
        w *= 2
        return found


class NotPicklable(Interval):
    def setup(self, X, Y):
        super().setup(X, Y)
        self.score = lambda x: x


class WrongPlanes(Tags):
    """Planes with one fault, which only a check of planes can see."""

    fault = ""

    def planes(self, w, batch, augment=1.0):
        planes = super().planes(w, batch, augment)
        rows, loss = planes.dpsi.toarray(), planes.loss
        if self.fault == "order" and len(loss) > 1:
            rows, loss = rows[::-1], loss[::-1]
        if self.fault == "loss":
            loss = loss / 2
        if self.fault == "invented" and not w.any():
            rows = rows + 1.0  # as high as before at w = 0
        if self.fault == "scaled":
            planes = super().planes(w, batch)
            rows, loss = planes.dpsi.toarray(), planes.loss
        return Planes(rows, loss)


class Order(WrongPlanes):
    fault = "order"


class Loss(WrongPlanes):
    fault = "loss"


class Invented(WrongPlanes):
    fault = "invented"


class IgnoresAugment(WrongPlanes):
    fault = "scaled"


class WrongRescaling(Tags):
    def rescaled_planes(self, w, batch, formulation):
        return self.planes(w, batch)


class WrongDecode(Tags):
    def decode(self, w, X):
        return ["verb" for _ in X]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (WorstDecoder(), "example 0: argmax returned"),
        (IgnoresTruth(), r"example 0: argmax returned .*⟨w, psi⟩ \+ loss"),
        (NegativeLoss(), r"example \d: loss\(y, \(0, 1\)\) is"),
        (LossAtTheTruth(), r"example 0: loss\(y, y\) is 1"),
        (TooLong(), r"psi has shape \(4,\); expected \(3,\)"),
        (ChangesInput(), "x or y of example 0 was changed"),
        (ChangesWeights(), "weights w were changed"),
        (NotPicklable(), "cannot be pickled"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Interval) else "",
)
def test_task_check_finds_the_fault(task, message):
    with pytest.raises(AssertionError, match=message):
        check_task(task, *interval_data(), trials=1)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Order(), "example 0, augment=1.0: its plane has height|belongs to none|permuted"),
        (Loss(), "its plane"),
        (Invented(), "belongs to none of its outputs"),
        (IgnoresAugment(), "augment=0.0: its plane has height"),
        (WrongRescaling(), "rescaled_planes found the violation"),
        (WrongDecode(), "decode returned 'verb'"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Tags) else "",
)
def test_task_check_finds_the_fault_in_planes(task, message):
    with pytest.raises(AssertionError, match=message):
        check_task(task, *tag_data(), trials=2)


def test_task_check_wants_something_to_compare_with():
    with pytest.raises(AssertionError, match="Pairs has no outputs"):
        check_task(Pairs(), *pair_data())
    with pytest.raises(AssertionError, match="at most 2 outputs"):
        check_task(Interval(), *interval_data(), max_outputs=2)


def test_task_check_leaves_the_task_alone():
    task = Interval()
    check_task(task, *interval_data(), trials=1)
    assert not hasattr(task, "dim")


# --- solvers

PROBLEM = Multiclass(), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [0, 1, 0]


class Dreamer(Solver):
    """Claims a bound that is too good."""

    def steps(self, oracle, C, seed, start):
        yield Step(np.zeros(oracle.dim), dual=10.0)


class Cheater(Solver):
    """Claims a risk that is too small."""

    def steps(self, oracle, C, seed, start):
        yield Step(np.zeros(oracle.dim), dual=0.0, risk=0.1)


class Gambler(Solver):
    """Does not heed its seed."""

    def steps(self, oracle, C, seed, start):
        yield Step(np.random.default_rng().standard_normal(oracle.dim) / 100, dual=0.0)


class Modest(Solver):
    """Has a bound, and says that it has none."""

    certified = False

    def steps(self, oracle, C, seed, start):
        yield Step(np.zeros(oracle.dim), dual=0.0)


class Permissive(Solver):
    def __init__(self, **options):
        pass

    def steps(self, oracle, C, seed, start):
        yield Step(np.zeros(oracle.dim), dual=0.0)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (Dreamer(), "Dreamer, step 1: the bound 10.0 exceeds"),
        (Cheater(), "Cheater, step 1: P.w. is .* but 0.1 was reported"),
        (Gambler(), "the same seed gave other weights"),
        (Modest(), "is not certified, and yet it reports the bound"),
        (Permissive(), "did not raise a TypeError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Solver) else "",
)
def test_solver_check_finds_the_fault(solver, message):
    with pytest.raises(AssertionError, match=message):
        check_solver(solver, *PROBLEM)


def test_solver_check_returns_the_solution():
    assert check_solver(BCFW(), *PROBLEM).certificate.converged


# --- brute force


def test_optimum_of_one_example_by_hand():
    """x = 1 with labels ±: w = (t, -t) has margin 2t, so P = t² + C max(0, 1 - 2t), least at t = min(C, 1/2)."""
    task, X, Y = Multiclass(classes=[0, 1]), np.ones((1, 1)), [0]
    for C in (0.2, 0.5, 3.0, inf):
        t = min(C, 0.5)
        optimum = brute_force(task, X, Y, C)
        assert optimum.w == pytest.approx([t, -t], abs=1e-4)
        assert optimum.value == pytest.approx(t**2 + (C * (1 - 2 * t) if t < 0.5 else 0.0))


def test_optimum_of_squared_slacks_by_hand():
    """P = t² + (C/2)(1 - 2t)², least at t = C/(1 + 2C)."""
    task, X, Y = Multiclass(classes=[0, 1]), np.ones((1, 1)), [0]
    for C in (0.2, 3.0):
        t = C / (1 + 2 * C)
        optimum = brute_force(task, X, Y, C, Formulation(slack="l2"))
        assert optimum.value == pytest.approx(t**2 + C / 2 * (1 - 2 * t) ** 2)


def test_optimum_of_slack_rescaling_by_hand():
    """Loss 4: P = t² + 4C max(0, 1 - 2t), least at t = min(4C, 1/2)."""
    task, X, Y = Multiclass(classes=[0, 1], costs=[[0, 4], [4, 0]]), np.ones((1, 1)), [0]
    optimum = brute_force(task, X, Y, 0.1, Formulation("slack", "l1"))
    assert optimum.value == pytest.approx(0.4**2 + 0.4 * (1 - 0.8))


def test_no_point_is_better_than_the_optimum():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((6, 2)), [0, 1, 2, 0, 1, 2]
    for rescaling in ("margin", "slack"):
        for slack in ("l1", "l2"):
            formulation = Formulation(rescaling, slack)
            optimum = brute_force(Multiclass(), X, Y, 3.0, formulation, np.arange(6))
            for scale in (1e-3, 1e-1, 1.0):
                moved = optimum.w + scale * rng.standard_normal(6)
                assert value_of(X, Y, moved, formulation, np.arange(6)) >= optimum.value - 1e-7


def value_of(X, Y, w, formulation, weights):
    total = 0.0
    for x, y, weight in zip(X, Y, weights / weights.mean(), strict=True):
        scores = x @ w.reshape(2, 3)
        slack = max(formulation.value(float(z != y), scores[y] - scores[z]) for z in range(3))
        total += weight * (slack**2 / 2 if formulation.slack == "l2" else slack)
    return 0.5 * w @ w + 3.0 * total / len(Y)


def test_no_hard_margin():
    with pytest.raises(NotSeparable):
        brute_force(Multiclass(), np.ones((2, 1)), [0, 1], inf)


def test_nothing_to_learn():
    assert brute_force(Multiclass(costs=np.zeros((2, 2))), np.ones((2, 1)), [0, 1], 1.0).value == 0


def test_missing_solver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match="pip install clarabel"):
        brute_force(*PROBLEM, 1.0)
