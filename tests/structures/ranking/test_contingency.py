import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proofs import prove_search_is_bounded
from scipy import sparse
from strategies import groups_of_rows
from structures.ranking.group_problems import (
    X,
    Y,
    prove_whole_weights_are_repeated_rows,
    set_up,
    weighted_groups,
    with_weights,
)
from structures.ranking.listed_tasks import Labellings, squared_error
from thorough import examples

from maxmargin import StructuredSVM
from maxmargin.errors import TaskError
from maxmargin.problem.contract.capabilities.narrowed_search import NarrowedSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import Bundle, OneSlack
from maxmargin.tasks import Contingency, Groups, WeightedRows
from maxmargin.testing import SEARCHED, check_task

MEASURES = [
    "error",
    "balanced_error",
    "f1",
    "fbeta",
    "prbep",
    "precision_at_k",
    "recall_at_k",
    "kld",
    "nkld",
    "absolute_error",
    "relative_absolute_error",
    "q",
    squared_error,
]
measures = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: getattr(measure, "__name__", measure))


@measures
@examples(5, 12)
@given(problem=groups_of_rows(most_rows=6), k=st.integers(1, 7), beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_keeps_the_contract(measure, problem, k, beta):
    """All four formulations, at several λ, against all labellings; groups of one class among the others."""
    X, Y, _ = problem
    check_task(Labellings(measure, k, beta), X, Y, trials=1)


@measures
@settings(max_examples=4)
@given(problem=groups_of_rows(most_groups=1, most_rows=8), k=st.integers(1, 8))
def test_keeps_the_contract_on_larger_samples(measure, problem, k):
    X, Y, _ = problem
    check_task(Labellings(measure, k), X, Y, trials=1)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_samples(kind):
    check_task(Labellings("f1"), [kind(x) for x in X], Y, trials=1)


@pytest.mark.parametrize("rows", [np.array([0, 1, 3, 4, 5]), np.array([4, 0, 4, 2, 1])])  # some left out, some twice
def test_rows_of_one_matrix(rows):
    matrix, labels = np.vstack(X), np.concatenate(Y)
    _, whole_batch = set_up(Contingency("f1"), [matrix[rows]], [labels[rows]])
    _, batch = set_up(Contingency("f1"), Groups(matrix, rows, np.array([0, len(rows)])), [labels[rows]])
    planes, expected = (each.planes(np.array([0.5, -1.0])) for each in (batch, whole_batch))
    np.testing.assert_allclose(planes.dpsi.toarray(), expected.dpsi.toarray())
    assert planes.loss == expected.loss


@examples(6, 15)
@given(groups_of_rows(most_groups=1, most_rows=8))
def test_error_is_the_mean_hinge(problem):
    X, Y, w = problem
    _, batch = set_up(Contingency("error"), X, Y)
    margins = (2 * Y[0] - 1) * (X[0] @ w)
    assert batch.planes(w).values(w) == pytest.approx(np.mean(np.maximum(0, 1 - margins)))


@examples(6, 15)
@given(groups_of_rows(most_groups=1, most_rows=8), st.integers(1, 8))
def test_hinge_is_at_least_the_loss_of_the_prediction(problem, k):
    X, Y, w = problem
    for measure in (each for each in MEASURES if each != "prbep"):  # prediction does not know the number it wants
        task, batch = set_up(Contingency(measure, k), X, Y)
        hinge, z = batch.planes(w).values(w)[0], task.decode(w, X)[0]
        if task.measure_.size is None or task.psi(X[0], Y[0]) @ w <= task.psi(X[0], z) @ w:  # y may have more
            assert hinge >= task.loss(Y[0], z) - 1e-12


# --- fewer rows


LARGE = np.random.default_rng(0).standard_normal((400, 3))
RARE = (LARGE[:, 0] > 1.7).astype(int)


@pytest.mark.parametrize("measure", ["error", "f1", "fbeta", "prbep", "precision_at_k", "balanced_error", "kld"])
@examples(5, 10)
@given(w=st.tuples(*[st.floats(-3, 3)] * 3).map(np.array), other=st.tuples(*[st.floats(-3, 3)] * 3).map(np.array))
def test_a_narrowed_batch_finds_planes_of_the_whole(measure, w, other):
    task, batch = set_up(Contingency(measure, k=30), [LARGE], [RARE])
    search = batch.offers(NarrowedSearch)
    near = None if search is None else search.narrowed(w)
    if near is None:
        return
    assert len(near.rows) <= len(batch.rows) / 2
    for v in (w, other):
        found, best = near.planes(v), batch.planes(v)
        assert found.values(v) <= best.values(v) + 1e-12
        chosen = found.dpsi.whole()
        assert chosen.atoms is batch.atoms
        np.testing.assert_allclose(chosen.toarray(), found.dpsi.toarray())
        z = RARE.copy()
        z[chosen.indices] = 1 - z[chosen.indices]  # what it says is wrong
        assert found.loss[0] == pytest.approx(task.loss(RARE, z))
        np.testing.assert_allclose(task.psi(LARGE, RARE) - task.psi(LARGE, z), found.dpsi.toarray()[0], atol=1e-12)


@pytest.mark.parametrize("measure", ["f1", "prbep", "precision_at_k"])
def test_narrowing_changes_nothing_where_it_was_made(measure):
    _, batch = set_up(Contingency(measure, k=30), [np.hstack([LARGE, np.ones((400, 1))])], [RARE])
    w = np.array([3.0, 0.3, -0.2, -4.0])
    near = batch.narrowed(w)
    assert near is not None
    assert near.planes(w).values(w) == pytest.approx(batch.planes(w).values(w))


def test_negatives_that_cannot_enter_are_not_sorted():
    _, batch = set_up(Contingency("f1"), [LARGE], [RARE])
    rows = batch._row_scores(np.array([3.0, 0.0, 0.0]))
    few = batch._candidates(rows, np.ones(1), (False, False))
    above = 3 * LARGE[RARE == 0, 0] > -0.5  # one more false positive costs less than 1 / 2P, its score counts 1 / P
    assert RARE.sum() < len(few.positions) <= RARE.sum() + above.sum()
    _, batch = set_up(Contingency("prbep"), [LARGE], [RARE])
    assert len(batch._candidates(rows, np.ones(1), (False, False)).positions) == 2 * RARE.sum()


def test_several_samples_are_narrowed_each():
    X, Y = [LARGE[:250], LARGE[:7], LARGE[250:]], [RARE[:250], np.zeros(7, dtype=int), RARE[250:]]
    _, batch = set_up(Contingency("prbep"), X, Y)
    w = np.array([3.0, 0.3, -0.2])
    for part in (batch, batch.take(np.array([2, 0]))):
        near = part.narrowed(w)
        assert near.ids.tolist() == part.ids.tolist()
        assert near.planes(w).values(w) == pytest.approx(part.planes(w).values(w))
        np.testing.assert_allclose(near.planes(w).dpsi.whole().toarray(), part.planes(w).dpsi.toarray())


@pytest.mark.parametrize("measure", ["f1", "prbep"])
def test_training_on_narrowed_batches_has_the_same_optimum(measure):
    X = [np.hstack([LARGE, np.ones((400, 1))])]
    _, batch = set_up(Contingency(measure), X, [RARE])
    narrowed = []
    narrow = type(batch).narrowed

    def watched(self, w):
        narrowed.append(narrow(self, w))
        return narrowed[-1]

    batch.narrowed = watched.__get__(batch)
    here, there = (solver.solve(Oracle(batch), 100.0).certificate for solver in (OneSlack(tol=1e-5), Bundle(tol=1e-5)))
    assert any(each is not None for each in narrowed)
    assert here.converged
    assert there.converged
    assert max(here.dual, there.dual) <= min(here.primal, there.primal)
    assert here.primal == pytest.approx(there.primal, rel=2e-5)
    assert here.passes < there.passes


# --- weights of rows


@pytest.mark.parametrize("measure", ["error", "balanced_error"])
@examples(6, 15)
@given(problem=weighted_groups(most_rows=4))
def test_weighted_rows_keep_the_contract(measure, problem):
    X, Y, weights, _ = problem
    check_task(Labellings(measure), X, with_weights(Y, weights), trials=1)


@pytest.mark.parametrize("measure", ["error", "balanced_error"])
@examples(6, 15)
@given(problem=weighted_groups(), lam=st.sampled_from([0.0, 0.3, 1.0]), scale=st.sampled_from([1.0, 0.2]))
def test_whole_weights_are_repeated_rows(measure, problem, lam, scale):
    prove_whole_weights_are_repeated_rows(lambda: Contingency(measure), problem, lam, scale)


@pytest.mark.parametrize("formulation", SEARCHED, ids=str)
@examples(5, 10)
@given(problem=weighted_groups(most_rows=4))
def test_weighted_rows_are_searched_within_bounds(formulation, problem):
    X, Y, weights, w = problem
    labels = with_weights(Y, weights)
    task, batch = set_up(Labellings("error"), X, labels)
    prove_search_is_bounded(task, batch, X, labels, w, formulation)


def test_weights_need_a_sum_over_examples():
    labels = [WeightedRows(y, np.arange(1.0, len(y) + 1)) for y in Y]
    task = Contingency("f1")
    task.setup(X, labels)
    with pytest.raises(ValueError, match="measure 'f1' is not a sum over examples, so examples cannot have weights"):
        task.pack(X, labels)


# --- predictions


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (Contingency("f1"), [[1, 1, 0, 0], [0, 1, 0, 0, 0]]),
        (Contingency("precision_at_k", k=3), [[1, 1, 0, 1], [0, 1, 0, 1, 1]]),
        (Contingency("recall_at_k", k=5), [[1, 1, 1, 1], [1, 1, 1, 1, 1]]),  # samples of four and of five
        (Contingency("prbep"), [[1, 1, 0, 0], [0, 1, 0, 1, 0]]),  # 3 of 7 rows were positive in training
    ],
)
def test_decode(task, expected):
    set_up(task)
    new = [np.array([[3.0, 0], [2, 0], [-2, 0], [-1, 0]]), np.array([[-5.0, 0], [1, 0], [-4, 0], [-2, 0], [-3, 0]])]
    found = task.decode(np.array([1.0, 0.0]), new)
    assert [z.tolist() for z in found] == expected


