"""Ranker: scikit-learn's own checks, queries in any order, measures, weights, export, and bad input."""

import json
import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from structures.ranking.queries import queries, repeated

from maxmargin import Ranker
from maxmargin.errors import NothingLearnt
from maxmargin.metrics import query_scores

MEASURES = ["map", "ndcg", "roc_auc", "precision_at_k"]


X, y, qid = queries()


def model_for(measure, **options):
    return Ranker(measure, k=3 if measure == "precision_at_k" else None, **options)


# --- scikit-learn's checks, in which all rows are one query

ROWS = "a weight is one of a whole query, and the check gives the rows of one query different weights"
RELEVANT = "all rows of the check are relevant (y >= 1), so that there is nothing to rank"


def expected_failures(estimator):
    expected = {
        "check_sample_weights_not_overwritten": ROWS,
        "check_sample_weight_equivalence_on_dense_data": ROWS,
        "check_sample_weight_equivalence_on_sparse_data": ROWS,
    }
    if estimator.measure == "map" and estimator.relevant == 1:
        expected |= dict.fromkeys(
            (
                "check_estimators_dtypes",
                "check_sample_weights_pandas_series",
                "check_sample_weights_not_an_array",
                "check_sample_weights_shape",
                "check_fit2d_1feature",
            ),
            RELEVANT,
        )
    return expected


@parametrize_with_checks([Ranker("ndcg")], expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([Ranker(), Ranker("roc_auc")], expected_failed_checks=expected_failures)
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)


# --- training


@pytest.mark.parametrize("measure", MEASURES)
def test_learns_to_rank(measure):
    model = model_for(measure).fit(X, y, qid)
    assert model.certificate_.converged
    assert model.certificate_.exact
    assert model.certificate_.relative_gap <= 1e-3
    assert model.coef_.shape == (4,)
    assert model.score(X, y, qid) > 0.85
    assert model.score(*queries(seed=1)) > 0.8
    again = model.certify(X, y, qid)
    assert again.primal == pytest.approx(model.certificate_.primal)
    assert again.dual <= model.certificate_.primal


@pytest.mark.parametrize("measure", MEASURES)
def test_order_of_rows_does_not_matter(measure):
    """Mixed queries, queries in one piece, queries in another order: one problem."""
    model = model_for(measure, tol=1e-4).fit(X, y, qid)
    for order in (np.argsort(qid, kind="stable"), np.argsort(-qid, kind="stable"), np.arange(len(y))[::-1]):
        other = model_for(measure, tol=1e-4).fit(X[order], y[order], qid[order])
        assert other.certificate_.primal == pytest.approx(model.certificate_.primal, rel=2e-4)
        assert other.score(X, y, qid) == pytest.approx(model.score(X, y, qid), abs=0.02)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", ["strings", "objects", "large numbers", "floats", "list"])
def test_kinds_of_query_ids(measure, kind):
    ids = {
        "strings": np.array([f"q{q:02}" for q in qid]),
        "objects": np.array([f"q{q:02}" for q in qid], dtype=object),
        "large numbers": qid.astype(np.int64) * 10**12 - 10**9,
        "floats": qid / 7,
        "list": qid.tolist(),
    }[kind]
    np.testing.assert_array_equal(model_for(measure).fit(X, y, ids).w_, model_for(measure).fit(X, y, qid).w_)


def test_one_query_without_ids():
    model = Ranker().fit(X, y)
    np.testing.assert_array_equal(model.w_, Ranker().fit(X, y, np.zeros(len(y))).w_)
    assert model.score(X, y) == pytest.approx(average_precision_score(y > 0, model.predict(X)))


@pytest.mark.parametrize("measure", MEASURES)
def test_queries_without_pairs_cost_nothing(measure):
    """One without relevant rows and one in which all are equally relevant, among the others."""
    rng = np.random.default_rng(5)
    more, flat = rng.standard_normal((7, 4)), np.array([0, 0, 0, 2, 2, 2, 2])
    ids = np.array([101] * 3 + [102] * 4)
    model = model_for(measure, tol=1e-4).fit(X, y, qid)
    both = model_for(measure, tol=1e-4).fit(
        np.vstack([X, more]), np.append(y, flat), np.append(qid, ids), sample_weight=np.append(np.ones(len(y)), ids < 0)
    )
    assert both.certificate_.primal == pytest.approx(model.certificate_.primal, rel=2e-4)
    counted = model_for(measure, tol=1e-4).fit(np.vstack([X, more]), np.append(y, flat), np.append(qid, ids))
    share = 12 / 14  # they are examples all the same: C multiplies the mean over all queries
    fewer = model_for(measure, tol=1e-4, C=100 * share).fit(X, y, qid)
    assert counted.certificate_.primal == pytest.approx(fewer.certificate_.primal, rel=2e-4)


