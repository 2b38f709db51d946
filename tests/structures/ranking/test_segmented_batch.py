from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import groups_of_rows, whole

from maxmargin.structures.ranking.group_task import GroupTask
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch


def segmented(X, levels, weights=None):
    """A task, and its groups by level."""
    task = GroupTask()
    task._set_rows(X)
    return task, task._segments(X, levels, weights)


@given(groups_of_rows(levels=(0, 1, 2)), st.data())
def test_rows_stand_in_segments_sorted_by_score(problem, data):
    """Of any groups in any order, some perhaps twice."""
    X, Y, w = problem
    batch = SegmentedBatch(*segmented(X, [y.astype(float) for y in Y]))
    index = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4)))
    part = batch.take(index)
    assert part.ids.tolist() == index.tolist()
    scored = part.scored(w)
    stacked, first = np.vstack(X), np.append(0, np.cumsum(list(map(len, X))))
    rows = batch.rows[scored.positions]
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
    batch = SegmentedBatch(*segmented(X, [y.astype(float) for y in Y]))
    index = np.array(data.draw(st.permutations(range(len(X)))))[: data.draw(st.integers(1, len(X)))]
    part = batch.take(index)
    scored = part.scored(w)
    coefficients = data.draw(whole(len(scored.scores), -1, 1))
    combined = part.combined(scored, coefficients)
    assert combined.shape == (len(index), 2)
    stacked = np.vstack(X)
    for j, row in enumerate(combined.toarray()):
        own = slice(scored.bounds[j], scored.bounds[j + 1])
        np.testing.assert_array_equal(row, coefficients[own] @ stacked[batch.rows[scored.positions[own]]])
    assert combined.indptr[-1] == np.count_nonzero(coefficients)


def test_weights_move_with_their_rows():
    _, packed = segmented([np.arange(12.0).reshape(6, 2)], [np.array([0.0, 2, 1, 0, 2, 1])], [np.arange(1.0, 7)])
    assert packed.rows.tolist() == [1, 4, 2, 5, 0, 3]
    assert packed.weights.tolist() == [2, 5, 3, 6, 1, 4]
    assert packed.starts.tolist() == [0, 2, 4]
