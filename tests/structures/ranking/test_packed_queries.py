"""Packed rows of queries: a fit from the folder is that from a matrix to the last bit; crafted folders are refused."""

import pickle

import numpy as np
import pytest
from base.files.crafted_folders import changed, crafted, spoiled_numbers
from hypothesis import given
from hypothesis import strategies as st
from inputs.packed.rows_to_pack import in_blocks, rows, same
from scipy import sparse
from thorough import examples

import maxmargin as mm

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt"),  # training ends early here
]

X = rows()
Y = np.clip(np.round(X @ np.random.default_rng(1).normal(size=30) + 1), 0, 3)
QUERIES = np.arange(400) // 13
WEIGHTS = 1.0 + QUERIES % 3


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "folder"


def fitted(*data, sample_weight=None, **options):
    return mm.Ranker(**{"C": 5.0, "max_passes": 10, **options}).fit(*data, sample_weight=sample_weight)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"measure": "roc_auc"},
        {"measure": "ndcg"},
        {"measure": "ndcg", "surrogate": "listwise", "features": "positions", "k": 5},
        {"measure": "precision_at_k", "k": 3},
        {"measure": "precision_at_k", "k": 3, "latent": True, "start": np.ones(30)},
        {"solver": "bcfw"},
        {"slack": "l2"},
        {"measure": "roc_auc", "rescaling": "slack"},
        {"bounds": (0, None)},
        {"memory_mb": 1},
        {"n_jobs": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("queries", [QUERIES, np.array([f"q{i % 31}" for i in range(400)])], ids=["whole", "mixed"])
def test_the_model_is_that_of_a_matrix_to_the_last_bit(folder, options, queries):
    given = X.toarray() if options.get("solver") else X
    packed = mm.pack(in_blocks(given, Y, queries), folder, "ranking")
    model, other = fitted(packed, **options), fitted(given, Y, queries, **options)
    same(model, other)
    np.testing.assert_array_equal(model.predict(packed), other.predict(X))
    np.testing.assert_array_equal(model.rank(packed), other.rank(X, queries))
    assert model.score(packed) == other.score(X, Y, queries)
    assert model.certify(packed).primal == other.certify(given, Y, queries).primal


def test_weights_are_packed_too(folder):
    packed = mm.pack(in_blocks(X, Y, QUERIES, WEIGHTS), folder, "ranking")
    same(fitted(packed), fitted(X, Y, QUERIES, sample_weight=WEIGHTS))
    assert fitted(packed).score(packed) == fitted(packed).score(X, Y, QUERIES, WEIGHTS)
    same(fitted(packed, sample_weight=np.ones(400)), fitted(X, Y, QUERIES))
    for one, other in zip(
        mm.Ranker().fit_path(packed, None, [1, 2]),
        mm.Ranker().fit_path(X, Y, [1, 2], QUERIES, WEIGHTS),
        strict=True,
    ):
        same(one, other)


def test_folds_have_whole_queries(folder):
    packed = mm.pack(in_blocks(X, Y, QUERIES, WEIGHTS), folder, "ranking")
    tuned = mm.Tuned(mm.Ranker(max_passes=5), Cs=[0.1, 10], cv=3).fit(packed)
    other = mm.Tuned(mm.Ranker(max_passes=5), Cs=[0.1, 10], cv=3).fit(X, Y, qid=QUERIES, sample_weight=WEIGHTS)
    assert tuned.results_["mean_score"].tolist() == other.results_["mean_score"].tolist()
    same(tuned.best_estimator_, other.best_estimator_)


def test_a_part_takes_what_it_knows_of_its_own_rows(folder, pool):
    many, queries = sparse.vstack([X] * 20, format="csr"), np.arange(8000) // 20
    packed = mm.pack(in_blocks(many, np.tile(Y, 20), queries), folder, "ranking")
    model = fitted(packed, max_passes=1, measure="roc_auc")
    same(fitted(packed, executor=pool, max_passes=2), fitted(many, np.tile(Y, 20), queries, max_passes=2))
    groups, levels, _ = model._queries(packed, None, None, None, reset=False)
    batch = model.task_.pack(groups, levels)
    part = batch.take(np.arange(200, 210))
    content = pickle.dumps(part)
    assert 4 * len(content) < len(pickle.dumps(batch))  # what is known of queries goes with both
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.planes(model.w_).loss, part.planes(model.w_).loss)
    np.testing.assert_array_equal(again.planes(model.w_).dpsi.toarray(), part.planes(model.w_).dpsi.toarray())


