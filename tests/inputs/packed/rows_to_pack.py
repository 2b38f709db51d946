"""Rows with classes, levels and queries, whole and in blocks."""

import numpy as np
from scipy import sparse


def rows(n=400, n_features=30, seed=0):
    """A sparse matrix with values of all kinds, some rows empty."""
    rng = np.random.default_rng(seed)
    return sparse.csr_array(rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.2))


def classes(X, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return np.argmax(X @ rng.normal(size=(X.shape[1], n_classes)) + 0.5 * rng.normal(size=(X.shape[0], n_classes)), 1)


def in_blocks(*arrays, at_once=77):
    """The same rows of all arrays, some at a time."""
    for first in range(0, arrays[0].shape[0], at_once):
        yield tuple(each[first : first + at_once] for each in arrays)


def same(model, other):
    """Trained to the same weights with the same proof, to the last bit."""
    np.testing.assert_array_equal(model.w_, other.w_)
    assert (model.certificate_.primal, model.certificate_.dual) == (other.certificate_.primal, other.certificate_.dual)
    assert model.n_features_in_ == other.n_features_in_
