"""Diversifier: learning, orders, spellings of documents, bad input, scikit-learn's rules."""

import pickle
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from estimators.problems import CHECKS_WITHOUT_DATA
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks, get_tags
from structures.diversity.searches import searches

from maxmargin import Diversifier
from maxmargin.base.search import Search
from maxmargin.baselines import random_order, unweighted_words
from maxmargin.errors import NothingLearnt
from maxmargin.metrics import subtopic_loss, subtopic_recall
from maxmargin.tasks import Documents

X, Y = searches()
NEW, TRUTH = searches(20, seed=1)


@cache
def trained():
    return Diversifier(k=3, thresholds=(0.0, 0.06, 0.12, 0.5)).fit(X, Y)


def test_learns_which_words_matter():
    certificate = trained().certificate_
    assert certificate.converged
    assert (certificate.search, certificate.exact) == (Search.UNDERGENERATING, False)
    assert certificate.dual <= certificate.primal <= certificate.upper < np.inf
    loss = subtopic_loss(TRUTH, trained().rank(NEW, 3))
    assert 1 - trained().score(NEW, TRUTH) == pytest.approx(loss.mean())
    assert loss.mean() < subtopic_loss(TRUTH, [unweighted_words(x, 3) for x in NEW]).mean() - 0.2
    assert loss.mean() < subtopic_loss(TRUTH, [random_order(x, 3) for x in NEW]).mean() - 0.1
    rare, shared = trained().word_values([0.04, 0.15])
    assert shared > 5 * abs(rare)


def test_order_begins_with_the_prediction():
    for x, order, chosen in zip(NEW, trained().rank(NEW), trained().predict(NEW), strict=True):
        assert sorted(order.tolist()) == list(range(len(x)))
        assert order.dtype == np.int64
        assert chosen == order[:3].tolist()
    assert [order.tolist() for order in trained().rank(NEW, 2)] == [chosen[:2] for chosen in trained().predict(NEW)]
    assert trained().predict([]) == trained().rank([]) == []


def test_weights_have_names():
    names = trained().get_feature_names_out().tolist()
    assert names == ["text >= 0%", "text >= 6%", "text >= 12%", "text >= 50%"]
    assert trained().coef_.shape == (4,)
    np.testing.assert_allclose(trained().word_values([0.0, 0.06, 0.3, 1.0]), np.cumsum(trained().coef_))
    fields = searches(fields=True)
    model = Diversifier(k=3, thresholds=(0.0, 0.1), levels=["any", ("body", 2)]).fit(*fields)
    assert model.get_feature_names_out().tolist() == ["any >= 0%", "any >= 10%", "body 2× >= 0%", "body 2× >= 10%"]
    np.testing.assert_allclose(model.word_values([1.0], ("body", 2)), [model.coef_[2:].sum()])
    with pytest.raises(ValueError, match="the model has no level 'title'; expected one of any, body 2×"):
        model.word_values([0.5], "title")
    words = model.weights_["words"]
    assert list(model.weights_) == ["words"]
    assert (words.axes, words.names) == (("level", "share"), (["any", "body 2×"], [0.0, 0.1]))
    assert [words["any", 0.0], words["any", 0.1], words["body 2×", 0.0], words["body 2×", 0.1]] == model.coef_.tolist()
    top = model.top_weights("any", 1)[0]
    assert top.weight == max(model.coef_[:2], key=abs)
    assert top.name in ("words: level=any, share=0.0", "words: level=any, share=0.1")
    with pytest.raises(ValueError, match="no weight belongs to the label 'title'"):
        model.top_weights("title")


def test_counts_and_texts_train_the_same_model():
    counts = [CountVectorizer().fit_transform(x) for x in X]
    model = clone(trained()).fit(counts, Y)
    np.testing.assert_array_equal(model.w_, trained().w_)
    assert model.predict(counts) == trained().predict(X)
    assert model.predict(NEW) == trained().predict(NEW)
    boxed = clone(trained()).fit([Documents(x) for x in X], Y)
    np.testing.assert_array_equal(boxed.w_, trained().w_)


