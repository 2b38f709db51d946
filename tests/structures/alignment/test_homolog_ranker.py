import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from structures.alignment.families import LETTERS, families

from maxmargin import Aligner, HomologRanker
from maxmargin.tasks import Alignment, Homologs

X, Y = families()


@cache
def trained():
    return HomologRanker(alphabet=LETTERS, C=1.0).fit(X, Y)


@pytest.mark.parametrize(("slack", "solver"), [("l1", "bcfw"), ("l2", "bcfw"), ("l2", "n_slack"), ("l1", "one_slack")])
def test_finds_the_homolog(slack, solver):
    model = HomologRanker(alphabet=LETTERS, C=1.0, slack=slack, solver=solver).fit(X, Y)
    new, truth = families(30, seed=1)
    same = Aligner.from_matrix({(a, b): float(a == b) for a in LETTERS for b in LETTERS}, 1.0, 1.0, mode="local")
    assert model.score(new, truth) > HomologRanker.from_aligner(same).score(new, truth) + 0.2
    assert model.certificate_.converged


def test_predictions():
    found = trained().predict(X)
    scores = trained().decision_function(X)
    alignments = trained().predict_alignments(X)
    assert found.dtype == np.int64
    for x, k, values, alignment in zip(X, found, scores, alignments, strict=True):
        assert len(values) == len(x[1])
        assert k == np.argmax(values)
        assert alignment.lengths == (len(x[0]), len(x[1][k]))
        assert alignment == trained().aligner_.predict([(x[0], x[1][k])])[0]
        assert trained().aligner_.decision_function([(x[0], x[1][k])])[0] == pytest.approx(values[k])
    assert trained().score(X, Y) == np.mean([k == y.candidate for k, y in zip(found, Y, strict=True)])
    assert len(trained().predict([])) == 0


def test_numbers_of_candidates_may_differ():
    shorter = [(x[0], x[1][: y.candidate + 1]) for x, y in zip(X, Y, strict=True)]
    assert HomologRanker(alphabet=LETTERS).fit(shorter, Y).score(shorter, Y) > 0.8


def test_a_ranker_from_an_aligner():
    pairs = [(x[0], x[1][y.candidate]) for x, y in zip(X, Y, strict=True)]
    aligner = Aligner.from_log_odds(pairs, [y.alignment for y in Y], 0.2, 0.2, mode="local", gaps="linear")
    ranker = HomologRanker.from_aligner(aligner)
    assert ranker.score(X, Y) > 0.8
    assert (ranker.mode, ranker.gaps) == ("local", "linear")
    assert ranker.decision_function(X[:1])[0][0] == aligner.decision_function([(X[0][0], X[0][1][0])])[0]
    np.testing.assert_array_equal(ranker.weights_["residue × residue"], aligner.substitution_matrix_)
    with pytest.raises(ValueError, match="made without training and has no objective"):
        ranker.certify(X, Y)
    with pytest.raises(NotFittedError):
        HomologRanker.from_aligner(Aligner())
    assert trained().certify(X, Y).converged


def test_the_task_behind_it():
    assert isinstance(trained().task_, Homologs)
    assert isinstance(trained().task_.alignment_, Alignment)
    assert list(trained().weights_) == ["gaps", "residue × residue"]
    assert trained().top_weights("A", n=3) == trained().aligner_.top_weights("A", n=3)
    assert trained().weights_["gaps"]["open"] == trained().w_[0]


def test_copies():
    np.testing.assert_array_equal(clone(trained()).fit(X, Y).w_, trained().w_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(trained())).predict(X), trained().predict(X))
    assert cross_val_score(clone(trained()), X, Y, cv=2).shape == (2,)


def test_unfitted():
    model = HomologRanker()
    for call in (model.predict, model.predict_alignments, model.decision_function):
        with pytest.raises(NotFittedError):
            call(X)
    assert not hasattr(model, "aligner_")
    assert not hasattr(model, "weights_")


def test_the_homologs_may_be_named_without_their_alignments():
    numbers = [y[0] for y in Y]
    assert trained().score(X, numbers) == trained().score(X, np.array(numbers)) == trained().score(X, Y)
    wrong = [(k + 1) % len(x[1]) for x, k in zip(X, trained().predict(X), strict=True)]
    assert trained().score(X, wrong) == 0.0
    with pytest.raises(ValueError, match=r"Y\[0\] names candidate 99; example 0 has \d+ candidates"):
        trained().score(X[:1], [99])
    with pytest.raises(ValueError, match=r"Y\[1\] is float; expected \(number of the homolog"):
        trained().score(X[:2], [0, 0.5])
