import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from maxmargin.formats import iterate_svmlight, read_multilabel_svmlight, read_svmlight, write_svmlight

LETOR = "2 qid:10 1:0.5 3:-1 #docid = GX1 inc = 1\n\n# a comment\n0 qid:10 2:1\n1 qid:12 1:4 3:1e-3\n"


def test_a_letor_file(tmp_path):
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress(LETOR.encode()))
    X, y, qid = read_svmlight(path)
    assert X.toarray().tolist() == [[0.5, 0, -1], [0, 1, 0], [4, 0, 1e-3]]
    assert (y.tolist(), qid.tolist()) == ([2, 0, 1], [10, 10, 12])
    assert read_svmlight(path, n_features=7).X.shape == (3, 7)
    assert read_svmlight(path, zero_based=True).X.toarray()[:, 0].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 1:2\n1 1:2 foo\n", "line 2: 'foo' is not a feature; expected its number and its value, 3:0.5"),
        ("#\n1 3:1 2:1\n", "line 2: the feature 2 comes after 3; expected rising numbers, each once"),
        ("1 qid:a 2:1\n", "line 1: the query is 'qid:a'; expected a whole number, qid:7"),
        ("1 qid:1 2:1\n\n# u\n1 2:1\n", "text, line 4: the row has no qid, but others have one"),
        ("1 1:1 # qid:3\n1 qid:2 1:1\n", "text, line 2: the row has a qid, but others have none"),
        ("1 2:1\n\n#\n \n1 2:nan\n", "line 5: the row has a feature that is not a finite number"),
        ("1 2:1\n\nnan 2:3\n", "line 3: the row has a label that is not a finite number"),
        ("x 2:1\n", "line 1: the label is 'x'; expected a number"),
        ("1 2:1\n\n1 0:3\n", "line 3: the row has a feature 0; expected numbers from 1 on, or zero_based=True"),
        ("1 -2:1\n", "line 1: '-2:1' has a number that no feature can have"),
        ("1 99999999999:3\n", "line 1: '99999999999:3' has a number that no feature can have"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text, complaint):
    with pytest.raises(ValueError, match=complaint.replace("(", r"\(")):
        read_svmlight(io.StringIO(text))


def test_too_many_features():
    with pytest.raises(ValueError, match="line 3: the row has the feature 5; expected at most 4 features"):
        read_svmlight(io.StringIO("1 1:1\n\n1 2:2 5:1\n"), n_features=4)


numbers = st.floats(-1e100, 1e100)


@given(st.lists(st.tuples(numbers, st.dictionaries(st.integers(0, 5), numbers)), min_size=1, max_size=6), st.booleans())
def test_what_scikit_learn_writes_is_read(rows, queries):
    X = np.zeros((len(rows), 6))
    for i, (_, features) in enumerate(rows):
        X[i, list(features)] = list(features.values())
    y, qid = np.array([label for label, _ in rows]), np.arange(len(rows)) // 2
    file = io.BytesIO()
    dump_svmlight_file(
        sparse.csr_matrix(X), y, file, zero_based=False, query_id=qid if queries else None, comment="a\nb"
    )
    text = file.getvalue().decode()
    read = read_svmlight(io.StringIO(text), n_features=6)
    assert np.allclose(read.X.toarray(), X, rtol=1e-14)
    assert np.allclose(read.y, y, rtol=1e-14)
    assert (read.qid is None) != queries
    parts = list(iterate_svmlight(io.StringIO(text), 6, at_once=2))
    assert (np.vstack([part.X.toarray() for part in parts]) == read.X.toarray()).all()
    assert (np.concatenate([part.y for part in parts]) == read.y).all()
    if queries:
        assert (np.concatenate([part.qid for part in parts]) == qid).all()


@given(st.lists(st.sampled_from([*" \t\n0123:#x.-e", "qid:", "1 ", "2:3"]), max_size=30).map("".join))
def test_any_text_is_read_or_refused_with_its_line(text):
    complaint = ""
    try:
        X, y, qid = read_svmlight(io.StringIO(text))
    except ValueError as error:
        complaint = str(error)
    if complaint:
        assert "the text, line " in complaint
    else:
        assert X.shape[0] == len(y)
        assert qid is None or len(qid) == len(y)
        assert np.isfinite(X.data).all()


@given(
    st.lists(st.tuples(numbers, st.dictionaries(st.integers(0, 5), numbers)), max_size=6), st.booleans(), st.booleans()
)
def test_what_is_written_is_read(rows, queries, zero_based):
    X = np.zeros((len(rows), 6))
    for i, (_, features) in enumerate(rows):
        X[i, list(features)] = list(features.values())
    y, qid = [label for label, _ in rows], [i // 2 for i in range(len(rows))]
    file = io.StringIO()
    write_svmlight(file, X, y, qid if queries else None, zero_based)
    found = read_svmlight(io.StringIO(file.getvalue()), 6, zero_based)
    assert (found.X.toarray() == X).all()
    assert found.y.tolist() == y
    assert not queries or not rows or found.qid.tolist() == qid


@given(st.lists(st.tuples(st.sets(st.integers(-3, 3)), st.dictionaries(st.integers(0, 3), numbers)), max_size=6))
def test_rows_may_have_any_number_of_labels(rows):
    X = np.zeros((len(rows), 4))
    for i, (_, features) in enumerate(rows):
        X[i, list(features)] = list(features.values())
    keep = [i for i, (labels, _) in enumerate(rows) if labels or X[i].any()]  # others are empty lines
    file = io.StringIO()
    write_svmlight(file, X[keep], [sorted(rows[i][0]) for i in keep])
    found = read_multilabel_svmlight(io.StringIO(file.getvalue()), 4)
    assert (found.X.toarray() == X[keep]).all()
    assert found.labels == [str(label) for label in sorted({label for i in keep for label in rows[i][0]})]
    for i, row in zip(keep, found.Y, strict=True):
        assert {int(found.labels[k]) for k in np.flatnonzero(row)} == rows[i][0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1,x 2:1\n", "line 1: a label is 'x'; expected numbers with commas between them"),
        ("1 2:1\n1, 2:1\n", "line 2: a label is ''; expected numbers with commas between them"),
        ("1 2:1\n1,inf 2:1\n", "line 2: the row has a label that is not a finite number"),
        ("1 2:1\n2:x\n", "line 2: '2:x' is not a feature"),
    ],
)
def test_what_is_wrong_with_many_labels(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        read_multilabel_svmlight(io.StringIO(text))


def test_what_cannot_be_written():
    for X, y, complaint in (
        (np.eye(2), ["a", 1], "a label is 'a'"),
        (np.eye(2), [1], "rows, but there are 1 labels"),
        (np.full((1, 1), np.inf), [1], "not finite"),
    ):
        with pytest.raises(ValueError, match=complaint):
            write_svmlight(io.StringIO(), X, y)
