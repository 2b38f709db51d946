"""Ranker with a hidden choice of rows: where training begins and ends, weights, solvers, tools."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from structures.ranking.queries import queries, repeated

from maxmargin import Ranker
from maxmargin.errors import NothingLearnt
from maxmargin.solvers import CCCP

X, y, qid = queries()


def noisy_queries(n=20, seed=0):
    """Many rows are relevant; in every query half of them are easily told, the others look worse than the rest."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n), 20))
    y = np.empty(len(qid), dtype=int)
    X = rng.standard_normal((len(qid), 4))
    for q in range(n):
        rows = np.flatnonzero(qid == q)
        y[rows] = np.arange(20) < 10
        X[rows[:5], 0] += 3.0
        X[rows[5:10], 0] -= 2.5
    return X, y, qid


def latent_model(**options):
    return Ranker("precision_at_k", **{"k": 3, "latent": True, "C": 10.0, "tol": 1e-3} | options)


def latent_objective(model, X, y, qid):
    """J(w) of tasks.TopK from its definition, all choices of k rows listed by their scores."""
    scores, k, slacks = X @ model.w_, model.k, []
    for q in np.unique(qid):
        s, relevant = scores[qid == q], y[qid == q] >= model.relevant
        worst = np.sort(s - relevant)[::-1][:k].sum() / k + min(1, relevant.sum() / k)
        best = np.concatenate([np.sort(s[relevant])[::-1], np.sort(s[~relevant])[::-1]])[:k].sum() / k
        slacks.append(worst - best)
    return 0.5 * model.w_ @ model.w_ + model.C * np.mean(slacks)


def test_latent_learns_what_others_do_not():
    X, y, qid = noisy_queries()
    said = "w = 0, whose objective for C = 10 is the lowest.*measure 'precision_at_k'"
    with pytest.warns(NothingLearnt, match=said):
        latent_model(latent=False).fit(X, y, qid)  # all relevant rows above the best of the others: there is no way
    model = latent_model().fit(X, y, qid)
    assert model.certificate_.converged
    assert model.certificate_.rounds == len(model.rounds_) < 50
    assert model.certificate_.primal == pytest.approx(latent_objective(model, X, y, qid))
    values = [each.objective for each in model.rounds_]
    assert (np.diff(values) <= 1e-9).all()
    assert model.score(*noisy_queries(seed=1)) > 0.9
    assert model.certify(X, y, qid).primal == pytest.approx(model.certificate_.primal)


def test_latent_start_is_a_weighted_classifier():
    from sklearn.svm import LinearSVC

    model = latent_model(C=2.0).fit(X, y, qid)
    weights = 1 / np.bincount(qid)[qid] / 12
    expected = LinearSVC(C=2.0, dual=False, intercept_scaling=10.0).fit(X, y > 0, sample_weight=weights)
    np.testing.assert_allclose(model.start_, expected.coef_[0], atol=1e-3)


def test_latent_start_is_given():
    weights = np.array([1.0, -0.5, 0.0, 2.0])
    given = latent_model(start=weights).fit(X, y, qid)
    np.testing.assert_array_equal(given.start_, weights)
    ranker = Ranker("roc_auc").fit(X, y, qid)
    np.testing.assert_array_equal(latent_model(start=ranker.coef_).fit(X, y, qid).start_, ranker.coef_)
    np.testing.assert_array_equal(latent_model(start=list(ranker.coef_)).fit(X, y, qid).start_, ranker.coef_)
    again = latent_model(start=given.start_).fit(X, y, qid)
    np.testing.assert_array_equal(again.w_, given.w_)
    plain = given.set_params(latent=False, start=None).fit(X, y, qid)
    assert not hasattr(plain, "start_")


def test_latent_start_matters():
    """A relevant row that looks like another teaches nothing; a start that prefers it never finds the better one."""
    rows, levels, ids = np.array([[0.0, 1], [1, 0], [0, 1], [0, 0]]), [1, 1, 0, 0], np.repeat(np.arange(5), 4)
    data = np.tile(rows, (5, 1)), np.tile(levels, 5), ids
    good = latent_model(k=1, start=[1.0, 0.0]).fit(*data)
    assert good.score(*data) == 1.0
    with pytest.warns(NothingLearnt, match="w = 0, whose objective .* for the current latent variables"):
        bad = latent_model(k=1, start=[0.0, 1.0]).fit(*data)
    assert not bad.w_.any()
    assert bad.certificate_.converged