def test_what_is_not_offered_is_said(folder):
    packed = mm.pack(in_blocks(X, Y, QUERIES), folder, "ranking")
    for options, message in [
        ({"kernel": "rbf"}, "kernel is not available for packed rows"),
        ({"measure": "precision_at_k", "k": 3, "latent": True}, "pass start="),
    ]:
        with pytest.raises(ValueError, match=message):
            fitted(packed, **options)
    with pytest.raises(ValueError, match="leave out qid"):
        fitted(packed, None, QUERIES)
    with pytest.raises(ValueError, match="X has packed ranking; this estimator takes packed classes"):
        mm.MulticlassSVC().fit(packed)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ((X[:3], Y[:3]), r"example 5: expected a block \(X, y, qid\)"),
        ((X[:3], Y[:3], QUERIES[:2]), r"example 5: there are 3 rows but queries of shape \(2,\)"),
        ((X[:3], Y[:3], None), "example 5: the rows have no queries"),
        ((X[:3], Y[:3], [1, None, 2]), "example 6: the query is None"),
        ((X[:3], Y[:3], [1, 2, np.nan]), "example 7: the query is nan"),
        ((X[:3], [1, np.inf, 0], [1, 1, 1]), "example 6: the relevance is inf"),
        ((X[:3], ["a", "b", "c"], [1, 1, 1]), "example 5: the relevance of rows has the type .* expected numbers"),
        ((X[:3], Y[:3], [1, 1, 1], [1, -1, 1]), r"example 6 has the weight -1\.0"),
        ((X[:3], Y[:3], [1, 1, 1], [1, 1]), r"example 5: weights have shape \(2,\)"),
    ],
)
def test_errors_name_the_example_and_leave_nothing_behind(folder, block, message):
    with pytest.raises(ValueError, match=message):
        mm.pack([(X[:5], Y[:5], QUERIES[:5]), block], folder, "ranking")
    assert not any(folder.parent.iterdir())


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("levels", lambda a: changed(a, 3, np.nan), "levels are not finite"),
        ("levels", lambda a: a[1:], "array levels of float64 of length"),
        ("queries", lambda a: changed(a, 3, -1), "queries are not counted as they appear"),
        ("queries", lambda a: changed(a, 3, 2**60), "queries are not counted as they appear"),
        ("queries", lambda a: changed(a, 0, 1), "queries are not counted as they appear"),
        ("queries", lambda a: a.astype(np.int32), "array queries of int64"),
        ("queries", lambda a: None, "expected an array queries"),
        ("columns", lambda a: changed(a, 7, 2**31), "a column is not among the features"),
        ("ends", lambda a: changed(a, -1, a[-1] + 1), "ends do not end"),
    ],
)
def test_crafted_arrays_never_reach_compiled_code(folder, tmp_path, name, change, message):
    packed = mm.pack([(X[:40], Y[:40], QUERIES[:40])], folder, "ranking")
    spoiled = crafted(packed, tmp_path / "other", **{name: change(packed.folder.arrays[name])})
    with pytest.raises(ValueError, match=message):
        fitted(spoiled)


@given(st.data())
@examples(10, 40)
def test_whatever_is_accepted_can_be_trained_on(tmp_path_factory, data):
    base = tmp_path_factory.mktemp("folders")
    packed = mm.pack([(X[:20], Y[:20], QUERIES[:20])], base / "folder", "ranking")
    name = data.draw(st.sampled_from(["ends", "columns", "queries", "levels"]))
    array = spoiled_numbers(data, packed.folder.arrays[name])
    spoiled = crafted(packed, base / "other", **{name: array})
    try:
        fitted(spoiled, max_passes=1)
    except ValueError:
        return
