from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import groups_of_rows, whole

from maxmargin.structures.ranking.groups import (
    Groups,
    GroupTask,
    WeightedRows,
    levels_and_weights,
    pack_groups,
    query_ids,
)

MATRIX = np.arange(12.0).reshape(6, 2)


def packed(X, levels, weights):
    task = GroupTask()
    task._set_rows(X)
    return pack_groups(task, X, levels, weights)


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


def test_levels_and_weights():
    X = [MATRIX[:2], MATRIX[2:]]
    levels, weights = levels_and_weights(X, [[0, 1], (1, 1, 0, 2)], "query")
    assert [each.tolist() for each in levels] == [[0, 1], [1, 1, 0, 2]]
    assert weights is None
    levels, weights = levels_and_weights(X, [WeightedRows([0, 1], [2, 3]), [1, 1, 0, 2]], "query")
    assert [each.tolist() for each in levels] == [[0, 1], [1, 1, 0, 2]]
    assert [each.tolist() for each in weights] == [[2, 3], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 1], r"query 0 has 2 rows but labels of shape \(3,\); expected \(2,\)"),
        (1, r"query 0 has 2 rows but labels of shape \(\); expected \(2,\)"),
        ([0, np.nan], "query 0, row 1: the label is nan; expected a finite number"),
        (WeightedRows([0, 1], [1]), r"query 0 has 2 rows but weights of shape \(1,\); expected \(2,\)"),
        (WeightedRows([0, 1], [1, 0]), "query 0, row 1: the weight is 0.0; expected a positive finite number"),
        (WeightedRows([0, 1], [np.inf, 1]), "query 0, row 0: the weight is inf; expected a positive finite number"),
    ],
)
def test_labels_that_cannot_be_used(labels, message):
    with pytest.raises(ValueError, match=message):
        levels_and_weights([MATRIX[:2]], [labels], "query")


# --- batches


@given(groups_of_rows(levels=(0, 1, 2)), st.data())
def test_rows_stand_in_segments_sorted_by_score(problem, data):
    """Of any groups in any order, some perhaps twice."""
    X, Y, w = problem
    batch = packed(X, [y.astype(float) for y in Y], None)
    index = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4)))
    part = batch.take(index)
    assert part.ids.tolist() == index.tolist()
    scored = part.scored(w)
    stacked, first = np.vstack(X), np.append(0, np.cumsum(list(map(len, X))))
    rows = batch.rows[scored.places]
    np.testing.assert_allclose(scored.scores, stacked[rows] @ w, atol=1e-12)
    for j, g in enumerate(index):
        own = slice(scored.bounds[j], scored.bounds[j + 1])
        assert sorted(rows[own]) == list(range(first[g], first[g + 1]))
        levels = Y[g][rows[own] - first[g]]
        assert (np.diff(levels) <= 0).all()
        begins = scored.segment_bounds[scored.segments[j] : scored.segments[j + 1] + 1]
        assert begins[0] == own.start
        assert begins[-1] == own.stop
        assert len(begins) - 1 == len(set(Y[g]))
        for begin, end in pairwise(begins):
            assert len(set(levels[begin - own.start : end - own.start])) == 1
            assert (np.diff(scored.scores[begin:end]) <= 0).all()


@given(groups_of_rows(levels=(0, 1, 2)), st.data())
def test_combinations_of_rows(problem, data):
    X, Y, w = problem
    batch = packed(X, [y.astype(float) for y in Y], None)
    index = np.array(data.draw(st.permutations(range(len(X)))))[: data.draw(st.integers(1, len(X)))]
    part = batch.take(index)
    scored = part.scored(w)
    coefficients = data.draw(whole(len(scored.scores), -1, 1))
    combined = part.combined(scored, coefficients)
    assert combined.shape == (len(index), 2)
    stacked = np.vstack(X)
    for j, row in enumerate(combined.toarray()):
        own = slice(scored.bounds[j], scored.bounds[j + 1])
        np.testing.assert_array_equal(row, coefficients[own] @ stacked[batch.rows[scored.places[own]]])
    assert combined.indptr[-1] == np.count_nonzero(coefficients)


def test_weights_move_with_their_rows():
    batch = packed([MATRIX], [np.array([0.0, 2, 1, 0, 2, 1])], [np.arange(1.0, 7)])
    assert batch.rows.tolist() == [1, 4, 2, 5, 0, 3]
    assert batch.weights.tolist() == [2, 5, 3, 6, 1, 4]
    assert batch.segment_bounds.tolist() == [0, 2, 4]


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