@pytest.mark.parametrize("measure", ["roc_auc", "map"])
def test_other_formulations(measure):
    for rescaling, slack in (("slack", "l1"), ("margin", "l2"), ("slack", "l2")):
        model = Ranker(measure, rescaling=rescaling, slack=slack, tol=0.05).fit(X, y, qid)
        assert model.score(X, y, qid) > 0.85
        assert model.certificate_.dual <= model.certificate_.primal
        if measure == "roc_auc":  # exact
            assert model.certificate_.converged


def test_pairs_are_a_rank_svm():
    model = Ranker("roc_auc", C=10.0, tol=1e-5).fit(X, y, qid)
    scores, hinges = model.predict(X), []
    for q in range(12):
        s, levels = scores[qid == q], y[qid == q]
        pairs = np.subtract.outer(levels, levels) > 0
        hinges.append(np.mean(np.maximum(0, 1 - np.subtract.outer(s, s)[pairs])))
    assert model.certificate_.primal == pytest.approx(0.5 * model.w_ @ model.w_ + 10 * np.mean(hinges))


def test_graded_gains():
    """Levels that a binary measure cannot see."""
    binary, graded = Ranker("map", relevant=1), Ranker("ndcg", k=1)
    best = [m.fit(X, y, qid) and query_scores(y, m.predict(X), qid, "map", relevant=2).mean() for m in (binary, graded)]
    assert best[1] >= best[0]


@pytest.mark.parametrize("k", [None, 3])
def test_features_of_positions(k):
    model = Ranker("ndcg", k=k, surrogate="listwise", features="positions").fit(X, y, qid)
    assert model.certificate_.converged
    assert model.score(X, y, qid) > 0.8


def test_level_of_relevance():
    for measure, k in (("map", None), ("precision_at_k", 1)):
        ours, same = Ranker(measure, k=k, relevant=2).fit(X, y, qid), Ranker(measure, k=k).fit(X, y >= 2, qid)
        np.testing.assert_array_equal(ours.w_, same.w_)
        assert ours.score(X, y, qid) == same.score(X, y >= 2, qid) == same.score(X, (y >= 2).astype(int), qid)


# --- weights of queries


@pytest.mark.parametrize("measure", MEASURES)
def test_weights_of_queries(measure):
    weights = 1 + np.arange(12) % 3
    weights[4] = 0
    model = model_for(measure, tol=1e-5).fit(X, y, qid, sample_weight=0.5 * weights[qid])
    copies = model_for(measure, tol=1e-5).fit(*repeated(X, y, qid, weights))
    if measure == "precision_at_k":  # queries share the mean of their numbers of relevant rows, weighted or not
        assert model.score(X, y, qid) == pytest.approx(copies.score(X, y, qid), abs=0.05)
    else:
        assert model.certificate_.primal == pytest.approx(copies.certificate_.primal, rel=2e-5)


# --- pairs weighed by gains


def test_two_grades_are_pairs():
    """Where all gains are 0 or 1, every pair has weight and margin 1."""
    graded, pairs = (Ranker(measure).fit(X, np.minimum(y, 1), qid) for measure in ("ndcg", "roc_auc"))
    np.testing.assert_array_equal(graded.w_, pairs.w_)


def test_depth_is_one_of_scores():
    deep, shallow = Ranker("ndcg").fit(X, y, qid), Ranker("ndcg", k=2).fit(X, y, qid)
    np.testing.assert_array_equal(deep.w_, shallow.w_)
    assert shallow.score(X, y, qid) == pytest.approx(np.mean(query_scores(y, deep.predict(X), qid, "ndcg", k=2)))


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
def test_scale_of_features(scale):
    """x · s with C / s² is the same problem."""
    plain = Ranker("ndcg", C=10.0, tol=1e-4).fit(X, y, qid)
    scaled = Ranker("ndcg", C=10.0 / scale**2, tol=1e-4).fit(X * scale, y, qid)
    assert scaled.certificate_.converged
    assert scaled.certificate_.primal * scale**2 == pytest.approx(plain.certificate_.primal, rel=2e-4)


