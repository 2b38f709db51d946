"""Forest against the list of all forests: every search, every plane, every completion."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs.labels.compiled import spanning_forest_twin as twin
from scipy import sparse
from strategies import whole
from structures.clustering.pair_strategies import clustered, complete_graph
from thorough import examples

from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.examples import Examples, dot
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.completions import completed
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.rescaling import search_rescaled
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.tasks import Forest, Linked, Pairs
from maxmargin.testing import check_task

FORMULATIONS = [Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2")]


@st.composite
def problems(draw):
    """A task that is set up, its data and weights."""
    X, Y, n_features = draw(clustered())
    task = Forest(
        penalty=draw(st.sampled_from([1.0, 0.5, 0.01, 2.0])),
        start=draw(st.sampled_from(["chain", "random"])),
        fit_intercept=draw(st.booleans()),
    )
    task.setup(X, Y)
    assert task.dim == n_features + task.fit_intercept
    w = draw(whole(task.dim)) * draw(st.sampled_from([0.1, 0.5, 1.0]))
    return task, X, Y, w


def score(task, w, x, z):
    return dot(task.psi(x, z), w)


def listed(batch, X):
    """The truths of a batch as plain outputs."""
    forests = batch.truths()
    ends = np.append(0, np.cumsum(forests.counts))
    return [Linked(X[g], forests.edges[ends[j] : ends[j + 1]] - batch.table.bounds[g]) for j, g in enumerate(batch.ids)]


def completions(task, X, Y, truths):
    """The same in plain Python."""
    return Examples(task, X, Y, truth=truths)


def dense(rows):
    return AtomRows.of(rows).toarray()


@given(problems())
def test_outputs_are_all_forests(problem):
    task, X, _, _ = problem
    for x in X:
        found = sorted(tuple(z.rows.tolist()) for z in task.outputs(x))
        assert found == sorted(twin.forests(x.n_items, x.pairs.tolist()))


@given(problems())
def test_labels_are_the_trees_of_the_forest(problem):
    task, X, _, _ = problem
    for x in X:
        for z in task.outputs(x):
            trees = twin.trees(x.n_items, z.pairs.tolist())
            assert task.label(z).tolist() == [
                next(k for k, tree in enumerate(trees) if item in tree) for item in range(x.n_items)
            ]


@given(problems())
def test_loss_counts_missing_and_wrong_links(problem):
    """It is 0 for the forests that link all that candidates inside of clusters can link, and for no others."""
    task, X, Y, _ = problem
    for x, y in zip(X, Y, strict=True):
        inside = [pair for pair in x.pairs.tolist() if y[pair[0]] == y[pair[1]]]
        reachable = twin.trees(x.n_items, inside)
        for z in task.outputs(x):
            right = sum(y[a] == y[b] for a, b in z.pairs.tolist())
            wrong = len(z.rows) - right
            assert task.loss(y, z) == pytest.approx(x.n_items - len(reachable) - right + task.penalty * wrong)
            assert (task.loss(y, z) == 0) == (twin.trees(x.n_items, z.pairs.tolist()) == reachable)
            assert task.loss(y, z) >= 0


@given(problems())
def test_features_are_those_of_the_links(problem):
    task, X, _, _ = problem
    for x in X:
        features = x.features.toarray() if sparse.issparse(x.features) else x.features
        for z in task.outputs(x):
            found = task.psi(x, z)
            if sparse.issparse(x.features):
                total = np.zeros(task.dim)
                total[found[0]] = found[1]
                found = total
            expected = np.zeros(task.dim)
            for row in z.rows:
                expected[: task.n_features_] += features[row]
                expected[task.n_features_ :] += 1
            np.testing.assert_allclose(found, expected)


@given(problems())
def test_best_forests(problem):
    task, X, Y, w = problem
    together = task.decode(w, X)
    for x, y, z in zip(X, Y, together, strict=True):
        best = score(task, w, x, Task.argmax(task, w, x))
        assert score(task, w, x, z) == pytest.approx(best, abs=1e-9)
        assert score(task, w, x, task.argmax(w, x)) == pytest.approx(best, abs=1e-9)
        worst, found = Task.argmax(task, w, x, y), task.argmax(w, x, y)
        height = score(task, w, x, worst) + task.loss(y, worst)
        assert score(task, w, x, found) + task.loss(y, found) == pytest.approx(height, abs=1e-9)


@given(problems())
def test_completions_explain_the_label_best(problem):
    task, X, Y, w = problem
    batch = task.pack(X, Y).completed(w)
    for x, y, z in zip(X, Y, listed(batch, X), strict=True):
        best = score(task, w, x, Task.complete(task, w, x, y))
        for found in (z, task.complete(w, x, y)):
            assert task.loss(y, found) == 0
            assert score(task, w, x, found) == pytest.approx(best, abs=1e-9)


@given(problems(), st.integers(0, 5))
def test_guesses_explain_the_label(problem, seed):
    task, X, Y, _ = problem
    batch = task.pack(X, Y).guessed(np.random.default_rng(seed))
    for x, y, z in zip(X, Y, listed(batch, X), strict=True):
        assert task.loss(y, z) == 0
        assert task.loss(y, task.guess(np.random.default_rng(seed), x, y)) == 0


@given(problems(), st.data())
def test_planes(problem, data):
    """For any examples of the batch, any λ and any explaining truth, the planes are those of listing all outputs."""
    task, X, Y, w = problem
    batch = task.pack(X, Y).guessed(np.random.default_rng(0))
    index = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4)))
    lam = np.array(data.draw(st.lists(st.sampled_from([0.0, 1e-12, 0.5, 1.0, 3.0]), min_size=4, max_size=4)))
    lam = lam[: len(index)]
    part, plain = batch.take(index), Examples(task, X, Y, truth=listed(batch, X)).take(index)
    found, expected = part.planes(w, lam), plain.planes(w, lam)
    heights, expected_heights = (lam * each.loss - AtomRows.of(each.dpsi) @ w for each in (found, expected))
    np.testing.assert_allclose(heights, expected_heights, atol=1e-9)
    assert isinstance(found.dpsi, AtomRows if sparse.issparse(X[0].features) else np.ndarray)
    rows = dense(found.dpsi)
    for j, (_, x, y, truth) in enumerate(plain):  # a plane is that of one output
        known = []
        for z in task.outputs(x):
            features = -dense(completions(task, [x], [y], [truth]).shifts_to(completions(task, [x], [y], [z])))
            known.append([*features[0], task.loss(y, z)])
        assert np.abs(np.array(known) - [*rows[j], found.loss[j]]).max(axis=1).min() < 1e-9


@given(problems())
def test_default_planes_are_never_below_the_truth(problem):
    task, X, Y, w = problem
    batch = task.pack(X, Y)
    for each in (batch, batch.completed(w), batch.guessed(np.random.default_rng(1))):
        assert each.planes(w).values(w).min() >= -1e-9
    assert Oracle(batch).risk(w) >= completed(Oracle(batch), w).risk(w) - 1e-9


@given(problems(), st.data())
def test_shifts_and_completions_of_a_part(problem, data):
    task, X, Y, w = problem
    batch = task.pack(X, Y).guessed(np.random.default_rng(0))
    index = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4, unique=True)))
    part = batch.take(index)
    after = part.completed(w)
    assert after.table is batch.table
    old, new = listed(batch, X), listed(after, X)
    own = [X[i] for i in index], [Y[i] for i in index]
    expected = completions(task, *own, [old[i] for i in index]).shifts_to(completions(task, *own, new))
    np.testing.assert_allclose(dense(part.shifts_to(after)), dense(expected), atol=1e-9)
    np.testing.assert_array_equal(dense(after.shifts_to(after)), 0)
    # a plane moves with its truth, and the rest of the batch stays as it was
    shifted = dense(part.planes(w).dpsi) + dense(part.shifts_to(after))
    np.testing.assert_allclose(dense(after.planes(w).dpsi), shifted, atol=1e-9)
    for i in set(range(len(X))) - set(index.tolist()):
        own = slice(batch.truth_bounds[i], batch.truth_bounds[i + 1])
        np.testing.assert_array_equal(after.truth[own], batch.truth[own])


@examples(12, 30)
@given(problems(), st.sampled_from(FORMULATIONS))
def test_other_formulations_are_searched_with_a_bound(problem, formulation):
    task, X, Y, w = problem
    batch = task.pack(X, Y).completed(w)
    assert batch.offers(RescaledSearch) is None
    found = search_rescaled(batch, formulation, w, np.ones(len(X)))
    for g, (x, y, truth) in enumerate(zip(X, Y, listed(batch, X), strict=True)):
        outputs = list(task.outputs(x))
        losses = np.array([task.loss(y, z) for z in outputs])
        margins = np.array([score(task, w, x, truth) - score(task, w, x, z) for z in outputs])
        best = max(formulation.value(losses, margins).max(), 0.0)
        assert found.cuts.values(w)[g] <= best + 1e-9
        assert best <= found.upper[g] + 1e-9


@examples(5, 10)
@given(clustered(), st.sampled_from(["chain", "random"]))
def test_contract_of_tasks(drawn, start):
    X, Y, _ = drawn
    check_task(Forest(0.5, start), X, Y, trials=1)


def test_chain_links_every_item_to_the_next_of_its_cluster():
    x, y = complete_graph(6), ["a", "b", "a", "a", "b", "c"]
    task = Forest()
    task.setup([x], [y])
    for seed in range(3):
        found = task.guess(np.random.default_rng(seed), x, y)
        assert sorted(map(tuple, found.pairs.tolist())) == [(0, 2), (1, 4), (2, 3)]


def test_chain_goes_round_pairs_that_are_no_candidates():
    x = Pairs(4, [(0, 2), (0, 3), (1, 2), (2, 3)], np.zeros((4, 1)))  # (0, 1) is missing
    task = Forest()
    task.setup([x], [[5, 5, 5, 5]])
    found = task.guess(np.random.default_rng(0), x, [5, 5, 5, 5])
    assert sorted(map(tuple, found.pairs.tolist())) == [(0, 2), (1, 2), (2, 3)]


def test_random_starts_differ():
    x, y = complete_graph(8), [0] * 8
    task = Forest(start="random")
    task.setup([x], [y])
    rng = np.random.default_rng(0)
    starts = {tuple(task.guess(rng, x, y).rows.tolist()) for _ in range(10)}
    assert len(starts) == 10


def test_clusters_that_candidates_do_not_connect_cost_nothing_more():
    x = Pairs(4, [(0, 1), (2, 3)], np.ones((2, 1)))
    task = Forest(fit_intercept=False)
    task.setup([x], [[0, 0, 0, 0]])
    both = task.complete(np.ones(1), x, [0, 0, 0, 0])
    assert task.loss([0, 0, 0, 0], both) == 0
    assert task.label(both).tolist() == [0, 0, 1, 1]


def test_negative_links_hold_a_cluster_together():
    x, y = complete_graph(3), ["a", "a", "a"]
    task = Forest(fit_intercept=False)
    task.setup([x], [y])
    assert task.complete(np.array([-1.0]), x, y).rows.tolist() == [0, 1]
    assert task.argmax(np.array([-1.0]), x).rows.tolist() == []


def test_dense_arrays_are_read():
    rng = np.random.default_rng(0)
    values = rng.integers(-3, 4, size=(4, 4, 2)).astype(float)
    values = values + values.transpose(1, 0, 2)
    task = Forest()
    task.setup([values], [[0, 1, 0, 1]])
    pairs = Pairs.from_array(values)
    w = np.array([1.0, -1.0, 0.5])
    assert task.argmax(w, values).rows.tolist() == task.argmax(w, pairs).rows.tolist()
    assert task.argmax(w, values, [0, 1, 0, 1]).rows.tolist() == task.argmax(w, pairs, [0, 1, 0, 1]).rows.tolist()
    np.testing.assert_array_equal(
        task.pack([values], [[0, 1, 0, 1]]).planes(w).dpsi,
        task.pack([pairs], [[0, 1, 0, 1]]).planes(w).dpsi,
    )


def test_outputs_and_batches_can_be_pickled():
    x, y = complete_graph(4), [0, 0, 1, 1]
    task = Forest()
    task.setup([x], [y])
    z = task.argmax(np.ones(2), x)
    assert task.label(pickle.loads(pickle.dumps(z))).tolist() == task.label(z).tolist()
    batch = pickle.loads(pickle.dumps(task.pack([x], [y])))
    assert batch.planes(np.ones(2)).loss.tolist() == task.pack([x], [y]).planes(np.ones(2)).loss.tolist()


X = [complete_graph(3), complete_graph(4)]
Y = [[0, 0, 1], [0, 1, 1, 2]]


@pytest.mark.parametrize("penalty", [0, -1.0, np.inf, np.nan, "1", None, True])
def test_bad_penalty(penalty):
    with pytest.raises(ValueError, match="penalty must be a positive finite number, got"):
        Forest(penalty=penalty).setup(X, Y)


def test_bad_start():
    with pytest.raises(ValueError, match="start must be 'chain' or 'random', got 'star'"):
        Forest(start="star").setup(X, Y)