def test_latent_queries_of_one_kind_cost_nothing():
    rng = np.random.default_rng(5)
    more, flat, ids = rng.standard_normal((7, 4)), np.array([0, 0, 0, 2, 2, 2, 2]), np.array([101] * 3 + [102] * 4)
    both = np.vstack([X, more]), np.append(y, flat), np.append(qid, ids)
    start = np.array([2.0, -1.0, 0.5, 0.0])
    counted = latent_model(start=start).fit(*both)
    fewer = latent_model(start=start, C=10 * 12 / 14).fit(X, y, qid)  # C multiplies the mean over all queries
    assert counted.certificate_.primal == pytest.approx(fewer.certificate_.primal, rel=2e-3)
    zero = np.append(np.ones(len(y)), np.zeros(7))
    unseen = latent_model(start=start).fit(*both, sample_weight=zero)
    assert unseen.certificate_.primal == pytest.approx(
        latent_model(start=start).fit(X, y, qid).certificate_.primal, rel=2e-3
    )
    only = np.where(np.append(qid, ids) > 100, 1.0, 0.0)
    with pytest.warns(NothingLearnt, match="w = 0 is optimal, because the objective is 0"):
        assert not latent_model().fit(*both, sample_weight=only).w_.any()


def test_latent_weights_are_copies_of_queries():
    weights = 1 + np.arange(12) % 3
    start = np.array([2.0, -1.0, 0.5, 0.0])
    model = latent_model(start=start).fit(X, y, qid, sample_weight=weights[qid])
    copies = latent_model(start=start).fit(*repeated(X, y, qid, weights))
    assert model.certificate_.primal == pytest.approx(copies.certificate_.primal, rel=2e-3)


def test_latent_start_counts_weights_of_queries():
    weights = 1 + np.arange(12) % 3
    copies = latent_model().fit(*repeated(X, y, qid, weights))
    model = latent_model().fit(X, y, qid, sample_weight=weights[qid])
    np.testing.assert_allclose(model.start_, copies.start_, atol=1e-3)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_latent_sparse_is_dense(kind):
    dense, model = latent_model().fit(X, y, qid), latent_model().fit(kind(X), y, qid)
    np.testing.assert_array_equal(model.w_, dense.w_)


@pytest.mark.parametrize("solver", ["one_slack", "bundle", "bcfw", "n_slack", CCCP(restarts=3)])
def test_latent_with_all_solvers(solver):
    model = latent_model(solver=solver).fit(X, y, qid)
    assert model.certificate_.converged
    assert model.certificate_.relative_gap <= 1e-3
    assert model.score(X, y, qid) > 0.85
    assert model.certificate_.primal == pytest.approx(latent_objective(model, X, y, qid))


@pytest.mark.parametrize(("rescaling", "slack"), [("slack", "l1"), ("margin", "l2"), ("slack", "l2")])
def test_latent_in_other_formulations(rescaling, slack):
    model = latent_model(rescaling=rescaling, slack=slack).fit(X, y, qid)
    assert model.certificate_.converged
    assert model.score(X, y, qid) > 0.85


def test_latent_tools():
    """Copies, threads, paths and warm starts."""
    model = latent_model().fit(X, y, qid)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(clone(copy).fit(X, y, qid).w_, model.w_)
    np.testing.assert_array_equal(latent_model(n_jobs=2).fit(X, y, qid).w_, model.w_)
    path = latent_model().fit_path(X, y, [1.0, 10.0], qid)
    np.testing.assert_array_equal(path[0].w_, latent_model(C=1.0).fit(X, y, qid).w_)
    for each in path:
        assert each.certificate_.primal == pytest.approx(latent_objective(each, X, y, qid))
    warm = latent_model(warm_start=True).fit(X, y, qid)
    first = warm.certificate_.passes
    assert warm.fit(X, y, qid).certificate_.passes < first
    np.testing.assert_array_equal(warm.start_, model.start_)


def test_latent_search():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = latent_model().set_fit_request(qid=True).set_score_request(qid=True)
        grid = {"C": [1.0, 10.0], "start": [None, np.array([2.0, -1.0, 0.5, 0.0])]}
        search = GridSearchCV(ranker, grid, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
        assert search.best_score_ > 0.8
