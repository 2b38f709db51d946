"""Correlation against the list of all clusterings: losses, features, both searches, training."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from strategies import whole
from structures.clustering.pair_strategies import clustered, complete_graph
from thorough import examples

from maxmargin.base.search import Search
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.examples import dot
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.rescaling import search_rescaled
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.solvers import BCFW, NSlack, OneSlack
from maxmargin.structures.clustering.labels import cluster_numbers
from maxmargin.structures.clustering.measures import mitre_loss, pair_loss
from maxmargin.tasks import Clustered, Correlation, Pairs
from maxmargin.testing import brute_force, check_task, objective

TASKS = [
    Correlation(),
    Correlation(measure="mitre"),
    Correlation("relaxed"),
    Correlation("relaxed", fit_intercept=False),
]
FORMULATIONS = [Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2")]


@st.composite
def problems(draw, tasks=TASKS):
    """A task that is set up, its data and weights."""
    X, Y, n_features = draw(clustered())
    drawn = draw(st.sampled_from(tasks))
    task = clone(drawn)
    task.setup(X, Y)
    assert task.dim == n_features + task.fit_intercept
    w = draw(whole(task.dim)) * draw(st.sampled_from([0.1, 0.5, 1.0]))
    return task, X, Y, w


def star():
    """A middle with three others, and features that say so: fractional in the relaxation at w = 1."""
    return Pairs(4, np.column_stack(np.triu_indices(4, 1)), np.array([[1.0], [1], [1], [-1], [-1], [-1]]))


@given(problems())
def test_features_are_those_of_pairs_together(problem):
    task, X, _, _ = problem
    for x in X:
        features = x.features.toarray() if sparse.issparse(x.features) else x.features
        for z in task.outputs(x):
            expected = np.zeros(task.dim)
            for row, (i, j) in enumerate(x.pairs.tolist()):
                if z.labels[i] == z.labels[j]:
                    expected[: task.n_features_] += features[row]
                    expected[task.n_features_ :] += 1
            expected *= x.n_items / max(len(x.pairs), 1)
            for spelt in (z, z.labels, [f"cluster {label}" for label in z.labels]):
                found = task.psi(x, spelt)
                if sparse.issparse(x.features):
                    found = sparse.csr_array((found[1], (np.zeros(len(found[0])), found[0])), shape=(1, task.dim))
                    found = found.toarray()[0]
                np.testing.assert_allclose(found, expected)


@given(st.data())
def test_losses_are_those_of_clusterings(data):
    """Of a set with all pairs, n times the losses that metrics has."""
    n = data.draw(st.integers(1, 5))
    x, y = complete_graph(n), data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    for measure, expected in (("pairs", pair_loss), ("mitre", mitre_loss)):
        task = Correlation(measure=measure)
        task.setup([x, complete_graph(2)], [y, [0, 0]])
        for z in task.outputs(x):
            assert task.loss(y, z) == pytest.approx(n * expected([y], [z.labels]))
            assert task.loss(y, z.labels) == pytest.approx(task.loss(y, z))
        assert task.loss(y, y) == 0


def test_loss_counts_listed_pairs():
    """Nothing is known of the pairs (0, 2) and (1, 3) and (0, 3), so that nothing can be learnt from them."""
    x, y = Pairs(4, [[0, 1], [1, 2], [2, 3]], np.zeros((3, 1))), [0, 0, 1, 1]
    task = Correlation()
    task.setup([x], [y])
    found = {tuple(z.labels.tolist()): task.loss(y, z) for z in task.outputs(x)}
    assert found[0, 0, 1, 1] == 0
    assert found[0, 0, 0, 0] == pytest.approx(4 / 3)
    assert found[0, 1, 2, 3] == pytest.approx(4 * 2 / 3)
    assert found[0, 1, 1, 0] == 4


@given(problems())
def test_features_and_loss_are_linear_in_the_pairs(problem):
    """So that a mixture of clusterings, as a relaxation may return it, has the mixture of both."""
    task, X, Y, w = problem
    if task.measure == "mitre":
        return
    for x, y in zip(X, Y, strict=True):
        outputs = list(task.outputs(x))
        shares = np.random.default_rng(0).dirichlet(np.ones(len(outputs)))
        mixed = Clustered(x, np.sum([s * z.together for s, z in zip(shares, outputs, strict=True)], axis=0), None)
        scores, losses = [dot(task.psi(x, z), w) for z in outputs], [task.loss(y, z) for z in outputs]
        assert dot(task.psi(x, mixed), w) == pytest.approx(shares @ scores, abs=1e-9)
        assert task.loss(y, mixed) == pytest.approx(shares @ losses, abs=1e-9)


@examples(20, 60)
@given(problems(), st.data())
def test_planes_and_their_bounds(problem, data):
    """Greedy: a clustering's plane, no higher than the best. Relaxed: no lower. The bound is never below the best."""
    task, X, Y, w = problem
    batch = task.pack(X, Y)
    index = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4)))
    lam = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=4, max_size=4)))[: len(index)]
    found = batch.take(index).planes(w, lam)
    assert isinstance(found.dpsi, AtomRows if sparse.issparse(X[0].features) else np.ndarray)
    heights = lam * found.loss - AtomRows.of(found.dpsi) @ w
    for j, i in enumerate(index):
        truth = dot(task.psi(X[i], Y[i]), w)
        best = max(lam[j] * task.loss(Y[i], z) + dot(task.psi(X[i], z), w) - truth for z in task.outputs(X[i]))
        assert heights[j] <= found.upper[j] + 1e-9
        assert best <= found.upper[j] + 1e-9
        if task.method == "greedy":
            assert heights[j] <= best + 1e-9
            assert heights[j] >= -1e-9 or lam[j] == 0  # the search starts at the truth too
        else:
            assert best <= heights[j] + 1e-6
            if not found.relaxed[j]:
                assert heights[j] == pytest.approx(best, abs=1e-6)


