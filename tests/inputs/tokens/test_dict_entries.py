"""Pairs of names and values in dicts, by way of their pickle, against the dicts themselves."""

from enum import StrEnum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.inputs.tokens.dict_entries import DictEntries
from maxmargin.inputs.tokens.token_features import _read_at_once, _read_one_by_one

# Some end within a word of eight bytes, at its end, and behind it, alone or together with "=" and a value.
STRINGS = st.one_of(
    st.text(alphabet="ab=", max_size=3),
    st.integers(0, 40).map(lambda n: "x" * n),
    st.text(alphabet=st.characters(exclude_characters="\0"), max_size=20),  # with surrogates
    st.sampled_from(["é", "x" * 7 + "é", "\udc80", "\x80", "\xff", "\xc0\x80", "x" * 300]),
)
NUMBERS = st.one_of(
    st.booleans(),
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -1, -(2**31), -(2**31) - 1, 2**53 + 1, 2**63 - 1]),
)


def expected(dicts):
    pairs = [(k, v) for d in dicts for k, v in d.items()]
    names = [f"{name}={value}" if isinstance(value, str) else name for name, value in pairs]
    return names, [1.0 if isinstance(value, str) else float(value) for _, value in pairs]


def read(dicts):
    return DictEntries.of(dicts, sum(map(len, dicts)))


@given(st.lists(st.dictionaries(STRINGS, STRINGS | NUMBERS, max_size=6), max_size=5))
def test_pairs_are_kept(dicts):
    names, values = expected(dicts)
    pairs = read(dicts)
    assert pairs is not None
    assert pairs.names.strings() == names
    assert pairs.values.tobytes() == np.array(values, dtype=float).tobytes()  # -0.0 too


def test_pickle_writes_in_batches():
    """Of a thousand entries of a list or a dict, the last of which may be a single one."""
    for sizes in ([1001], [2001, 0, 1, 1000], [3] * 1001, [0] * 1001, [1] * 2001, []):
        dicts = [{f"{t} {k}": float(k) if k % 2 else str(k) for k in range(size)} for t, size in enumerate(sizes)]
        names, values = expected(dicts)
        pairs = read(dicts)
        assert pairs is not None
        assert pairs.names.strings() == names
        assert pairs.values.tolist() == values


def test_not_a_number_is_kept():
    pairs = read([{"a": float("nan"), "b": -np.inf}])
    assert np.isnan(pairs.values[0])
    assert pairs.values[1] == -np.inf


@given(st.lists(st.sampled_from([np.float64(0.1), np.float32(0.1), np.int64(-7), np.int32(3), np.True_, "x", 2])))
def test_numbers_of_numpy(values):
    dicts = [{"a": values[0] if values else 1.0}, {f"{k}": value for k, value in enumerate(values)}]
    pairs = read(dicts)
    if pairs is None:  # they come behind a dict that has none
        assert type(dicts[0]["a"]) in (str, int)
    else:
        assert pairs.names.strings() == expected(dicts)[0]
        assert pairs.values.tolist() == expected(dicts)[1]


class Text(str):
    def __format__(self, spec):
        return "formatted"


class Colour(StrEnum):
    RED = "red"


class Unwilling:
    def __reduce__(self):
        raise OSError("no")


ITSELF: dict = {}
ITSELF["me"] = ITSELF
OTHERS = [None, ["x"], ("x",), {"x": 1}, {}, [], b"x", 1j, 2**63, -(2**63) - 1, 10**400, np.float16(1), np.eye(2), "\0"]
OTHERS += [
    Text("x"),
    np.str_("x"),
    Colour.RED,
    Unwilling(),
    ITSELF,
    lambda: 0,
    {"x"},
    "a\0b" * 9,
    np.datetime64("2020"),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: f"{type(other).__name__}")
def test_what_is_left_to_others(other):
    usual = {"a": 1.0, "b": "x"}
    for dicts in ([{"a": other}], [usual, {"a": other}], [usual, {"c": 1.0, "a": other, "d": 2.0}, usual]):
        assert read(dicts) is None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("maxmargin.inputs.tokens.token_features._read_one_by_one", None)  # is not called from there
            assert _read_at_once(dicts) is None


@pytest.mark.parametrize("key", [1, None, b"x", ("x",), "\0", "x\0", Text("x"), np.str_("x"), 1.5, True])
def test_keys_that_are_left_to_others(key):
    assert read([{"a": 1.0}, {key: "x"}]) is None
    assert read([{key: 1.0}]) is None


def test_strings_of_other_types_read_as_before():
    """A name is its characters; of a value, it is what Python prints."""
    tokens = [{"a": Text("x"), "b": np.str_("y"), Text("c"): 1.0, Text("d"): "x", Text("e"): ["x"], "f\0": "g\0h"}]
    features = _read_one_by_one(tokens, 0, np.array([0, 1]))
    assert features.names.strings() == ["a=formatted", "b=y", "c", "d=x", "e=x", "f\0=g\0h"]
