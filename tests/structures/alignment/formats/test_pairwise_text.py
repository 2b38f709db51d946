import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment.alignment_strategies import pairwise_alignments

from maxmargin.formats import render
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.formats.pairwise_text import layout


def test_the_form_of_the_text():
    rows = "MKVLATGGW-PLLKH", "MKALST--WWGPLK-"
    alignment = PairwiseAlignment.from_gapped(*rows)
    trusted = alignment.trusted.copy()
    trusted[:2] = False
    alignment = PairwiseAlignment(alignment.pairs, alignment.lengths, trusted)
    a, b = (row.replace("-", "") for row in rows)
    assert (
        render(alignment, a, b, width=10, names=("query", "hit"))
        == """query  1 MKVLATGGW-  9
         ..:|:|  |
hit    1 MKALST--WW  8

query 10 PLLKH 14
         ::||
hit    9 GPLK- 12"""
    )


@given(pairwise_alignments(), st.integers(1, 25))
def test_the_text_says_what_is_aligned(drawn, width):
    a, b, alignment = drawn
    rows, marks, ends = ["", ""], "", []
    lines = render(alignment, a, b, width, ("a", "b")).split("\n")
    for top, middle, bottom in zip(lines[::4], lines[1::4], lines[2::4], strict=True):
        cut = [line.split() for line in (top, bottom)]
        begin = top.index(cut[0][2], 2 + len(cut[0][1]))
        for side, (name, first, row, last) in enumerate(cut):
            assert name == "ab"[side]
            before = len(rows[side].replace("-", ""))
            rows[side] += row
            after = len(rows[side].replace("-", ""))
            assert int(last) == after
            assert int(first) == (before + 1 if after > before else before)
        ends.append(len(cut[0][2]))
        marks += middle[begin:].ljust(len(cut[0][2]))
    assert all(length == width for length in ends[:-1])
    found = PairwiseAlignment.from_gapped(*rows)
    assert (rows[0].replace("-", ""), rows[1].replace("-", "")) == (a, b)
    assert np.array_equal(found.pairs, alignment.pairs)
    wanted = [
        "." if not t else "|" if a[i] == b[j] else ":"
        for (i, j), t in zip(alignment.pairs, alignment.trusted, strict=True)
    ]
    assert marks.replace(" ", "") == "".join(wanted)
    assert [c for c, mark in enumerate(marks) if mark != " "] == [
        c for c, x in enumerate(zip(*rows, strict=True)) if "-" not in x
    ]


@given(pairwise_alignments())
def test_the_layout_has_every_residue_once(drawn):
    a, b, alignment = drawn
    columns = layout(alignment)
    for side, sequence in enumerate((a, b)):
        assert columns[columns[:, side] >= 0, side].tolist() == list(range(len(sequence)))
    assert columns[(columns >= 0).all(axis=1)].tolist() == alignment.pairs.tolist()
    assert (columns >= 0).any(axis=1).all()


def test_what_does_not_fit_is_refused():
    alignment = PairwiseAlignment([(0, 0)], (1, 2))
    with pytest.raises(ValueError, match="width is 0"):
        render(alignment, "A", "CC", width=0)
    with pytest.raises(ValueError, match="the second sequence has 1 residues"):
        render(alignment, "A", "C")
    assert render(PairwiseAlignment([], (0, 0)), "", "") == ""
