import io

import pytest
from Bio import AlignIO
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment.alignment_strategies import multiple_alignments
from structures.alignment.formats.refusals import assert_refused

from maxmargin.formats import Annotations, MultipleAlignment, iterate_stockholm, read_stockholm, write_stockholm

TWO_BLOCKS = """# STOCKHOLM 1.0
#=GF ID    Some family\x20
#=GF RN    [1]
#=GF CC    A comment
#=GF RN    [2]
#=GF CC
#=GS b/1-5 AC   P12345
#=GS b/1-5 DE   A  protein
# a remark

a          MK-
#=GR a SS  HH.
b/1-5      MKV
#=GC SS_cons HHC

a          .LA
#=GR a SS  .EE
b/1-5      W-A
#=GC SS_cons CEE
//
"""


def test_blocks_are_joined_and_annotations_kept():
    alignment = read_stockholm(io.StringIO(TWO_BLOCKS))
    assert alignment.names == ("a", "b/1-5")
    assert alignment.rows == ("MK-.LA", "MKVW-A")
    assert alignment.annotations == Annotations(
        (("ID", "Some family"), ("RN", "[1]"), ("CC", "A comment"), ("RN", "[2]"), ("CC", "")),
        ((), (("AC", "P12345"), ("DE", "A  protein"))),
        {"SS_cons": "HHCCEE"},
        ({"SS": "HH..EE"}, {}),
    )
    assert alignment.columns("a") == {"residue": "MKLA", "SS_cons": "HHEE", "SS": "HHEE"}
    assert alignment.pair(0, 1)[2].pairs.tolist() == [[0, 0], [1, 1], [3, 4]]


@given(multiple_alignments(), st.none() | st.integers(1, 16))
def test_alignments_read_back_as_they_were(alignment, width):
    file = io.StringIO()
    write_stockholm(file, alignment, width)
    assert read_stockholm(io.StringIO(file.getvalue())) == alignment


def test_biopython_reads_the_same_from_what_is_written():
    file = io.StringIO()
    alignment = read_stockholm(io.StringIO(TWO_BLOCKS.replace("#=GF CC\n", "")))  # it takes no feature without text
    write_stockholm(file, alignment, 4)
    found = AlignIO.read(io.StringIO(file.getvalue()), "stockholm")
    assert [str(record.seq) for record in found] == ["MK-.LA".replace(".", "-"), "MKVW-A"]
    assert found[0].letter_annotations == {"secondary_structure": "HH..EE"}
    assert found.column_annotations == {"secondary_structure": "HHCCEE"}
    assert found[1].description == "A  protein"


def test_files_may_hold_many_alignments(tmp_path):
    path = tmp_path / "two.sto.xz"
    first, second = MultipleAlignment(("a",), ("mK",)), MultipleAlignment(("b", "c"), ("M.", "MK"))
    file = io.StringIO()
    for alignment in (first, second):
        write_stockholm(file, alignment)
    assert list(iterate_stockholm(io.StringIO(file.getvalue() + "\n"))) == [first, second]
    with pytest.raises(ValueError, match=r"line 9: the file ends here and has 2 alignments; expected one"):
        read_stockholm(io.StringIO(file.getvalue()))
    write_stockholm(path, first)
    assert read_stockholm(path, "inserted").lowercase == "inserted"


FIRST = "# STOCKHOLM 1.0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a MK\n//\n", "line 1: found 'a MK'; expected '# STOCKHOLM 1.0'"),
        ("", "which is empty: the file ends here and has 0 alignments"),
        (FIRST + "a MK\n", "line 2: the file ends here, inside an alignment; expected '//'"),
        (FIRST + "a MK\n" + FIRST + "//\n", "line 3: an alignment begins before the last one has ended"),
        (FIRST + "a MK\n//\nb MK\n", "line 4: found 'b MK'; expected '# STOCKHOLM 1.0'"),
        (FIRST + "//\n", "line 2: the alignment ends here and has no row"),
        (FIRST + "a MK\nb MKV\n//\n", "line 3: 'b' has 3 columns up to this line; expected 2, .* row, 'a', has"),
        (FIRST + "a MK\nb MK\n\nb MK\n//\n", "line 5: 'b' has 4 columns"),
        (FIRST + "a MK\n#=GR a SS HHH\n//\n", "line 3: '#=GR a SS' has 3 columns"),
        (FIRST + "a MK\n#=GC SS H\n//\n", "line 3: '#=GC SS' has 1 columns"),
        (FIRST + "a MK\n#=GR b SS HH\n//\n", "line 3: #=GR annotates 'b', which is not a row"),
        (FIRST + "#=GS b DE text\na MK\n//\n", "line 2: #=GS annotates 'b', which is not a row"),
        (FIRST + "a M K\n//\n", "line 2: found 'a M K'; expected the name of a row and its residues"),
        (FIRST + "a\n//\n", "line 2: found 'a'; expected the name of a row and its residues"),
        (FIRST + "a MK\n#=GR a HH\n//\n", "line 3: found '#=GR a HH'; expected the name of a row, a feature"),
        (FIRST + "#=GF\na MK\n//\n", "line 2: found '#=GF'; expected a feature and text"),
        (FIRST + "a M1\n//\n", "line 2: row 'a' has '1' at position 2"),
        (FIRST + "a MK\n#=GX a HH\n//\n", "line 3: found '#=GX'; expected a row, or an annotation"),
    ],
)
def test_malformed_files_are_named_with_the_line(text, message, tmp_path):
    assert_refused(read_stockholm, tmp_path / "bad.sto", text, message)


@pytest.mark.parametrize(
    ("alignment", "message"),
    [
        (MultipleAlignment(("a", "a"), ("MK", "MK")), "two rows are named 'a'"),
        (MultipleAlignment(("a b",), ("MK",)), "'a b' cannot be the name of a row"),
        (MultipleAlignment(("#a",), ("MK",)), "'#a' cannot be the name of a row"),
        (MultipleAlignment(("//",), ("MK",)), "'//' cannot be the name of a row"),
        (MultipleAlignment(("a",), ("MK",), Annotations(of_columns={"": "HH"})), "'' cannot be"),
        (MultipleAlignment(("a",), ("MK",), Annotations(of_file=(("CC", "a\nb"),))), r"text 'a\\nb' of '#=GF CC'"),
        (MultipleAlignment(("a",), ("MK",), Annotations(of_rows=((("DE", " b"),),))), "text ' b' of '#=GS a DE'"),
    ],
)
def test_what_would_not_read_back_is_not_written(alignment, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_stockholm(tmp_path / "new.sto", alignment)
    assert not (tmp_path / "new.sto").exists()