def test_decode_of_tied_scores_takes_as_many_as_are_wanted():
    task, _ = set_up(Contingency("precision_at_k", k=2))
    assert [z.sum() for z in task.decode(np.zeros(2), X)] == [2, 2]


def test_scores_of_a_structured_svm():
    model = StructuredSVM(Contingency("f1"), C=100.0).fit(X, Y)
    found = model.predict(X)
    assert model.score(X, Y) == pytest.approx(-np.mean([model.task_.loss(y, z) for y, z in zip(Y, found, strict=True)]))


# --- bad input


WRONG = [
    (X, [Y[0], [0, 1]], {}, r"sample 1 has 3 rows but labels of shape \(2,\); expected \(3,\)"),
    (X, [Y[0], [0, 1, 2]], {}, "sample 1, row 2: the label is 2; expected 0 or 1"),
    (X, [[1, np.nan, 0, 1], Y[1]], {}, "sample 0, row 1: the label is nan; expected a finite number"),
    (X, [np.ones(4), np.zeros(3)], {}, "all labels belong to one class; expected both positive and negative"),
    (X, [WeightedRows(Y[0], [1, 2]), Y[1]], {}, r"sample 0 has 4 rows but weights of shape \(2,\); expected \(4,\)"),
    (X, [Y[0], WeightedRows(Y[1], [1, -2, 1])], {}, r"sample 1, row 1: the weight is -2.0; expected a positive finite"),
    (X, [Y[0], WeightedRows(Y[1], [1, 1, np.nan])], {}, "sample 1, row 2: the weight is nan; expected a positive"),
    ([X[0], X[1][:, :1]], Y, {}, "group 1 has 1 columns; expected 2 as in group 0"),
    ([X[0], X[1][0]], Y, {}, r"group 1 has shape \(2,\); expected a matrix, a row per example"),
    ([1.0, 2.0], Y, {}, r"group 0 has shape \(\); expected a matrix"),
    ([X[0], X[1] + [[0, np.inf]]], Y, {}, "example 4, feature 1: X contains NaN or infinity"),
    (X, Y, {"measure": "f2"}, "measure must be one of 'error', 'balanced_error', 'f1', .* or a function, got 'f2'"),
    (X, Y, {"measure": ["f1"]}, r"measure must be one of .* or a function, got \['f1'\]"),
    (X, Y, {"measure": "precision_at_k"}, "measure 'precision_at_k' needs k, a positive whole number, got None"),
    (X, Y, {"measure": "recall_at_k", "k": 0}, "measure 'recall_at_k' needs k, a positive whole number, got 0"),
    (X, Y, {"measure": "fbeta", "beta": -1}, "beta must be a positive number, got -1"),
]