def test_noisy_grades_are_learnt_as_well_as_by_regression():
    """Five grades, most of them 0, and noise larger than the signal."""
    rng = np.random.default_rng(3)
    truth = rng.standard_normal(8)

    def drawn(n):
        rows, ids = rng.standard_normal((40 * n, 8)), np.repeat(np.arange(n), 40)
        hidden = rows @ truth / np.linalg.norm(truth) + 2 * rng.standard_normal(40 * n)
        return rows, np.digitize(hidden, [1.0, 2.5, 4.0, 5.0]), ids

    train, test = drawn(40), drawn(60)
    model = Ranker("ndcg", k=10, C=1.0).fit(*train)
    regression = np.linalg.lstsq(train[0], 2.0 ** train[1] - np.mean(2.0 ** train[1]), rcond=None)[0]
    by_regression = np.mean(query_scores(test[1], test[0] @ regression, test[2], "ndcg", k=10))
    assert model.score(*test) > by_regression - 0.01


# --- predictions


def test_predict_and_rank():
    model = Ranker().fit(X, y, qid)
    scores = model.predict(X)
    np.testing.assert_allclose(scores, X @ model.coef_)
    order = model.rank(X, qid)
    assert sorted(order) == list(range(len(y)))
    names = qid[order]
    assert list(dict.fromkeys(names)) == list(dict.fromkeys(qid))  # as they first appear
    assert np.sum(np.diff(names) != 0) == 11  # each in one piece
    for q in range(12):
        assert (np.diff(scores[order[names == q]]) <= 0).all()
    np.testing.assert_array_equal(model.rank(X), np.argsort(-scores, kind="stable"))
    np.testing.assert_array_equal(model.rank(np.zeros((3, 4)), [1, 0, 1]), [0, 2, 1])  # ties in their own order


def test_scores_are_those_of_scikit_learn():
    for measure, k, expected in (
        ("map", None, lambda t, s: average_precision_score(t > 0, s)),
        ("ndcg", None, lambda t, s: ndcg_score([2.0**t - 1], [s])),
        ("ndcg", 3, lambda t, s: ndcg_score([2.0**t - 1], [s], k=3)),
        ("precision_at_k", 3, lambda t, s: np.mean(t[np.argsort(-s)[:3]] > 0)),
    ):
        model = Ranker(measure, k=k, max_passes=5).fit(X, y, qid)
        scores = model.predict(X)
        values = [expected(y[qid == q], scores[qid == q]) for q in range(12)]
        assert model.score(X, y, qid) == pytest.approx(np.mean(values))


def test_score_leaves_out_queries_without_a_measure():
    model = Ranker().fit(X, y, qid)
    more = np.append(qid, [77, 77])
    assert model.score(np.vstack([X, X[:2]]), np.append(y, [0, 0]), more) == model.score(X, y, qid)
    with pytest.raises(ValueError, match="measure 'map' is not defined for any query"):
        model.score(X, np.zeros(len(y)), qid)


def test_weighted_score():
    model = Ranker("ndcg", max_passes=3).fit(X, y, qid)
    weights = 1.0 + np.arange(12) % 3
    values = query_scores(y, model.predict(X), qid, "ndcg")
    names = list(dict.fromkeys(qid.tolist()))
    expected = np.average(values, weights=weights[names])
    assert model.score(X, y, qid, sample_weight=weights[qid]) == pytest.approx(expected)
    with pytest.raises(ValueError, match="have different weights; expected one weight for all rows of a query"):
        model.score(X, y, qid, sample_weight=1.0 + np.arange(len(y)) % 2)


# --- bad input


