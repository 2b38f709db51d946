from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proofs import prove_search_is_bounded
from scipy import sparse
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score
from strategies import groups_of_rows
from structures.ranking import group_problems
from structures.ranking.group_problems import (
    X,
    prove_whole_weights_are_repeated_rows,
    weighted_groups,
    with_weights,
)
from structures.ranking.listed_tasks import PairDecisions, Rankings
from thorough import examples

from maxmargin import StructuredSVM
from maxmargin.errors import TaskError
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.structures.ranking.orders import discounts
from maxmargin.tasks import Ranked, Ranking, WeightedRows
from maxmargin.testing import SEARCHED, check_task

Y = [np.array([1, 0, 0, 2]), np.array([0, 1, 0])]
SEARCHES = [
    {"measure": "map"},
    {"measure": "map", "relevant": 2},
    {"measure": "ndcg", "surrogate": "listwise"},
    {"measure": "ndcg", "surrogate": "listwise", "k": 2},
    {"measure": "ndcg", "surrogate": "listwise", "features": "positions"},
    {"measure": "ndcg", "surrogate": "listwise", "features": "positions", "k": 2},
]
PAIRS = [{"measure": "roc_auc"}, {"measure": "ndcg"}]
searches = pytest.mark.parametrize("options", SEARCHES, ids=str)


def set_up(task, X=X, Y=Y):
    return group_problems.set_up(task, X, Y)


# --- searches against all rankings


@searches
@examples(4, 12)
@given(problem=groups_of_rows(levels=(0, 1, 2)))
def test_keeps_the_contract(options, problem):
    """Queries of one level among the others, ties everywhere."""
    X, Y, _ = problem
    check_task(Rankings(**options), X, Y, trials=1)


@examples(5, 10)
@given(problem=groups_of_rows(), lam=st.sampled_from([0.0, 0.4, 1.0, 2.0]))
def test_worst_decisions_on_pairs_of_two_levels_are_a_ranking(problem, lam):
    X, Y, w = problem
    task, batch = set_up(Rankings("roc_auc"), X, Y)
    planes = batch.planes(w, augment=lam)
    for x, y, row, loss in zip(X, Y, planes.dpsi.toarray(), planes.loss, strict=True):
        outputs = task.outputs(x)
        losses = np.array([task.loss(y, z) for z in outputs])
        differences = task.psi(x, y) - np.array([task.psi(x, z) for z in outputs])
        assert lam * loss - row @ w == pytest.approx(np.max(lam * losses - differences @ w), abs=1e-9)
        assert np.min(np.abs(differences - row).max(axis=1) + np.abs(losses - loss)) < 1e-9


@pytest.mark.parametrize("measure", ["roc_auc", "ndcg"])
@examples(6, 15)
@given(problem=groups_of_rows(most_rows=4, levels=(0, 1, 2)))
def test_pairs_keep_the_contract(measure, problem):
    """All four formulations against all decisions on single pairs."""
    X, Y, _ = problem
    check_task(PairDecisions(measure), X, Y, trials=1)


@examples(2, 6)
@given(problem=groups_of_rows(most_groups=1, most_rows=7))
def test_many_pairs_keep_the_contract(problem):
    X, Y, _ = problem
    check_task(PairDecisions(), X, Y, trials=1)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("options", [{"measure": "map"}, {"measure": "ndcg", "surrogate": "listwise", "k": 2}], ids=str)
def test_sparse_queries(kind, options):
    check_task(Rankings(**options), [kind(x) for x in X], Y, trials=1)


@searches
@pytest.mark.parametrize("formulation", SEARCHED, ids=str)
@settings(max_examples=6)
@given(problem=groups_of_rows(most_groups=2, levels=(0, 1, 2)))
def test_rescaled_searches_stay_within_their_bounds(options, formulation, problem):
    X, Y, w = problem
    if not any(len(set(y >= options.get("relevant", 1))) == 2 for y in Y):
        return  # nothing to rank
    task, batch = set_up(Rankings(**options), X, Y)
    prove_search_is_bounded(task, batch, X, Y, w, formulation)


@pytest.mark.parametrize("formulation", SEARCHED, ids=str)
@settings(max_examples=6)
@given(problem=groups_of_rows(most_groups=2, most_rows=4, levels=(0, 1, 3)))
def test_pairs_weighed_by_gains_are_searched_within_bounds(formulation, problem):
    X, Y, w = problem
    if not any(len(set(y)) > 1 for y in Y):
        return  # nothing to rank
    task, batch = set_up(PairDecisions("ndcg"), X, Y)
    prove_search_is_bounded(task, batch, X, Y, w, formulation)


