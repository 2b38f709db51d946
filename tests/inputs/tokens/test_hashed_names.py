"""Numbers of names by a hash, against the same hash in Python."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.inputs.tokens.hashed_names import HashedNames
from maxmargin.inputs.tokens.vocabulary import ESCAPED, Names

NAMES = st.lists(st.text(max_size=20) | st.sampled_from(["x" * n for n in (7, 8, 9, 16, 17)]), max_size=8)


def plain_hash(name):
    """Of the bytes and a zero, filled up to whole words of eight."""
    text = name.encode("utf-8", "surrogatepass").replace(b"\0", ESCAPED)
    text += bytes(8 - len(text) % 8)
    mixed = 0
    for p in range(0, len(text), 8):
        mixed = (mixed ^ int.from_bytes(text[p : p + 8], "little")) * 0x9E3779B97F4A7C15 % 2**64
        mixed ^= mixed >> 32
    mixed = mixed * 0x9E3779B97F4A7C15 % 2**64
    return mixed ^ (mixed >> 32)


@given(NAMES, st.integers(1, 30))
def test_as_in_python(names, bits):
    hashed = HashedNames(bits)
    expected = [plain_hash(name) % 2**bits for name in names]
    assert hashed.look_up(Names.of([names])).tolist() == expected
    assert hashed.learn(Names.of([names])).tolist() == expected


def test_saved_models_rely_on_these_numbers():
    found = HashedNames(20).look_up(Names.of([["", "bias", "word=the", "a longer name of a feature", "größe"]]))
    assert found.tolist() == [0, 234617, 50433, 664621, 817892]


@pytest.mark.every(3)
@pytest.mark.parametrize("bits", [8, 14, 18])
def test_names_are_spread_evenly(bits):
    """Numbers in a column vary as much as if drawn, at most: usual names of features differ in few bytes only."""
    n = 3 * 2**bits
    for shape in ("w[0]={}", "{}", "suffix={}|pos=NN", "{:06d}", "{:x}", "xxxxx{:03x}", "xxxx{:02x}x{:02x}"):
        names = [shape.format(k % 256 if shape.count("{") > 1 else k, k // 256) for k in range(n)]
        counts = np.bincount(HashedNames(bits).look_up(Names.of([names])), minlength=2**bits)
        spread = counts.var() / counts.mean()
        assert spread < 1.0 + 6 * np.sqrt(2 / 2**bits), (shape, spread)


def test_every_byte_of_a_name_matters():
    """Names that differ in one character are in different columns, as often as if drawn."""
    together = []
    for length in range(1, 18):
        for place in range(length):
            names = ["m" * place + chr(c) + "m" * (length - place - 1) for c in range(33, 127)]
            together.append(94 - len(set(HashedNames(16).look_up(Names.of([names])).tolist())))
    pairs = 94 * 93 / 2 * len(together)
    assert sum(together) <= pairs / 2**16 + 6 * np.sqrt(pairs / 2**16)


def test_how_many():
    hashed = HashedNames(5)
    assert len(hashed) == 32
    assert hashed == HashedNames(5) == pickle.loads(pickle.dumps(hashed))
    assert hashed != HashedNames(6)
    assert hash(hashed) == hash(HashedNames(5))
    for bits in (0, 31, 2.5, "18"):
        with pytest.raises(ValueError, match="hash_bits must be"):
            HashedNames(bits)
