"""A task that breaks its promises gets an error that names the example and the fault, before or while it is trained."""

from dataclasses import dataclass

import numpy as np
import pytest
from example_tasks import Bags, Interval, Pairs, Sloppy, Tags, bag_data, interval_data, pair_data, tag_data
from scipy import sparse

from maxmargin import StructuredSVM, Task
from maxmargin.errors import DenseFeatures, TaskError
from maxmargin.problem.contract.examples import Examples
from maxmargin.tasks import Chain
from maxmargin.testing import check_task
from maxmargin.training.preflight import content

X, Y = [np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, 2.0, 1.0])], [(0, 2), (1, 3)]


class NoSetup(Interval):
    setup = Task.setup


class NoDim(Interval):
    def setup(self, X, Y):
        pass


class NoFeatures(Interval):
    psi = Task.psi


class NoLoss(Interval):
    loss = Task.loss


class NoDecoder(Interval):
    outputs = Task.outputs


class NoTruth(Interval):
    """argmax cannot be told the truth."""

    def argmax(self, w, x):
        return max(self.outputs(x), key=lambda z: self.psi(x, z) @ w)


class IgnoresTruth(Interval):
    def argmax(self, w, x, y=None):
        return max(self.outputs(x), key=lambda z: self.psi(x, z) @ w)


class Stubborn(Interval):
    """Misses the maximum, and does not say so."""

    def argmax(self, w, x, y=None):
        return self.outputs(x)[0]


class WholeSequences(Chain):
    """A chain whose loss is no sum over positions; setup has found out that no label is missing."""

    def loss(self, y, z):
        return float(list(y) != list(z))

    def argmax(self, w, x, y=None):
        best = self.n_best(w, x, 2)
        return max(best, key=lambda found: found[1] + (0.0 if y is None else self.loss(y, found[0])))[0]

    def pack(self, X, Y):
        return Examples(self, X, Y)

    setup_and_pack = Task.setup_and_pack


def test_a_task_may_decide_in_setup_that_it_is_not_latent():
    sequences = [[["u"], ["v"], ["w"]], [["v"], ["w"]], [["w"], ["u"]]]
    labels = [["a", "b", "c"], ["b", "c"], ["c", "a"]]
    check_task(WholeSequences(), sequences, labels)
    model = StructuredSVM(WholeSequences(), C=10.0).fit(sequences, labels)
    assert model.certificate_.converged
    assert model.predict(sequences) == labels


class LossAtTheTruth(Interval):
    def loss(self, y, z):
        return 1.0 + super().loss(y, z)


class NegativeLoss(Interval):
    def loss(self, y, z):
        return -super().loss(y, z)


class LossIsNan(Interval):
    def loss(self, y, z):
        return 0.0 if y == z else float("nan")


class TooLong(Interval):
    def psi(self, x, z):
        return np.append(super().psi(x, z), 0.0)


class NotFinite(Interval):
    def psi(self, x, z):
        return super().psi(x, z) * (np.nan if z == (0, 1) else 1.0)


class ChangesInput(Interval):
    def psi(self, x, z):
        x += 1
        return super().psi(x, z)


class SilentlyLatent(Interval):
    def complete(self, w, x, y):
        return y


class OutOfRange(Tags):
    def psi(self, x, z):
        indices, values = super().psi(x, z)
        return indices + 1, values


class Unequal(Tags):
    def psi(self, x, z):
        indices, values = super().psi(x, z)
        return indices, values[1:]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (NoSetup(), "NoSetup must define setup"),
        (NoDim(), "NoDim.setup must set self.dim"),
        (NoFeatures(), "NoFeatures must define psi"),
        (NoLoss(), "NoLoss must define loss"),
        (NoDecoder(), r"NoDecoder must define argmax\(w, x, y=None\) or outputs\(x\)"),
        (NoTruth(), "must take a third argument y"),
        (IgnoresTruth(), "ignores y"),
        (Stubborn(), "misses the maximum|lower than the truth"),
        (LossAtTheTruth(), r"loss\(y, y\) of example 0 is 1.0"),
        (NegativeLoss(), r"loss\(y, z\) of example 0 is -\d.0; a loss must be a finite number >= 0"),
        (LossIsNan(), "example 0 is nan"),
        (TooLong(), r"example 0 has shape \(4,\); expected \(3,\)"),
        (NotFinite(), "example 0 contains NaN"),
        (ChangesInput(), "changed its input: x or y of example 0"),
        (SilentlyLatent(), r"has complete\(w, x, y\) but does not declare that it is latent; set latent = True"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Task) else "",
)
def test_fault_is_named(task, message):
    copies = [x.copy() for x in X]
    with pytest.raises(TaskError, match=message):
        StructuredSVM(task).fit(copies, Y)


