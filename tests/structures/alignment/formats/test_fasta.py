import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment.alignment_strategies import multiple_alignments, sequences, texts, words
from structures.alignment.formats.refusals import assert_refused

from maxmargin.formats import MultipleAlignment, SequenceRecord, read_aligned_fasta, read_fasta, write_fasta

records = st.lists(st.builds(SequenceRecord, words(), texts, sequences | st.text("AC-.*_~xy", min_size=1)), max_size=4)


def written(*args, **kwargs):
    file = io.StringIO()
    write_fasta(file, *args, **kwargs)
    return file.getvalue()


@given(records, st.integers(1, 20))
def test_records_read_back_as_they_were(drawn, width):
    text = written(iter(drawn), width=width)
    assert read_fasta(io.StringIO(text)) == drawn
    assert all(len(line) <= width for line in text.split("\n") if not line.startswith(">"))


@given(multiple_alignments())
def test_rows_and_their_descriptions_read_back(alignment):
    found = read_aligned_fasta(io.StringIO(written(alignment)), "aligned")
    assert (found.names, found.rows) == (alignment.names, alignment.rows)
    for wanted, notes in zip(alignment.annotations.of_rows, found.annotations.of_rows, strict=True):
        assert dict(notes).get("DE", "") == " ".join(text for feature, text in wanted if feature == "DE" and text)


def test_headers_white_space_and_compression(tmp_path):
    path = tmp_path / "three.fasta.gz"
    write_fasta(path, [SequenceRecord("a", "some protein", "MK")])
    assert read_fasta(path) == [SequenceRecord("a", "some protein", "MK")]
    text = "\n>one  of  two \nMKV LAT\n\n  GG\r\n>two\nMK*\n"
    assert read_fasta(io.StringIO(text)) == [
        SequenceRecord("one", "of  two", "MKVLATGG"),
        SequenceRecord("two", "", "MK*"),
    ]
    assert read_fasta(io.StringIO("")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MKV\n>a\nMK\n", "line 1: found 'MKV' before any header"),
        (">a\nMK\n>\nMK\n", "line 3: the header names no sequence"),
        (">a\n>b\nMK\n", "line 1: record 'a' has no sequence"),
        (">a\nMK\n>b some\n", "line 3: record 'b' has no sequence"),
        (">a\nMK\nM1K\n", "line 3: record 'a' has '1' at position 2; expected letters"),
        ("# comment\n>a\nMK\n", "line 1: found '# comment' before any header"),
    ],
)
def test_malformed_files_are_named_with_the_line(text, message, tmp_path):
    for read in (read_fasta, read_aligned_fasta):
        assert_refused(read, tmp_path / "bad.fasta", text, message)


def test_rows_must_have_equal_length(tmp_path):
    path = tmp_path / "bad.fasta"
    path.write_text(">a\nMK-\nV\n>b\nMKVV\n>c\nMK\nV\n")
    assert [record.sequence for record in read_fasta(path)] == ["MK-V", "MKVV", "MKV"]
    with pytest.raises(ValueError, match=r"bad\.fasta, line 6: row 'c' has 3 columns; expected 4, as in the first row"):
        read_aligned_fasta(path)
    path.write_text("\n")
    with pytest.raises(ValueError, match=r"bad\.fasta, line 1: no sequence"):
        read_aligned_fasta(path)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (SequenceRecord("two words", "", "MK"), "a header cannot hold the name 'two words'"),
        (SequenceRecord("", "", "MK"), "a header cannot hold the name ''"),
        (SequenceRecord("a", "two\nlines", "MK"), r"a header cannot hold .* the description 'two\\nlines'"),
        (SequenceRecord("a", "outer ", "MK"), "a header cannot hold .* the description 'outer '"),
        (SequenceRecord("a", "", ""), "record 'a' has no sequence"),
        (SequenceRecord("a", "", "M>K"), "record 'a' has '>' at position 2"),
    ],
)
def test_what_would_not_read_back_is_not_written(record, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_fasta(tmp_path / "new.fasta", [SequenceRecord("fine", "", "MK"), record])
    assert not (tmp_path / "new.fasta").exists()


@pytest.mark.parametrize(
    ("records", "width", "message"),
    [
        ([("a", "b")], 60, r"record 0 is \('a', 'b'\); expected a SequenceRecord\(name, description, sequence\)"),
        (
            [SequenceRecord("a", "", "MK"), SequenceRecord("b", "", None)],
            60,
            "record 1 is SequenceRecord.* expected a SequenceRecord",
        ),
        ({"a": "MK"}, 60, "the records are given as dict; expected a list of SequenceRecord"),
        ("MK", 60, "the records are given as str; expected a list of SequenceRecord"),
        (3, 60, "the records are given as int; expected a list of SequenceRecord"),
        ([SequenceRecord("a", "", "MK")], 0, "width is 0; expected 1 letter or more"),
        ([SequenceRecord("a", "", "MK")], 2.5, "width is 2.5; expected 1 letter or more"),
    ],
)
def test_what_are_no_records_is_not_written(records, width, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_fasta(tmp_path / "new.fasta", records, width)
    assert not (tmp_path / "new.fasta").exists()


def test_lower_case_columns_are_what_the_reader_is_told():
    text = ">a\nMKv.L\n>b\nM-vkL\n"
    a, b, alignment = read_aligned_fasta(io.StringIO(text), "untrusted").pair("a", "b")
    assert (a, b) == ("MKVL", "MVKL")
    assert alignment.pairs.tolist() == [[0, 0], [2, 1], [3, 3]]
    assert alignment.trusted.tolist() == [True, False, True]
    a, b, alignment = read_aligned_fasta(io.StringIO(text)).pair(0, 1)
    assert (a, b) == ("MKvL", "MvkL")
    assert alignment.trusted.all()
    assert isinstance(read_aligned_fasta(io.StringIO(text)), MultipleAlignment)