WRONG = [
    ({}, X, y, qid[:-1], r"qid has shape \(\d+,\); expected \(\d+,\), the query of every row"),
    ({}, X, y, qid[:, None], r"qid has shape \(\d+, 1\); expected"),
    ({}, X, y, 3, r"qid has shape \(\); expected"),
    ({}, X, np.zeros(len(y)), qid, r"no query has both relevant rows \(>= 1\) and others; expected at least one"),
    ({}, X, np.ones(len(y)), qid, "no query has both relevant rows"),
    ({"relevant": 3}, X, y, qid, r"no query has both relevant rows \(>= 3\) and others"),
    ({"measure": "precision_at_k", "k": 2, "relevant": 3}, X, y, qid, "no query has both relevant rows"),
    ({"measure": "ndcg"}, X, np.ones(len(y)), qid, "no query has two levels; expected at least one such query"),
    ({"measure": "roc_auc"}, X, y, np.arange(len(y)), "no query has two levels"),
    (
        {"measure": "ndcg"},
        X,
        np.where(np.arange(len(y)) == 5, -1, y),
        qid,
        "row 5: the relevance is -1; gains .* to 50",
    ),
    ({"measure": "ndcg"}, X, np.where(np.arange(len(y)) == 5, 51, y), qid, "row 5: the relevance is 51; gains"),
    ({"measure": "mrr"}, X, y, qid, "measure must be one of 'map', 'ndcg', 'roc_auc', 'precision_at_k', got 'mrr'"),
    ({"measure": None}, X, y, qid, "measure must be one of .*, got None"),
    ({"k": 5}, X, y, qid, "measure 'map' uses the whole ranking; k is for 'ndcg'"),
    *[
        ({"measure": "precision_at_k", "k": k}, X, y, qid, "measure 'precision_at_k' needs k, a positive whole number")
        for k in (0, -1, None, 2.5)
    ],
    *[
        ({"measure": "ndcg", "k": k}, X, y, qid, "measure 'ndcg' needs k, a positive whole number, got")
        for k in (0, -1, 2.5)
    ],
    ({"features": "positions"}, X, y, qid, "features='positions' is for measure 'ndcg' only, not for 'map'"),
    ({"measure": "precision_at_k", "k": 2, "features": "positions"}, X, y, qid, "features is for measure 'ndcg' only"),
    ({"measure": "precision_at_k", "k": 2, "surrogate": "listwise"}, X, y, qid, "surrogate is for measure 'ndcg' only"),
    ({"surrogate": "listwise"}, X, y, qid, "surrogate='listwise' is for measure 'ndcg' only, not for 'map'"),
    ({"measure": "ndcg", "features": "positions"}, X, y, qid, "features='positions' is for surrogate='listwise' only"),
    ({"features": "words"}, X, y, qid, "features must be 'pairs' or 'positions', got 'words'"),
    ({}, X, y[:-1], qid, "inconsistent numbers of samples"),
    ({}, X, np.where(y > 1, np.nan, y), qid, "Input y contains NaN"),
    ({}, np.where(np.arange(4) == 2, np.inf, X), y, qid, "Input X contains infinity"),
    ({}, X * 1e150, y, qid, "whose square overflows; scale the features"),
    ({}, X, np.array(["good"] * len(y)), qid, "could not convert string to float|dtype"),
    ({"C": -1}, X, y, qid, "C must be a positive number"),
    ({"latent": True}, X, y, qid, "latent=True is for measure 'precision_at_k' only, not for 'map'"),
    ({"measure": "precision_at_k", "k": 2, "start": np.ones(4)}, X, y, qid, "start is for latent=True only"),
    *[
        ({"measure": "precision_at_k", "latent": True, **options}, X, y, qid, message)
        for options, message in (
            ({}, "measure 'precision_at_k' needs k, a positive whole number, got None"),
            ({"k": 6}, "query [0-9]+ has 5 rows; latent=True expects at least k = 6 in every query"),
            ({"k": 2, "start": np.ones(3)}, r"start has shape \(3,\); expected \(4,\), a weight per feature"),
            ({"k": 2, "start": [0, np.nan, 1, 1]}, r"start\[1\] is nan; expected a finite number"),
            (
                {"k": 2, "start": "best"},
                r"start must be None or an array of weights \(the coef_ .*\), got 'best'",
            ),
            ({"k": 2, "start": Ranker()}, r"start must be None or an array of weights .*, got Ranker\(\)"),
            ({"k": 2, "C": np.inf}, "latent training needs a finite C"),
            ({"k": 2, "relevant": 3}, r"no query has both relevant rows \(>= 3\) and others"),
        )
    ],
]


