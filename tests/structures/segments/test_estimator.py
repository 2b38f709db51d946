"""SegmentLabeler: what it predicts, says and refuses."""

import pickle
import warnings

import numpy as np
import pytest
from proofs import prove_every_weight_has_a_name
from structures.segments.segmented import segmented, text

import maxmargin as mm
from maxmargin.errors import Uncalibrated
from maxmargin.metrics import chunk_f1
from maxmargin.structures.sequences.measures import chunks
from maxmargin.tasks import SegmentText, Sequences

X, TAGS = segmented()
SPANS = segmented(spans=True)[1]
X_NEW, NEW = segmented(seed=1)


@pytest.fixture(scope="module")
def model():
    return mm.SegmentLabeler(C=10, measure="segments", segment_features=text).fit(X, TAGS)


@pytest.fixture(scope="module")
def of_spans():
    return mm.SegmentLabeler(C=10, measure="segments", segment_features=text).fit(X, SPANS)


def test_predictions_have_the_form_of_training(model, of_spans):
    tags, spans = model.predict(X_NEW), of_spans.predict(X_NEW)
    assert [len(y) for y in tags] == [len(x) for x in X_NEW]
    assert [list(chunks(y)) for y in tags] == spans
    np.testing.assert_array_equal(model.w_, of_spans.w_)


def test_score_is_f1_of_segments(model, of_spans):
    assert model.score(X_NEW, NEW) == pytest.approx(chunk_f1(NEW, model.predict(X_NEW)).f1)
    assert model.score(X_NEW, segmented(seed=1, spans=True)[1]) == model.score(X_NEW, NEW)
    assert model.score(X, TAGS) > 0.9
    assert of_spans.score([X[0]], [[(0, 1, "new")]]) < 1  # a label that training has not seen


def test_attributes(model):
    assert model.classes_ == ["LOC", "PER"]
    assert model.max_length_ == 3
    assert model.outside_
    prove_every_weight_has_a_name(model)
    assert model.weights_["features"].axes == ("feature", "label", "role")
    assert model.weights_["transitions"]["O", "PER"] == model.task_.split_weights(model.w_).transitions[0, 2]
    assert any(name.startswith("lengths") for name, _ in model.top_weights("PER", n=1000))


def test_empty_sequences(model, of_spans):
    assert model.predict([[], X[0]])[0] == []
    assert of_spans.predict([[]]) == [[]]
    assert model.decision_function([[], X[0]])[0] == 0
    assert model.predict_nbest([[]], 3) == [[([], 0.0)]]
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        mm.SegmentLabeler().fit([X[0], []], [TAGS[0], []])


def test_nbest_begins_with_the_prediction(model):
    for x, best, score in zip(X, model.predict(X), model.decision_function(X), strict=True):
        listed = model.predict_nbest([x], 5)[0]
        assert [value for _, value in listed] == sorted((value for _, value in listed), reverse=True)
        assert listed[0][1] == pytest.approx(score)
        assert best in [z for z, value in listed if value == listed[0][1]] or listed[0][1] == listed[-1][1]


def test_blocks_of_prediction_change_nothing(model, monkeypatch):
    expected = model.predict(X_NEW)
    monkeypatch.setattr("maxmargin.structures.segments.segment_space.AT_ONCE", 100)
    assert model.predict(X_NEW) == expected


def test_confidence(model):
    calibrated = pickle.loads(pickle.dumps(model)).calibrate_on(X_NEW, NEW)
    assert calibrated.calibrated_
    tokens, segments = (calibrated.predict_confidence(X, of) for of in ("token", "segment"))
    whole, marginals = calibrated.predict_confidence(X, "sequence"), calibrated.predict_marginals(X)
    for each, found, p, all_, z in zip(tokens, segments, marginals, whole, calibrated.predict(X), strict=True):
        assert len(each) == len(z)
        assert [(s.begin, s.end) for s in found] == [(a, b) for a, b, _ in chunks(z)]
        assert all(s.probability >= all_ - 1e-9 for s in found)
        np.testing.assert_allclose(p.outside + p.labels.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="of must be 'segment', 'token' or 'sequence'"):
        calibrated.predict_confidence(X, "word")
    with pytest.warns(Uncalibrated):
        model.predict_confidence(X[:1])


