"""Features of tokens: rare ones left out, names replaced by hashes."""

import pickle

import numpy as np
import pytest

import maxmargin as mm


def tagged(n=12):
    """Sentences whose every word is a frequent one or stands in one of them only."""
    X = [[["bias", f"word={'the' if t % 2 else 'dog'}"], ["bias", f"word=rare{t}"]] for t in range(n)]
    return X, [["a" if t % 2 else "b", "b"] for t in range(n)]


def test_rare_features_have_no_weight():
    X, Y = tagged()
    model = mm.SequenceLabeler(C=10, min_count=2).fit(X, Y)
    assert model.weights_["features"].names[0] == ["bias", "word=dog", "word=the"]
    assert model.n_features_pruned_ == len(X)
    assert model.certificate_.converged
    plain = [[[a for a in token if "rare" not in a] for token in x] for x in X]
    same = mm.SequenceLabeler(C=10).fit(plain, Y)
    np.testing.assert_array_equal(model.w_, same.w_)
    assert model.predict(X) == same.predict(plain)
    assert same.n_features_pruned_ == 0


def test_min_count_that_leaves_nothing():
    X, Y = tagged()
    with pytest.raises(
        ValueError, match="min_count=100 leaves no feature: the most frequent of 15 features occurs in 24"
    ):
        mm.SequenceLabeler(min_count=100).fit(X, Y)


def test_hashed_features_are_learnt_as_named_ones():
    """Without collisions it is the same problem in other columns."""
    X, Y = tagged()
    named = mm.SequenceLabeler(C=10, tol=1e-6).fit(X, Y)
    hashed = mm.SequenceLabeler(C=10, tol=1e-6, hash_bits=12).fit(X, Y)
    assert np.isclose(named.certificate_.primal, hashed.certificate_.primal, rtol=1e-5)
    assert hashed.predict(X) == named.predict(X) == Y
    assert hashed.weights_["features"].shape == (4096, 2)
    assert hashed.top_weights("a", n=1)[0].name.startswith("features: feature=")
    again = pickle.loads(pickle.dumps(hashed))
    assert again.predict(X) == Y


def test_partial_fit_learns_new_words():
    X, Y = [[["word=old"]], [["word=other"]]], [["a"], ["b"]]
    new, tags = [[["word=new"]], [["word=newer"]]], [["b"], ["a"]]
    for hash_bits, right in ((None, 0.5), (10, 1.0)):
        model = mm.SequenceLabeler(solver="perceptron", hash_bits=hash_bits, classes=["a", "b"]).partial_fit(X, Y)
        length = len(model.w_)
        for _ in range(5):
            model.partial_fit(new, tags)
        assert model.score(new, tags) == right
        assert len(model.w_) == length


def test_options_are_parameters():
    model = mm.SequenceLabeler(min_count=3, hash_bits=8)
    assert model.get_params()["min_count"] == 3
    with pytest.raises(ValueError, match="give one of the two"):
        model.fit(*tagged())
    with pytest.raises(ValueError, match="it does not apply to matrices, which keep all their columns"):
        mm.SequenceLabeler(min_count=2).fit([np.eye(2)], [["a", "b"]])
