"""The checks themselves: each finds the fault that it is there for, and brute_force finds known optima."""

import sys
from math import inf

import numpy as np
import pytest
from example_tasks import (
    Bags,
    Interval,
    Pairs,
    Tags,
    bag_data,
    interval_data,
    pair_data,
    partial_sequences,
    tag_data,
)

from maxmargin.errors import NotSeparable
from maxmargin.problem.contract.examples import Examples
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.planes import Planes
from maxmargin.solvers import BCFW, Solver, Step
from maxmargin.tasks import Chain, Multiclass
from maxmargin.testing import brute_force, check_solver, check_task, objective


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

    def pack(self, X, Y):
        return Faulty(self, X, Y, listed=True)


class Faulty(Examples):
    def planes(self, w, augment=1.0):
        planes, fault = super().planes(w, augment), self.task.fault
        rows, loss = planes.dpsi.toarray(), planes.loss
        if fault == "order" and len(loss) > 1:
            rows, loss = rows[::-1], loss[::-1]
        if fault == "loss":
            loss = loss / 2
        if fault == "invented" and not w.any():
            rows = rows + 1.0  # as high as before at w = 0
        if fault == "scaled":
            planes = super().planes(w)
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
    def pack(self, X, Y):
        return NotRescaled(self, X, Y, listed=True)


class NotRescaled(Examples):
    def rescaled_planes(self, w, formulation):
        return self.planes(w)


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


# --- hidden parts


class IgnoresWeights(Bags):
    def complete(self, w, x, y):
        return y, 0


class Unexplained(Bags):
    def complete(self, w, x, y):
        return max(self.outputs(x), key=lambda z: self.psi(x, z) @ w)


class OtherBatch(Bags):
    """Bags in a batch of another kind."""

    kind = Examples

    def pack(self, X, Y):
        return self.kind(self, X, Y, listed=True)


class LateUnexplained(OtherBatch):
    """Completes well in batches, and one by one at the first weights that are tried; then not."""

    class kind(Examples):  # noqa: N801
        def completed(self, w):
            return self._explained_by(lambda x, y: Bags.complete(self.task, w, x, y))

    def setup(self, X, Y):
        super().setup(X, Y)
        self.left = len(X)

    def complete(self, w, x, y):
        self.left -= 1
        return super().complete(w, x, y) if self.left >= 0 else ((y + 1) % 3, 0)


class NothingExplains(Bags):
    def outputs(self, x):
        return [(label, 0) for label in (1, 2)]

    def complete(self, w, x, y):
        return y, 0


class WrongGuess(OtherBatch):
    class kind(Examples):  # noqa: N801
        def guessed(self, rng):
            return self.completed(rng.standard_normal(self.dim))

    def guess(self, rng, x, y):
        return int(rng.integers(self.n_labels)), 0


class WrongGuessOfBatches(OtherBatch):
    class kind(Examples):  # noqa: N801
        def guessed(self, rng):
            return self._explained_by(lambda x, y: (0, 0))


class LazyBatches(OtherBatch):
    """Completes a batch at the first weights only."""

    class kind(Examples):  # noqa: N801
        def completed(self, w):
            return self if isinstance(self.truth[0], tuple) else super().completed(w)


class WrongSign(OtherBatch):
    class kind(Examples):  # noqa: N801
        def shifts_to(self, after):
            return Examples.shifts_to(after, self)


class OneWay(OtherBatch):
    """Shifts that are right from the batch that planes are checked on, and nowhere else."""

    class kind(Examples):  # noqa: N801
        def completed(self, w):
            new = super().completed(w)
            if not isinstance(self.truth[0], tuple):
                self.task.first = new.truth
            return new

        def shifts_to(self, after):
            rows = super().shifts_to(after)
            return rows if self.truth is self.task.first else 2 * rows


class Detour(OneWay):
    """Shifts that are wrong between two completions of that batch."""

    class kind(OneWay.kind):  # noqa: N801
        def shifts_to(self, after):
            rows, first = Examples.shifts_to(self, after), self.task.first
            known = self.truth is after.truth or first is self.truth or first is after.truth
            return rows if known else rows + 1


class MovesItself(OtherBatch):
    class kind(Examples):  # noqa: N801
        def shifts_to(self, after):
            rows = super().shifts_to(after)
            return rows + 1 if self.truth is after.truth else rows


class ChangesTheBatch(OtherBatch):
    class kind(Examples):  # noqa: N801
        def completed(self, w):
            new = super().completed(w)
            if isinstance(self.truth[0], tuple):
                self.truth[:] = new.truth
            return new


class TruthAtTheWeights(OtherBatch):
    """Planes against the best explanation at w, not against the completion of the batch."""

    class kind(Examples):  # noqa: N801
        def planes(self, w, augment=1.0):
            return Examples.planes(self.completed(w), w, augment)


class TruthAtTheWeightsRescaled(OtherBatch):
    class kind(Examples):  # noqa: N801
        def rescaled_planes(self, w, formulation):
            return Examples.rescaled_planes(self.completed(w), w, formulation)


