"""Weights of linear labelers: out and back, and what cannot be carried."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin import neural
from maxmargin.tasks import ChainScores, PaddedChains


def data():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((int(rng.integers(1, 5)), 3)) for _ in range(8)]
    return X, [["a" if row[0] > 0 else "b" for row in x] for x in X]


def test_weights_give_the_scores_of_the_model():
    X, Y = data()
    model = mm.SequenceLabeler(C=5.0, forbidden=[("b", None)]).fit(X, [[*y[:-1], "a"] for y in Y])
    weights = neural.LabelerWeights.of_labeler(model)
    assert np.isneginf(weights.end[1])
    lengths = [len(x) for x in X]
    unary = np.zeros((len(X), max(lengths), 2))
    for own, x in zip(unary, X, strict=True):
        own[: len(x)] = x @ weights.features
    found = PaddedChains.of_lengths(lengths, max(lengths), 2).best(ChainScores(unary, *weights[1:])).found
    assert [[model.classes_[k] for k in own if k >= 0] for own in found] == model.predict(X)


def test_out_and_back():
    X, Y = data()
    model = mm.SequenceLabeler(C=5.0).fit(X, Y)
    weights = neural.LabelerWeights.of_labeler(model)
    np.testing.assert_array_equal(weights.to_labeler(model).w_, model.w_)
    other = weights._replace(features=0 * weights.features).to_labeler(model)
    assert not np.array_equal(other.w_, model.w_)
    assert other.certify(X, Y).primal > model.certificate_.primal


def test_what_cannot_be_carried():
    X, Y = data()
    weights = neural.LabelerWeights.of_labeler(model := mm.SequenceLabeler(C=5.0).fit(X, Y))
    with pytest.raises(ValueError, match=r"the weights `start` have shape \(3,\); expected \(2,\)"):
        weights._replace(start=np.zeros(3)).to_labeler(model)
    with pytest.raises(ValueError, match="expected a fitted SequenceLabeler, got"):
        neural.LabelerWeights.of_labeler(mm.SequenceLabeler())
    with pytest.raises(ValueError, match="expected a SequenceLabeler with order=1"):
        neural.LabelerWeights.of_labeler(mm.SequenceLabeler(C=1.0, order=2).fit(X, Y))