def test_fields_as_texts_and_as_counts():
    X, Y = searches(fields=True)
    model = Diversifier(k=3, thresholds=(0.0, 0.1)).fit(X, Y)
    assert model.get_feature_names_out().tolist() == ["body >= 0%", "body >= 10%", "title >= 0%", "title >= 10%"]
    counts = []
    for x in X:
        counter = CountVectorizer().fit([text for document in x for text in document.values()])
        counts.append({name: counter.transform([document[name] for document in x]) for name in ("title", "body")})
    np.testing.assert_array_equal(clone(model).fit(counts, Y).w_, model.w_)


@pytest.mark.parametrize(
    "vectorizer",
    [TfidfVectorizer(), HashingVectorizer(alternate_sign=False, norm=None), CountVectorizer(binary=True)],
    ids=lambda vectorizer: type(vectorizer).__name__,
)
def test_any_vectorizer(vectorizer):
    """What matters is which words a document contains, so that these count the same."""
    model = clone(trained()).set_params(vectorizer=vectorizer).fit(X, Y)
    np.testing.assert_allclose(model.w_, trained().w_)
    assert not hasattr(vectorizer, "vocabulary_")  # the user's own is not fitted


def test_features_of_documents():
    """A search engine that puts documents with a subtopic first is believed."""
    rng = np.random.default_rng(0)

    def seen(X, Y):
        return [
            Documents(x, features=np.array([[float(bool(s) != (rng.random() < 0.1))] for s in y]))
            for x, y in zip(X, Y, strict=True)
        ]

    model = clone(trained()).set_params(C=1.0).fit(seen(X, Y), Y)
    assert model.get_feature_names_out()[-1] == "document 0"
    assert model.coef_[-1] > 0
    assert model.weights_["documents"][0] == model.coef_[-1]
    assert sum(np.asarray(each).size for each in model.weights_.values()) == len(model.w_)
    with pytest.raises(ValueError, match="query 0 has 0 features per document; expected 1 as in training"):
        model.predict(NEW)


def test_features_of_documents_by_name():
    def ranked(X, name):
        return [Documents(x, features=pd.DataFrame({name: np.linspace(1, 0, len(x))})) for x in X]

    model = clone(trained()).fit(ranked(X, "rank"), Y)
    assert model.get_feature_names_out()[-1] == "document rank"
    assert model.weights_["documents"]["rank"] == model.coef_[-1]
    with pytest.raises(ValueError, match="query 0 has the document features age; expected rank as in training"):
        model.predict(ranked(NEW, "age"))
    plain = [Documents(x.documents, features=x.features.to_numpy()) for x in ranked(NEW, "rank")]
    assert model.predict(plain) == model.predict(ranked(NEW, "rank"))


def test_subtopic_weights():
    model = clone(trained()).set_params(subtopic_weights="equal").fit(X, Y)
    assert model.score(NEW, TRUTH) == pytest.approx(subtopic_recall(TRUTH, model.predict(NEW)).mean())
    assert trained().score(NEW, TRUTH) == pytest.approx(
        subtopic_recall(TRUTH, trained().predict(NEW), 3, "documents").mean()
    )


def test_empty_documents_cover_nothing_and_come_last():
    assert trained().task_.ranked(np.abs(trained().w_), [[*X[0], ""]])[0][-1] == len(X[0])
    assert clone(trained()).fit([["", *X[0]], *X[1:]], [[set(), *Y[0]], *Y[1:]]).certificate_.converged


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle", "subgradient", "perceptron"])
def test_every_solver_trains(solver):
    model = clone(trained()).set_params(solver=solver).fit(X, Y)
    assert model.score(X, Y) > subtopic_recall(Y, [unweighted_words(x, 3) for x in X], 3, "documents").mean()


@pytest.mark.parametrize(("rescaling", "slack"), [("slack", "l1"), ("margin", "l2"), ("slack", "l2")])
def test_every_formulation_trains(rescaling, slack):
    model = clone(trained()).set_params(rescaling=rescaling, slack=slack, max_passes=50).fit(X, Y)
    assert model.score(X, Y) > 0.5