@pytest.mark.parametrize(("options", "inputs", "levels", "ids", "message"), WRONG, ids=[case[4] for case in WRONG])
def test_bad_input(options, inputs, levels, ids, message):
    model = Ranker(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(inputs, levels, ids)
    assert not hasattr(model, "w_")


def test_more_rows_shown_than_there_are():
    """A shorter query is shown whole."""
    with pytest.warns(NothingLearnt, match="nothing was learnt: w = 0 is optimal, because the objective is 0"):
        model = Ranker("precision_at_k", k=11).fit(X, y, qid)  # all are shown, whatever the scores
    assert model.score(X, y, qid) == pytest.approx(3 / 11)  # three of each query are relevant, rows or not
    assert Ranker("ndcg", k=10**6).fit(X, y, qid).score(X, y, qid) > 0.9


BAD_WEIGHTS = [
    (
        np.arange(len(y)) % 2 + 1,
        "the rows of query [0-9]+ have different weights; expected one weight for all rows of a query",
    ),
    (np.ones(3), r"sample_weight has shape \(3,\); expected"),
    (-np.ones(len(y)), r"sample_weight\[0\] is -1.0; weights must be finite and >= 0"),
    (np.zeros(len(y)), "all sample weights are zero"),
]


@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS, ids=[case[1] for case in BAD_WEIGHTS])
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        Ranker().fit(X, y, qid, sample_weight=weights)


def test_bad_input_of_predictions():
    model = Ranker().fit(X, y, qid)
    with pytest.raises(ValueError, match="X has 3 features, but Ranker is expecting 4 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match=r"qid has shape \(2,\); expected"):
        model.rank(X, [1, 2])
    with pytest.raises(ValueError, match=r"qid has shape \(2,\); expected"):
        model.score(X, y, [1, 2])
    with pytest.raises(ValueError, match=r"y_true has shape \(2,\) but scores have shape"):
        model.score(X, y[:2], qid)


def test_unfitted_and_partial():
    model = Ranker()
    assert not hasattr(model, "coef_")
    for call in (model.predict, model.rank, lambda x: model.score(x, y), lambda x: model.certify(x, y, qid)):
        with pytest.raises(NotFittedError):
            call(X)
    with pytest.raises(NotFittedError):
        model.to_solr("m")
    assert not hasattr(Ranker(solver="perceptron"), "partial_fit")
    with pytest.raises(TypeError, match="Ranker has no partial_fit, because all rows of a query must be known at once"):
        model.partial_fit(X, y)


# --- tools


def test_solr_model():
    model = Ranker().fit(X, y, qid)
    names = ["bm25", "title", "age", "clicks"]
    written = json.loads(model.to_solr("shop", names, store="features"))
    assert written["class"] == "org.apache.solr.ltr.model.LinearModel"
    assert (written["name"], written["store"]) == ("shop", "features")
    assert [feature["name"] for feature in written["features"]] == names
    assert [written["params"]["weights"][name] for name in names] == model.coef_.tolist()
    plain = json.loads(model.to_solr("shop"))
    assert "store" not in plain
    assert [feature["name"] for feature in plain["features"]] == ["x0", "x1", "x2", "x3"]
    with pytest.raises(ValueError, match="3 different feature names were given for 4 features"):
        model.to_solr("shop", names[:3])
    with pytest.raises(ValueError, match="3 different feature names were given for 4 features"):
        model.to_solr("shop", [*names[:3], "bm25"])


def test_weights_by_name():
    model = Ranker().fit(X, y, qid)
    weights = model.weights_["features"]
    assert weights.axes == ("feature",)
    assert [weights[f] for f in range(4)] == model.coef_.tolist()
    best = model.top_weights(n=2)
    assert [each.weight for each in best] == sorted(model.coef_.tolist(), key=abs, reverse=True)[:2]
    assert best[0].name == "features: feature=0"
    with pytest.raises(ValueError, match="no weight belongs to the label 1"):
        model.top_weights(1)
    with pytest.raises(AttributeError, match="Ranker with a kernel has no weights of features"):
        _ = Ranker(kernel="rbf").fit(X, y, qid).weights_
    with pytest.raises(NotFittedError):
        _ = Ranker().weights_


def test_feature_names_of_a_table():
    import pandas as pd

    table = pd.DataFrame(X, columns=["bm25", "title", "age", "clicks"])
    model = Ranker().fit(table, pd.Series(y), qid=pd.Series(qid))
    assert list(json.loads(model.to_solr("shop"))["params"]["weights"]) == list(table.columns)
    assert model.weights_["features"]["title"] == model.coef_[1]
    assert model.top_weights(n=1)[0].name == "features: feature=bm25"
    np.testing.assert_array_equal(model.w_, Ranker().fit(X, y, qid).w_)
    np.testing.assert_array_equal(model.rank(table, pd.Series(qid)), Ranker().fit(X, y, qid).rank(X, qid))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_is_dense(kind):
    for measure in MEASURES:
        dense, model = model_for(measure).fit(X, y, qid), model_for(measure).fit(kind(X), y, qid)
        np.testing.assert_array_equal(model.w_, dense.w_)
        np.testing.assert_allclose(model.predict(kind(X)), dense.predict(X))


@pytest.mark.parametrize("measure", MEASURES)
def test_pickle_and_clone(measure):
    model = model_for(measure).fit(X, y, qid)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.score(X, y, qid) == model.score(X, y, qid)
    np.testing.assert_array_equal(clone(copy).fit(X, y, qid).w_, model.w_)


@pytest.mark.parametrize("measure", ["map", "precision_at_k"])
def test_path(measure):
    path = model_for(measure, tol=1e-4).fit_path(X, y, [1.0, 100.0], qid)
    for model in path:
        alone = model_for(measure, C=model.C, tol=1e-4).fit(X, y, qid)
        assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=2e-4)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("solver", ["bcfw", "bundle", "n_slack"])
