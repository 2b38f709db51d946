"""Names and their numbers, against a dict."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.inputs.tokens.vocabulary import Names, Vocabulary

# Short ones, so that some are drawn twice; others end within a word of eight bytes, at its end, and behind it.
STRINGS = st.one_of(
    st.text(alphabet="ab=\0", max_size=3),
    st.sampled_from(["x" * n for n in (7, 8, 9, 15, 16, 17, 100)]),
    st.text(alphabet=st.characters(), max_size=20),  # with surrogates, which have no encoding of their own
    st.sampled_from(["é", "x" * 7 + "é", "\udc80", "\x80", "\xff", "\xc0\x80"]),
)


@given(st.lists(STRINGS, max_size=12))
def test_names_are_kept(strings):
    names = Names.of([strings])
    assert names.size == len(strings)
    assert names.strings() == strings
    assert Names.of_text(names.text()).strings() == strings
    for k, string in enumerate(strings):
        assert names.some(k, k + 1).strings() == [string]


@given(st.lists(st.lists(STRINGS, max_size=4), max_size=6))
def test_names_of_several_lists(lists):
    assert Names.of(lists).strings() == [string for strings in lists for string in strings]


@given(st.lists(st.lists(STRINGS, max_size=8), max_size=6), st.lists(STRINGS, max_size=8))
def test_numbers_are_those_of_a_dict(pieces, new):
    numbers: dict[str, int] = {}
    vocabulary = Vocabulary()
    for piece in pieces:
        expected = [numbers.setdefault(name, len(numbers)) for name in piece]
        assert vocabulary.learn(Names.of([piece])).tolist() == expected
    assert len(vocabulary) == len(numbers)
    assert vocabulary.names.strings() == list(numbers)
    for known in (vocabulary, pickle.loads(pickle.dumps(vocabulary))):
        assert known == vocabulary
        assert known.look_up(Names.of([new])).tolist() == [numbers.get(name, -1) for name in new]
        assert len(known) == len(numbers)


def test_many_names():
    rng = np.random.default_rng(0)
    strings = [f"{k:x}" * int(k % 4) for k in rng.integers(0, 20_000, 50_000)]
    numbers: dict[str, int] = {}
    expected = [numbers.setdefault(name, len(numbers)) for name in strings]
    vocabulary = Vocabulary()
    found = [vocabulary.learn(Names.of([strings[k : k + 1000]])) for k in range(0, len(strings), 1000)]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert vocabulary.names.strings() == list(numbers)


@given(st.lists(STRINGS, unique=True, min_size=1, max_size=5))
def test_vocabularies_are_equal_with_the_same_names_in_the_same_order(strings):
    one, other, more = Vocabulary(), Vocabulary(), Vocabulary()
    one.learn(Names.of([strings]))
    other.learn(Names.of([strings * 2]))
    more.learn(Names.of([strings[::-1]]))
    assert one == other
    assert (one == more) == (len(strings) == 1)
    assert one != Vocabulary()
    assert one != strings


@pytest.mark.parametrize("names", [[1], ["a", None], [b"a"]])
def test_what_is_no_string(names):
    with pytest.raises(TypeError):
        Names.of([names])