@examples(16, 40)
@given(problems())
def test_predictions_are_clusterings(problem):
    task, X, _, w = problem
    for x, z in zip(X, task.decode(w, X), strict=True):
        assert z.labels.tolist() == cluster_numbers(z.labels, x.n_items, "z").tolist()
        np.testing.assert_array_equal(task.label(z), z.labels)
        np.testing.assert_array_equal(z.together, x.inside(z.labels))
        best = dot(task.psi(x, Task.argmax(task, w, x)), w)
        assert dot(task.psi(x, z), w) <= best + 1e-9
        assert dot(task.psi(x, z), w) >= -1e-9  # nobody is together


@examples(5, 8)
@given(clustered(), st.sampled_from(TASKS))
def test_contract_of_tasks(drawn, task):
    X, Y, _ = drawn
    check_task(task, X, Y, trials=1)


@examples(12, 30)
@given(problems(), st.sampled_from(FORMULATIONS))
def test_other_formulations_are_searched_with_a_bound(problem, formulation):
    task, X, Y, w = problem
    batch = task.pack(X, Y)
    assert batch.offers(RescaledSearch) is None
    found = search_rescaled(batch, formulation, w, np.ones(len(X)))
    for g, (x, y) in enumerate(zip(X, Y, strict=True)):
        outputs, truth = list(task.outputs(x)), dot(task.psi(x, y), w)
        losses = np.array([task.loss(y, z) for z in outputs])
        margins = np.array([truth - dot(task.psi(x, z), w) for z in outputs])
        best = max(formulation.value(losses, margins).max(), 0.0)
        assert best <= found.upper[g] + 1e-6
        if task.method == "greedy":
            assert found.cuts.values(w)[g] <= best + 1e-9


@examples(5, 10)
@given(clustered(packed=False), st.sampled_from(TASKS), st.sampled_from([0.1, 1.0, 10.0]))
def test_training_against_all_constraints(drawn, task, C):
    """Bounds of greedy training hold for the true problem; relaxed training is never below it."""
    X, Y, _ = drawn
    optimum = brute_force(task, X, Y, C).value
    for solver in (BCFW(tol=1e-4), OneSlack(tol=1e-4), NSlack(tol=1e-4)):
        ready = clone(task)
        ready.setup(X, Y)
        oracle = Oracle(ready.pack(X, Y))
        solution = solver.solve(oracle, C)
        certificate, true = solution.certificate, objective(task, X, Y, C, solution.w)
        slack = 1e-6 * (1 + optimum)
        assert optimum <= true + slack
        if task.method == "greedy":
            assert certificate.search is Search.UNDERGENERATING
            assert certificate.dual <= optimum + slack
            assert certificate.primal <= true + slack
            assert true <= certificate.upper + slack
        else:
            assert true <= certificate.primal + slack
            if certificate.exact:
                assert certificate.dual <= optimum + slack
                assert certificate.primal == pytest.approx(true, abs=slack)
            else:
                assert certificate.search is Search.OVERGENERATING