@pytest.mark.parametrize(("inputs", "labels", "parameters", "message"), WRONG, ids=[case[3] for case in WRONG])
def test_bad_input(inputs, labels, parameters, message):
    with pytest.raises(ValueError, match=message):
        set_up(Contingency(**parameters), inputs, labels)


OWN = [
    (lambda tp, fp, fn, tn: 0.0 * tp + np.nan, r"measure\(tp=2, fp=0, fn=0, tn=2\) is nan; a loss must be a finite"),
    (lambda tp, fp, fn, tn: 1.0 * (fn - fp), r"measure\(tp=\d, fp=\d, fn=\d, tn=\d\) is -1.0; a loss must be .* >= 0"),
    (lambda tp, fp, fn, tn: 0.5 + fp, r"measure\(tp=2, fp=0, fn=0, tn=2\) is 0.5; the loss of a perfect prediction"),
    (lambda tp, fp, fn, tn: 0.0, r"returned an array of shape \(\) for counts of shape \(2,\)\. It must take four"),
    (lambda tp, fp, fn, tn: (tp + fp)[..., None], r"array of shape \(2, 1\) for counts of shape \(2,\)"),
]


@pytest.mark.parametrize(("measure", "message"), OWN, ids=[case[1] for case in OWN])
def test_functions_that_are_no_losses(measure, message):
    def look():
        _, batch = set_up(Contingency(measure))
        batch.planes(np.ones(2))

    with pytest.raises(TaskError, match=message):
        look()