def test_solvers_agree(measure, solver):
    values = [
        model_for(measure, solver=each, tol=1e-3).fit(X, y, qid).certificate_.primal for each in ("one_slack", solver)
    ]
    assert values[0] == pytest.approx(values[1], rel=2e-3)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("solver", ["one_slack", "bcfw"])
def test_threads_change_nothing(measure, solver):
    alone = model_for(measure, solver=solver).fit(X, y, qid)
    np.testing.assert_array_equal(model_for(measure, solver=solver, n_jobs=2).fit(X, y, qid).w_, alone.w_)


def test_warm_start():
    model = Ranker(warm_start=True).fit(X, y, qid)
    first = model.certificate_.passes
    assert model.fit(X, y, qid).certificate_.passes < first


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = Ranker().set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, {"C": [0.1, 10.0], "measure": ["map", "roc_auc"]}, cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
        assert search.best_score_ > 0.8
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        pipeline = make_pipeline(MaxAbsScaler(), ranker)
        scores = cross_validate(pipeline, X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid})["test_score"]
        assert np.mean(scores) > 0.8
        weighted = Ranker().set_fit_request(qid=True, sample_weight=True)
        weighted.set_score_request(qid=True, sample_weight=True)
        GridSearchCV(weighted, {"C": [1.0]}, cv=GroupKFold(3)).fit(
            X, y, qid=qid, groups=qid, sample_weight=1.0 + qid % 2
        )


def test_svmlight_file(tmp_path):
    """The form in which the LETOR collections come."""
    order = np.argsort(qid, kind="stable")
    lines = []
    for i in order:
        features = " ".join(f"{f + 1}:{value:.9g}" for f, value in enumerate(X[i]) if f != 2)
        lines.append(f"{y[i]} qid:{qid[i] + 10} {features} #docid = {i}")
    (tmp_path / "train.txt").write_text("\n".join(lines) + "\n")
    rows, levels, ids = load_svmlight_file(str(tmp_path / "train.txt"), query_id=True)
    model = Ranker("ndcg", k=10).fit(rows, levels, ids)
    assert model.certificate_.converged
    assert model.n_features_in_ == 4
    assert model.coef_[2] == 0
    assert model.score(rows, levels, ids) > 0.8
    without = np.where(np.arange(4) == 2, 0.0, X)
    same = Ranker("ndcg", k=10).fit(without, y, qid)
    assert model.certificate_.primal == pytest.approx(same.certificate_.primal, rel=2e-3)
