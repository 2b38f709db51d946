"""SequenceLabeler's probabilities: those of a list of all label sequences, calibrated, and in sets with a promise."""

import pickle
from functools import cache
from itertools import product

import numpy as np
import pytest
from estimators.problems import sequences
from sklearn.base import clone

from maxmargin import SequenceLabeler
from maxmargin.errors import SetCutOff, Uncalibrated
from maxmargin.structures.sequences.chunk_confidence import ChunkConfidence

X, Y = sequences()


@cache
def trained():
    return SequenceLabeler(C=10.0, calibrate=3).fit(X, Y)


def listed(model, x):
    """All label sequences with their probabilities."""
    found = model.predict_nbest([x], 10**6)[0]
    scores = np.array([score for _, score in found]) / model.temperature_
    p = np.exp(scores - scores.max())
    return [labels for labels, _ in found], p / p.sum()


def noisy(n, seed=0):
    """Sequences in which labels mostly go up, seen through noise."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        y = np.cumsum(rng.integers(0, 2, rng.integers(3, 7))) % 3
        found.append(
            (np.column_stack([np.eye(3)[y] + 0.8 * rng.standard_normal((len(y), 3)), np.ones(len(y))]), y.tolist())
        )
    return [x for x, _ in found], [y for _, y in found]


def test_probabilities_are_those_of_all_label_sequences():
    names = trained().classes_
    marginals, proba, entropy = trained().predict_marginals(X), trained().predict_proba(X), trained().entropy(X)
    for i, x in enumerate(X):
        labellings, p = listed(trained(), x)
        expected = np.array(
            [[sum(q for z, q in zip(labellings, p, strict=True) if z[t] == k) for k in names] for t in range(len(x))]
        )
        np.testing.assert_allclose(proba[i], expected, atol=1e-10)
        np.testing.assert_allclose(marginals[i].labels, expected, atol=1e-10)
        np.testing.assert_allclose(marginals[i].transitions.sum(axis=2), expected[:-1], atol=1e-10)
        np.testing.assert_allclose(marginals[i].transitions.sum(axis=1), expected[1:], atol=1e-10)
        assert entropy[i] == pytest.approx(-np.dot(p, np.log(p)), abs=1e-9)
        right = np.log(p[labellings.index(list(Y[i]))])
        assert trained().log_probability([x], [Y[i]])[0] == pytest.approx(right)


def test_what_is_left_open_counts_all_that_agree():
    x = X[0]
    labellings, p = listed(trained(), x)
    partly = [None, {"det", "noun"}, *Y[0][2:]]
    agree = sum(q for z, q in zip(labellings, p, strict=True) if z[1] in partly[1] and z[2:] == list(Y[0][2:]))
    assert np.exp(trained().log_probability([x], [partly])[0]) == pytest.approx(agree)
    assert trained().log_probability([x], [["never seen", *Y[0][1:]]])[0] == -np.inf


def test_confidence_of_labels_chunks_and_sequences():
    rng = np.random.default_rng(0)
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    T = [[0, 1, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 3, 4]]
    Z = []
    for _ in range(25):
        z = [int(rng.choice([0, 1, 3]))]
        for _ in range(4):
            z.append(int(rng.choice(T[z[-1]])))
        Z.append(z)
    inputs = [np.eye(5)[z] + rng.standard_normal((5, 5)) for z in Z]
    labels = [[tags[k] for k in z] for z in Z]
    model = SequenceLabeler(C=3.0, forbidden="BIO").fit(inputs, labels).calibrate_on(inputs, labels)
    each, wholes, chunks = (model.predict_confidence(inputs, of) for of in ("label", "sequence", "chunk"))
    assert any(chunks)
    for i, x in enumerate(inputs):
        labellings, p = listed(model, x)
        found = model.predict([x])[0]
        for t, label in enumerate(found):
            assert each[i][t] == pytest.approx(sum(q for z, q in zip(labellings, p, strict=True) if z[t] == label))
        assert wholes[i] == pytest.approx(p[labellings.index(found)])
        for chunk in chunks[i]:
            assert isinstance(chunk, ChunkConfidence)
            own = dict(zip(map(tuple, labellings), p, strict=True))
            same = sum(q for z, q in own.items() if (chunk.begin, chunk.end, chunk.type) in chunks_of(z))
            assert chunk.probability == pytest.approx(same)


def chunks_of(labels):
    found, t = set(), 0
    while t < len(labels):
        end = t + 1
        if labels[t][0] == "B":
            while end < len(labels) and labels[end] == "I" + labels[t][1:]:
                end += 1
            found.add((t, end, labels[t][2:]))
        t = end
    return found


def test_samples_are_outputs_and_repeatable():
    drawn = trained().sample(X, 20, random_state=3)
    assert drawn == trained().sample(X, 20, random_state=3)
    assert drawn != trained().sample(X, 20, random_state=4)
    assert all(len(z) == len(x) for x, some in zip(X, drawn, strict=True) for z in some)


def test_calibration_makes_new_labels_most_probable():
    new, truth = noisy(300, seed=1)
    model = SequenceLabeler(C=30.0).fit(*noisy(60)).calibrate_on(new, truth)

    def mean(temperature):
        model.temperature_ = temperature
        return np.mean(
            [np.log(p[np.arange(len(y)), y]).sum() for p, y in zip(model.predict_proba(new), truth, strict=True)]
        )

    best = model.temperature_
    assert mean(best) >= max(mean(best * 1.01), mean(best / 1.01))
    by_folds = SequenceLabeler(C=30.0, calibrate=5).fit(*noisy(60)).temperature_
    assert by_folds == pytest.approx(best, rel=0.5)


def test_probabilities_without_calibration_are_questioned():
    model = SequenceLabeler(C=10.0).fit(X, Y)
    with pytest.warns(Uncalibrated, match="calibrate_on"):
        model.predict_proba(X)
    SequenceLabeler(objective="likelihood").fit(X, Y).predict_proba(X)  # whose scores are probabilities already


def test_clones_and_pickles_keep_what_they_should():
    again = pickle.loads(pickle.dumps(trained()))
    np.testing.assert_array_equal(again.predict_proba(X)[0], trained().predict_proba(X)[0])
    assert again.predict_set(X, 0.5) == trained().predict_set(X, 0.5)
    assert clone(trained()).get_params()["calibrate"] == 3
    path = SequenceLabeler(calibrate=3).fit_path(X, Y, [1.0, 10.0])
    assert path[1].temperature_ == pytest.approx(trained().temperature_, rel=0.2)
    assert path[0].temperature_ != path[1].temperature_


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_sets_have_the_truth_as_often_as_promised(coverage):
    fit, held, new = noisy(60), noisy(250, seed=1), noisy(1500, seed=2)
    model = SequenceLabeler(C=10.0).fit(*fit).calibrate_on(*held)
    sets = model.predict_set(new[0], coverage)
    share = np.mean([y in some for y, some in zip(new[1], sets, strict=True)])
    assert coverage - 0.06 <= share <= coverage + 0.08  # three standard deviations of 250 held-out sequences
    labels = model.predict_set(new[0], coverage, of="label")
    share = np.mean(
        [np.mean([k in some for k, some in zip(y, each, strict=True)]) for y, each in zip(new[1], labels, strict=True)]
    )
    right = model.score(new[0], new[1])
    assert coverage - 0.05 <= share <= max(coverage, right) + 0.05  # the predicted label is always in its set


def test_sets_hold_all_sequences_that_are_near_enough():
    model = SequenceLabeler(C=10.0).fit(*noisy(60)).calibrate_on(*noisy(100, seed=1))
    x = noisy(1, seed=5)[0][0]
    labellings, p = listed(model, x)
    ordered = np.sort(model.calibration_.distances)
    limit = ordered[int(np.ceil(101 * 0.9)) - 1]
    gaps = model.temperature_ * (np.log(p[0]) - np.log(p))
    expected = [z for z, gap in zip(labellings, gaps, strict=True) if gap <= limit + 1e-6]
    assert model.predict_set([x], 0.9) == [expected]
    with pytest.warns(SetCutOff, match="were truncated"):
        assert len(model.predict_set([x], 0.99, most=2)[0]) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trained().predict_set(X, 1.5), "between 0 and 1"),
        (
            lambda: trained().predict_set(X, 0.999),
            "needs at least 999 examples that training has not seen; calibration had",
        ),
        (lambda: trained().predict_set(X, 0.5, of="word"), "of must be 'sequence' or 'label'"),
        (lambda: trained().predict_confidence(X, of="word"), "of must be 'label', 'chunk' or 'sequence'"),
        (lambda: SequenceLabeler().fit(X, Y).predict_set(X), "sets with guaranteed coverage need held-out examples"),
        (lambda: SequenceLabeler(calibrate=1).fit(X, Y), "calibrate"),
        (lambda: SequenceLabeler(calibrate=10**6).fit(X, Y), "needs at least that many examples"),
        (lambda: trained().log_probability(X, Y[:-1]), "sequences of features but"),
        (lambda: trained().log_probability(X[:1], [Y[0][1:]]), "sequence 0 has"),
        (lambda: trained().sample(X, 0), "n"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_probabilities_of_empty_sequences():
    assert trained().predict_proba([X[0][:0]])[0].shape == (0, 3)
    assert trained().entropy([X[0][:0]])[0] == 0
    assert trained().sample([X[0][:0]], 2, random_state=0) == [[[], []]]


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_temperatures_follow_the_scale_of_scores(scale):
    inputs, labels = noisy(60)
    model = SequenceLabeler(C=10.0).fit(inputs, labels)
    plain = model.calibrate_on(*noisy(100, seed=1)).temperature_
    model.w_ = scale * model.w_
    assert model.calibrate_on(*noisy(100, seed=1)).temperature_ == pytest.approx(scale * plain, rel=0.01)


def test_product_of_independent_positions():
    """Without scores of links the positions are independent, and probabilities multiply."""
    model = SequenceLabeler(C=10.0, bounds={"transitions": (0, 0), "start": (0, 0), "end": (0, 0)}, calibrate=3).fit(
        X, Y
    )
    proba, names = model.predict_proba(X[:3]), model.classes_
    for x, p in zip(X[:3], proba, strict=True):
        for z in list(product(range(3), repeat=len(x)))[::7]:
            expected = np.log([p[t, k] for t, k in enumerate(z)]).sum()
            assert model.log_probability([x], [[names[k] for k in z]])[0] == pytest.approx(expected)


@pytest.mark.parametrize("solver", ["lbfgs", "exponentiated_gradient"])
def test_a_likelihood_is_certified_by_another_run(solver):
    model = SequenceLabeler(C=2.0, objective="likelihood", solver=solver).fit(X, Y)
    found = model.certify(X, Y)
    unlikely = [-np.log(p[z.index(list(y))]) for (z, p), y in zip((listed(model, x) for x in X), Y, strict=True)]
    assert found.primal == pytest.approx(0.5 * model.w_ @ model.w_ + 2.0 * np.mean(unlikely))
    assert 0.9 * found.primal < found.dual <= found.primal
    assert found.dual <= model.certificate_.primal  # a bound of the same problem
    assert "bound computed by LBFGS" in found.stop_reason
