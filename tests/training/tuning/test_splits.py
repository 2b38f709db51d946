"""The data of some examples, against scikit-learn's cross-validation, which splits the same kinds of data."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from maxmargin.training.tuning.splits import examples_of, part_of, rows_of

NUMBERS = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("index", [[2, 0], np.array([2, 0]), (2, 0)])
def test_rows_keep_their_kind(index):
    np.testing.assert_array_equal(rows_of(NUMBERS, index), NUMBERS[[2, 0]])
    assert rows_of(list("abcd"), index) == ["c", "a"]
    table = rows_of(pd.DataFrame(NUMBERS, columns=list("xyz"), index=list("abcd")), index)
    assert list(table.index) == ["c", "a"]
    assert list(table.columns) == ["x", "y", "z"]
    rows = rows_of(sparse.csr_array(NUMBERS), index)
    assert sparse.issparse(rows)
    np.testing.assert_array_equal(rows.toarray(), NUMBERS[[2, 0]])
    assert rows_of(pd.Series([1, 2, 3, 4], index=list("abcd")), index).tolist() == [3, 1]


def test_masks_are_positions():
    mask = np.array([True, False, True, False])
    assert rows_of(list("abcd"), mask) == ["a", "c"]
    np.testing.assert_array_equal(rows_of(NUMBERS, mask), NUMBERS[[0, 2]])


def test_examples_have_inputs_and_outputs():
    X, y = examples_of(BaseEstimator(), list("abcd"), np.arange(4), np.array([3, 1]), None)
    assert X == ["d", "b"]
    assert y.tolist() == [3, 1]
    assert examples_of(BaseEstimator(), list("abcd"), None, np.array([3, 1]), None) == (["d", "b"], None)


def test_kernel_matrices_keep_the_columns_of_the_training_examples():
    K, train, test = np.arange(16.0).reshape(4, 4), np.array([0, 2]), np.array([1])
    kernel = SVC(kernel="precomputed")
    np.testing.assert_array_equal(examples_of(kernel, K, None, train, None)[0], K[np.ix_(train, train)])
    np.testing.assert_array_equal(examples_of(kernel, K, None, test, train)[0], K[np.ix_(test, train)])
    for wrong in (K[:, :3], K.tolist()):
        with pytest.raises(ValueError, match="X must be a square kernel matrix"):
            examples_of(kernel, wrong, None, train, None)


def test_only_what_has_an_entry_for_each_example_is_split():
    index = np.array([1, 3])
    assert part_of(list("abcd"), index, 4) == ["b", "d"]
    for whole in (3.0, "abcd", {"a": 1, "b": 2, "c": 3, "d": 4}, np.zeros(3), np.array(1.0), None):
        assert part_of(whole, index, 4) is whole
