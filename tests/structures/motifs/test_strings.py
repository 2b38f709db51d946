import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from structures.motifs.compiled import motif_twin as twin
from structures.motifs.planted import dna_strings

from maxmargin.structures.motifs.strings import context_names, markov_size

texts = st.lists(st.text("ACGTN", max_size=8), max_size=4)


@given(texts)
def test_runs_are_the_stretches_of_known_letters(X):
    data = dna_strings(X)
    assert len(data) == len(X)
    for i, x in enumerate(X):
        begin = data.begins[i]
        runs = data.runs[data.run_bounds[i] : data.run_bounds[i + 1]] - begin
        assert [x[a:b] for a, b in runs] == [part for part in x.split("N") if part]


@given(texts, st.integers(0, 3))
def test_contexts_are_numbered_by_their_length_and_letters(X, order):
    numbers = dna_strings(X).contexts(4, order)
    letters = [(x, i) for x in X for i in range(len(x))]
    for number, (x, i) in zip(numbers, letters, strict=True):
        name = twin.background_name(x, i, order, "ACGT")
        assert number == (twin.coordinate(name, 0, "ACGT") if name else markov_size(4, order))


@given(texts, st.integers(1, 4))
def test_words_are_read_from_left_to_right(X, width):
    numbers = iter(dna_strings(X).words(4, width).tolist())
    for x in X:
        for i in range(len(x)):
            word, number = x[i : i + width], next(numbers)
            if len(word) == width and "N" not in word:
                assert number == sum("ACGT".index(letter) * 4 ** (width - 1 - p) for p, letter in enumerate(word))
            else:
                assert number == 0


def test_nothing():
    for data in (dna_strings([]), dna_strings([""]), dna_strings(["", "N", ""])):
        assert data.runs.shape == (0, 2)
        assert np.array_equal(data.run_bounds, np.zeros(len(data) + 1))


@given(st.sampled_from(["ACGT", "AB", "X"]), st.integers(0, 3))
def test_contexts_have_names_in_the_order_of_their_numbers(letters, order):
    names = context_names(letters, order)
    assert len(names) * len(letters) == markov_size(len(letters), order)
    numbers = [twin.coordinate(("background", name, letter), 0, letters) for name in names for letter in letters]
    assert numbers == list(range(len(numbers)))
