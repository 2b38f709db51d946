import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment.alignment_strategies import texts, words
from structures.alignment.formats.refusals import assert_refused

from maxmargin.formats import MultipleAlignment, SequenceRecord, read_a3m, write_a3m
from maxmargin.structures.alignment.formats.a3m import ABOUT_THE_QUERY


@st.composite
def a3m_files(draw):
    """Match columns and insertions of some rows: (records, [[insertion, match, insertion, ...] of every row])."""
    width = draw(st.integers(1, 6))
    insertion = st.text("acd", max_size=3)
    match = st.text("ACD-", min_size=1, max_size=1)
    n = draw(st.integers(1, 4))
    rows = [[draw(insertion), *(draw(match) + draw(insertion) for _ in range(width))] for _ in range(n)]
    names = st.builds(
        SequenceRecord, words(not_first="#").filter(lambda name: name not in ABOUT_THE_QUERY), texts, st.just("")
    )
    return [
        record._replace(sequence="".join(row))
        for record, row in zip(draw(st.lists(names, min_size=n, max_size=n)), rows, strict=True)
    ], rows


def text_of(records):
    return "".join(f">{name} {description}\n{sequence}\n" for name, description, sequence in records)


def plain_pairs(first, second):
    """Residues of two rows in the same match column."""
    i = j = 0
    pairs = []
    for x, y in zip(first, second, strict=True):
        if x[:1].isupper() and y[:1].isupper():
            pairs.append([i, j])
        i, j = i + sum(map(str.isalpha, x)), j + sum(map(str.isalpha, y))
    return pairs


@given(a3m_files(), st.data())
def test_pairs_are_those_of_the_match_columns(drawn, data):
    records, rows = drawn
    alignment = read_a3m(io.StringIO(text_of(records)))
    assert alignment.names == tuple(record.name for record in records)
    number = st.integers(0, len(rows) - 1)
    i, j = data.draw(number), data.draw(number)
    a, b, found = alignment.pair(i, j)
    assert a == "".join(rows[i]).replace("-", "").upper()
    assert b == "".join(rows[j]).replace("-", "").upper()
    assert found.pairs.tolist() == plain_pairs(rows[i], rows[j])
    assert found.trusted.all()
    # Without the dots the rows are what the file has.
    assert [row.replace(".", "") for row in alignment.rows] == [record.sequence for record in records]


@given(a3m_files())
def test_alignments_read_back_as_they_were(drawn):
    alignment = read_a3m(io.StringIO(text_of(drawn[0])))
    file = io.StringIO()
    write_a3m(file, alignment)
    assert read_a3m(io.StringIO(file.getvalue())) == alignment
    # With the dots it is A2M, and the same alignment.
    filled = [SequenceRecord(r.name, r.description, row) for r, row in zip(drawn[0], alignment.rows, strict=True)]
    assert read_a3m(io.StringIO(text_of(filled))) == alignment


HHSUITE = """#A family
>ss_pred PSIPRED predicted secondary structure
CHE
>ss_conf
9-1
>query
MKV
>hit with a long story
aM-cdVe
>hit again
MKeV
"""


def test_what_is_said_of_the_query_becomes_columns_of_the_first_row():
    alignment = read_a3m(io.StringIO(HHSUITE))
    assert alignment.rows == (".MK..V.", "aM-cdVe", ".MKe.V.")
    assert alignment.names == ("query", "hit", "hit")
    assert alignment.columns(0) == {"residue": "MKV", "ss_pred": "CHE", "ss_conf": "9-1"}
    assert alignment.columns(1) == {"residue": "AMCDVE"}
    assert alignment.annotations.of_file == (
        ("CC", "A family"),
        ("ss_pred", "PSIPRED predicted secondary structure"),
    )
    assert alignment.annotations.of_rows[1] == (("DE", "with a long story"),)
    file = io.StringIO()
    write_a3m(file, alignment)
    assert file.getvalue() == HHSUITE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">q\nMKV\n>r\nMkkV\n", r"line 3: row 'r' has 2 match columns .* expected 3, .* the first sequence, 'q', has"),
        (">q\nmkv\n", r"line 1: row 'q' has 0 match columns .* expected some"),
        (">ss_pred\nCC\n>q\nMKV\n", r"line 1: row 'ss_pred' has 2 match columns"),
        (">ss_pred\nCCC\n>ss_pred\nCCE\n>q\nMKV\n", r"line 1: there are several rows 'ss_pred'; expected one"),
        (">ss_pred\nCCC\n", r"line 2: no sequence in the file"),
        ("MKV\n", r"line 1: found 'MKV' before any header"),
        (">q\nMKV\n#late\n", r"line 3: record 'q' has '#' at position 1"),
    ],
)
def test_malformed_files_are_named_with_the_line(text, message, tmp_path):
    assert_refused(read_a3m, tmp_path / "bad.a3m", text, message)


def test_only_insertions_may_be_lower_case_in_a3m():
    with pytest.raises(
        ValueError, match="lower-case letters of this alignment are 'aligned'; in A3M they are 'inserted'"
    ):
        write_a3m(io.StringIO(), MultipleAlignment(("a",), ("mK",)))


def test_gaps_of_other_alignments_take_the_a3m_form():
    alignment = MultipleAlignment(("a", "b"), ("M-.K", "_aMK"), lowercase="inserted")
    file = io.StringIO()
    write_a3m(file, alignment)
    assert file.getvalue() == ">a\nM-K\n>b\n-aMK\n"