# --- closed forms


@examples(10, 25)
@given(
    groups_of_rows(levels=(0, 1, 2, 4)), st.sampled_from([1e-8, 1e-3, 1.0, 1e3, 1e8]), st.sampled_from([0.0, 0.4, 1.0])
)
def test_pairs_have_the_hinges_of_gains(problem, scale, lam):
    """(2) of tasks.Ranking, summed pair by pair, whatever the scale of the scores."""
    X, Y, w = problem
    if not any(len(set(y)) > 1 for y in Y):
        return
    _, batch = set_up(Ranking("ndcg"), X, Y)
    planes, top = batch.planes(scale * w, lam), 2.0 ** max(map(max, Y)) - 1
    heights = lam * planes.loss - planes.dpsi @ (scale * w)
    for g, (x, y) in enumerate(zip(X, Y, strict=True)):
        scores, gains = scale * (x @ w), (2.0**y - 1) / top
        pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
        apart = np.array([gains[i] - gains[j] for i, j in pairs])
        hinges = np.array([max(0, lam * d - (scores[i] - scores[j])) for d, (i, j) in zip(apart, pairs, strict=True)])
        expected = apart @ hinges / apart.sum() if pairs else 0.0
        assert heights[g] == pytest.approx(expected, rel=1e-9, abs=1e-12 * max(scale, 1))


@examples(12, 30)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=7), st.permutations(range(7)), st.sampled_from([None, 1, 2, 3, 5])
)
def test_ndcg_is_bounded_by_gains_in_the_wrong_order(levels, order, k):
    """(3) of tasks.Ranking, for any ranking and depth."""
    y = np.array(levels)
    if len(set(levels)) < 2:
        return
    order = np.array([row for row in order if row < len(y)])
    task, _ = set_up(Ranking("ndcg"), [np.zeros((len(y), 1))], [y])
    gains = (2.0**y - 1) / (2.0 ** y.max() - 1)
    ranked, paid = gains[order], discounts(len(y) + 1, k)
    swapped = sum(max(ranked[q] - ranked[p], 0) for p in range(len(y)) for q in range(p + 1, len(y)))
    step = np.max(-np.diff(paid[: len(y)]))  # there is no exchange with what comes after the last row
    ideal = np.sort(gains)[::-1] @ paid[: len(y)]
    lost = Ranking("ndcg", k=k, surrogate="listwise").loss(y, Ranked(order, y))
    assert lost <= step / ideal * swapped + 1e-12
    all_pairs = np.maximum(np.subtract.outer(gains, gains), 0).sum()
    nearest = np.min(np.diff(np.unique(gains)))
    assert step / ideal * swapped <= step * all_pairs / (nearest * ideal) * task.loss(y, Ranked(order, y)) + 1e-9


