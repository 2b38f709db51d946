"""Spans of raw texts: those of predicted labels, with the confidence of chunks; model files keep all they need."""

from functools import cache

import pytest

import maxmargin as mm
from maxmargin.base.errors import Uncalibrated
from maxmargin.formats import AnnotatedText, Span
from maxmargin.metrics import entity_report

PEOPLE = ("Ada Lovelace", "Alan Turing", "Grace Hopper", "Emmy Noether")
PLACES = ("London", "New York", "Erlangen")


def documents():
    for person in PEOPLE:
        for place in PLACES:
            text = f"{person} lived in {place}, they say."
            start = text.index(place)
            yield AnnotatedText(text, [Span(0, len(person), "PER"), Span(start, start + len(place), "LOC")])


@cache
def fitted(scheme="BIO"):
    tokeniser = mm.Tokeniser()
    data = tokeniser.labelled(documents(), scheme)
    templates = mm.TokenTemplates.usual(1, tokeniser=tokeniser)
    return mm.SequenceLabeler(C=10, forbidden=scheme, features=templates, calibrate=2).fit(data.X, data.Y)


TEXTS = ["Anna Lovelace  was in New York.", "", " \n", "Nobody, Grace Turing said, lived in Erlangen"]


@pytest.mark.parametrize("scheme", ["BIO", "IOBES"])
def test_spans_are_those_of_labels(scheme):
    model, tokeniser = fitted(scheme), mm.Tokeniser()
    found = model.predict_spans(TEXTS)
    words = [tokeniser.words(text) for text in TEXTS]
    for text, spans, labels in zip(TEXTS, found, model.predict(words), strict=True):
        assert [span[:3] for span in spans] == [span[:3] for span in tokeniser.spans(text, labels)]
    confidence = model.predict_confidence([words[0], words[3]], of="chunk")
    assert [span.confidence for span in found[0] + found[3]] == [
        each.probability for some in confidence for each in some
    ]
    assert found[0][-1].label == "LOC"
    assert TEXTS[0][slice(*found[0][-1][:2])] == "New York"


def test_model_files_keep_tokeniser_and_templates(tmp_path):
    fitted().save(tmp_path / "ner.mm")
    again = mm.load(tmp_path / "ner.mm")
    assert again.features.tokeniser == mm.Tokeniser()
    assert again.predict_spans(TEXTS) == fitted().predict_spans(TEXTS)


def test_predicted_spans_can_be_scored():
    truth = list(documents())
    found = fitted().predict_spans([each.text for each in truth])
    assert entity_report([each.spans for each in truth], found).micro["strict"].f1.value == 1.0


def test_another_tokeniser():
    (spans,) = fitted().predict_spans(["Ada.Lovelace"], mm.Tokeniser(r"[^.]+"))
    assert {span.label for span in spans} <= {"PER", "LOC"}


def test_bad_input():
    model = fitted()
    with pytest.raises(ValueError, match="texts is the string 'Ada'; expected a list of texts"):
        model.predict_spans("Ada")
    with pytest.raises(ValueError, match="document 1: the text is 3; expected a string"):
        model.predict_spans(["Ada", 3])
    assert model.predict_spans([]) == []
    X, Y = [[["w=a"], ["w=b"]]], [["O", "B-A"]]
    with pytest.raises(ValueError, match="reads features of tokens; train with"):
        mm.SequenceLabeler().fit(X, Y).predict_spans(["a b"])
    plain = mm.SequenceLabeler(features=mm.TokenTemplates(["word"])).fit([["a", "b"]], Y)
    with pytest.raises(ValueError, match="have no tokeniser; give one"):
        plain.predict_spans(["a b"])
    with pytest.warns(Uncalibrated):
        assert plain.predict_spans(["a b"], mm.Tokeniser())[0][0][:3] == (2, 3, "A")
    two = mm.SequenceLabeler(features=mm.TokenTemplates(["word"], ["word", "tag"])).fit([[("a", "x"), ("b", "x")]], Y)
    with pytest.raises(ValueError, match="reads the columns word, tag"):
        two.predict_spans(["a b"])