class ForgetsTruths(OtherBatch):
    """Batches lose their completion when a part of them is taken."""

    class kind(Examples):  # noqa: N801
        def take(self, index):
            taken = super().take(index)
            taken.truth = [(y, 0) for y in self.Y]
            return taken


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (IgnoresWeights(), r"example \d: complete\(w, x, y\) returned .* but the best output without loss has"),
        (Unexplained(), r"example \d: loss\(y, complete\(w, x, y\)\) is [12].0; it must be 0"),
        (LateUnexplained(), r"example 0: complete\(w, x, y\) returned .*, which does not explain 0: its loss is"),
        (NothingExplains(), "example 0: no output explains the label 0"),
        (WrongGuess(), r"example \d: guess\(rng, x, y\) returned .*, which does not explain"),
        (WrongGuessOfBatches(), r"example 1: after guessed\(rng\) its truth.* is not an output that explains"),
        (LazyBatches(), r"after completed\(w\) its truth, reconstructed from the shifts, has the score"),
        (WrongSign(), r"after completed\(w\) its truth, reconstructed from the shifts"),
        (OneWay(), r"is not -after.shifts_to\(before\)"),
        (Detour(), "do not add up"),
        (MovesItself(), r"batch.shifts_to\(batch\) is not zero"),
        (ChangesTheBatch(), "is no output that explains|changed the batch|has the score"),
        (TruthAtTheWeights(), "its plane has height|its plane belongs to none"),
        (TruthAtTheWeightsRescaled(), "rescaled_planes found the violation"),
        (ForgetsTruths(), "permuted|alone has another plane"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Bags) else "",
)
def test_task_check_finds_the_fault_in_hidden_parts(task, message):
    with pytest.raises(AssertionError, match=message):
        check_task(task, *bag_data(8), trials=1)


@pytest.mark.parametrize("listed", [False, True])
def test_task_check_passes_good_hidden_parts(listed):
    check_task(Bags(listed=listed), *bag_data(8), trials=1)


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
        (Cheater(), "Cheater, step 1: P.w. is .* but 0.1.* was reported"),
        (Gambler(), "the same seed gave different weights"),
        (Modest(), "is not certified, but it reports the bound"),
        (Permissive(), "did not raise a TypeError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Solver) else "",
)
def test_solver_check_finds_the_fault(solver, message):
    with pytest.raises(AssertionError, match=message):
        check_solver(solver, *PROBLEM)


def test_solver_check_wants_a_convex_problem():
    with pytest.raises(ValueError, match="Bags has latent variables"):
        check_solver(BCFW(), Bags(), *bag_data())


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


def test_objective_by_hand():
    """x = 1 with labels ±: P((t, -t)) = t² + C max(0, 1 - 2t)."""
    task, X, Y = Multiclass(classes=[0, 1]), np.ones((1, 1)), [0]
    assert objective(task, X, Y, 3.0, [0.25, -0.25]) == pytest.approx(0.0625 + 3 * 0.5)
    assert objective(task, X, Y, 3.0, [0.25, -0.25], Formulation(slack="l2")) == pytest.approx(0.0625 + 1.5 * 0.25)
    assert objective(task, np.ones((2, 1)), [0, 1], 3.0, [0.25, -0.25], None, [1, 0]) == pytest.approx(0.0625 + 1.5)


def test_objective_of_hidden_parts_by_hand():
    """One bag {1, -2} of label 0 of two: its score is max(u, -2u), that of label 1 is max(v, -2v)."""
    task, X, Y = Bags(n_labels=2), [np.array([[1.0], [-2.0]])], [0]
    for u, v in ((0.5, 0.0), (-0.5, 0.25), (1.0, -1.0), (0.0, 0.0)):
        slack = max(0.0, 1 + max(v, -2 * v) - max(u, -2 * u))
        assert objective(task, X, Y, 3.0, [u, v]) == pytest.approx(0.5 * (u * u + v * v) + 3 * slack)


def test_optimum_of_a_completion_by_hand():
    """The same bag, C small: completed by its first instance the slack is 1 - u at v = 0, by its second 1 + 2u."""
    task, X, Y = Bags(n_labels=2), [np.array([[1.0], [-2.0]])], [0]
    first, second = (brute_force(task, X, Y, 0.1, completed_at=[u, 0.0]) for u in (1.0, -1.0))
    assert first.w == pytest.approx([0.1, 0.0], abs=1e-4)
    assert first.value == pytest.approx(0.005 + 0.1 * 0.9)
    assert second.w == pytest.approx([-0.2, 0.0], abs=1e-4)
    assert second.value == pytest.approx(0.02 + 0.1 * 0.6)


@pytest.mark.parametrize("problem", [(Bags(), *bag_data()), (Chain(classes=[0, 1, 2]), *partial_sequences())])
def test_a_completed_problem_lies_above_the_objective_and_touches_it(problem):
    rng = np.random.default_rng(0)
    task, X, Y = problem
    task.setup(X, Y)
    for rescaling in ("margin", "slack"):
        for slack in ("l1", "l2"):
            formulation = Formulation(rescaling, slack)
            w = rng.standard_normal(task.dim)
            optimum = brute_force(*problem, 3.0, formulation, completed_at=w)
            assert optimum.value <= objective(*problem, 3.0, w, formulation) + 1e-9
            assert objective(*problem, 3.0, optimum.w, formulation) <= optimum.value + 1e-9


def test_hidden_parts_must_be_completed_somewhere():
    with pytest.raises(ValueError, match=r"Bags has latent variables.*completed_at"):
        brute_force(Bags(), *bag_data(), 1.0)
    with pytest.raises(ValueError, match=r"completed_at has shape \(2,\); expected \(6,\)"):
        brute_force(Bags(), *bag_data(), 1.0, completed_at=[0.0, 1.0])
    with pytest.raises(AssertionError, match="but the best output without loss has"):
        brute_force(IgnoresWeights(), *bag_data(), 1.0, completed_at=np.random.default_rng(0).standard_normal(6))


def test_no_hard_margin():
    with pytest.raises(NotSeparable):
        brute_force(Multiclass(), np.ones((2, 1)), [0, 1], inf)


def test_nothing_to_learn():
    assert brute_force(Multiclass(costs=np.zeros((2, 2))), np.ones((2, 1)), [0, 1], 1.0).value == 0


def test_missing_solver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match="pip install clarabel"):
        brute_force(*PROBLEM, 1.0)
