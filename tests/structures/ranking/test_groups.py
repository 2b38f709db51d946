import numpy as np
import pytest
from scipy import sparse

from maxmargin.structures.ranking.groups import Groups, query_ids

MATRIX = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    "keys",
    [[7, 3, 7, 1, 3, 7], np.array(list("bxbaxb")), [2.5, 0, 2.5, -1, 0, 2.5], np.array(list("bxbaxb"), dtype="O")],
)
def test_rows_with_equal_keys(keys):
    groups, names = Groups.by(MATRIX, keys)
    assert [groups.members(g).tolist() for g in range(3)] == [[0, 2, 5], [1, 4], [3]]
    assert names.tolist() == [keys[0], keys[1], keys[3]]
    assert [part.tolist() for part in groups.of_rows(np.arange(6) * 10)] == [[0, 20, 50], [10, 40], [30]]
    np.testing.assert_array_equal(groups[1], MATRIX[[1, 4]])


def test_is_a_sequence_of_matrices():
    groups, _ = Groups.by(MATRIX, [0, 1, 0, 2, 1, 0])
    assert [part.shape for part in groups] == [(3, 2), (2, 2), (1, 2)]
    np.testing.assert_array_equal(groups[-1], MATRIX[[3]])
    with pytest.raises(IndexError):
        groups[3]


@pytest.mark.parametrize("kinds", [(np.asarray, np.asarray), (sparse.csr_array, np.asarray), (sparse.csr_matrix,) * 2])
def test_list_of_matrices(kinds):
    parts = [kind(part) for kind, part in zip(kinds, np.split(MATRIX, [2]), strict=True)]
    groups = Groups.of(parts)
    assert Groups.of(groups) is groups
    assert len(groups) == 2
    matrix = groups.matrix.toarray() if sparse.issparse(groups.matrix) else groups.matrix
    np.testing.assert_array_equal(matrix, MATRIX)
    assert groups.bounds.tolist() == [0, 2, 6]
    assert groups.sizes.tolist() == [2, 4]


def test_nested_lists_of_numbers():
    np.testing.assert_array_equal(Groups.of([[[1, 2], [3, 4]], [[5, 6]]]).matrix, [[1, 2], [3, 4], [5, 6]])


WRONG = [
    ([MATRIX, MATRIX[:, :1]], "group 1 has 1 columns; expected 2 as in group 0"),
    ([MATRIX, MATRIX[0]], r"group 1 has shape \(2,\); expected a matrix, a row per example"),
    (MATRIX, r"group 0 has shape \(2,\); expected a matrix"),
    ([3.0], r"group 0 has shape \(\); expected a matrix"),
]


@pytest.mark.parametrize(("parts", "message"), WRONG, ids=[case[1] for case in WRONG])
def test_what_is_no_list_of_matrices(parts, message):
    with pytest.raises(ValueError, match=message):
        Groups.of(parts)


def test_query_ids():
    assert query_ids(None, 3).tolist() == [0, 0, 0]
    assert query_ids(["a", "b"], 2).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"qid has shape \(2,\); expected \(3,\), the query of every row"):
        query_ids([1, 2], 3)


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, np.nan, 2], r"qid\[1\] is nan; every row must belong to a query"),
        (["a", "b", None], r"qid\[2\] is None; every row must belong to a query"),
        (np.array(["a", 1, 1], dtype=object), "qid mixes int and str; expected ids of one kind"),
    ],
)
def test_bad_query_ids(qid, message):
    with pytest.raises(ValueError, match=message):
        query_ids(qid, 3)
