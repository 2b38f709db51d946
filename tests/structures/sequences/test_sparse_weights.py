"""Models without their small weights."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.base.pickled_weights import PickledWeights
from maxmargin.structures.sequences.sparse_weights import sparse_weights
from maxmargin.tasks import Chain


def tagged(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        words = rng.integers(0, 30, size=int(rng.integers(2, 6)))
        X.append([["bias", f"word={w}", f"noise={rng.integers(50)}"] for w in words])
        Y.append([["a", "b", "c"][w % 3] for w in words])
    return X, Y


def changed(model, other, X):
    pairs = [(a, b) for x, z in zip(model.predict(X), other.predict(X), strict=True) for a, b in zip(x, z, strict=True)]
    return sum(a != b for a, b in pairs), len(pairs)


@pytest.mark.parametrize("loss", [0.0, 0.05, 1.0])
def test_predictions_change_no_more_than_said(loss):
    X, Y = tagged()
    model = mm.SequenceLabeler(C=10).fit(X, Y)
    before = model.w_.copy()
    sparse = model.sparsify(X, loss=loss)
    different, positions = changed(model, sparse, X)
    assert different <= loss * positions
    assert sparse.n_weights_ == np.count_nonzero(sparse.w_) < model.n_weights_
    np.testing.assert_array_equal(model.w_, before)
    kept = sparse.w_ != 0
    np.testing.assert_array_equal(sparse.w_[kept], model.w_[kept])
    if kept.any():  # the smallest go first
        assert np.abs(model.w_[~kept]).max() <= np.abs(model.w_[kept]).min()
    if loss == 1.0:
        assert sparse.n_weights_ == 0


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.4]), st.sampled_from([1e-8, 1.0, 1e8]))
def test_one_weight_more_is_too_much(seed, loss, scale):
    """By the definition, with predictions of the task itself: bisection ends at a step from allowed to not allowed."""
    rng = np.random.default_rng(seed)
    X = [rng.integers(-2, 3, size=(int(rng.integers(1, 4)), 3)).astype(float) for _ in range(4)]
    task = Chain()
    task.setup(X, [[["a", "b"][(i + t) % 2] for t in range(len(x))] for i, x in enumerate(X)])
    w = scale * rng.integers(-3, 4, size=task.dim)
    labels = [label for y in task.decode(w, X) for label in y]
    order = np.argsort(np.abs(w), kind="stable")

    def allowed(n):
        tried = w.copy()
        tried[order[:n]] = 0.0
        found = [label for y in task.decode(tried, X) for label in y]
        return sum(a != b for a, b in zip(found, labels, strict=True)) <= loss * len(labels)

    found = sparse_weights(task, w, X, loss)
    n = int(np.sum(found == 0))
    assert allowed(n)
    assert n == len(w) or not allowed(n + 1)


def test_pickles_are_small():
    X, Y = tagged(200)
    model = mm.SequenceLabeler(C=10).fit(X, Y)
    sparse = model.sparsify(X, loss=0.3)
    text = pickle.dumps(sparse)
    assert len(text) < len(pickle.dumps(model))
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.w_, sparse.w_)
    assert again.solution_.w is again.w_
    assert again.predict(X) == sparse.predict(X)
    assert again.n_weights_ == sparse.n_weights_


@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0, np.inf]), max_size=20))
def test_pickled_weights(numbers):
    w = np.array(numbers)
    packed = PickledWeights.of(w)
    again = packed.unpacked() if isinstance(packed, PickledWeights) else packed
    np.testing.assert_array_equal(again, w)


def test_the_certificate_does_not_speak_of_the_sparse_model():
    X, Y = tagged()
    model = mm.SequenceLabeler(C=10).fit(X, Y)
    sparse = model.sparsify(X)
    assert np.isnan(sparse.certificate_.primal)
    assert not sparse.certificate_.converged
    assert f"{sparse.n_weights_} of {model.n_weights_} weights kept, not measured since" in str(sparse.certificate_)
    assert model.certificate_.converged
    certificate = sparse.certify(X, Y)
    assert certificate.primal >= model.certificate_.dual
    calibrated = model.calibrate_on(X, Y).sparsify(X)
    assert not calibrated.calibrated_


def test_after_sparsify_a_solver_does_not_go_on_with_the_old_weights():
    X, Y = tagged()
    model = mm.SequenceLabeler(solver="perceptron").partial_fit(X, Y)
    with pytest.raises(ValueError, match="partial_fit cannot continue"):
        model.sparsify(X).partial_fit(X, Y)


def test_what_is_refused():
    X, Y = tagged()
    model = mm.SequenceLabeler(C=10).fit(X, Y)
    for loss in (-0.1, 1.5, "some", np.nan):
        with pytest.raises(ValueError, match="loss must be a share of positions"):
            model.sparsify(X, loss=loss)
    with pytest.raises(ValueError, match="no positions given, so it"):
        model.sparsify([])
    with pytest.raises(ValueError, match="with a kernel does not have"):
        mm.SequenceLabeler(kernel="rbf").fit([np.eye(2)], [["a", "b"]]).sparsify([np.eye(2)])