def test_large_tables_are_read_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    x, y, w = rng.standard_normal((30, 2)), rng.integers(0, 2, 30), np.array([3.0, -2.0])
    task, kept = set_up(Contingency(squared_error), [x], [y])
    for limit in ("CELLS", "KEPT"):
        monkeypatch.setattr(f"maxmargin.structures.ranking.measures.{limit}", 40)
    large = task.pack([x], [y])
    assert kept.losses.blocks[0] is not None
    assert large.losses.blocks == (None,)
    for formulation in (Formulation(), *SEARCHED):
        at_once, in_pieces = (batch._worst(w, np.ones(1), formulation) for batch in (kept, large))
        assert in_pieces.loss == at_once.loss
        np.testing.assert_array_equal(in_pieces.dpsi.toarray(), at_once.dpsi.toarray())


def own_f1(tp, fp, fn, tn):
    return 1 - 2 * tp / (2 * tp + fp + fn)


@pytest.mark.parametrize(("function", "measure"), [(own_f1, "f1"), (squared_error, None)])
@examples(5, 10)
@given(problem=groups_of_rows(levels=(0, 1)))
def test_functions_that_are_linear_along_lines_are_searched_along_lines(function, measure, problem):
    X, Y, w = problem
    if not any(0 < np.sum(y) < len(y) for y in Y):
        return
    _, batch = set_up(Contingency(function), X, Y)
    small = all(np.sum(y) < 2 or np.sum(1 - y) < 2 for y in Y)  # of so few tables every loss may be linear
    assert (batch.losses.lines is not None) == (measure is not None) or small
    if measure is not None:
        _, named = set_up(Contingency(measure), X, Y)
        np.testing.assert_allclose(batch.planes(w).values(w), named.planes(w).values(w), atol=1e-12)


def test_a_function_that_rewards_mistakes_is_not_searched_along_lines():
    """At a fixed number of predicted positives this loss grows with the true ones; a few tables betray it."""
    _, batch = set_up(Contingency(lambda tp, fp, fn, tn: (fp + fn) / 10 + (tp == 1) * (fp == 1)))
    assert batch.losses.lines is None
