"""TopK against enumeration: every choice of k rows of small queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from strategies import whole
from structures.ranking.group_problems import X, Y, set_up, with_weights
from thorough import examples

from maxmargin import StructuredSVM
from maxmargin.problem.dual.objective import Formulation
from maxmargin.solvers import CCCP
from maxmargin.tasks import Groups, TopK
from maxmargin.testing import SEARCHED, check_task, objective

FORMULATIONS = [Formulation(), *SEARCHED]


@st.composite
def problems(draw, most_queries=3, most_rows=6):
    """A task that is set up, queries with at least k rows (others than the first may be of one kind), and weights."""
    k = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(max(k, 2), most_rows), min_size=1, max_size=most_queries))
    X = [draw(whole((size, 2), -2, 2)) for size in sizes]
    Y = [draw(hnp.arrays(np.int64, size, elements=st.integers(0, 1))) for size in sizes]
    Y[0][:2] = 0, 1
    task = TopK(k)
    task.setup(X, Y)
    return task, X, Y, draw(whole(2)) * draw(st.sampled_from([0.1, 0.4, 1.0, 3.0]))


class Choices(TopK):
    """Of queries that setup has seen: those of one kind cost nothing whatever is shown, so they have one output."""

    def setup(self, X, Y):
        super().setup(X, Y)
        self.mixed_ = {id(x): 0 < np.sum(y) < len(y) for x, y in zip(X, Y, strict=True)}

    def outputs(self, x):
        return super().outputs(x) if self.mixed_[id(x)] else [np.arange(self.k)]

    def argmax(self, w, x, y=None):
        return super().argmax(w, x, y) if self.mixed_[id(x)] else np.arange(self.k)

    def complete(self, w, x, y):
        return super().complete(w, x, y) if self.mixed_[id(x)] else np.arange(self.k)

    def decode(self, w, X):
        found = super().decode(w, X)
        return [z if self.mixed_[id(x)] else np.arange(self.k) for x, z in zip(X, found, strict=True)]


def truths(batch):
    """The rows of every query that the batch takes for the truth."""
    found = []
    for g in batch.ids:
        begin, end = batch.bounds[g], batch.bounds[g + 1]
        found.append(batch.rows[begin:end][batch.truth[begin:end]] - batch.bounds[g])
    return found


def written_out(task, x, y, truth):
    """Ψ and Δ of all outputs; queries of one kind have no other output than the truth."""
    outputs = list(task.outputs(x)) if 0 < sum(y) < len(y) else [truth]
    return np.array([task.psi(x, z) for z in outputs]), np.array([task.loss(y, z) for z in outputs])


def seeded(seed):
    return np.random.default_rng(seed)


seeds = st.integers(0, 2**16)


@examples(16, 40)
@given(problems(), seeds)
def test_keeps_the_contract(problem, seed):
    task, X, Y, _ = problem
    check_task(Choices(task.k), X, Y, seed=seed, trials=1)


# --- the plain forms


@examples(26, 80)
@given(problems(), seeds)
def test_plain_searches_are_enumeration(problem, seed):
    task, X, Y, w = problem
    for x, y in zip(X, Y, strict=True):
        outputs = list(task.outputs(x))
        scores = np.array([task.psi(x, z) @ w for z in outputs])
        losses = np.array([task.loss(y, z) for z in outputs])
        assert losses.min() == 0
        assert task.psi(x, task.argmax(w, x)) @ w == pytest.approx(scores.max())
        z = task.argmax(w, x, y)
        assert task.psi(x, z) @ w + task.loss(y, z) == pytest.approx((scores + losses).max())
        z = task.complete(w, x, y)
        assert task.loss(y, z) == 0
        assert task.psi(x, z) @ w == pytest.approx(scores[losses == 0].max())
        z = task.guess(seeded(seed), x, y)
        assert task.loss(y, z) == 0
        assert len(set(z)) == len(z) == task.k


def test_loss():
    task = TopK(3)
    y = np.array([1, 0, 1, 0, 0, 1, 1])
    assert [task.loss(y, z) for z in ([0, 2, 5], [6, 0, 1], [0, 1, 3], [1, 3, 4])] == pytest.approx(
        [0, 1 / 3, 2 / 3, 1]
    )
    few = np.array([1, 0, 0, 0])
    assert [task.loss(few, z) for z in ([2, 0, 1], [1, 2, 3])] == pytest.approx([0, 1 / 3])
    assert task.loss(np.zeros(4), [0, 1, 2]) == 0


@examples(12, 30)
@given(problems())
def test_decode(problem):
    task, X, _, w = problem
    for x, z in zip(X, task.decode(w, X), strict=True):
        scores = x @ w
        assert (np.diff(scores[z]) <= 0).all()  # from first to last
        assert len(set(z)) == task.k
        assert sorted(scores[z]) == pytest.approx(np.sort(scores)[-task.k :])


# --- the batched forms


@examples(26, 80)
@given(problems(), seeds, st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=3, max_size=3))
def test_planes_are_enumeration(problem, seed, augment):
    """For any completion, at a λ for each query."""
    task, X, Y, w = problem
    lam = np.array(augment[: len(X)])
    batch = task.pack(X, Y).guessed(seeded(seed))
    planes = batch.planes(w, lam)
    rows = planes.dpsi.toarray()
    for g, truth in enumerate(truths(batch)):
        psi, loss = written_out(task, X[g], Y[g], truth)
        margins = (task.psi(X[g], truth) - psi) @ w
        assert lam[g] * planes.loss[g] - rows[g] @ w == pytest.approx((lam[g] * loss - margins).max())
        same = np.abs(task.psi(X[g], truth) - psi - rows[g]).max(axis=1) + np.abs(loss - planes.loss[g])
        assert same.min() < 1e-12  # it is the plane of an output


@pytest.mark.parametrize("formulation", SEARCHED, ids=str)
@examples(20, 50)
@given(problem=problems(), seed=seeds)
def test_rescaled_planes_are_enumeration(formulation, problem, seed):
    task, X, Y, w = problem
    batch = task.pack(X, Y).guessed(seeded(seed))
    planes = batch.rescaled_planes(w, formulation)
    found = formulation.value(planes.loss, planes.dpsi.toarray() @ w)
    for g, truth in enumerate(truths(batch)):
        psi, loss = written_out(task, X[g], Y[g], truth)
        assert found[g] == pytest.approx(formulation.value(loss, (task.psi(X[g], truth) - psi) @ w).max())


@examples(20, 50)
@given(problems(), seeds)
def test_completions_are_enumeration(problem, seed):
    task, X, Y, w = problem
    packed = task.pack(X, Y)
    for batch in (packed, packed.guessed(seeded(seed))):
        assert all(task.loss(y, z) == 0 and len(z) == task.k for y, z in zip(Y, truths(batch), strict=True))
        after = batch.completed(w)
        shifts = batch.shifts_to(after).toarray()
        for g, (old, new) in enumerate(zip(truths(batch), truths(after), strict=True)):
            np.testing.assert_allclose(shifts[g], task.psi(X[g], new) - task.psi(X[g], old), atol=1e-12)
            assert task.loss(Y[g], new) == 0
            if 0 < sum(Y[g]) < len(Y[g]):
                assert task.psi(X[g], new) @ w == pytest.approx(task.psi(X[g], task.complete(w, X[g], Y[g])) @ w)
            else:
                assert list(old) == list(new)


@examples(16, 40)
@given(problems(), seeds)
def test_parts_of_a_batch(problem, seed):
    """Single queries, in any order, have the same planes, completions and shifts; others stay as they are."""
    task, X, Y, w = problem
    batch = task.pack(X, Y).guessed(seeded(seed))
    whole_batch, planes = batch.completed(w), batch.planes(w)
    order = seeded(seed).permutation(len(X))
    part = batch.take(order)
    np.testing.assert_array_equal(part.planes(w).dpsi.toarray(), planes.dpsi.toarray()[order])
    np.testing.assert_array_equal(part.planes(w).loss, planes.loss[order])
    expected = batch.shifts_to(whole_batch).toarray()
    np.testing.assert_array_equal(part.shifts_to(part.completed(w)).toarray(), expected[order])
    for g in range(len(X)):
        alone = batch.take(np.array([g]))
        after = alone.completed(w)
        assert list(after.ids) == [g]
        np.testing.assert_array_equal(alone.shifts_to(after).toarray(), expected[[g]])
        after.ids = batch.ids
        for h, (old, new, found) in enumerate(zip(truths(batch), truths(whole_batch), truths(after), strict=True)):
            assert list(found) == list(new if h == g else old)


@examples(12, 30)
@given(problems())
def test_prediction_costs_no_more_than_the_hinge(problem):
    """The structured hinge at the best completion is at least the loss of the prediction (paper's Eq. 4)."""
    task, X, Y, w = problem
    heights = task.pack(X, Y).completed(w).planes(w).values(w)
    for y, z, height in zip(Y, task.decode(w, X), heights, strict=True):
        assert height >= task.loss(y, z) - 1e-12


def test_guesses_differ():
    x, y = np.zeros((20, 1)), np.arange(20) < 15
    task, batch = set_up(TopK(5), [x], [y])
    drawn = {tuple(truths(batch.guessed(seeded(seed)))[0]) for seed in range(10)}
    assert len(drawn) == 10
    assert len({tuple(sorted(task.guess(seeded(seed), x, y))) for seed in range(10)}) == 10
    assert {row for rows in drawn for row in rows} == set(range(15))  # every relevant row has a chance


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_queries(kind):
    w = np.array([0.5, -1.0])
    dense, there = set_up(TopK(2))
    task, here = set_up(TopK(2), [kind(x) for x in X])
    np.testing.assert_array_equal(here.planes(w).dpsi.toarray(), there.planes(w).dpsi.toarray())
    for x, y in zip(X, Y, strict=True):
        np.testing.assert_array_equal(task.psi(kind(x), [2, 0]), dense.psi(x, [2, 0]))
        np.testing.assert_array_equal(task.argmax(w, kind(x), y), dense.argmax(w, x, y))
        np.testing.assert_array_equal(task.complete(w, kind(x), y), dense.complete(w, x, y))
    for a, b in zip(task.decode(w, [kind(x) for x in X]), dense.decode(w, X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_of_one_matrix():
    """Some are left out, and queries are mixed."""
    matrix, w = np.arange(14.0).reshape(7, 2) % 5, np.array([1.0, -2.0])
    groups = Groups(matrix, np.array([6, 0, 3, 4, 1]), np.array([0, 3, 5]))
    labels = [np.array([0, 1, 0]), np.array([1, 0])]
    _, batch = set_up(TopK(1), groups, labels)
    _, plain = set_up(TopK(1), [matrix[[6, 0, 3]], matrix[[4, 1]]], labels)
    np.testing.assert_array_equal(batch.planes(w).dpsi.toarray(), plain.planes(w).dpsi.toarray())
    after, there = batch.completed(w), plain.completed(w)
    np.testing.assert_array_equal(batch.shifts_to(after).toarray(), plain.shifts_to(there).toarray())


# --- training


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@pytest.mark.parametrize("inner", ["bundle", "one_slack", "bcfw", "n_slack"])
def test_training_descends_to_a_local_optimum(inner, formulation):
    rng = np.random.default_rng(1)
    X = [rng.standard_normal((7, 3)) for _ in range(10)]
    Y = [(x @ [1.0, 2.0, 0.0] + rng.standard_normal(7) > 0.5).astype(int) for x in X]
    Y[3][:], Y[4][:] = 0, 1  # of one kind
    options = {"rescaling": formulation.rescaling, "slack": formulation.slack}
    model = StructuredSVM(TopK(2), C=5.0, solver=CCCP(inner=inner, tol=1e-3), **options).fit(X, Y)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.primal == pytest.approx(objective(Choices(2), X, Y, 5.0, model.w_, formulation))
    values = [each.objective for each in model.rounds_]
    assert (np.diff(values) <= 1e-9).all()
    assert certificate.dual <= certificate.primal * (1 + 1e-12)
    assert model.score(X, Y) > -0.2


# --- bad input

WRONG = [
    (2, X, [Y[0], [0, 1]], r"query 1 has 3 rows but labels of shape \(2,\); expected \(3,\)"),
    (2, X, [Y[0], [0, 1, 2]], "query 1, row 2: the label is 2; expected 0 or 1"),
    (2, X, [[1, np.nan, 0, 1], Y[1]], "query 0, row 1: the label is nan; expected a finite number"),
    (2, X, [np.ones(4), np.zeros(3)], "no query has both relevant rows and others; expected at least one such query"),
    (4, X, Y, "query 1, counted from 0, has 3 rows; expected at least k = 4, the number of rows that are shown"),
    (
        2,
        X,
        with_weights(Y, [np.ones(len(y)) for y in Y]),
        "precision at k counts rows, so rows cannot have",
    ),
    (0, X, Y, "measure 'precision_at_k' needs k, a positive whole number, got 0"),
    (1.5, X, Y, "measure 'precision_at_k' needs k, a positive whole number, got 1.5"),
    (2, [X[0], X[1][:, :1]], Y, "group 1 has 1 columns; expected 2 as in group 0"),
    (2, [np.where(X[0] > 1, np.nan, X[0]), X[1]], Y, "example 1, feature 0: X contains NaN"),
]


@pytest.mark.parametrize(("k", "X", "Y", "message"), WRONG, ids=[case[3] for case in WRONG])
def test_bad_input(k, X, Y, message):
    with pytest.raises(ValueError, match=message):
        StructuredSVM(TopK(k)).fit(X, Y)


def test_predictions_of_short_queries():
    task, _ = set_up(TopK(3))
    with pytest.raises(ValueError, match="query 0, counted from 0, has 2 rows; expected at least k = 3"):
        task.decode(np.zeros(2), [np.zeros((2, 2))])
    with pytest.raises(ValueError, match="X has 3 features; expected 2 as in training"):
        task.decode(np.zeros(2), [np.zeros((4, 3))])