@pytest.mark.parametrize(
    ("task", "message"),
    [(OutOfRange(), "has indices from .* expected 0 to 11"), (Unequal(), r"has \d+ indices but \d+ values")],
    ids=["range", "length"],
)
def test_fault_of_sparse_features_is_named(task, message):
    words, tags = tag_data()
    words[0] = [3, 3]
    tags[0] = "verb"  # the last of the tags, whose indices are the highest
    with pytest.raises(TaskError, match=message):
        StructuredSVM(task).fit(words, tags)


class IgnoresWeights(Bags):
    def complete(self, w, x, y):
        return y, 0


class Unexplained(Bags):
    def guess(self, rng, x, y):
        return y, 0

    def complete(self, w, x, y):
        return self.argmax(w, x)


class WrongGuess(Bags):
    def guess(self, rng, x, y):
        return (y + 1) % 3, 0


class WorstCompletion(Bags):
    def complete(self, w, x, y):
        return min(((y, h) for h in range(len(x))), key=lambda z: self.psi(x, z) @ w)


class CompletesWithTooMuch(Bags):
    def complete(self, w, x, y):
        x += 1
        return super().complete(w, x, y)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            IgnoresWeights(),
            r"complete\(w, x, y\) misses the maximum: on example \d it returned .* = -?[\d.]+, but there",
        ),
        (WorstCompletion(), r"complete\(w, x, y\) misses the maximum: on example \d"),
        (Unexplained(), r"complete\(w, x, y\) of example \d returned .*, which does not explain the label"),
        (WrongGuess(), r"loss\(y, guess\(rng, x, y\)\) of example 0 is [12].0; the loss must be 0 at the truth"),
        (CompletesWithTooMuch(), "changed its input: x or y of example 0"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Task) else "",
)
def test_fault_of_hidden_parts_is_named(task, message):
    with pytest.raises(TaskError, match=message):
        StructuredSVM(task).fit(*bag_data(seed=4, largest=4))


def test_good_hidden_parts_pass():
    for task in (Bags(), Bags(listed=True)):
        model = StructuredSVM(task).fit(*bag_data())
        assert model.certificate_.converged
        assert model.rounds_


class LateFault(Interval):
    """Good on the first examples, which are looked at before training."""

    def argmax(self, w, x, y=None):
        choose = max if len(x) < 6 else min
        return choose(self.outputs(x), key=lambda z: self.psi(x, z) @ w + (0.0 if y is None else self.loss(y, z)))


def test_fault_that_shows_only_later_is_named():
    signals, intervals = interval_data(8)
    signals.append(np.array([1.0, 1.0, 9.0, 9.0, 1.0, 1.0]))
    intervals.append((2, 4))
    with pytest.raises(TaskError, match="LateFault broke its promise on example 8"):
        StructuredSVM(LateFault(), C=100.0, tol=1e-6).fit(signals, intervals)


class Crash(Interval):
    """Fails on signals of length 5."""

    def loss(self, y, z):
        return super().loss(y, z) / (5 - z[1])


@pytest.mark.parametrize("place", [0, 1, 6])
def test_error_in_the_users_code_names_the_example(place):
    """Be it one of the first, which are looked at before training, or a later one."""
    signals, intervals = [X[0]] * 6, [Y[0]] * 6
    signals.insert(place, np.arange(5.0))
    intervals.insert(place, (0, 2))
    with pytest.raises(ZeroDivisionError) as caught:
        StructuredSVM(Crash()).fit(signals, intervals)
    assert any(f"Crash on training example {place}" in note for note in caught.value.__notes__)


def test_good_tasks_pass():
    for task, data in ((Interval(), interval_data()), (Tags(), tag_data()), (Pairs(), pair_data())):
        assert StructuredSVM(task).fit(*data).certificate_.converged
    assert not StructuredSVM(Sloppy()).fit(*interval_data()).certificate_.exact


