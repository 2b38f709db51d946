"""Features of tokens that are dicts, against the pairs of the dicts; rows of features, against rows written out."""

from enum import StrEnum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.inputs.tokens.token_features import LONG, FeatureRows, read_tokens

WIDTH = 40
ROWS = st.lists(
    st.lists(st.integers(-1, WIDTH - 1), max_size=30)
    | st.integers(0, 99).map(lambda seed: np.random.default_rng(seed).integers(-1, WIDTH, LONG + seed - 20).tolist()),
    max_size=5,
)


def written_out(rows, values):
    """Entries that repeat add up."""
    matrix = np.zeros((len(rows), WIDTH))
    for t, (columns, numbers) in enumerate(zip(rows, values, strict=True)):
        np.add.at(
            matrix[t], [c for c in columns if c >= 0], [v for c, v in zip(columns, numbers, strict=True) if c >= 0]
        )
    return matrix


@given(ROWS, st.lists(st.booleans(), min_size=2, max_size=2), st.integers(0, 5))
def test_rows_in_order(rows, without_values, cut):
    rng = np.random.default_rng(0)
    values = [rng.integers(-4, 5, len(columns)).astype(float) for columns in rows]
    parts = []
    expected = written_out(rows, values)
    there = (written_out(rows, [np.ones(len(columns)) for columns in rows]) > 0).astype(float)
    for k, once in zip((slice(0, cut), slice(cut, None)), without_values, strict=True):
        if once:
            expected[k] = there[k]
        ends = np.cumsum([0, *map(len, rows[k])])
        columns = np.array([c for row in rows[k] for c in row], dtype=np.int32)
        weights = None if once else np.concatenate([np.zeros(0), *values[k]])
        parts.append(FeatureRows.of(columns, weights, ends))
    stacked = FeatureRows.stacked(iter(parts))
    matrix = stacked.to_matrix(WIDTH)
    np.testing.assert_array_equal(matrix.toarray(), expected)
    again = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert np.shares_memory(matrix.indices, stacked.columns) or len(stacked.columns) == 0  # no copy was made
    assert again.has_canonical_format  # sorted, and none twice: looked for here, promised by `to_matrix`


# --- tokens that are dicts

STRINGS = st.one_of(
    st.text(alphabet="ab=", max_size=3),
    st.text(max_size=20),
    st.sampled_from(["é", "\udc80", "\x80", "\xc0\x80", "\0", "a\0b", "x" * 300]),
)
NUMBERS = st.one_of(
    st.booleans(),
    st.floats(allow_nan=False),
    st.integers(-(2**70), 2**70),
    st.sampled_from([np.float64(0.1), np.float32(0.1), np.int64(-7), np.int32(3), np.True_, 2**53 + 1, 2**63]),
)


def read(dicts):
    """The name and the value of every entry."""
    (features,) = read_tokens([dicts], np.array([0, len(dicts)]))
    assert features.ends.tolist() == np.cumsum([0, *map(len, dicts)]).tolist()
    return [features.name(e) for e in range(features.ends[-1])], features.values


@given(st.lists(st.dictionaries(STRINGS, STRINGS | NUMBERS, max_size=6), min_size=1, max_size=5))
def test_dicts_are_read_pair_by_pair(dicts):
    pairs = [(k, v) for d in dicts for k, v in d.items()]
    names, values = read(dicts)
    assert names == [f"{name}={value}" if isinstance(value, str) else name for name, value in pairs]
    assert values.tolist() == [1.0 if isinstance(value, str) else float(value) for _, value in pairs]


def test_names_are_in_order_of_appearance():
    """And the same pair is one name: models number features so."""
    (features,) = read_tokens([[{"b": "x", "a": 1.0}, {"c": 2, "b": "x"}, {"a": True, "a=": 0.5}]], np.array([0, 3]))
    assert features.names.strings() == ["b=x", "a", "c", "a="]
    assert features.columns(np.arange(4, dtype=np.int32)).tolist() == [0, 1, 2, 0, 1, 3]


def test_not_a_number_is_kept():
    for usual in ({}, {"w": "x"}):
        _, values = read([{**usual, "a": float("nan"), "b": -np.inf}])
        np.testing.assert_array_equal(values[-2:], [np.nan, -np.inf])


class Text(str):
    def __format__(self, spec):
        return "formatted"


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize("first", [{"a": 1.0}, {"a": "x"}])
def test_strings_of_other_types(first):
    """The name of a feature is its characters; a value is what Python prints of it."""
    token = {"a": Text("x"), "b": np.str_("y"), Text("c"): 1.0, Text("d"): "x", Text("e"): ["x", "z"], "f\0": "g\0h"}
    features = list(read_tokens([[first], [token, {"g": ("v", "w"), "h": Colour.RED}]], np.array([0, 1, 3])))
    names = [f.name(e) for f in features for e in range(f.ends[-1])]
    expected = ["a=formatted", "b=y", "c", "d=x", "e=x", "e=z", "f\0=g\0h", "g=v", "g=w", "h=red"]
    assert names == ["a" if first["a"] == 1.0 else "a=x", *expected]


@pytest.mark.parametrize("first", [{"a": 1.0}, {"a": "x"}])
@pytest.mark.parametrize("value", [None, {"x": 1}, b"x", 1j, np.zeros(2), {"x"}, [1], np.datetime64("2020")], ids=repr)
def test_a_value_that_is_no_feature_is_named(first, value):
    with pytest.raises(ValueError, match=r"sequence 1, position 0: the feature 'b' is .*; expected a number, a string"):
        read_all([[first], [{"b": value}]])


@pytest.mark.parametrize("first", [{"a": 1.0}, {"a": "x"}])
@pytest.mark.parametrize("name", [1, None, b"x", ("x",), 1.5, True], ids=repr)
def test_a_name_that_is_no_string_is_named(first, name):
    for value in ("x", 1.0):
        with pytest.raises(ValueError, match=r"sequence 1, position 0: the feature name .* is not a string"):
            read_all([[first], [{name: value}]])


@pytest.mark.parametrize("first", [{"a": 1.0}, {"a": "x"}])
def test_a_number_that_is_too_large_is_named(first):
    with pytest.raises(ValueError, match="sequence 1, position 0: int too large"):
        read_all([[first], [{"b": 10**400}]])


def read_all(X):
    return list(read_tokens(X, np.array([0, 1, 2])))
