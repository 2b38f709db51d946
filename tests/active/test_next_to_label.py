"""Which sequences to label next: against the definitions, written out, and on a pool of near copies."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.active import next_to_label
from maxmargin.base.errors import Uncalibrated

WORDS = ["the", "a", "dog", "cat", "sleeps", "barks", "or", "not"]


def sentence(words):
    return [[f"w={word}", "bias"] for word in words]


@cache
def models():
    X = [sentence(words.split()) for words in ("the dog sleeps", "a cat barks", "the cat sleeps", "a dog barks")]
    Y = [["D", "N", "V"]] * 4
    probable = mm.SequenceLabeler(C=10, objective="likelihood").fit(X, Y)
    others = [mm.SequenceLabeler(C=10).fit(X[k : k + 2], Y[k : k + 2]) for k in range(3)]
    return probable, others


POOLS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=8)


def entropy_by_enumeration(model, x):
    """Return the entropy of all outputs, whose scores the list of the n best has."""
    scores = np.array([score for _, score in model.predict_nbest([x], 3 ** len(x))[0]])
    p = np.exp(scores - scores.max())
    p /= p.sum()
    return -float(p @ np.log(p))


def margin_by_enumeration(model, x):
    scores = sorted(score for _, score in model.predict_nbest([x], 3 ** len(x))[0])
    return scores[-1] - scores[-2]


@given(POOLS, st.integers(1, 9))
def test_the_most_uncertain_come_first(pool, n):
    model = models()[0]
    X = [sentence(words) for words in pool]
    for by, value in (("entropy", entropy_by_enumeration), ("margin", lambda *xs: -margin_by_enumeration(*xs))):
        chosen = next_to_label(model, X, n, by=by, diverse=False)
        values = np.array([value(model, x) for x in X])
        assert len(chosen) == len(set(chosen.tolist())) == min(n, len(X))
        np.testing.assert_allclose(values[chosen], np.sort(values)[::-1][:n], atol=1e-9)


@given(POOLS)
def test_a_committee_that_disagrees_most(pool):
    committee = models()[1]
    X = [sentence(words) for words in pool]
    chosen = next_to_label(committee, X, len(X), by="committee", diverse=False)
    votes = [[model.predict([x])[0] for model in committee] for x in X]
    values = []
    for each in votes:
        counts = [[labels.count(label) / 3 for label in set(labels)] for labels in zip(*each, strict=True)]
        values.append(sum(-p * np.log(p) for shares in counts for p in shares))
    np.testing.assert_allclose(np.array(values)[chosen], np.sort(values)[::-1], atol=1e-12)


def directions_by_hand(pool, known):
    often = {word: sum(word in words for words in pool) for word in known}
    rows = []
    for words in pool:
        row = np.array([words.count(word) * np.log((1 + len(pool)) / (1 + often[word])) for word in known])
        rows.append(row / (np.linalg.norm(row) or 1.0))
    return np.array(rows)


@given(POOLS, st.integers(1, 8))
def test_a_diverse_choice_is_greedy(pool, n):
    """The twin of the greedy choice, with dense rows of the words that training has seen."""
    model = models()[0]
    X = [sentence(words) for words in pool]
    chosen = next_to_label(model, X, n, by="entropy")
    rows, values = directions_by_hand(pool, WORDS[:6]), model.entropy(X)
    taken = []
    for j in chosen:
        worth = {
            i: values[i] * min([1.0, *(np.clip(1 - rows[i] @ rows[k], 0, 1) for k in taken)])
            for i in range(len(X))
            if i not in taken
        }
        assert worth[j] == pytest.approx(max(worth.values()), abs=1e-9)
        taken.append(int(j))


def test_copies_are_not_chosen_twice():
    model = models()[0]
    pool = [["or", "the", "not"]] * 5 + [["cat", "cat"]] * 5
    plain = next_to_label(model, [sentence(words) for words in pool], 2, by="entropy", diverse=False)
    diverse = next_to_label(model, [sentence(words) for words in pool], 2, by="entropy")
    assert len({i // 5 for i in plain.tolist()}) == 1
    assert len({i // 5 for i in diverse.tolist()}) == 2


def test_matrices_and_empty_sequences():
    X, Y, pool, _ = mm.datasets.digit_strings(n_train=8, n_test=12)
    model = mm.SequenceLabeler(C=10).fit(X, Y)
    assert len(set(next_to_label(model, pool, 5).tolist())) == 5
    chosen = next_to_label(models()[0], [[], sentence(["or"]), []], 3, by="entropy")
    assert chosen[0] == 1
    assert sorted(chosen.tolist()) == [0, 1, 2]
    assert next_to_label(models()[0], [], 3).tolist() == []


def test_uncalibrated_probabilities_are_said():
    with pytest.warns(Uncalibrated):
        next_to_label(models()[1][0], [sentence(["or"])], 1, by="entropy")


def test_bad_input():
    model, committee = models()
    X = [sentence(["or"])]
    with pytest.raises(ValueError, match="by must be 'margin', 'entropy' or 'committee', got 'luck'"):
        next_to_label(model, X, 1, by="luck")
    with pytest.raises(ValueError, match="by='committee' needs a list of at least two models, got 1"):
        next_to_label(model, X, 1, by="committee")
    with pytest.raises(ValueError, match="by='margin' needs one model, got 3"):
        next_to_label(committee, X, 1)
    with pytest.raises(ValueError, match="expected a fitted SequenceLabeler"):
        next_to_label("model", X, 1)
    with pytest.raises(ValueError, match="n "):
        next_to_label(model, X, 0)
