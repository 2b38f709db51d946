import pytest

from maxmargin.structures.motifs.alphabet import Alphabet

DNA, RNA = Alphabet("ACGT"), Alphabet("ACGU")


def test_case_has_no_meaning():
    alphabet = Alphabet("acGT")
    assert alphabet.letters == "ACGT"
    assert alphabet.codes("AaCcTt", "x").tolist() == [0, 0, 1, 1, 3, 3]
    assert alphabet.text([3, 0]) == "TA"


@pytest.mark.parametrize(
    ("letters", "complement"), [("ACGT", [3, 2, 1, 0]), ("UGCA", [3, 2, 1, 0]), ("TCAG", [2, 3, 0, 1])]
)
def test_complements(letters, complement):
    assert Alphabet(letters).complement.tolist() == complement


@pytest.mark.parametrize("letters", ["ACDEFGHIKLMNPQRSTVWY", "ACG", "ACGTU", "ACGTN"])
def test_letters_without_complements(letters):
    assert Alphabet(letters).complement is None


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        ("", "the alphabet is ''; expected a string of letters"),
        (None, "the alphabet is None; expected a string of letters"),
        ("ACGA", "has 'A' twice"),
        ("AaCG", "has 'A' twice"),
        ("AC GT", "has ' '; expected visible ASCII"),
        ("ACé", "has 'é'; expected visible ASCII"),
    ],
)
def test_strings_that_are_no_alphabet(letters, message):
    with pytest.raises(ValueError, match=message):
        Alphabet(letters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ACNGT", r"it has 'N' at position 2 \(counted from 0\), which is not one of the letters ACGT; unknown='skip'"),
        ("ACGé", r"it has 'é' at position 3"),
        ("ACG\U0001f9ec", r"it has '\U0001f9ec' at position 3"),
        ("AC G", r"it has ' ' at position 2"),
        (b"ACGT", "it is of type bytes; expected a string of the letters ACGT"),
        (["A"], "it is of type list; expected a string"),
        (None, "it is of type NoneType; expected a string"),
        (3.5, "it is 3.5; expected a string"),
    ],
)
def test_what_is_no_string_of_the_alphabet(text, message):
    with pytest.raises(ValueError, match=message):
        Alphabet("ACGT").codes(text, "it")


def test_skipped_letters_are_those_outside():
    assert Alphabet("ACGT").codes("AxNé\U0001f9ecT\x7f", "it", "skip").tolist() == [0, -1, -1, -1, -1, 3, -1]


@pytest.mark.parametrize(
    ("alphabet", "strand", "text", "wanted"),
    [(DNA, 0, "acgg", "ACGG"), (DNA, 1, "acgg", "CCGT"), (RNA, 1, "acgu", "ACGU"), (Alphabet("AB"), 0, "ba", "BA")],
)
def test_strands_read_windows_their_way(alphabet, strand, text, wanted):
    assert alphabet.text(alphabet.read(alphabet.codes(text, "it"), strand)) == wanted