def test_bounds_of_an_independent_run_hold():
    certificate = trained().certify(X, Y)
    assert certificate.dual <= trained().certificate_.upper
    assert trained().certificate_.dual <= certificate.upper


def test_path_and_warm_start():
    models = clone(trained()).fit_path(X, Y, [0.01, 0.1])
    assert [model.C for model in models] == [0.01, 0.1]
    assert models[1].certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.03)
    warm = clone(trained()).set_params(warm_start=True).fit(X, Y)
    passes = warm.certificate_.passes
    assert warm.fit(X, Y).certificate_.passes < passes


def test_threads_change_nothing():
    np.testing.assert_array_equal(clone(trained()).set_params(n_jobs=2).fit(X, Y).w_, trained().w_)


def test_nothing_learnt_is_said():
    """Where all documents have the same words, no set is better than another."""
    same = [["word"] * 4 for _ in range(3)]
    topics = [[{1}, {2}, {2}, set()]] * 3
    with pytest.warns(NothingLearnt, match="training ended at w = 0"):
        Diversifier(k=2).fit(same, topics)


# --- bad input

BAD_FITS = [
    (X, Y[:-1], {}, "X has 12 examples but Y has 11"),
    ([], [], {}, "no examples given"),
    (X, [Y[0][:-1], *Y[1:]], {}, "query 0 has 24 documents but 23 sets of subtopics; expected one per document"),
    (X, [*Y[:2], [set()] * 24, *Y[3:]], {}, "query 2: no document has a subtopic, .* leave this query out"),
    (X, [["t1"] * 24, *Y[1:]], {}, "query 0: the subtopics of document 0 are 't1'; expected a set"),
    (X, [[None] * 24, *Y[1:]], {}, "query 0: the subtopics of document 0 are None; expected a set"),
    (X, [[{None}] * 24, *Y[1:]], {}, "query 0: document 0 has the subtopic None; expected an empty set"),
    (X, [[[[1]]] * 24, *Y[1:]], {}, r"query 0: the subtopics of document 0 are \[\[1\]\]; expected hashable values"),
    (X, [dict(enumerate(Y[0])), *Y[1:]], {}, "query 0: the subtopics are of type dict; expected a list with a set"),
    (X, Y, {"k": 25}, "query 0 has 24 documents, but 25 are to be chosen; use a smaller k, leave"),
    ([*X[:3], X[3][:2], *X[4:]], [*Y[:3], Y[3][:2], *Y[4:]], {"k": 3}, "query 3 has 2 documents, but 3 are to be"),
    (X[0], Y[0], {}, "query 0: the documents are of type str; expected a list of texts"),
    ([[""] * 24, *X[1:]], Y, {}, "query 0: no document contains a word; expected at least one document with words"),
    ([[], *X[1:]], Y, {}, "query 0: there are no documents"),
    ([[*X[0][:-1], None], *X[1:]], Y, {}, r"query 0: document 23 contains None; expected a text \(an empty document"),
    ([[*X[0][:-1], {"title": "a"}], *X[1:]], Y, {}, "query 0: document 23 has the fields title; expected none as"),
    ([sparse.csr_array((24, 5)), *X[1:]], Y, {}, "query 0: no document contains a word; expected at least one"),
    (
        [sparse.csr_array(-np.ones((24, 5))), *X[1:]],
        Y,
        {},
        "query 0: the count of word 0 in field 'text' of document 0 is -1",
    ),
    (
        [sparse.csr_array(np.full((24, 5), np.nan)), *X[1:]],
        Y,
        {},
        "query 0: the count of word 0 .* is NaN or infinity; expected a finite number",
    ),
    (X, Y, {"vectorizer": HashingVectorizer()}, r"query 0: the count of word .*expected counts >= 0 \(use Hashing"),
    (X, Y, {"k": 0}, "k must be a whole number of documents, 1 or more, got 0"),
    (X, Y, {"k": 2.5}, "k must be a whole number of documents, 1 or more, got 2.5"),
    (X, Y, {"thresholds": ()}, r"thresholds are \(\); expected shares of documents, numbers from 0 to 1"),
    (X, Y, {"thresholds": (0.1, 15)}, r"thresholds are \(0.1, 15\); expected shares of documents"),
    (X, Y, {"thresholds": (0.2, 0.1)}, r"thresholds are \(0.2, 0.1\); expected strictly increasing numbers"),
    (X, Y, {"levels": "text"}, r"levels are 'text'; expected a list of fields, or of \(field, times\)"),
    (X, Y, {"levels": ["title"]}, "there is no level 'title'; expected one of 'any', 'text', or"),
    (X, Y, {"levels": [("text", 0)]}, r"the level \('text', 0\) asks for 0 times; expected a whole number, 1 or more"),
    (X, Y, {"levels": ["text", ("text", 1)]}, "expected different levels"),
    (X, Y, {"subtopic_weights": "size"}, "subtopic weights must be 'documents' or 'equal', got 'size'"),
    (X, Y, {"C": -1.0}, "C must be a positive number"),
]