# --- has an input been changed?


class SparseSums(Task):
    """Looks at its sparse x in ways that make scipy note something on it."""

    def setup(self, X, Y):
        self.dim = 4

    def psi(self, x, z):
        features = np.zeros(4)
        features[2 * z : 2 * z + 2] = x.sum(), (x != 0).sum()
        return features

    def loss(self, y, z):
        return float(y != z)

    def outputs(self, x):
        return [0, 1]


def test_what_a_library_notes_on_an_input_is_no_change():
    data = [sparse.csr_array(np.eye(3)[[i % 3]] * (i + 1)) for i in range(6)]
    assert StructuredSVM(SparseSums()).fit(data, [0, 1, 1, 0, 1, 1]).certificate_.converged


@dataclass
class Pair:
    left: list
    right: object = None


class Lazy:
    """An object with a cache of its own."""

    seen = 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(3.0),
        lambda: [1, [2.0, "three"], {"four": np.arange(2)}],
        lambda: np.array([[1], [2, 3]], dtype=object),
        lambda: sparse.csr_array(np.eye(3)),
        lambda: sparse.coo_matrix(np.eye(3)),
        lambda: {1, 2, 3},
        lambda: Pair([1, 2], float("nan")),
        lambda: ("label", float("nan"), None, b"bytes", np.float32(1)),
    ],
)
def test_content_is_the_same_for_equal_values(make):
    assert content(make()) == content(make())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (np.arange(3.0), np.arange(1.0, 4.0)),
        (np.arange(3.0), np.arange(3)),
        ([1, [2]], [1, [3]]),
        ({"a": 1}, {"a": 2}),
        (sparse.csr_array(np.eye(3)), sparse.csr_array(2 * np.eye(3))),
        (sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3)[::-1])),
        ({1, 2}, {1, 3}),
        (Pair([1]), Pair([2])),
        ("a", "b"),
        (True, 1),
    ],
)
def test_content_tells_values_apart(before, after):
    assert content(before) != content(after)


def test_content_of_other_objects_is_not_looked_at():
    before, after = Lazy(), Lazy()
    after.seen = 1
    assert content(before) == content(after)


# --- features that waste memory


class Long(Task):
    """A long Ψ with some non-zeros, written out or not."""

    def __init__(self, length=2**18, used=4, sparse=False):
        self.length, self.used, self.sparse = length, used, sparse

    def setup(self, X, Y):
        self.dim = self.length

    def psi(self, x, z):
        places = np.arange(self.used) * 2 + z
        if self.sparse:
            return places, np.full(self.used, x)
        features = np.zeros(self.dim)
        features[places] = x
        return features

    def loss(self, y, z):
        return float(y != z)

    def outputs(self, x):
        return [0, 1]


def test_long_dense_features_are_mentioned_once():
    with pytest.warns(DenseFeatures) as caught:
        StructuredSVM(Long(), max_passes=2).fit([1.0, 2.0, -1.0, 3.0], [0, 0, 1, 0])
    assert [str(each.message) for each in caught] == [
        "psi(x, y) of example 0 is an array of 262,144 numbers, of which 4 are not zero: every plane of training takes "
        "as much memory. psi may return (indices, values), two arrays with the non-zeros only"
    ]
    assert caught[0].filename == __file__


OTHERS = {"sparse": Long(sparse=True), "short": Long(length=2**18 - 1), "full": Long(used=2**15)}


@pytest.mark.parametrize("task", OTHERS.values(), ids=OTHERS)
def test_other_features_are_not(task):
    StructuredSVM(task, max_passes=2).fit([1.0, -1.0], [0, 1])  # a warning would be an error


class LateMistake(Interval):
    """A loss that is not zero at the truth, but only for an example that is not among the first."""

    def __init__(self, last):
        self.last = last

    def loss(self, y, z):
        return 1.0 if y == z == self.last else super().loss(y, z)


@pytest.mark.parametrize("late", [3, 5])
def test_the_loss_at_the_truth_is_checked_for_every_example(late):
    X, Y = [np.arange(6.0)] * 6, [(0, k + 1) for k in range(6)]
    with pytest.raises(TaskError, match=rf"loss\(y, y\) of example {late} is 1.0; the loss must be 0 at the truth"):
        StructuredSVM(LateMistake(Y[late])).fit(X, Y)
