import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.structures.ranking.folds import FEW, FOLDS, FOLDS_OF_FEW, deal_folds
from maxmargin.structures.ranking.groups import Groups


def sample_of(X):
    return Groups(X, np.arange(X.shape[0]), np.array([0, X.shape[0]]))


@pytest.mark.parametrize(
    ("positives", "n_folds"),
    [(1, None), (2, 2), (3, 3), (7, FOLDS_OF_FEW), (FEW - 1, FOLDS_OF_FEW), (FEW, FOLDS)],
)
def test_every_fold_has_its_share(positives, n_folds):
    truth = (np.arange(400) < positives).astype(float)
    fold = deal_folds(sample_of(np.random.default_rng(0).standard_normal((400, 3))), truth, 0)
    if n_folds is None:
        assert fold is None
        return
    assert fold.max() == n_folds - 1
    for kind in (0, 1):
        sizes = np.bincount(fold[truth == kind], minlength=n_folds)
        assert np.ptp(sizes) <= 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=4, max_size=20), st.integers(0, 5))
def test_equal_rows_stay_together(rows, seed):
    """However often they stand there, in whichever order, dense or sparse."""
    values, truth = np.array(rows, dtype=float).T
    X = np.column_stack([values, values**2 / 3, np.ones(len(values))])
    fold = deal_folds(sample_of(X), truth, seed)
    few = min(len(set(values[truth == kind])) for kind in (0, 1))
    assert (fold is None) == (few < 2)
    if fold is None:
        return
    assert len({*zip(rows, fold.tolist(), strict=True)}) == len(set(rows))
    np.testing.assert_array_equal(deal_folds(sample_of(sparse.csr_array(X)), truth, seed), fold)
    twice = np.tile(np.arange(len(values)), 2)[::-1]
    np.testing.assert_array_equal(deal_folds(sample_of(X[twice]), truth[twice], seed), fold[twice])
    weighted = Groups(X, twice, np.array([0, len(twice)]))
    np.testing.assert_array_equal(deal_folds(weighted, truth[twice], seed), fold[twice])