def test_labels_that_training_has_not_seen_have_no_probability(of_spans):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Uncalibrated)
        found = of_spans.log_probability([X[0], X[1]], [[(0, 1, "new")], SPANS[1]])
    assert np.isneginf(found[0])
    assert -np.inf < found[1] <= 0


def test_segmentations_that_cannot_be_predicted_calibrate_nothing(of_spans):
    model, impossible = pickle.loads(pickle.dumps(of_spans)), [(0, 1, "new")]
    with pytest.raises(ValueError, match="no calibration example"):
        model.calibrate_on(X[:2], [impossible, impossible])
    alone = model.calibrate_on(X[1:2], SPANS[1:2]).temperature_
    assert model.calibrate_on(X[:2], [impossible, SPANS[1]]).temperature_ == pytest.approx(alone)


def test_likelihood():
    model = mm.SegmentLabeler(C=10, objective="likelihood", segment_features=text).fit(X, TAGS)
    assert model.certificate_.converged
    assert model.score(X_NEW, NEW) > 0.5
    assert model.entropy(X).min() >= 0
    assert [len(z) for z in model.sample(X[:1], 4, random_state=0)[0]] == [len(X[0])] * 4


def test_calibration_in_fit():
    assert mm.SegmentLabeler(C=10, calibrate=3).fit(X, TAGS).calibrated_


def test_one_minus_f1_has_no_softmax_margin():
    with pytest.raises(ValueError, match="needs measure='tokens' or 'segments'"):
        mm.SegmentLabeler(measure="f1", objective="softmax_margin").fit(X, TAGS)


def test_the_rest_of_the_house(model):
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X_NEW) == model.predict(X_NEW)
    path = mm.SegmentLabeler(measure="f1").fit_path(X, TAGS, [1.0, 10.0])
    assert [each.C for each in path] == [1.0, 10.0]
    warm = mm.SegmentLabeler(C=5, warm_start=True).fit(X, TAGS)
    passes = warm.certificate_.passes
    assert warm.fit(X, TAGS).certificate_.passes <= passes
    bounded = mm.SegmentLabeler(C=10, bounds={"transitions": (0.0, None), ("start", "O"): (-1.0, 1.0)}).fit(X, TAGS)
    assert bounded.weights_["transitions"].values.min() >= 0
    drawn = mm.SegmentLabeler(C=1e-9, prior={("lengths", 2, "PER"): 3.0}).fit(X, TAGS)
    assert drawn.weights_["lengths"][2, "PER"] == pytest.approx(3.0, abs=1e-6)
    online = mm.SegmentLabeler(solver="perceptron", classes=["LOC", "PER"], max_length=3)
    for x, y in zip(X * 3, TAGS * 3, strict=True):
        online.partial_fit([x], [y])
    assert online.score(X, TAGS) > 0.5
    weighted = mm.SegmentLabeler(C=10).fit(X, TAGS, sample_weight=np.arange(1.0, len(X) + 1))
    assert weighted.certificate_.converged


def test_matrices_and_packed_sequences():
    rng = np.random.default_rng(0)
    matrices = [rng.standard_normal((len(x), 3)) for x in X]
    one = mm.SegmentLabeler(C=10).fit(matrices, SPANS)
    packed = Sequences(np.concatenate(matrices), np.cumsum([0, *map(len, matrices)]))
    np.testing.assert_array_equal(mm.SegmentLabeler(C=10).fit(packed, SPANS).w_, one.w_)
    assert one.weights_["outside"].shape == (3,)
    assert one.score(packed, SPANS) == one.score(matrices, SPANS)


def test_no_token_outside():
    model = mm.SegmentLabeler(C=10).fit([[["ab"], ["ba"]]] * 2, [[(0, 1, "w"), (1, 2, "w")]] * 2)
    assert not model.outside_
    assert all(sum(b - a for a, b, _ in z) == 3 for z in model.predict([[["aa"], ["bb"], ["zz"]]]))


