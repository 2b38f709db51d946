"""Tokens with offsets, and their labels: against labels of single characters, and what does not fit."""

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import Tokeniser, TokenTemplates
from maxmargin.base.errors import InvalidLabels
from maxmargin.formats import AnnotatedText, Span, scheme_of

TEXTS = st.text(st.sampled_from("ab1 .-\n'é漢"), max_size=25)


@given(TEXTS)
def test_tokens_are_the_text_without_what_lies_between_them(text):
    tokeniser = Tokeniser()
    offsets = tokeniser.offsets(text)
    assert [text[a:b] for a, b in offsets] == tokeniser.words(text) == re.findall(r"\w+|[^\w\s]", text)
    assert "".join(tokeniser.words(text)) == re.sub(r"\s", "", text)
    assert all(a < b for a, b in offsets)


@st.composite
def texts_with_spans(draw):
    """Return a text, and spans of whole tokens that do not overlap."""
    text = draw(TEXTS.filter(lambda text: text.strip()))
    at = Tokeniser().offsets(text)
    spans, t = [], 0
    while t < len(at):
        first = draw(st.integers(t, len(at) - 1))
        last = draw(st.integers(first, len(at) - 1))
        spans.append(Span(at[first][0], at[last][1], draw(st.sampled_from(["PER", "creative-work"]))))
        t = last + draw(st.integers(1, 4))
    return AnnotatedText(text, spans)


@given(texts_with_spans(), st.sampled_from(["BIO", "BILOU", "IOBES"]))
def test_labels_and_spans_are_the_same(document, scheme):
    found = Tokeniser().labelled([document], scheme)
    assert [Tokeniser().words(document.text)] == found.X
    assert Tokeniser().spans(document.text, found.Y[0]) == document.spans
    assert found.misfits == []
    if scheme == "BIO":
        assert scheme_of(found.Y) == "BIO"


@given(TEXTS, st.lists(st.tuples(st.integers(-2, 27), st.integers(-2, 27)), max_size=4), st.booleans())
def test_every_span_is_labelled_or_said(text, bounds, widen):
    spans = [Span(a, b, f"L{k}") for k, (a, b) in enumerate(bounds)]
    tokeniser = Tokeniser()
    document = AnnotatedText(text, spans, "name")
    at = tokeniser.offsets(text)
    with_misfits = pytest.warns(InvalidLabels) if _has_misfits(text, spans) else _nothing()
    with with_misfits:
        found = tokeniser.labelled([document], invalid="repair" if widen else "drop")
    if not at:
        assert (found.X, found.documents, len(found.misfits)) == ([], [], 1)
        return
    said = {misfit.span for misfit in found.misfits}
    back = {span.label: span for span in tokeniser.spans(text, found.Y[0])}
    for span in spans:
        if span in said:
            assert widen or span.label not in back
        else:  # its tokens are exactly those within its bounds
            inside = [(a, b) for a, b in at if span.start <= a and b <= span.end]
            assert back[span.label][:2] == (inside[0][0], inside[-1][1])
    for misfit in found.misfits:
        assert misfit.problem.startswith("document 0 ('name'): the span ")
        assert f"{misfit.span.start}:{misfit.span.end}" in misfit.problem


def _nothing():
    from contextlib import nullcontext

    return nullcontext()


def _has_misfits(text, spans):
    """Return whether some span does not fit, by labels of single characters."""
    at = Tokeniser().offsets(text)
    used = set()
    for a, b, *_ in sorted(spans, key=lambda span: span[:3]):
        places = set(range(a, b))
        inside = [range(*token) for token in at if token[0] < b and a < token[1]]
        if not places or not places <= set(range(len(text))) or places & used or not inside:
            return True
        if not all(set(token) <= places for token in inside):
            return True
        used |= places
    return not at


DOCUMENTS = {
    "does not begin and end with a token; whole tokens are 0:8 ('Lovelace')": [Span(0, 4, "PER")],
    "does not fit the text, which has 14 characters": [Span(9, 99, "PER")],
    "overlaps the span 0:14 'ORG'": [Span(0, 14, "ORG"), Span(9, 13, "PER")],
    "contains no token": [Span(8, 9, "PER")],
}