def test_fractional_planes_are_counted_and_never_predicted():
    # the loss changes nothing in what w = 1 wants: all is halved at λ = 0
    task = Correlation("relaxed", fit_intercept=False)
    X, Y = [star(), complete_graph(3)], [[0, 0, 1, 2], [0, 0, 1]]
    task.setup(X, Y)
    batch, w = task.pack(X, Y), np.ones(1)
    oracle = Oracle(batch)
    assert task.search is batch.search is oracle.search is Search.OVERGENERATING
    assert batch.method == oracle.method == "LP relaxation"
    oracle.planes(np.zeros(1), np.arange(2))  # at w = 0 the worst clustering is the opposite of the true one
    assert oracle.search is Search.EXACT
    assert oracle.method == "LP relaxation, fractional on 0 of 2 sets"
    oracle.planes(w, np.arange(2), scale=1e9)
    assert oracle.search is Search.OVERGENERATING
    assert oracle.method == "LP relaxation, fractional on 1 of 2 sets"
    planes = batch.take(np.array([0])).planes(w, 0.0)
    assert planes.relaxed.tolist() == [True]
    truth, half, one = 4 / 6 * np.array([1.0, 1.5, 1.0])  # of Ψ: one pair, the half of three, the best clustering
    assert planes.dpsi[0, 0] == pytest.approx(truth - half)
    assert planes.upper[0] == pytest.approx(half - truth)
    assert planes.loss[0] == pytest.approx(4 / 6 * 1.5)
    z = task.argmax(w, X[0])
    assert z.labels is None
    assert task.psi(X[0], z)[0] == pytest.approx(half)
    with pytest.raises(ValueError, match="a fractional clustering has no labels; use `decode`"):
        task.label(z)
    assert task.psi(X[0], task.decode(w, X)[0])[0] == pytest.approx(one)


def test_greedy_certificates_name_the_method():
    task = Correlation()
    task.setup([complete_graph(4)], [[0, 0, 1, 1]])
    batch = task.pack([complete_graph(4)], [[0, 0, 1, 1]])
    assert task.search is batch.search is Search.UNDERGENERATING
    assert Oracle(batch).method == batch.method == "greedy merges and moves"
    assert batch.planes(np.zeros(2)).relaxed is None


def test_task_and_batches_can_be_pickled():
    x, y = complete_graph(4), [0, 0, 1, 1]
    for task in TASKS:
        task = clone(task)
        task.setup([x], [y])
        w = np.ones(task.dim)
        batch = pickle.loads(pickle.dumps(task.pack([x], [y])))
        assert batch.planes(w).loss.tolist() == task.pack([x], [y]).planes(w).loss.tolist()
        z = task.decode(w, [x])[0]
        assert pickle.loads(pickle.dumps(z)).labels.tolist() == z.labels.tolist()


X = [complete_graph(3), complete_graph(4)]
Y = [[0, 0, 1], [0, 1, 1, 2]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "method must be one of 'greedy', 'relaxed', got 'exact'"),
        ({"measure": "b_cubed"}, "measure must be one of 'pairs', 'mitre', got 'b_cubed'"),
        (
            {"method": "relaxed", "measure": "mitre"},
            "the MITRE loss is not linear in the pairs, so method='relaxed'",
        ),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        Correlation(**options).setup(X, Y)


def test_sets_too_large_for_the_relaxation():
    task = Correlation("relaxed")
    task.setup(X, Y)
    message = "example 1 has 101 items; method='relaxed' takes at most 100, because every pair is a variable"
    large = Pairs(101, [[0, 1]], [[1.0]])
    with pytest.raises(ValueError, match=message):
        task.pack([X[0], large], [Y[0], np.zeros(101)])
    with pytest.raises(ValueError, match=message):
        task.decode(np.zeros(task.dim), [X[0], large])
