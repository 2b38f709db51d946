"""Sequences as columns: what is read, what is learnt, and what is refused."""

import numpy as np
import pytest

from maxmargin.structures.alignment.columns import Columns

STRUCTURED = {"residue": "ACC", "ss": "HHE"}
NUMBERED = {"residue": "AC", "profile": np.array([[1, 2], [3, 4]])}


def test_alphabets_are_those_of_both_sequences():
    columns = Columns().fit([("CA", "D"), ("A", "BB")])
    assert columns.alphabets == {"residue": ["A", "B", "C", "D"]}
    first, second = columns.encode(("DA", "B"), 0)
    assert first.codes["residue"].tolist() == [3, 0]
    assert (first.length, second.length) == (2, 1)


def test_letters_may_be_anything():
    words = {"word": ["the", "cat", ("a", 1)], "size": np.array([3, 3, 1])}
    columns = Columns().fit([(words, words)])
    assert columns.alphabets == {"word": ["the", "cat", ("a", 1)], "size": [1, 3]}  # in order, where there is one
    assert columns.width("word") == 3


def test_the_two_sequences_may_have_different_columns():
    columns = Columns().fit([(STRUCTURED, "CA")])
    assert columns.names == (["residue", "ss"], ["residue"])
    assert columns.alphabets == {"residue": ["A", "C"], "ss": ["E", "H"]}


def test_numbers_are_kept_as_they_are():
    columns = Columns().fit([(NUMBERED, NUMBERED)])
    assert columns.width("profile") == 2
    side = columns.encode((NUMBERED, NUMBERED), 0)[0]
    np.testing.assert_array_equal(side.numbers["profile"], [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("alphabet", ["CAB", ["C", "A", "B"], {"residue": "CAB"}])
def test_a_given_alphabet_is_kept(alphabet):
    columns = Columns(alphabet).fit([("A", "C")])
    assert columns.alphabets == {"residue": ["C", "A", "B"]}
    assert columns.encode(("B", "C"), 0)[0].codes["residue"].tolist() == [2]


def test_unknown_letters_are_named_or_ignored():
    X = [("AC", "CA")]
    with pytest.raises(
        ValueError, match="example 5, second sequence has 'X' at position 1 of 'residue'; expected one of 'A'"
    ):
        Columns().fit(X).encode(("A", "CX"), 5)
    assert Columns(unknown="ignore").fit(X).encode(("A", "CX"), 5)[1].codes["residue"].tolist() == [1, -1]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "no examples given"),
        ([("A", "C"), "AC"], "example 1 is a str; expected a pair"),
        ([("A", "C"), ("A", "C", "D")], "example 1 is a tuple of 3; expected a pair"),
        ([("A", "C"), ("A", "")], "example 1, second sequence is empty"),
        ([("A", 3)], "example 0, second sequence is int; expected a string, or a dict of columns"),
        ([("A", {})], "example 0, second sequence is an empty dict"),
        (
            [("A", "C"), (STRUCTURED, "C")],
            "example 1, first sequence has the columns 'residue', 'ss'; expected 'residue'",
        ),
        ([("A", {"residue": "AC", "ss": "H"})], "example 0, second sequence: 'ss' has 1 positions but 'residue' has 2"),
        ([("A", {"residue": 3})], "column 'residue' is int; expected letters"),
        (
            [("A", {"residue": "AC", "p": [1, 0.5]})],
            r"column 'p' has the number 0.5 at position 1; expected letters .*, or a \(positions, numbers\) array",
        ),
        ([("A", {"residue": "A", "p": (np.float32(2),)})], "column 'p' has the number 2.0 at position 0"),
        ([("A", {"residue": [[1], [2]]})], "column 'residue' has letters that cannot be hashed"),
        (
            [("A", {"size": np.array([0.5, 1.0])})],
            r"column 'size' is ndarray of shape \(2,\), float64; expected letters",
        ),
        ([("A", {"size": np.array([[1.0], [np.nan]])})], "column 'size' has nan at position 1, number 0"),
        ([("A", {"size": np.array([["x"]])})], "column 'size': got an array of <U1; expected numbers"),
        (
            [({"f": "A"}, {"f": np.ones((1, 2))})],
            "example 0, second sequence: 'f' has 2 numbers per position; expected letters",
        ),
        ([({"f": np.ones((1, 2))}, {"f": "A"})], "example 0, second sequence: 'f' has letters; expected 2 numbers"),
        ([({"f": np.ones((1, 2))}, {"f": np.ones((1, 3))})], "'f' has 3 numbers per position; expected 2 of them"),
    ],
)
def test_bad_sequences_are_named(X, message):
    with pytest.raises(ValueError, match=message):
        Columns().fit(X)


def test_sequences_of_another_kind_than_in_training():
    columns = Columns().fit([({"f": "A"}, {"f": "A"})])
    with pytest.raises(ValueError, match="example 2, first sequence: 'f' has 2 numbers per position; expected letters"):
        columns.encode(({"f": np.ones((1, 2))}, {"f": "A"}), 2)
    columns = Columns().fit([({"f": np.ones((1, 2))}, {"f": np.ones((1, 2))})])
    with pytest.raises(ValueError, match="example 2, first sequence: 'f' has letters; expected 2 numbers"):
        columns.encode(({"f": "A"}, {"f": "A"}), 2)
    with pytest.raises(ValueError, match="'f' has 3 numbers per position; expected 2 numbers"):
        columns.encode(({"f": np.ones((1, 3))}, {"f": np.ones((1, 2))}), 2)


@pytest.mark.parametrize(
    ("alphabet", "message"),
    [
        ("AA", "names a letter twice"),
        ("", "expected a string or list of letters"),
        ({"residue": 3}, "the alphabet of column 'residue' is 3"),
        ({"ss": "HE"}, "alphabet names the column 'ss'; the sequences have 'residue'"),
    ],
)
def test_bad_alphabets_are_named(alphabet, message):
    with pytest.raises(ValueError, match=message):
        Columns(alphabet).fit([("A", "A")])


def test_a_column_that_is_not_there():
    columns = Columns().fit([(STRUCTURED, "A")])
    with pytest.raises(ValueError, match="no column 'ss'; the second sequences have 'residue'"):
        columns.check("ss", 1)
    with pytest.raises(ValueError, match="no column 'acc'; the sequences have 'residue', 'ss'"):
        columns.width("acc")
