"""Hostile texts in data, and pages of large models and of much data."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.pages import checked
from scipy import sparse
from thorough import examples

import maxmargin as mm
from maxmargin.report.html import plain

PIECES = [
    "<script>alert(1)</script>",
    "</td>",
    '" onload="x',
    "'",
    "]]>",
    "&amp;",
    "\x00",
    "\u202e",
    "\u200f",
    "א",
    "😀",
]
WORDS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), min_size=1, max_size=3).map("".join)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=2, max_size=6), WORDS)
@examples(5, 25)
def test_words_and_labels_of_any_kind(tokens, title):
    words, labels = [word for word, _ in tokens], [f"{k % 2} {label}" for k, (_, label) in enumerate(tokens)]
    X = [[[f"word={word}", word] for word in words]] * 3
    model = mm.SequenceLabeler(C=1.0, max_passes=3).fit(X, [labels] * 3)
    wrong = labels[1:] + labels[:1]
    page = model.report(X, [wrong] * 3, title=title, facts={title: title})
    tags = checked(page.html)
    text = "".join(tags.texts)
    assert plain(title) in text
    assert all(plain(label) in text for label in labels if len(label) < 30)
    assert not re.search("[\x00-\x08\u202a-\u202e]", page.html)


@given(WORDS, WORDS)
@settings(max_examples=10, deadline=None)
def test_classes_and_columns_of_any_kind(a, b):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.eye(4), columns=[f"{k}{name}" for k, name in enumerate((a, b, a, b))])
    y = [f"0{a}", f"1{b}", f"0{a}", f"1{b}"]
    model = mm.MulticlassSVC(C=1.0).fit(X, y)
    checked(model.report(X, y[::-1]).html)
    assert "<script" not in model._repr_html_().split("maxmargin-card")[1].split("</div>")[0]


@pytest.mark.slow
def test_a_million_weights_and_much_data():
    rng = np.random.default_rng(0)
    width, n = 250_000, 100_000
    X = sparse.random_array((n, width), density=4e-5, format="csr", rng=rng)
    y = rng.integers(4, size=n)
    model = mm.MulticlassSVC(max_passes=1).fit(X[:2000], y[:2000])
    page = model.report(X, y)
    assert len(model.w_) > 1_000_000
    assert len(page.html) < 200_000
    assert "The 400 heaviest of" in page.html
    assert checked(page.html).tags.count("figure") == 10


def test_many_labels_and_long_sentences():
    labels = [f"label {k}" for k in range(300)]
    X = [[[f"word={k}", "x" * 5000] for k in range(300)]] * 2
    model = mm.SequenceLabeler(C=1.0, max_passes=1).fit(X, [labels] * 2)
    page = model.report(X, [labels[::-1]] * 2)
    tags = checked(page.html)
    text = " ".join(tags.texts)
    assert "There are 300 labels" in text
    assert "Tokens 0 to 149 of 300 are shown." in text
    assert "heaviest pairs are shown" in text
    assert len(page.html) < 400_000
