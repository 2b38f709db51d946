"""Documents: how texts and counts are read. Errors of training data are in test_estimator.py."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from maxmargin.structures.diversity.documents import read, read_all
from maxmargin.tasks import Documents

FIELDS = [{"title": "Red apple", "body": "an apple"}, {"title": "", "body": "green tea"}]


def test_fields_share_their_words():
    counts = read(FIELDS)
    assert list(counts.fields) == ["body", "title"]
    assert counts.fields["body"].shape == counts.fields["title"].shape == (2, 5)  # an apple green red tea
    np.testing.assert_array_equal(counts.fields["title"].toarray(), [[0, 1, 0, 1, 0], [0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(counts.counts().toarray(), [[1, 2, 0, 1, 0], [0, 0, 1, 0, 1]])
    turned = read({name: counts.fields[name] for name in ("title", "body")})
    assert list(turned.fields) == ["body", "title"]
    assert len(counts) == 2
    assert counts.query is None
    assert counts.features.shape == (2, 0)
    assert counts.feature_names is None


def test_words_are_those_of_the_query_alone():
    one, other = read_all([["apple pie"], ["green tea pot"]])
    assert (one.counts().shape, other.counts().shape) == ((1, 2), (1, 3))


def test_query_in_words_of_the_documents():
    counts = read(Documents(["green tea", "red tea"], query="Tea tea and apples"))
    assert counts.query.tolist() == [2, 2]
    assert read(Documents(["green tea"], query="apples")).query.tolist() == []
    assert read(Documents(sparse.csr_array(np.eye(3)), query=[2, 0])).query.tolist() == [2, 0]


def test_features_of_a_table_have_names():
    counts = read(Documents(["green tea", "red tea"], features=pd.DataFrame({"rank": [1, 2], "age": [3.0, 4.0]})))
    assert counts.feature_names == ["rank", "age"]
    np.testing.assert_array_equal(counts.features, [[1, 3], [2, 4]])


def test_given_vectorizer_counts():
    counts = read(["the tea", "the pot"], CountVectorizer(stop_words=["the"]))
    assert counts.counts().shape == (2, 2)


def test_counts_are_copied_and_cleaned():
    matrix = sparse.csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 1, 0]), np.array([0, 3])), shape=(1, 2))
    counts = read(matrix).counts()
    assert (counts.nnz, counts.data.tolist()) == (1, [3.0])
    assert matrix.nnz == 3


def test_length_and_text():
    assert len(Documents(FIELDS)) == 2
    assert len(Documents({"title": sparse.csr_array(np.eye(3))})) == 3
    assert repr(Documents(["a", "b"], query="c")) == "Documents(2 documents, query='c')"
    counts = read(FIELDS)
    assert read(counts) is counts


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (Documents(["tea"], query=3), "the query is 3; expected a text, as the documents are texts"),
        (
            Documents(sparse.csr_array(np.eye(3)), query="tea"),
            "the query is 'tea'; expected the numbers of its words, from 0 to 2",
        ),
        (Documents(sparse.csr_array(np.eye(3)), query=[3]), r"the query is \[3\]; expected the numbers of its words"),
        (Documents(["tea"], features=[[1.0], [2.0]]), r"have shape \(2, 1\); expected \(1, F\), a row per document"),
        (Documents(["tea"], features=[["x"]]), r"the features of documents must be a \(1, F\) array of numbers"),
        (Documents(["tea"], features=[[np.nan]]), "feature 0 of document 0 is NaN"),
        (
            {"title": sparse.csr_array(np.eye(2)), "body": sparse.csr_array(np.eye(3))},
            r"'title' have shape \(2, 2\) but",
        ),
        ({"any": sparse.csr_array(np.eye(2))}, "a field is called 'any', which means all fields together"),
        ({"title": ["tea"]}, "field 'title' is of type list; expected a sparse matrix of counts of words"),
        ({}, "there are no fields"),
        ([{}], "document 0 has no fields; expected texts, or dicts with a text for each field"),
        (
            [*FIELDS, {"title": "tea"}],
            "document 2 has the fields title; expected the fields body, title as in document 0",
        ),
        ([*FIELDS, "tea"], "document 2 has no fields; expected the fields body, title as in document 0"),
        ("tea", "the documents are of type str; expected a list of texts"),
        (7, "the documents are of type int; expected a list of texts"),
        (sparse.csr_array((0, 3)), "there are no documents"),
    ],
    ids=range(16),
)
def test_bad_input(x, message):
    with pytest.raises(ValueError, match=message):
        read(x)


@pytest.mark.parametrize(
    "X", [7, "tea", Documents(["tea"]), {"title": "tea"}, sparse.csr_array(np.eye(2))], ids=range(5)
)
def test_one_query_is_not_a_list_of_queries(X):
    with pytest.raises(ValueError, match="expected a list of queries, each a list of documents"):
        read_all(X)
