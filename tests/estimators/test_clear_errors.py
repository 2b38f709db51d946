"""Mistakes that used to end in numpy's words, or in silence: each has one sentence."""

import numpy as np
import pytest
from estimators.problems import sequences
from scipy import sparse

from maxmargin import (
    CountingClassifier,
    GraphLabeler,
    MeasureSVC,
    MulticlassSVC,
    OrdinalSVC,
    Ranker,
    SequenceLabeler,
    StructuredSVM,
    Task,
    kernels,
    solvers,
    tasks,
)
from maxmargin.base import checks
from maxmargin.errors import TaskError

X, Y = sequences(6)
ROWS = np.random.default_rng(0).normal(size=(12, 3))
CLASSES = np.arange(12) % 3


# --- labels of several types


@pytest.mark.parametrize("estimator", [MulticlassSVC, OrdinalSVC, CountingClassifier])
@pytest.mark.parametrize("make", [list, tuple, lambda y: np.array(y, dtype=object)])
def test_numbers_and_strings(estimator, make):
    message = "example 0 has 1 and example 1 has '1'; expected all strings or all numbers"
    with pytest.raises(ValueError, match=message):
        estimator().fit(ROWS, make([1, "1", 2] * 4))


@pytest.mark.parametrize("labels", [[1, "1"], [1.5, "1.5"], [True, "True"]])
def test_labels_that_read_the_same(labels):
    message = f"the labels {labels[0]!r} and {labels[1]!r} are different .* but read the same"
    with pytest.raises(ValueError, match=message):
        SequenceLabeler().fit([ROWS[:2]] * 3, [labels] * 3)
    with pytest.raises(ValueError, match=message):
        SequenceLabeler(classes=labels).fit([ROWS[:2]] * 3, [labels] * 3)
    with pytest.raises(ValueError, match=message):
        GraphLabeler().fit([tasks.Nodes(ROWS[:2], [(0, 1)])], [labels])


# --- complex numbers

COMPLEX = ROWS + 1j
ANYTHING = {
    "multiclass": (lambda: MulticlassSVC().fit(COMPLEX, CLASSES), "X"),
    "sparse": (lambda: MulticlassSVC().fit(sparse.csr_array(COMPLEX), CLASSES), "X"),
    "kernel": (lambda: MulticlassSVC(kernel="rbf").fit(COMPLEX, CLASSES), "X"),
    "map": (lambda: kernels.KernelMap("rbf").fit(COMPLEX), "X"),
    "measure": (lambda: MeasureSVC().fit(COMPLEX, CLASSES > 0), "X"),
    "ranker": (lambda: Ranker().fit(COMPLEX, CLASSES, qid=np.arange(12) // 6), "X"),
    "counting": (lambda: CountingClassifier().fit(COMPLEX, CLASSES), "X"),
    "sequences": (lambda: SequenceLabeler().fit([x if i else x + 1j for i, x in enumerate(X)], Y), "sequence 0"),
    "sparse sequences": (lambda: SequenceLabeler().fit([sparse.csr_array(x + 1j) for x in X], Y), "sequence 0"),
    "packed": (lambda: tasks.Sequences(COMPLEX, [0, 12]), "the matrix of sequences"),
    "nodes": (lambda: tasks.Nodes(COMPLEX, [(0, 1)]), "features"),
    "edges": (lambda: tasks.Nodes(ROWS, [(0, 1)], np.full((1, 2), 1j)), "edge_features"),
    "image": (lambda: tasks.Nodes.grid(np.full((2, 2), 1j)), "the image"),
    "pairs": (lambda: tasks.Pairs(3, [(0, 1)], np.full((1, 2), 1j)), "features"),
    "array of pairs": (lambda: tasks.Pairs.from_array(np.full((2, 2, 1), 1j)), "the array of pairs"),
    "made pairs": (
        lambda: tasks.Pairs.of([1, 2], lambda a, b: np.array([1j])),
        r"the row of features of the pair \(0, 1\)",
    ),
}


@pytest.mark.parametrize("name", ANYTHING)
@pytest.mark.filterwarnings("error")
def test_complex_numbers(name):
    call, what = ANYTHING[name]
    with pytest.raises(ValueError, match=f"Complex data not supported: there are complex numbers in {what}; expected"):
        call()


# --- sizes


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 2.5, 12], r"offsets\[1\] is 2.5; expected whole row numbers"),
        ([0, np.nan, 12], r"offsets\[1\] is nan"),
        (["0", "12"], "offsets must be an increasing list of row numbers that starts with 0, got"),
        ([[0, 12]], "offsets must be an increasing list"),
    ],
)
def test_offsets_are_whole_numbers(offsets, message):
    with pytest.raises(ValueError, match=message):
        tasks.Sequences(ROWS, offsets)


def test_whole_floats_are_offsets():
    assert tasks.Sequences(ROWS, [0.0, 5.0, 12.0]).offsets.tolist() == [0, 5, 12]


@pytest.mark.parametrize(
    ("planes", "message"),
    [
        (10**13, r"10,000,000,000,000 planes per example needs 149,011.6 GB of memory, but this machine has "),
        (2.5, "planes_per_example must be a whole number >= 2, .* got 2.5"),
    ],
)
def test_planes_per_example(planes, message):
    with pytest.raises(ValueError, match=message):
        MulticlassSVC(solver=solvers.BCFW(planes_per_example=planes)).fit(ROWS, CLASSES)


