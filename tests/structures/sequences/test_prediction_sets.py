"""Prediction sets of label sequences and of labels: what is in them, and that they have the truth as often as promised.

Coverage is simulated. A trial draws n sequences for calibration and a new one, which is covered or not; for sets of
labels, a labelled position of the new sequence is drawn. The number of covered ones has a binomial distribution whose
probability is at least the coverage, so that `ALARM` bounds the probability that a test fails although the promise
holds. There are fewer than 300 such counts: all of them together raise a false alarm with a probability below 0.3%.
"""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom
from structures.sequences.set_distributions import DISTRIBUTIONS, K, plain_model

from maxmargin import SequenceLabeler, load
from maxmargin.structures.sequences.chain_space import ChainScores, ChainSpace
from maxmargin.structures.sequences.prediction_sets import SearchedSequences
from maxmargin.training import probabilistic
from maxmargin.training.conformal import allowed_risk_distance
from maxmargin.training.probabilistic import Calibration

ALARM = 1e-5
SIZES = [(4, 0.8), (5, 0.8), (9, 0.9), (19, 0.95), (30, 0.9)]  # of five, one rank too low covers two in three
TRIALS = 200  # of every distribution, size and kind of set


def copy_of(model):
    return pickle.loads(pickle.dumps(model))


def agrees(y, z):
    return all(a is None or (b in a if isinstance(a, set) else a == b) for a, b in zip(y, z, strict=True))


def drawn_until(draw, n, rng):
    """Inputs and labels; n of them have labels, the last one among these."""
    X, Y = [], []
    while n > 0:
        x, y = draw(rng)
        X.append(x)
        Y.append(y)
        n -= any(k is not None for k in y)
    return X, Y


def covered(distribution, model, n, coverage, of, rng):
    """Whether the set of a new sequence has its truth; a refusal counts as a set that has it."""
    X, Y = drawn_until(distribution.draw, n + 1, rng)
    x, y = X.pop(), Y.pop()
    model.calibrate_on(X, Y)
    try:
        found = model.predict_set([x], coverage, of, distribution.most)[0]
    except ValueError as error:
        if not str(error).startswith("no set"):
            raise
        return True
    if of == "sequence":
        return any(agrees(y, z) for z in found)
    at = rng.choice([t for t, k in enumerate(y) if k is not None])
    return any(agrees(y[at : at + 1], [k]) for k in found[at])


def assert_covered(name, n, coverage, of, trials, seed=0):
    distribution, rng = DISTRIBUTIONS[name], np.random.default_rng([n, seed])
    model = copy_of(distribution.model())
    hits = sum(covered(distribution, model, n, coverage, of, rng) for _ in range(trials))
    assert binom.cdf(hits, trials, coverage) > ALARM, f"{hits} of {trials} covered, {coverage} promised"


