"""SemiMarkov: the contract of tasks by enumeration, and the optimum of training by a QP over all constraints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import prove_search_is_bounded, prove_smooth_training_is_optimal, prove_training_is_optimal
from strategies import whole
from structures.segments.segmented import text
from thorough import examples

from maxmargin.errors import InvalidLabels, LossReplaced
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.dual.objective import Formulation
from maxmargin.structures.segments.losses import MOST_TRUE, F1Loss
from maxmargin.tasks import SemiMarkov
from maxmargin.testing import check_sums, check_task

X = [[["a", "bias"], ["b", "bias"], ["a", "bias"], ["c", "bias"]], [["c"], ["a", "b"], ["b"]], [["b"]]]
TAGS = [["B-x", "I-x", "O", "B-y"], ["B-y", "B-x", "I-x"], ["O"]]
SPANS = [[(0, 2, "x"), (3, 4, "y")], [(0, 1, "y"), (1, 3, "x")], []]
WHOLE = [[(0, 2, "x"), (2, 4, "y")], [(0, 1, "y"), (1, 3, "x")], [(0, 1, "x")]]  # no token is outside
MATRICES = [np.arange(8.0).reshape(4, 2) - 3, np.ones((3, 2)), np.array([[0.0, 2.0]])]


def numbers(tokens, begin, end):
    """Features with values, and some that true segments have not."""
    return {"size": float(end - begin), f"at {begin}": 0.5, "first": tokens[begin][0]}


class Dense:
    """A task whose Ψ are arrays."""

    def __init__(self, task):
        self.loss, self.task = task.loss, task

    def outputs(self, x):
        return list(self.task.outputs(x))

    def psi(self, x, z):
        places, values = self.task.psi(x, z)
        return np.bincount(places, values, self.task.dim)


@pytest.mark.parametrize(
    ("task", "inputs", "Y"),
    [
        (SemiMarkov(), X, TAGS),
        (SemiMarkov(segment_features=text), X, TAGS),
        (SemiMarkov("segments", segment_features=numbers), X, SPANS),
        (SemiMarkov("f1", segment_features=text), X, SPANS),
        (SemiMarkov("f1"), X, WHOLE),
        (SemiMarkov(costs={"x": 3.0, "O": 0.5}, max_length=3), X, TAGS),
        (SemiMarkov(costs=np.array([[0, 1, 4], [2, 0, 1], [5, 0, 0]])), X, TAGS),
        (SemiMarkov("segments", costs={"y": 2.5}), X, WHOLE),
        (SemiMarkov(max_length=2), MATRICES, SPANS),
        (SemiMarkov("segments", classes=["z", "y", "x"], max_length=2), X[1:], SPANS[1:]),
    ],
)
def test_contract(task, inputs, Y):
    check_task(task, inputs, Y, trials=1)


@pytest.mark.parametrize(("Y", "scale"), [(SPANS, 1e-8), (SPANS, 1.0), (SPANS, 1e8), (WHOLE, 1.0)])
def test_sums(Y, scale):
    measure = "segments" if Y is WHOLE else "tokens"
    check_sums(SemiMarkov(measure, segment_features=numbers), X, Y, trials=1, scale=scale, samples=20)


@st.composite
def small_problems(draw):
    """A few short sequences of matrices, with spans and a measure."""
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    scale = draw(st.sampled_from([1e-8, 1.0, 1e8]))
    inputs = [scale * draw(whole((n, 2), -2, 2)) for n in lengths]
    Y = []
    for n in lengths:
        t, spans = 0, []
        while t < n:
            size = draw(st.integers(0, n - t))
            if size:
                spans.append((t, t + size, draw(st.sampled_from("xy"))))
            t += max(size, 1)
        Y.append(spans)
    Y[0] = Y[0] or [(0, 1, "x")]
    return inputs, Y, draw(st.sampled_from(["tokens", "segments", "f1"]))


@examples(5, 10)
@given(small_problems())
def test_contract_at_any_scale(drawn):
    inputs, Y, measure = drawn
    check_task(SemiMarkov(measure), inputs, Y, trials=1)


@pytest.mark.parametrize(
    ("measure", "formulation"),
    [
        ("tokens", Formulation()),
        ("segments", Formulation()),
        ("segments", Formulation("slack", "l1")),
        ("f1", Formulation()),
        ("f1", Formulation("margin", "l2")),
    ],
)
def test_training_ends_at_the_optimum(measure, formulation):
    prove_training_is_optimal(SemiMarkov(measure, segment_features=text), X, SPANS, 3.0, formulation)


@pytest.mark.parametrize("formulation", [Formulation("slack", "l1"), Formulation("margin", "l2")])
def test_other_losses_are_searched_with_a_bound(formulation):
    task = SemiMarkov(costs={"x": 2.0})
    batch, w = task.setup_and_pack(X, SPANS), np.random.default_rng(0).standard_normal(task.dim)
    dense = Dense(task)
    prove_search_is_bounded(dense, batch, X, SPANS, w, formulation)


@pytest.mark.parametrize("softness", [Softness(), Softness(2.0, 1.0)])
def test_smooth_training_ends_at_the_optimum(softness):
    prove_smooth_training_is_optimal(SemiMarkov("segments", segment_features=numbers), X, SPANS, 3.0, softness)


def test_one_minus_f1_by_hand():
    task = SemiMarkov("f1")
    task.setup(X, SPANS)
    truth = [(0, 2, "x"), (3, 4, "y")]
    assert task.loss(truth, truth) == 0
    assert task.loss(truth, []) == 1
    assert task.loss([], [(0, 1, "x")]) == 1
    assert task.loss([], []) == 0
    assert task.loss(truth, [(0, 2, "x")]) == pytest.approx(1 - 2 / 3)
    assert task.loss(truth, [(0, 2, "y"), (3, 4, "y"), (2, 3, "x")]) == pytest.approx(1 - 2 / 5)


def test_losses_by_hand():
    tokens, segments = SemiMarkov(costs={"x": 3.0}), SemiMarkov("segments", costs={"x": 3.0})
    for task in (tokens, segments):
        task.setup(X, SPANS)
    truth, found = [(0, 2, "x"), (3, 4, "y")], [(0, 1, "x"), (1, 2, "x"), (3, 4, "y")]
    assert tokens.loss(truth, found) == 3.0  # B-x instead of I-x
    assert segments.loss(truth, found) == 9.0


def test_a_table_that_is_too_large_is_replaced_and_said():
    inputs, Y = [np.ones((30, 1))], [[(t, t + 1, "x") for t in range(MOST_TRUE + 1)]]
    task = SemiMarkov("f1")
    with pytest.warns(LossReplaced, match="1 of 1 sequences have more than 25 true segments"):
        batch = task.setup_and_pack(inputs, Y)
    assert task.loss(Y[0], []) == 0.5
    w = np.random.default_rng(0).standard_normal(task.dim)
    planes = batch.planes(w)
    z = task.argmax(w, inputs[0], Y[0])
    dense = Dense(task)
    expected = dense.psi(inputs[0], Y[0]) - dense.psi(inputs[0], z)
    np.testing.assert_allclose(planes.dpsi.toarray()[0], expected)
    assert planes.loss[0] == pytest.approx(task.loss(Y[0], z))


def test_tags_that_begin_with_i_are_segments():
    task = SemiMarkov()
    with pytest.warns(InvalidLabels, match="1 segments in 1 of 2 sequences begin with 'I-'"):
        batch = task.setup_and_pack([X[0], X[2]], [["O", "I-x", "I-x", "B-x"], ["O"]])
    np.testing.assert_array_equal(batch.codes, [0, 1, 2, 1, 0])


def test_more_outputs_than_memory_are_refused():
    task = SemiMarkov()
    task.setup(X, SPANS)
    with pytest.raises(ValueError, match="ask for a smaller n"):
        task.n_best(np.zeros(task.dim), X[0] * 20, 10**12)


def test_counts_above_which_nothing_changes():
    loss = F1Loss(None, ["x"])
    for g in (0, 1, MOST_TRUE, MOST_TRUE + 1):
        q = loss.most_counted(g, 500)
        m = np.arange(g + 1)
        expected = loss.by_counts(g, m, np.full(g + 1, q))
        for more in (q + 1, 500):
            same = np.array_equal(loss.by_counts(g, m, np.full(g + 1, more)), expected)
            assert same or q == 500
