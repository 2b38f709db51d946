"""What hypothesis draws of alignments: names, texts, gapped rows, and everything that a file may say about them."""

from __future__ import annotations

from hypothesis import strategies as st

from maxmargin.formats import Annotations, MultipleAlignment
from maxmargin.structures.alignment.alignments import PairwiseAlignment

PRINTABLE = st.characters(min_codepoint=33, exclude_categories=["Z", "C"])  # of any script
LETTERS = "ACDEFGHIKLMNPQRSTVWYX"


def words(*, not_first=""):
    """Names without white space that begin with none of some characters."""
    return st.text(PRINTABLE, min_size=1, max_size=8).filter(lambda text: text[0] not in not_first and text != "//")


# Outer white space is not part of a text.
texts = st.lists(st.text(PRINTABLE, min_size=1, max_size=5), max_size=3).map("  ".join)
sequences = st.text(LETTERS, min_size=1, max_size=12)


def characters(width):
    """One character per column."""
    return st.text(PRINTABLE, min_size=width, max_size=width)


@st.composite
def pairwise_alignments(draw, longest=9):
    """(a, b, alignment), in which some pairs are not trusted; few letters, so that many pairs are identical."""
    a, b = (draw(st.text("ACG", min_size=1, max_size=longest)) for _ in range(2))
    k = draw(st.integers(0, min(len(a), len(b))))
    first, second = (
        sorted(draw(st.lists(st.integers(0, len(s) - 1), min_size=k, max_size=k, unique=True))) for s in (a, b)
    )
    trusted = draw(st.lists(st.booleans(), min_size=k, max_size=k))
    pairs = list(zip(first, second, strict=True))
    return a, b, PairwiseAlignment(pairs, (len(a), len(b)), trusted if k else None)


@st.composite
def multiple_alignments(draw):
    """Alignments with all kinds of annotations; names differ."""
    n, width = draw(st.integers(1, 4)), draw(st.integers(1, 15))
    drawn = draw(st.lists(words(not_first="#"), min_size=n, max_size=n, unique=True))
    rows = draw(st.lists(st.text("ACDacd*-._~", min_size=width, max_size=width), min_size=n, max_size=n))
    features = st.just("DE") | words(not_first="#")
    lines = st.dictionaries(features, characters(width), max_size=3)
    notes = st.lists(st.tuples(features, texts), max_size=3).map(tuple)
    annotations = Annotations(
        draw(notes),
        tuple(draw(st.lists(notes, min_size=n, max_size=n))),
        draw(lines),
        tuple(draw(st.lists(lines, min_size=n, max_size=n))),
    )
    return MultipleAlignment(tuple(drawn), tuple(rows), annotations)
