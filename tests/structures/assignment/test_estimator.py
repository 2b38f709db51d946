"""Assigner: what it learns, measures, scikit-learn's rules."""

import pickle
from functools import cache

import numpy as np
import pytest
from estimators.problems import CHECKS_WITHOUT_DATA
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict

from maxmargin import Assigner
from maxmargin.metrics import link_f1_scorer, link_scores
from maxmargin.tasks import Frames


def moved(n_examples, seed=0):
    """Dots that move a little; one in five is lost, and some are new. Items are (x, y)."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n_examples):
        dots = rng.uniform(0, 10, (6, 2))
        kept = rng.random(6) < 0.8
        new = rng.uniform(0, 10, (int(rng.integers(0, 3)), 2))
        after = np.concatenate([dots[kept] + rng.normal(0, 0.3, (int(kept.sum()), 2)), new])
        order = rng.permutation(len(after))
        y = np.full(6, -1)
        y[kept] = np.argsort(order)[: int(kept.sum())]
        X.append((dots, after[order]))
        Y.append(y)
    return X, Y


def steps(rows, columns):
    distance = np.linalg.norm(rows[:, None] - columns[None], axis=2)
    return np.stack([-distance, -(distance**2) / 10], axis=2)


X, Y = moved(30)
NEW, TRUE = moved(30, seed=1)


@cache
def trained():
    return Assigner(features=steps, C=10).fit(X, Y)


def test_learns_to_track():
    assert trained().certificate_.converged
    assert trained().certificate_.exact
    assert trained().score(NEW, TRUE) > 0.9
    assert trained().score(NEW, TRUE) == link_scores(TRUE, trained().predict(NEW)).rows
    assert all(z.dtype == np.int64 and len(z) == 6 for z in trained().predict(NEW))


def test_arrays_and_functions_are_the_same():
    model = Assigner(C=10).fit([steps(*x) for x in X], Y)
    np.testing.assert_array_equal(model.w_, trained().w_)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_threads_and_formulations(n_jobs, rescaling):
    one = Assigner(steps, C=1, rescaling=rescaling).fit(X[:10], Y[:10])
    other = Assigner(steps, C=1, rescaling=rescaling, n_jobs=n_jobs).fit(X[:10], Y[:10])
    np.testing.assert_array_equal(one.w_, other.w_)


def test_features_of_what_stays_alone():
    """Dots near the border leave: without a feature that says so, none of them is known."""
    rng = np.random.default_rng(0)
    frames, labels = [], []
    for _ in range(20):
        border = rng.random(4) < 0.4
        frames.append(Frames(np.eye(4)[:, :, None] * 0.5, border[:, None].astype(float)))
        labels.append(np.where(border, -1, np.arange(4)))
    model = Assigner(C=100).fit(frames, labels)
    assert model.score(frames, labels) == 1
    assert model.weights_["rows alone"][0] > 0
    assert list(model.weights_) == ["pairs", "rows alone", "columns alone"]
    assert model.top_weights(n=1)[0].weight != 0


def test_empty_frames():
    none = trained().predict([(np.zeros((0, 2)), np.zeros((3, 2))), (np.zeros((2, 2)), np.zeros((0, 2)))])
    assert [z.tolist() for z in none] == [[], [-1, -1]]


def test_link_scores():
    scores = link_scores([[0, 1, -1], [1, -1]], [[0, 2, 1], [1, -1]])
    assert scores == pytest.approx((3 / 5, 2 / 4, 2 / 3, 4 / 7, 1 / 2))
    assert link_scores([[-1]], [[-1]]) == (1, 0, 0, 0, 1)
    for bad, message in (
        (([[0]], []), "There are 1 true assignments but 0 predicted"),
        (([], []), "no examples given"),
        (([[0, 1]], [[0]]), "The predicted assignment of example 0 has 1 columns; expected 2"),
    ):
        with pytest.raises(ValueError, match=message):
            link_scores(*bad)


def test_scikit_learn():
    search = GridSearchCV(Assigner(steps), {"C": [0.1, 10]}, scoring=link_f1_scorer, cv=2).fit(X, Y)
    assert search.best_score_ > 0.5
    assert len(cross_val_predict(trained(), X, Y, cv=2)) == 30
    assert clone(trained()).get_params()["C"] == 10
    with pytest.raises(NotFittedError):
        Assigner().predict(X)
    again = pickle.loads(pickle.dumps(trained()))
    np.testing.assert_array_equal(again.predict(NEW)[0], trained().predict(NEW)[0])


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_scikit_learn_checks(check):
    check("Assigner", Assigner())