def test_a_feature_of_the_whole_segment_can_decide():
    """Titles in quotes: whether a quote is open shows in the segment alone."""
    words = ["„", "a", "b", "”"]
    X = [[[words[k]] for k in (1, 0, 2, 3, 1)], [[words[k]] for k in (0, 1, 2, 3)], [[words[k]] for k in (1, 2, 1)]]
    Y = [[(1, 4, "title")], [(0, 4, "title")], []]

    def quotes(tokens, begin, end):
        return [f"closed={tokens[begin] == ['„'] and tokens[end - 1] == ['”']}"]

    model = mm.SegmentLabeler(C=1000, segment_features=quotes, measure="segments").fit(X, Y)
    assert model.predict(X) == Y
    assert model.weights_["segments"]["closed=True", "title"] > 0


@pytest.mark.parametrize(
    ("options", "Y", "message"),
    [
        ({"max_length": 2}, SPANS, "the segment .* has 3 tokens, more than max_length=2; raise it"),
        ({"max_length": 0}, SPANS, "max_length"),
        ({"measure": "hamming"}, SPANS, "measure must be one of 'tokens', 'segments', 'f1'"),
        ({"segment_features": 3}, SPANS, "segment_features must be None or a function"),
        ({"classes": ["PER"]}, SPANS, "the label 'LOC' is not one of the classes"),
        ({"classes": ["PER", "LOC", "O"]}, SPANS, "which is reserved for tokens outside"),
        ({"costs": {"DOG": 1.0}}, SPANS, "'DOG', which is not one of the classes"),
        ({"costs": {"DOG": 1.0}, "measure": "segments"}, SPANS, "'DOG', which is not one of the classes"),
        ({"costs": np.eye(3), "measure": "segments"}, SPANS, "takes costs as a dict"),
        ({"costs": {"PER": -1.0}, "measure": "segments"}, SPANS, "finite and >= 0"),
        ({"costs": {"PER": 1.0}, "measure": "f1"}, SPANS, "gives all segments equal weight"),
        ({}, [[]] * len(X), "no sequence has a segment"),
        ({}, SPANS[:-1], "X has 20 examples but Y has 19"),
        ({}, [*SPANS[:-1], None], "Y\\[19\\] is None; expected a list of tags"),
        ({}, [*SPANS[:-1], [(0, 99, "PER")]], "Y\\[19\\] has the span \\(0, 99, 'PER'\\)"),
    ],
)
def test_refusals(options, Y, message):
    with pytest.raises(ValueError, match=message):
        mm.SegmentLabeler(**options).fit(X, Y)


def test_segment_text_is_pickled_with_the_model():
    features = SegmentText(kinds=["text", "shape"])
    model = mm.SegmentLabeler(C=10, segment_features=features).fit(X, TAGS)
    assert pickle.loads(pickle.dumps(model)).predict(X_NEW) == model.predict(X_NEW)


def test_columns_become_features_by_templates():
    """The same model as from the features themselves; a segment's text is that of a column."""
    columns = [[("word", str(t)) for t in range(len(x))] for x in X]
    for x, tokens in zip(X, columns, strict=True):
        tokens[:] = [(f"w{sum(map(ord, repr(token))) % 50}", tag) for token, (_, tag) in zip(x, tokens, strict=True)]
    templates = mm.TokenTemplates(["word[-1..1]", "suffix(word, 1)"], ["word", "place"])
    model = mm.SegmentLabeler(C=10, features=templates, segment_features=SegmentText(0)).fit(columns, TAGS)
    given = [templates.attributes(x) for x in columns]
    same = mm.SegmentLabeler(C=10, segment_features=SegmentText("word")).fit(given, TAGS)
    assert (model.w_ == same.w_).all()
    assert model.predict(columns) == same.predict(given)
    with pytest.raises(ValueError, match="has no 3"):
        SegmentText(3)(columns[0], 0, 1)
