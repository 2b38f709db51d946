import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment.alignment_strategies import multiple_alignments

from maxmargin.formats import Annotations, MultipleAlignment

GAPS = "-._~"


def plain_pair(first, second):
    """Positions and case of the residues that share a column, one column after the other."""
    i = j = 0
    pairs, lower = [], []
    for x, y in zip(first, second, strict=True):
        if x not in GAPS and y not in GAPS:
            pairs.append([i, j])
            lower.append(x.islower() or y.islower())
        i, j = i + (x not in GAPS), j + (y not in GAPS)
    return pairs, lower


@given(multiple_alignments(), st.data())
def test_a_pair_is_aligned_as_its_rows_are(alignment, data):
    rows = st.integers(0, len(alignment) - 1)
    i, j = data.draw(rows), data.draw(rows)
    a, b, found = alignment.pair(alignment.names[i], j)
    pairs, lower = plain_pair(alignment.rows[i], alignment.rows[j])
    assert found.pairs.tolist() == pairs
    assert found.lengths == (len(a), len(b))
    assert found.trusted.all()
    assert a == "".join(letter for letter in alignment.rows[i] if letter not in GAPS)
    doubtful = MultipleAlignment(alignment.names, alignment.rows, lowercase="untrusted")
    a, _, found = doubtful.pair(i, j)
    assert found.pairs.tolist() == pairs
    assert found.trusted.tolist() == [not each for each in lower]
    assert a == alignment.sequence(i).upper()


def test_insertions_are_aligned_to_nothing():
    alignment = MultipleAlignment(("q", "r", "s"), ("M.K", "MvK", "-aK"), lowercase="inserted")
    assert alignment.pair("r", "s")[2].pairs.tolist() == [[2, 1]]
    assert alignment.pair("q", "r")[2].pairs.tolist() == [[0, 0], [1, 2]]
    assert alignment.pair("r", "s")[:2] == ("MVK", "AK")
    with pytest.raises(
        ValueError, match="column 2 has a lower-case letter in row 'r' and an upper-case one in row 's'"
    ):
        MultipleAlignment(("q", "r", "s"), ("M.K", "MvK", "-AK"), lowercase="inserted")


def test_columns_follow_the_residues():
    annotations = Annotations(
        of_columns={"SS_cons": "HHEE", "SA": "0123"},
        of_residues=({"SS": "H.Cx", "SA": "abcd"}, {}),
        of_file=(("ID", "x"),),
    )
    alignment = MultipleAlignment(("a", "b"), ("M-Kv", ".LK-"), annotations)
    assert alignment.columns(0) == {"residue": "MKv", "SS_cons": "HEE", "SA": "acd", "SS": "HCx"}
    assert alignment.columns("b") == {"residue": "LK", "SS_cons": "HE", "SA": "12"}
    assert alignment.columns(-1) == alignment.columns("b")
    assert alignment.width == 4
    assert len(alignment) == 2
    assert alignment.annotations.of_rows == ((), ())


def test_an_annotation_does_not_hide_the_sequence():
    alignment = MultipleAlignment(("a",), ("MK",), Annotations(of_columns={"residue": "xx"}))
    with pytest.raises(ValueError, match="row 'a' has an annotation 'residue'"):
        alignment.columns(0)


@given(multiple_alignments(), st.data())
def test_columns_have_one_character_per_residue(alignment, data):
    i = data.draw(st.integers(0, len(alignment) - 1))
    columns = alignment.columns(i)
    assert columns["residue"] == alignment.sequence(i)
    assert set(columns) == {"residue", *alignment.annotations.of_columns, *alignment.annotations.of_residues[i]}
    assert {len(text) for text in columns.values()} == {len(alignment.sequence(i))}


@pytest.mark.parametrize(
    ("names", "rows", "options", "message"),
    [
        ("ab", ("MK", "M"), {}, "row 'b' has 1 columns and the first row, 'a', has 2"),
        ("a", ("",), {}, "row 'a' has 0 columns"),
        ("", (), {}, "got 0 rows and 0 names"),
        ("a", ("MK", "MK"), {}, "got 2 rows and 1 names"),
        ("a", ("M1",), {}, "row 'a' has '1' at position 2; expected letters"),
        ("a", ("MK",), {"lowercase": "masked"}, "lowercase must be one of 'aligned'.*got 'masked'"),
        (
            "a",
            ("MK",),
            {"annotations": Annotations(of_columns={"SS": "H"})},
            "'SS' of the columns is 'H'; .* 2 columns",
        ),
        ("a", ("MK",), {"annotations": Annotations(of_residues=({"SS": "H "},))}, "'SS' of 'a' is 'H '"),
        (
            "a",
            ("MK",),
            {"annotations": Annotations(of_rows=((), ()))},
            "of_rows has 2 rows; expected 1, as many as the alignment",
        ),
    ],
)
def test_what_is_no_alignment_is_refused(names, rows, options, message):
    with pytest.raises(ValueError, match=message):
        MultipleAlignment(tuple(names), rows, **options)


def test_rows_are_found_by_number_or_by_a_name_of_their_own():
    alignment = MultipleAlignment(("a", "a", "b"), ("MK", "M-", "-K"))
    assert alignment.sequence("b") == "K"
    with pytest.raises(ValueError, match="2 of the 3 rows are named 'a'; expected one"):
        alignment.pair("b", "a")
    with pytest.raises(ValueError, match="0 of the 3 rows are named 'c'"):
        alignment.columns("c")
    for row in (3, -4, 1.0, None):
        with pytest.raises(ValueError, match=rf"there is no row {row} among 3 rows; expected a name, or .* 0 to 2"):
            alignment.pair(0, row)