@pytest.mark.parametrize(("X", "Y", "options", "message"), BAD_FITS, ids=range(len(BAD_FITS)))
def test_bad_input(X, Y, options, message):
    with pytest.raises(ValueError, match=message):
        Diversifier(**options).fit(X, Y)


def test_bad_input_when_predicting():
    for call in (trained().predict, trained().rank):
        with pytest.raises(ValueError, match="query 1 has the fields body, title; expected text as in training"):
            call([NEW[0], [{"title": "one", "body": "two"}] * 4])
        with pytest.raises(ValueError, match=re.escape("X is of type str; expected a list of queries")):
            call("jaguar")
    with pytest.raises(ValueError, match="query 1 has 2 documents, but 3 are to be chosen"):
        trained().predict([NEW[0], NEW[1][:2]])
    with pytest.raises(ValueError, match="query 0 has 24 documents, but 30 are to be chosen"):
        trained().rank(NEW, 30)
    with pytest.raises(ValueError, match="n must be a whole number of documents, 1 or more, got 0"):
        trained().rank(NEW, 0)


def test_unknown_option():
    with pytest.raises(TypeError, match="Diversifier has no parameter 'threshold'; it has k, thresholds, "):
        Diversifier(threshold=0.1)


# --- scikit-learn


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_checks_of_scikit_learn_that_need_no_data(check):
    check("Diversifier", Diversifier())


def test_default_constructible():
    estimator_checks.check_parameters_default_constructible("Diversifier", Diversifier())


def test_unfitted():
    model = Diversifier()
    for call in (model.predict, model.rank, model.word_values):
        with pytest.raises(NotFittedError):
            call(X)
    for name in ("coef_", "weights_"):
        assert not hasattr(model, name)


def test_pickled_model_predicts_the_same():
    copy = pickle.loads(pickle.dumps(trained()))
    assert copy.predict(NEW) == trained().predict(NEW)


def test_model_selection():
    search = GridSearchCV(clone(trained()), {"C": [0.001, 0.1], "k": [2, 3]}, cv=3)
    assert search.fit(X, Y).best_params_["k"] == 3  # which cover more
    assert len(cross_val_score(clone(trained()), X, Y, cv=3)) == 3


def test_tags():
    tags = get_tags(Diversifier())
    assert tags.target_tags.required
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array


def test_a_query_without_words_keeps_its_order():
    assert trained().predict([["", "", "", ""], NEW[0]])[0] == [0, 1, 2]
    assert trained().rank([["", "", "", ""]])[0].tolist() == [0, 1, 2, 3]


def test_a_vectorizer_that_is_none():
    with pytest.raises(ValueError, match="vectorizer is 'tfidf'; expected one of scikit-learn's"):
        Diversifier(vectorizer="tfidf").fit([["a b", "c"] * 3], [[{1}] * 6])
