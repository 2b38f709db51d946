import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.motifs.compiled import motif_twin as twin

from maxmargin.structures.motifs.letters import Alphabet, Strings, markov_size

texts = st.lists(st.text("ACGTN", max_size=8), max_size=4)


def strings(X):
    alphabet = Alphabet("ACGT")
    return Strings([alphabet.codes(x, "x", "skip") for x in X])


@given(texts)
def test_runs_are_the_stretches_of_known_letters(X):
    data = strings(X)
    assert len(data) == len(X)
    for i, x in enumerate(X):
        begin = data.begins[i]
        runs = data.runs[data.run_bounds[i] : data.run_bounds[i + 1]] - begin
        assert [x[a:b] for a, b in runs] == [part for part in x.split("N") if part]


@given(texts, st.integers(0, 3))
def test_contexts_are_numbered_by_their_length_and_letters(X, order):
    numbers = strings(X).contexts(4, order)
    letters = [(x, i) for x in X for i in range(len(x))]
    for number, (x, i) in zip(numbers, letters, strict=True):
        name = twin.background_name(x, i, order, "ACGT")
        assert number == (twin.coordinate(name, 0, "ACGT") if name else markov_size(4, order))


@given(texts, st.integers(1, 4))
def test_words_are_read_from_left_to_right(X, width):
    numbers = iter(strings(X).words(4, width).tolist())
    for x in X:
        for i in range(len(x)):
            word, number = x[i : i + width], next(numbers)
            if len(word) == width and "N" not in word:
                assert number == sum("ACGT".index(letter) * 4 ** (width - 1 - p) for p, letter in enumerate(word))
            else:
                assert number == 0


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


def test_nothing():
    for data in (strings([]), strings([""]), strings(["", "N", ""])):
        assert data.runs.shape == (0, 2)
        assert np.array_equal(data.run_bounds, np.zeros(len(data) + 1))
