"""Diversity against the list of all sets of k documents, and its pieces against their definitions."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import whole
from structures.diversity.coverage_strategies import queries
from thorough import examples

from maxmargin.base.search import Search
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, NSlack, OneSlack
from maxmargin.structures.diversity.documents import Documents
from maxmargin.structures.diversity.subtopics import Subtopics
from maxmargin.structures.diversity.target import target
from maxmargin.structures.diversity.task import Chosen, Diversity
from maxmargin.testing import brute_force, check_task


@st.composite
def problems(draw, most=3):
    """A task that is set up, its data and weights."""
    X, Y, k = draw(queries(most, features=True))
    n_features = X[0][1].shape[1]
    X = [Documents(counts, None, features[:, :n_features]) for counts, features in X]
    fields = list(X[0].documents)
    levels = draw(st.sampled_from([None, [fields[0], (fields[0], 2)], ["any", *fields][: len(fields)]]))
    task = Diversity(
        k,
        draw(st.sampled_from([(0.0,), (0.0, 0.4), (0.2, 0.5, 0.8)])),
        levels,
        draw(st.sampled_from(["documents", "equal"])),
    )
    task.setup(X, Y)
    w = draw(whole(task.dim)) * draw(st.sampled_from([0.05, 0.3, 1.0]))
    return task, X, Y, w


def share_covered(task, y, chosen):
    """The weighted share of subtopics, by Python sets."""
    weight = {s: sum(s in own for own in y) if task.subtopic_weights == "documents" else 1 for s in set().union(*y)}
    return sum(weight[s] for s in set().union(*(y[d] for d in chosen))) / sum(weight.values())


@given(problems())
def test_psi_counts_covered_words_by_threshold(problem):
    task, X, _, _ = problem
    for x in X:
        fields = {name: counts.toarray() for name, counts in x.documents.items()}
        fields["any"] = sum(fields.values())
        for z in task.outputs(x):
            expected = []
            for field, times in task.levels_:
                contains = fields[field] >= times
                covered = contains[list(z.documents)].any(axis=0)
                shares = contains.mean(axis=0)
                expected += [np.count_nonzero(covered & (shares >= t - 1e-9) & (shares > 0)) for t in task.thresholds]
            expected += x.features[list(z.documents)].sum(axis=0).tolist()
            np.testing.assert_allclose(task.psi(x, z), expected)
    assert (
        len(task.feature_names())
        == task.dim
        == sum(part.size for part in task.split_weights(np.zeros(task.dim)).values())
    )


@given(problems())
def test_loss_is_the_share_covered_less_than_by_the_best_set(problem):
    task, X, Y, _ = problem
    for x, y in zip(X, Y, strict=True):
        outputs = list(task.outputs(x))
        shares = [share_covered(task, y, z.documents) for z in outputs]
        for z, share in zip(outputs, shares, strict=True):
            assert task.loss(y, z) == pytest.approx(max(shares) - share)
            assert task.loss(y, z) >= 0
        assert task.loss(y, y) == 0
        chosen = target(task._coverage(x), Subtopics(y, task.subtopic_weights), task.k)
        assert len(set(chosen)) == task.k
        assert task.loss(y, Chosen(tuple(chosen))) == 0
        np.testing.assert_array_equal(task.psi(x, y), task.psi(x, Chosen(tuple(chosen))))


@given(problems())
def test_planes_are_outputs_and_bounded(problem):
    """Height <= enumeration <= upper, at every λ."""
    task, X, Y, w = problem
    batch = task.pack(X, Y)
    for lam in (0.0, 0.4, 1.0, 3.0):
        planes = batch.planes(w, lam)
        for j, (x, y) in enumerate(zip(X, Y, strict=True)):
            truth = task.psi(x, y)
            outputs = list(task.outputs(x))
            heights = [lam * task.loss(y, z) - (truth - task.psi(x, z)) @ w for z in outputs]
            found = lam * planes.loss[j] - planes.dpsi[j] @ w
            assert found <= max(heights) + 1e-9
            assert max(heights) <= planes.upper[j] + 1e-9
            assert any(
                np.allclose(truth - task.psi(x, z), planes.dpsi[j]) and np.isclose(task.loss(y, z), planes.loss[j])
                for z in outputs
            )


@given(problems(), st.integers(0, 100))
@examples(12, 30)
def test_contract(problem, seed):
    task, X, Y, _ = problem
    check_task(task, X, Y, seed=seed, trials=1)


@given(problems())
def test_order_is_that_of_growing_sets(problem):
    """Every document of the order adds at least as much to those before it as any other would."""
    task, X, _, w = problem
    for x, order in zip(X, task.ranked(w, X), strict=True):
        n = len(x)
        assert sorted(order.tolist()) == list(range(n))
        assert task.argmax(w, x).documents == tuple(order[: task.k].tolist())
        for place in range(n):
            before = order[:place].tolist()
            worth = [task.psi(x, Chosen((*before, d))) @ w for d in range(n) if d not in before]
            assert task.psi(x, Chosen((*before, order[place]))) @ w >= max(worth) - 1e-9
    assert [z.documents for z in task.decode(w, X)] == [task.argmax(w, x).documents for x in X]


@given(problems())
def test_greedy_prediction_reaches_its_ratio_where_words_have_no_negative_value(problem):
    task, X, _, w = problem
    w = np.abs(w)
    for x in X:
        x = Documents(x.documents, None, np.abs(x.features))
        found = task.psi(x, task.argmax(w, x)) @ w
        assert found >= (1 - 1 / np.e) * max(task.psi(x, z) @ w for z in task.outputs(x)) - 1e-9


def test_greedy_has_no_ratio_when_the_loss_is_added():
    """Two documents share a subtopic that is worth more than the words of each, but less than those of both.

    Greedy takes two documents that cover next to nothing. Swapping one document for another does not help either; the
    bound covers it.
    """
    words = np.zeros((4, 12))
    words[0, :5], words[1, 5:10], words[2, 10], words[3, 11] = 1, 1, 1, 1
    x, y = sparse.csr_array(words), [{"a"}, {"a"}, set(), set()]
    task = Diversity(k=2, thresholds=(0.0,))
    task.setup([x], [y])
    w = np.array([0.19])  # five words are worth 0.95, the subtopic 1

    def value(z):
        return float(task.psi(x, z) @ w) + task.loss(y, z)

    batch = task.pack([x], [y])
    found, best = value(task.argmax(w, x, y)), max(map(value, task.outputs(x)))
    assert found == pytest.approx(0.38 + 1.0)
    assert best == pytest.approx(1.9)
    # the loss has the constant share of subtopics that z* covers; without it, what is searched is a difference of
    # coverages, of which greedy reaches 0.38 of 0.9 at these weights
    constant = share_covered(task, y, (0, 1))
    reached = (found - constant) / (best - constant)
    assert reached == pytest.approx(0.38 / 0.9)
    assert reached < 1 - 1 / np.e
    planes = batch.planes(w)
    assert planes.loss[0] - planes.dpsi[0] @ w == pytest.approx(found - float(task.psi(x, y) @ w))
    assert planes.upper[0] >= best - float(task.psi(x, y) @ w) - 1e-12


@given(problems(most=2), st.sampled_from([0.1, 1.0, 10.0]))
@examples(10, 25)
def test_bounds_of_training_hold_against_all_constraints(problem, C):
    """The dual is never above the optimum of the problem with every constraint, and upper never below P(w)."""
    task, X, Y, _ = problem
    optimum = brute_force(task, X, Y, C)
    for solver in (OneSlack(tol=1e-3, max_passes=50), NSlack(tol=1e-3, max_passes=50), BCFW(tol=1e-3, max_passes=50)):
        solution = solver.solve(Oracle(task.pack(X, Y)), C)
        certificate = solution.certificate
        assert certificate.dual <= optimum.value + 1e-6 * (1 + optimum.value)
        assert certificate.upper >= optimum.value - 1e-6 * (1 + optimum.value)
        assert (certificate.search, certificate.exact) == (Search.UNDERGENERATING, False)
        assert certificate.method == "greedy, improved by swaps"


def test_only_planes_can_search():
    task = Diversity(k=1)
    X, Y = [["my words", "yours"]], [[{1}, set()]]
    task.setup(X, Y)
    assert task.pack(X, Y).offers(RescaledSearch) is None


def test_words_of_the_query_are_left_out():
    texts = ["jaguar car", "jaguar cat", "jaguar"]
    task = Diversity(k=1, thresholds=(0.0,))
    task.setup([texts], [[{1}, {2}, set()]])
    assert [task.psi(texts, Chosen((d,))).tolist() for d in range(3)] == [[2], [2], [1]]
    known = Documents(texts, query="the jaguar")
    assert [task.psi(known, Chosen((d,))).tolist() for d in range(3)] == [[1], [1], [0]]


def test_thresholds_count_documents_exactly():
    """15% of 20 documents are 3, although 0.15 · 20 is a little more."""
    texts = ["common"] * 3 + ["other"] * 17
    task = Diversity(k=1, thresholds=(0.15, 0.2))
    task.setup([texts], [[{1}] * 20])
    assert task.psi(texts, Chosen((0,))).tolist() == [1, 0]


def test_set_up_task_is_pickled():
    task = Diversity(k=1)
    X, Y = [["my words", "yours"]], [[{1}, set()]]
    task.setup(X, Y)
    copy = pickle.loads(pickle.dumps(task))
    assert copy.feature_names() == task.feature_names()
    np.testing.assert_array_equal(copy.psi(X[0], Y[0]), task.psi(X[0], Y[0]))