@examples(8, 20)
@given(groups_of_rows(most_groups=1, most_rows=8, levels=(0, 1, 2)))
def test_pairs_have_the_mean_pairwise_hinge(problem):
    X, Y, w = problem
    _, batch = set_up(Ranking("roc_auc"), X, Y)
    scores, y = X[0] @ w, Y[0]
    hinges = [max(0, 1 - (scores[i] - scores[j])) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    assert batch.planes(w).values(w) == pytest.approx(np.mean(hinges))


@examples(8, 20)
@given(groups_of_rows(most_groups=1, most_rows=8, levels=(0, 1, 2)), st.permutations(range(8)))
def test_losses_are_those_of_scikit_learn(problem, order):
    y = problem[1][0]
    order = np.array([row for row in order if row < len(y)])
    scores = np.empty(len(y))
    scores[order] = -np.arange(len(y))
    z = Ranked(order, y)
    gains = [2.0**y - 1]
    for k in (None, 3):
        expected = 1 - ndcg_score(gains, [scores], k=k)
        assert Ranking("ndcg", k=k, surrogate="listwise").loss(y, z) == pytest.approx(expected)
    for level in (1, 2):
        if len(set(y >= level)) == 2:
            assert Ranking("map", relevant=level).loss(y, z) == pytest.approx(
                1 - average_precision_score(y >= level, scores)
            )
            assert Ranking("roc_auc").loss(y >= level, z) == pytest.approx(1 - roc_auc_score(y >= level, scores))


def test_features_of_pairs():
    task, _ = set_up(Ranking("roc_auc"))
    x, y = X[0], np.array([1, 0, 0, 2])
    expected = (3 * x[3] - x[0] - x[1] - x[2] + 2 * x[0] - x[1] - x[2]) / 5
    np.testing.assert_allclose(task.psi(x, y), expected, atol=1e-15)
    z = Ranked([1, 0, 3, 2], y)  # right: 0 before 2, 3 before 2
    np.testing.assert_allclose(task.psi(x, z), (x[0] - x[2] + x[3] - x[2]) / 5)


def test_features_of_positions():
    task, _ = set_up(Ranking("ndcg", surrogate="listwise", features="positions"))
    x, y, c = X[0], np.array([1, 0, 0, 2]), 1 / np.log2(np.arange(2, 6))
    ideal = 3 + 1 / log2(3)
    truth = (c[1] * x[0] + (c[2] + c[3]) / 2 * (x[1] + x[2]) + c[0] * x[3]) / ideal
    np.testing.assert_allclose(task.psi(x, y), truth)
    np.testing.assert_allclose(task.psi(x, Ranked([1, 0, 3, 2], y)), c @ x[[1, 0, 3, 2]] / ideal)


@examples(8, 20)
@given(groups_of_rows(most_groups=1, levels=(0, 1, 2)), st.sampled_from([*SEARCHES, *PAIRS]))
def test_hinge_is_at_least_the_loss_of_the_prediction(problem, options):
    X, Y, w = problem
    if len(set(Y[0] >= options.get("relevant", 1))) < 2:
        return
    task, batch = set_up(Ranking(**options), X, Y)
    hinge, z = batch.planes(w).values(w)[0], task.decode(w, X)[0]
    assert hinge >= task.loss(Y[0], z) - 1e-12


# --- weights of rows


@pytest.mark.parametrize("measure", ["roc_auc", "ndcg"])
@examples(6, 15)
@given(problem=weighted_groups(most_rows=4, levels=(0, 1, 2)))
def test_weighted_pairs_keep_the_contract(measure, problem):
    X, Y, weights, _ = problem
    labels = with_weights(Y, weights)
    check_task(PairDecisions(measure), X, labels, trials=1)


@pytest.mark.parametrize("measure", ["roc_auc", "ndcg"])
@examples(8, 20)
@given(
    problem=weighted_groups(levels=(0, 1, 2)),
    lam=st.sampled_from([0.0, 0.3, 1.0]),
    scale=st.sampled_from([1.0, 0.2]),
)
def test_whole_weights_are_repeated_rows(measure, problem, lam, scale):
    prove_whole_weights_are_repeated_rows(lambda: Ranking(measure), problem, lam, scale)


@pytest.mark.parametrize("formulation", SEARCHED, ids=str)
@examples(6, 15)
@given(problem=groups_of_rows(levels=(0, 1, 2)))
def test_equal_weights_are_none(formulation, problem):
    X, Y, w = problem
    _, batch = set_up(Ranking("roc_auc"), X, Y)
    _, same = set_up(Ranking("roc_auc"), X, [WeightedRows(y, np.full(len(y), 1.5)) for y in Y])
    a, b = (each.rescaled_planes(w, formulation) for each in (batch, same))
    np.testing.assert_array_equal(a.loss, b.loss)
    np.testing.assert_array_equal(a.dpsi.toarray(), b.dpsi.toarray())


@pytest.mark.parametrize("formulation", SEARCHED, ids=str)
@examples(5, 10)
@given(problem=weighted_groups(most_rows=4))
def test_weighted_pairs_are_searched_within_bounds(formulation, problem):
    X, Y, weights, w = problem
    weights[0][:2] = 1, 2  # not all equal
    labels = with_weights(Y, weights)
    task, batch = set_up(PairDecisions(), X, labels)
    prove_search_is_bounded(task, batch, X, labels, w, formulation)


@pytest.mark.parametrize(("measure", "surrogate"), [("map", "pairs"), ("ndcg", "listwise")])
def test_weights_need_a_sum_over_pairs(measure, surrogate):
    labels = [WeightedRows(y, np.arange(1.0, len(y) + 1)) for y in Y]
    task = Ranking(measure, surrogate=surrogate)
    task.setup(X, labels)
    with pytest.raises(ValueError, match="' is not a sum over pairs, so rows cannot have weig"):
        task.pack(X, labels)


# --- predictions


def test_decode_and_label():
    task, _ = set_up(Ranking("map"))
    found = task.decode(np.array([1.0, 0.0]), [np.array([[3.0, 0], [5, 0], [3, 0], [4, 0]]), np.zeros((3, 2))])
    assert [task.label(z).tolist() for z in found] == [[1, 3, 0, 2], [0, 1, 2]]
    with pytest.raises(TaskError, match="the levels of its rows"):
        task.psi(X[0], found[0])


@pytest.mark.parametrize("measure", ["map", "ndcg", "roc_auc"])
def test_scores_of_a_structured_svm(measure):
    model = StructuredSVM(Ranking(measure), C=10.0).fit(X, Y)
    orders = model.predict(X)
    losses = [model.task_.loss(y, Ranked(order)) for y, order in zip(Y, orders, strict=True)]
    assert model.score(X, Y) == pytest.approx(-np.mean(losses))
    oracle = Oracle(model.task_.pack(X, Y))
    assert oracle.risk(model.w_) < oracle.risk(-model.w_)


def test_queries_of_one_level_cost_nothing():
    for options in (*SEARCHES, *PAIRS):
        task, batch = set_up(Ranking(**options), X, [Y[0], np.full(3, 2)])
        planes = batch.planes(np.array([1.0, -1.0]))
        assert planes.loss[1] == 0
        assert not planes.dpsi.toarray()[1].any()
        assert Oracle(batch, Formulation("slack", "l2")).slacks(np.array([1.0, -1.0]))[1] < 1e-3
        assert task.loss(np.full(3, 2), Ranked([2, 1, 0])) == 0
        assert not task.psi(X[1], np.full(3, 2)).any()


def test_long_queries_of_many_levels(monkeypatch):
    monkeypatch.setattr("maxmargin.structures.ranking.gain_batch.STATES", 20)
    task = Ranking("ndcg", surrogate="listwise")
    task.setup(X, Y)
    task.pack(X, Y)
    monkeypatch.setattr("maxmargin.structures.ranking.gain_batch.STATES", 11)
    with pytest.raises(ValueError, match=r"query 0, .*, has 12 ways .* more than 1e.01; use surrogate='pairs'"):
        task.pack(X, Y)
    set_up(Ranking("ndcg", surrogate="listwise", features="positions"))
    set_up(Ranking("ndcg"))


# --- bad input


WRONG = [
    (X, Y, {"measure": "mrr"}, "measure must be one of 'map', 'ndcg', 'roc_auc', got 'mrr'"),
    (X, Y, {"features": "words"}, "features must be 'pairs' or 'positions', got 'words'"),
    (X, Y, {"features": "positions"}, "features='positions' is for measure 'ndcg' only, not for 'map'"),
    (X, Y, {"surrogate": "rows"}, "surrogate must be 'pairs' or 'listwise', got 'rows'"),
    (X, Y, {"surrogate": "listwise"}, "surrogate='listwise' is for measure 'ndcg' only, not for 'map'"),
    (X, Y, {"measure": "ndcg", "features": "positions"}, "features='positions' is for surrogate='listwise' only"),
    (X, Y, {"k": 3}, "measure 'map' uses the whole ranking; k is for 'ndcg'"),
    *[
        (X, Y, {"measure": "ndcg", "k": k}, f"measure 'ndcg' needs k, a positive whole number, got {k!r}")
        for k in (0, -2, 1.5, True, "3")
    ],
    (X, [np.zeros(4), np.ones(3)], {}, r"no query has both relevant rows \(>= 1\) and others; expected at least one"),
    (X, [np.ones(4), np.array([1, 2, 1])], {}, "no query has both relevant rows"),
    (X, [Y[0], [0, -1, 0]], {"measure": "ndcg"}, "query 1, row 1: the relevance is -1; gains .* from 0 to 50"),
    (X, [Y[0], [0, 51, 0]], {"measure": "ndcg"}, "query 1, row 1: the relevance is 51; gains .* from 0 to 50"),
    (X, [np.full(4, 0.0), [0, 1e-20, 0]], {"measure": "ndcg"}, "every gain"),
    (X, [Y[0], [0, np.inf, 0]], {}, "query 1, row 1: the label is inf; expected a finite number"),
    (X, [Y[0][:3], Y[1]], {}, r"query 0 has 4 rows but labels of shape \(3,\); expected \(4,\)"),
]


@pytest.mark.parametrize(("inputs", "levels", "options", "message"), WRONG, ids=[case[3] for case in WRONG])
def test_bad_input(inputs, levels, options, message):
    with pytest.raises(ValueError, match=message):
        set_up(Ranking(**options), inputs, levels)