@pytest.mark.parametrize("problem", DOCUMENTS)
def test_errors_name_the_document_and_the_offsets(problem):
    document = AnnotatedText("Lovelace slept", DOCUMENTS[problem], "a.txt")
    bad = document.spans[-1]
    said = f"document 1 ('a.txt'): the span {bad.start}:{bad.end} 'PER' ("
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        Tokeniser().labelled([AnnotatedText("x", []), document])
    assert f"{problem}; correct it, or give invalid='repair'" in str(error.value)
    with pytest.warns(InvalidLabels, match="1 spans or texts of 1 documents do not fit"):
        found = Tokeniser().labelled([document], invalid="drop")
    assert found.misfits[0].span == bad


def test_repairing_widens_spans_to_whole_tokens():
    document = AnnotatedText("Lovelace slept", [Span(2, 4, "A"), Span(5, 10, "B"), Span(9, 14, "C")])
    with pytest.warns(InvalidLabels):
        found = Tokeniser().labelled([document], invalid="repair")
    assert found.Y == [["B-A", "B-C"]]  # B would overlap A, once that is widened
    assert [misfit.span.label for misfit in found.misfits] == ["A", "B"]


def test_blanks_at_the_ends_do_not_matter():
    assert Tokeniser().labelled([AnnotatedText(" Ada  slept", [Span(0, 5, "PER")])]).Y == [["B-PER", "O"]]


def test_texts_without_tokens_and_without_annotation():
    documents = [AnnotatedText(" ", []), AnnotatedText("Ada", None), AnnotatedText("Ada", [])]
    with pytest.raises(ValueError, match="document 0: the text ' ' has no token"):
        Tokeniser().labelled(documents)
    with pytest.warns(InvalidLabels):
        found = Tokeniser().labelled(documents, invalid="drop")
    assert (found.Y, found.documents) == ([[None], ["O"]], [1, 2])


def test_bad_arguments():
    for pattern in ("(", "a*", 3, b"a", None):
        with pytest.raises(ValueError, match="pattern is"):
            Tokeniser(pattern)
    with pytest.raises(ValueError, match="the text is 3; expected a string"):
        Tokeniser().offsets(3)
    with pytest.raises(ValueError, match="there are 1 labels for 2 tokens"):
        Tokeniser().spans("Ada slept", ["O"])
    with pytest.raises(ValueError, match="invalid must be"):
        Tokeniser().labelled([], invalid="no")
    with pytest.raises(ValueError, match="'IOB' is not a chunk scheme"):
        Tokeniser().labelled([], scheme="IOB")
    with pytest.raises(ValueError, match="expected None, or a Tokeniser with one column"):
        TokenTemplates(["word"], ["word", "tag"], tokeniser=Tokeniser())


def test_tokenisers_are_equal_by_their_pattern(tmp_path):
    one = Tokeniser(r"\w+")
    assert one == pickle.loads(pickle.dumps(one)) != Tokeniser()
    assert len({one, Tokeniser(r"\w+")}) == 1
    assert repr(one) == r"Tokeniser('\\w+')"
    path = tmp_path / "templates.toml"
    path.write_text('features = ["word"]\ncolumns = ["word"]\ntokeniser = \'\\w+\'\n')
    assert TokenTemplates.read(path).tokeniser == one
    path.write_text('features = ["word"]\ncolumns = ["word"]\ntokeniser = "("\n')
    with pytest.raises(ValueError, match=r"templates\.toml: pattern is"):
        TokenTemplates.read(path)


def test_spans_that_are_plain_tuples_are_labelled():
    assert Tokeniser().labelled([AnnotatedText("Ada slept", [(0, 3, "PER")])]).Y == [["B-PER", "O"]]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("Ada", "document 0 is 'Ada'; expected an AnnotatedText"),
        (AnnotatedText("Ada", [Span(0, 3, None)]), "document 0: the span 0:3 has the label None; expected a text"),
        (AnnotatedText("Ada", [Span(0, 3, "")]), "document 0: the span 0:3 has the label ''; expected a text"),
        (AnnotatedText("Ada", [Span(float("nan"), 3, "PER")]), "document 0: a span has the offsets nan and 3"),
    ],
)
@pytest.mark.parametrize("invalid", ["error", "drop"])
def test_what_is_no_span_is_refused(document, message, invalid):
    with pytest.raises(ValueError, match=message):
        Tokeniser().labelled([document], invalid=invalid)
