"""Elements: whatever text they are given, that is the text that a browser reads."""

import html.parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.report.html import ATTRIBUTES, UNSEEN, Element, Trusted, plain, short

HOSTILE = st.sampled_from(
    ["<script>alert(1)</script>", "</style>", "]]>", "<!--", "-->", "\"'`", "&lt;", "\x00", "\u202e", "\ud800", "a\nb"]
)
TEXT = st.lists(st.text(max_size=8) | HOSTILE, max_size=4).map("".join)


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.seen, self.text, self.attributes = [], "", {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.attributes |= dict(attributes)

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = unknown_decl = handle_pi = handle_comment


@given(TEXT)
def test_text_stays_text(text):
    read = Reader(str(Element("p", text)))
    assert (read.seen, read.text) == (["p"], plain(text))


@given(TEXT, st.sampled_from(["title", "class", "aria_label", "content", "points"]))
def test_values_of_attributes_stay_there(text, name):
    read = Reader(str(Element("p", **{name: text})))
    assert read.seen == ["p"]
    assert read.attributes == {name.replace("_", "-"): plain(text)}
    assert read.text == ""


@given(TEXT)
def test_what_cannot_be_seen_is_shown(text):
    shown = plain(text)
    assert len(shown) == len(text)
    assert not UNSEEN.search(shown)
    assert plain(shown) == shown
    assert shown.encode("utf-8").decode() == shown


@given(TEXT)
def test_styles_and_scripts_take_no_data(text):
    for tag in ("style", "script"):
        with pytest.raises(TypeError, match="accepts only content that this package has written"):
            str(Element(tag, text))
    assert str(Element("p", Trusted("<b>"))) == "<p>&lt;b&gt;</p>"  # elsewhere it is text like any other


@pytest.mark.parametrize("name", ["onclick", "src", "action", "style", "formaction", "srcset", "data", "xlink:href"])
def test_attributes_that_load_or_run_are_refused(name):
    with pytest.raises(ValueError, match="do not use the attribute"):
        Element("p", **{name: "x"})


@pytest.mark.parametrize("tag", ["img", "link", "object", "embed", "base", "form", "foreignObject", "use", "a b"])
def test_elements_that_load_are_refused(tag):
    with pytest.raises(ValueError, match="reports do not use the element"):
        Element(tag)


def test_links_lead_to_the_page_itself():
    assert str(Element("a", "x", href="#s1")) == '<a href="#s1">x</a>'
    with pytest.raises(ValueError, match="links only to itself"):
        Element("a", href="javascript:alert(1)")


@pytest.mark.parametrize("colour", ["url(#x)", "red;x", "expression(1)", ""])
def test_colours_are_colours(colour):
    with pytest.raises(ValueError, match="expected a colour"):
        Element("rect", fill=colour)


def test_children_and_attributes():
    assert str(Element("p", ["a", [None, Element("strong", 1)], 2.5])) == "<p>a<strong>1</strong>2.5</p>"
    assert str(Element("input", hidden=True, open=False, id=None)) == "<input hidden>"
    assert str(Element("td", shade=-3)) == '<td style="--shade:-1.000"></td>'
    assert str(Element("rect", x=1.0, width=0.333333)) == '<rect x="1" width="0.33"></rect>'
    assert "style" not in ATTRIBUTES


def test_long_texts_end():
    assert short("abc", 3) == "abc"
    assert short("abcd", 3) == "ab…"
