"""An earlier model as the prior of a new one, with new features and new labels."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import maxmargin as mm

OLD_X = [[["bias", "word=the"], ["bias", "word=dog"]], [["bias", "word=a"], ["bias", "word=cat"]]]
OLD_Y = [["D", "N"], ["D", "N"]]
NEW_X = [[["bias", "word=the"], ["bias", "word=quick"], ["bias", "word=dog"]]]
NEW_Y = [["D", "A", "N"]]


def test_weights_are_drawn_to_those_of_the_same_names():
    """The same problem with everything named beforehand and the prior written out has the same optimum."""
    old = mm.SequenceLabeler(C=10, tol=1e-8).fit(OLD_X, OLD_Y)
    new = mm.SequenceLabeler(C=3, prior=old, tol=1e-8).fit(NEW_X, NEW_Y)
    names = [*old.weights_["features"].names[0], "word=quick"]
    assert new.weights_["features"].names[0] == names
    assert new.classes_ == ["A", "D", "N"]
    packed = [np.array([[float(name in token) for name in names] for token in x]) for x in NEW_X]
    parts = {kind: np.zeros(weights.shape) for kind, weights in new.weights_.items()}
    for kind, weights in old.weights_.items():
        rows = [slice(0, 5), [1, 2]] if kind == "features" else [[1, 2]] * len(weights.shape)
        if kind == "features":
            parts[kind][:5, [1, 2]] = weights.values
        else:
            parts[kind][np.ix_(*rows)] = weights.values
    twin = mm.SequenceLabeler(C=3, prior=parts, tol=1e-8).fit(packed, NEW_Y)
    assert np.isclose(new.certificate_.primal, twin.certificate_.primal, rtol=1e-6)
    np.testing.assert_allclose(new.w_, twin.w_, atol=1e-3)
    assert new.certificate_.converged


def test_what_new_sentences_do_not_speak_of_stays():
    old = mm.SequenceLabeler(C=10).fit(OLD_X, OLD_Y)
    new = mm.SequenceLabeler(C=3, prior=old).fit(NEW_X, NEW_Y)
    for label in ("D", "N"):
        assert new.weights_["features"]["word=cat", label] == old.weights_["features"]["word=cat", label]
    assert new.predict(OLD_X) == OLD_Y
    assert new.predict(NEW_X) == NEW_Y
    same = mm.SequenceLabeler(C=1e-9, prior=old).fit(OLD_X, OLD_Y)
    np.testing.assert_allclose(same.w_, old.w_, atol=1e-7)


def test_rare_new_features_are_left_out_and_old_ones_kept():
    old = mm.SequenceLabeler(C=10).fit(OLD_X, OLD_Y)
    new = mm.SequenceLabeler(C=3, prior=old, min_count=2).fit(NEW_X, NEW_Y)
    assert new.weights_["features"].names[0] == old.weights_["features"].names[0]
    assert new.n_features_pruned_ == 1


def test_hashed_features_and_matrices():
    old = mm.SequenceLabeler(C=10, hash_bits=8).fit(OLD_X, OLD_Y)
    new = mm.SequenceLabeler(C=3, hash_bits=8, prior=old).fit(NEW_X, NEW_Y)
    assert new.predict(OLD_X) == OLD_Y
    X = [np.eye(3)]
    old = mm.SequenceLabeler(C=10).fit(X, [["a", "b", "a"]])
    new = mm.SequenceLabeler(C=3, prior=old).fit(X, [["a", "c", "a"]])
    assert new.classes_ == ["a", "b", "c"]
    assert new.predict(X) == [["a", "c", "a"]]


def test_clones_copies_and_pickles_keep_the_prior():
    old = mm.SequenceLabeler(C=10).fit(OLD_X, OLD_Y)
    new = mm.SequenceLabeler(C=3, prior=old)
    assert clone(new).prior is old
    new.fit(NEW_X, NEW_Y)
    for again in (clone(new).fit(NEW_X, NEW_Y), pickle.loads(pickle.dumps(new))):
        np.testing.assert_array_equal(again.w_, new.w_)
    certificate = new.certify(NEW_X, NEW_Y)
    assert certificate.converged
    assert [m.predict(NEW_X) for m in new.fit_path(NEW_X, NEW_Y, [3, 30])] == [NEW_Y] * 2


def test_what_does_not_fit_is_refused():
    old = mm.SequenceLabeler(C=10).fit(OLD_X, OLD_Y)
    for model, X, Y, message in (
        (
            mm.SequenceLabeler(prior=old),
            [np.eye(2)],
            [["D", "N"]],
            "named features of tokens, the sequences have columns",
        ),
        (mm.SequenceLabeler(prior=old, hash_bits=8), NEW_X, NEW_Y, "the sequences have hashed features"),
        (mm.SequenceLabeler(prior=old, classes=["A", "D"]), NEW_X, [["D", "A", "A"]], "classes leaves out 'N'"),
        (mm.SequenceLabeler(prior=old, kernel="rbf"), NEW_X, NEW_Y, "with a kernel does not have"),
        (mm.SequenceLabeler(prior=mm.SequenceLabeler()), NEW_X, NEW_Y, "not fitted yet"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y)
    hashed = mm.SequenceLabeler(C=10, hash_bits=8).fit(OLD_X, OLD_Y)
    with pytest.raises(ValueError, match="there are 512 features; expected 256"):
        mm.SequenceLabeler(prior=hashed, hash_bits=9).fit(NEW_X, NEW_Y)