@pytest.fixture
def any_temperature(monkeypatch):
    """Temperatures by chance instead of fitted ones, which take most of the time: sets may not depend on them."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(probabilistic, "best_temperature", lambda losses, weights: 10 ** rng.uniform(-30, 30))


# --- coverage


@pytest.mark.parametrize(
    ("name", "n", "coverage", "of", "trials"),
    [
        ("the other way", 30, 0.9, "sequence", 20),
        ("the other way, single", 30, 0.9, "sequence", 20),
        ("against temperatures", 4, 0.8, "label", 60),
    ],
)
def test_coverage_with_fitted_temperatures(name, n, coverage, of, trials):
    assert_covered(name, n, coverage, of, trials)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "coverage", "of", "trials"),
    [
        ("the other way", 200, 0.9, "sequence", 60),
        ("the other way, single", 200, 0.9, "sequence", 60),
        ("noise", 30, 0.9, "sequence", 300),
        ("noise, single", 30, 0.9, "label", 300),
        ("against temperatures", 4, 0.8, "label", 1500),
        ("against temperatures", 9, 0.9, "label", 800),
        ("against temperatures", 19, 0.95, "label", 800),
        ("against temperatures, three", 9, 0.9, "label", 400),
    ],
)
def test_coverage_with_fitted_temperatures_in_all_cases(name, n, coverage, of, trials):
    assert_covered(name, n, coverage, of, trials, seed=1)


@pytest.mark.usefixtures("any_temperature")
@pytest.mark.parametrize("of", ["sequence", "label"])
@pytest.mark.parametrize("name", ["noise", "ties", "open labels", "many unknown labels", "forbidden labels"])
def test_coverage(name, of):
    assert_covered(name, 9, 0.9, of, 40)


@pytest.mark.slow
@pytest.mark.usefixtures("any_temperature")
@pytest.mark.parametrize("of", ["sequence", "label"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_coverage_of_all_distributions(name, of):
    for n, coverage in SIZES:
        assert_covered(name, n, coverage, of, TRIALS if name != "long" else TRIALS // 10, seed=2)


# --- what is in the sets


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"forbidden": ((0, 2), (1, 1))},
        {"order": 2},
        {"order": 3},
        {"order": 2, "transition_features": True},
        {"transition_features": True},
        {"order": 2, "forbidden": ((0, 2),)},
    ],
    ids=str,
)
def test_distances_of_labels_are_those_of_listed_sequences(options):
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((length, K)) for length in (4, 1, 0, 2, 5)]
    model = SequenceLabeler(max_passes=1, **options).fit(X[:2], [[0, 1, 2, 0], [1]])
    model.w_ = rng.standard_normal(len(model.w_))
    found = SearchedSequences(model.task_, model.w_, X)
    distances, wholes = found.label_distances(), model.predict_nbest(X, K**5)
    for listed, a, b in zip(wholes, found.bounds[:-1], found.bounds[1:], strict=True):
        assert np.abs([score for _, score in listed]).max() <= found.scored.magnitudes(found.scores).max()
        for t, k in product(range(b - a), range(K)):
            scores = [score for labels, score in listed if labels[t] == k]
            expected = listed[0][1] - max(scores, default=-np.inf)
            assert distances[a + t, k] == pytest.approx(expected, abs=1e-12)


def test_a_single_label_has_one_sequence():
    space, unary = ChainSpace.of_lengths([3, 0, 1], 1), np.array([[1.0], [2.0], [4.0], [8.0]])
    np.testing.assert_array_equal(space.best_through(ChainScores.of(unary, [[0.5]]))[:, 0], [8, 8, 8, 8])


@pytest.mark.parametrize("of", ["sequence", "label"])
@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_sets_depend_neither_on_the_temperature_nor_on_the_scale_of_scores(of, scale):
    X, Y = drawn_until(DISTRIBUTIONS["linked"].draw, 60, np.random.default_rng(0))
    model = copy_of(plain_model(1.0)).calibrate_on(X[:40], Y[:40])
    expected = model.predict_set(X[40:], 0.9, of)
    model.temperature_ = 1e30
    assert model.predict_set(X[40:], 0.9, of) == expected
    model.w_ = scale * model.w_
    assert model.calibrate_on(X[:40], Y[:40]).predict_set(X[40:], 0.9, of) == expected


@pytest.mark.parametrize("coverage", [0.3, 0.8, 0.95])
def test_labels_are_those_of_all_sequences_up_to_a_distance(coverage):
    X, Y = drawn_until(DISTRIBUTIONS["linked"].draw, 40, np.random.default_rng(1))
    model = copy_of(plain_model(1.0)).calibrate_on(X[:30], Y[:30])
    known = model.calibration_
    distance = allowed_risk_distance(known.label_distances, known.shares, 30, coverage)
    for sets, listed in zip(
        model.predict_set(X[30:], coverage, of="label"), model.predict_nbest(X[30:], K**5), strict=True
    ):
        near = [labels for labels, score in listed if score >= listed[0][1] - distance - 1e-6]
        assert sets == [set(some) for some in zip(*near, strict=True)]


# --- what does not count, and what is refused


def test_positions_and_sequences_without_labels_do_not_count():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((3, K)) for _ in range(6)]
    Y = [[None, None, None], [0, None, 1], [0, 1, 2], [{0, 1}, {0, 1, 2}, None], [2, 2, 2], [1, 1, 1]]
    found = copy_of(plain_model()).calibrate_on(X, Y).calibration_
    assert len(found.distances) == 5
    np.testing.assert_allclose(found.shares, [1 / 2] * 2 + [1 / 3] * 3 + [1] + [1 / 3] * 6)
    best = [x.max(axis=1) for x in X]
    np.testing.assert_allclose(found.distances[0], best[1][0] - X[1][0, 0] + best[1][2] - X[1][2, 1], atol=1e-6)
    np.testing.assert_allclose(found.label_distances[5], best[3][0] - X[3][0, :2].max(), atol=1e-6)


def test_labels_that_cannot_be_predicted_are_refused_beyond_what_the_coverage_allows():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((2, K)) for _ in range(20)]
    Y = [["new", 0]] * 4 + [[0, 1]] * 16
    model = copy_of(plain_model()).calibrate_on(X, Y)
    with pytest.raises(ValueError, match=r"no set of label sequences has a coverage of 0\.9: 20\.0% of the sequences"):
        model.predict_set(X, 0.9)
    with pytest.raises(ValueError, match=r"no sets of labels have a coverage of 0\.9: 10\.0% of the labels"):
        model.predict_set(X, 0.9, of="label")
    model.predict_set(X, 0.7)
    model.predict_set(X, 0.7, of="label")


@pytest.mark.parametrize("of", ["sequence", "label"])
def test_a_sequence_without_valid_labels_is_named(of):
    rows, Y = [np.eye(2), np.eye(2)[:1]] * 5, [[0, 1], [0]] * 5
    model = SequenceLabeler(forbidden=((1, 0), (0, 0), (1, 1))).fit(rows, Y).calibrate_on(rows, Y)
    with pytest.raises(ValueError, match="sequence 1: every label sequence of its length contains a forbidden"):
        model.predict_set([np.eye(2), np.ones((3, 2))], 0.5, of)


@pytest.mark.parametrize("of", ["sequence", "label"])
def test_calibrations_of_earlier_versions_are_loaded_but_promise_nothing(of, tmp_path):
    model = copy_of(plain_model())
    model.temperature_, model.calibration_ = 2.0, Calibration(np.ones(9), np.full(9, 0.5), np.ones(9))
    model.save(tmp_path / "model.mm")
    loaded = load(tmp_path / "model.mm")
    assert loaded.calibrated_
    np.testing.assert_array_equal(loaded.predict_proba([np.eye(K)])[0], model.predict_proba([np.eye(K)])[0])
    with pytest.raises(ValueError, match=r"calibrated by an earlier version.*calibrate_on\(X, Y\) again"):
        loaded.predict_set([np.eye(K)], 0.9, of)