def test_the_best_of_all_label_sequences(monkeypatch):
    model = SequenceLabeler().fit(X, Y)
    few = [np.tile(x, (3, 1))[:3] for x in X[:2]]
    everything = model.predict_nbest(few, n=10**9)
    for listed in everything:
        assert len(listed) == len(model.classes_) ** 3
        scores = [score for _, score in listed]
        assert scores == sorted(scores, reverse=True)
    monkeypatch.setattr(checks, "memory_size", lambda: 2.0**30)
    with pytest.raises(ValueError, match=r"a list of the 1,000,000,000 best label .* GB .* 1\.0; ask for a smaller n"):
        model.predict_nbest([np.tile(X[0], (20, 1))], n=10**9)


# --- what tasks return


class Signs(Task):
    """A sign for every position, by the decoder that `answer` makes of the right one."""

    def __init__(self, answer=None, at=0):
        self.answer, self.at = answer, at

    def setup(self, X, Y):
        self.dim = X[0].shape[1]

    def psi(self, x, z):
        return np.asarray(z) @ x

    def loss(self, y, z):
        return float(sum(a != b for a, b in zip(y, z, strict=True)))

    def argmax(self, w, x, y=None):
        scores = 2 * (x @ w) + (0 if y is None else -np.asarray(y))
        z = np.where(scores > 0, 1, -1).tolist()
        return z if self.answer is None or x[0, 0] != self.at else self.answer(z)


SIGNS = [ROWS[i : i + 3] for i in range(9)], [np.sign(ROWS[i : i + 3, 0]).astype(int).tolist() for i in range(9)]


@pytest.mark.parametrize("example", [1, 7])  # seen before training, and in training
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda z: None, "of example {} returned None, on which loss or psi fails .TypeError: .*; expected an output"),
        (lambda z: z[:-1], "of example {} returned an output of length 2, on which .*; its y has length 3"),
        (lambda z: [*z, 1], "of example {} returned an output of length 4, on which .*; its y has length 3"),
    ],
)
def test_a_decoder_that_returns_what_is_no_output(example, answer, message):
    assert StructuredSVM(Signs()).fit(*SIGNS).certificate_.converged
    task = Signs(answer, SIGNS[0][example][0, 0])
    with pytest.raises(TaskError, match=r"argmax\(w, x, y\) " + message.format(example)):
        StructuredSVM(task).fit(*SIGNS)


def test_none_may_be_an_output_among_others():
    class Absent(Task):
        def setup(self, X, Y):
            self.dim = 2

        def argmax(self, w, x, y=None):
            return max([None, "left", "right"], key=lambda z: self.psi(x, z) @ w + (y is not None and y != z))

        def psi(self, x, z):
            return 0 * x if z is None else x if z == "left" else -x

        def loss(self, y, z):
            return float(y != z)

    inputs = [np.array([1.0, 0.0]), np.array([-1.0, 0.5])]
    model = StructuredSVM(Absent(), C=10.0).fit(inputs, ["left", "right"])
    assert model.predict(inputs) == ["left", "right"]


def test_complex_psi():
    class Complex(Signs):
        def psi(self, x, z):
            return super().psi(x, z) + 0j

    with pytest.raises(TaskError, match=r"psi\(x, y\) of example 0 has complex numbers; expected real ones"):
        StructuredSVM(Complex()).fit(*SIGNS)


# --- nothing to learn from, nothing to label


@pytest.mark.parametrize("x", [[[], [], []], [{}, {}, {}], np.zeros((3, 0))])
def test_no_features_at_all(x):
    with pytest.raises(ValueError, match=r"no position of any sequence has a feature, .* such as the attribute .bias."):
        SequenceLabeler().fit([x] * 4, [[0, 1, 0]] * 4)


@pytest.mark.parametrize("form", ["dense", "attributes", "dicts"])
def test_an_empty_sequence_has_an_empty_answer(form):
    inputs, outputs = sequences(6, form=form)
    model = SequenceLabeler().fit(inputs, outputs)
    some = [inputs[0][:0], inputs[1], [], inputs[2], []]
    assert model.predict(some) == [[], *model.predict(inputs[1:2]), [], *model.predict(inputs[2:3]), []]
    assert model.predict([[]]) == [[]]
    np.testing.assert_array_equal(
        model.decision_function(some), np.insert(model.decision_function(inputs[1:3]), [0, 1, 2], 0.0)
    )
    assert model.predict_nbest(some[:2], 1) == [[([], 0.0)], *model.predict_nbest(inputs[1:2], 1)]
    assert model.score(some[:3], [[], outputs[1], []]) == model.score(inputs[1:2], outputs[1:2])
    with pytest.raises(ValueError, match="sequence 2 is empty"):
        model.fit([*inputs[:2], [], *inputs[3:]], [*outputs[:2], [], *outputs[3:]])


def test_packed_sequences_may_be_empty_in_prediction():
    model = SequenceLabeler().fit(X, Y)
    matrix = np.concatenate(X[:2])
    packed = tasks.Sequences(matrix, [0, 0, len(X[0]), len(X[0]), len(matrix)])
    first, second = model.predict(X[:2])
    assert model.predict(packed) == [[], first, [], second]
