"""Python values as JSON and arrays, and back; and JSON that nobody should have written."""

import json
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from maxmargin.base.files.container import DTYPES
from maxmargin.base.files.fields import MostlyZeros
from maxmargin.base.files.plain_data import RATIO, DataReader, DataWriter

SCALARS = [np.int8(3), np.float32(0.1), np.True_]
NUMBERS = [0.0, -0.0, 1.0, -1.5, 2.0**-1074, 1e308]
labels = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = st.recursive(labels, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4)
arrays = st.sampled_from([dtype.newbyteorder("=") for dtype in DTYPES.values()]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
matrices = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.sampled_from(NUMBERS)).map(
    sparse.csr_array
)
ranges = st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3))
values = st.recursive(
    keys
    | arrays
    | matrices
    | matrices.map(sparse.csc_array)
    | ranges
    | st.sampled_from([np.int8(3), np.float32(0.1), np.True_]),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(keys, inner),
    max_leaves=8,
)


def read_back(found, writer):
    """What a reader makes of JSON, which is a text in between."""
    return DataReader(writer.tensors, lambda name: None).read(json.loads(json.dumps(found)))


def same(a, b):
    """Equal to the last bit, types included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype.kind in "OU":
            return a.shape == b.shape and all(map(same, a.ravel().tolist(), b.ravel().tolist()))
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if sparse.issparse(a):
        return a.shape == b.shape and all(same(getattr(a, n), getattr(b, n)) for n in ("indptr", "indices", "data"))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return repr(a) == repr(b) if isinstance(a, float) else a == b


@given(values)
def test_values_come_back(value):
    writer = DataWriter()
    assert same(read_back(writer.write(value, "it"), writer), value)


def test_texts_and_numbers_of_numpy_are_those_of_python():
    writer = DataWriter()
    assert same(read_back(writer.write([np.str_("a"), np.float64(0.1)], "it"), writer), ["a", 0.1])


@given(
    st.integers(0, 400),
    st.lists(st.tuples(st.integers(0, 2**31), st.floats(allow_nan=False, allow_infinity=False)), max_size=300),
    st.integers(1, 50),
)
def test_weights_come_back(length, entries, copies):
    """With many of the same number, which are packed, and with none."""
    w = np.zeros(length * copies)
    for place, number in entries:
        if len(w):
            w[place % len(w) :: length] = number
    writer = DataWriter()
    found = json.loads(json.dumps(MostlyZeros(None).written(writer, w, "weights")))
    back = MostlyZeros(lambda owner: len(w)).read(read_back(found, writer), None)
    assert same(back, w)


def test_weights_that_repeat_are_short():
    w = np.zeros(100_000)
    w[::3] = np.random.default_rng(0).standard_normal(500)[np.arange(33_334) // 40 % 500]
    writer = DataWriter()
    found = writer.vector(w)
    assert "packed" in found["values"]
    assert sum(each.nbytes for each in writer.tensors.values()) < 8 * np.count_nonzero(w) / 4
    assert same(read_back(found, writer).unpacked(), w)


packed = st.fixed_dictionaries(
    {
        "packed": st.sampled_from(["t0", "t1", "t2", "t3", "", "t9", 0]),
        "dtype": st.sampled_from([*(each.str for each in DTYPES.values()), "O", "|S8", "<c16", "", 3]),
        "length": st.integers(-2, 1300) | st.sampled_from([2**40, 2**63, 1.5, None, True, "7"]),
    }
)
shapes = st.lists(st.integers(-1, 4) | st.sampled_from([2**31, 2**62]), max_size=9) | st.none()
names = st.sampled_from(["t0", "t1", "t2", "t3", "t9", 3, None])
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | packed,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["float", "scalar", "bytes", "range", "part", "tuple", "set", "frozenset", "dict", "x"]),
            inner,
            max_size=2,
        )
        | st.fixed_dictionaries({"array": names})
        | st.fixed_dictionaries({"columns": names})
        | st.fixed_dictionaries({"texts": st.lists(st.text(), max_size=4), "shape": shapes})
        | st.fixed_dictionaries({"objects": st.lists(inner, max_size=4), "shape": shapes})
        | st.fixed_dictionaries(
            {"csr": st.lists(names, max_size=4), "shape": shapes, "sorted": st.booleans() | st.none()}
        )
        | st.fixed_dictionaries({"vector": st.integers(-1, 2**41), "steps": inner, "values": inner})
    ),
    max_leaves=6,
)


@given(odd)
def test_json_of_others(found):
    """A value or a ValueError, whatever the JSON says of these arrays."""
    short = np.frombuffer(zlib.compress(bytes(800)), dtype=np.uint8)
    tensors = {"t0": short, "t1": np.arange(5, dtype=np.int32), "t2": np.ones(4), "t3": np.arange(3, dtype=np.uint64)}
    with suppress(ValueError):
        DataReader(tensors, lambda name: None).read(found)


@pytest.mark.parametrize("damage", ["cut", "more", "flipped", "longer", "shorter", "not packed"])
def test_packed_numbers_that_are_damaged(damage):
    writer = DataWriter()
    found = writer._packed(np.tile(np.arange(50.0), 10))
    content = writer.tensors[found["packed"]]
    changes = {
        "cut": (content[:-1], {}),
        "more": (np.append(content, np.uint8(0)), {}),
        "flipped": (np.where(np.arange(len(content)) == 20, content ^ 1, content), {}),
        "longer": (content, {"length": 501}),
        "shorter": (content, {"length": 499}),
        "not packed": (np.arange(200, dtype=np.uint8), {}),
    }
    writer.tensors[found["packed"]], change = changes[damage]
    with pytest.raises(ValueError, match="packed numbers"):
        read_back(found | change, writer)


def test_packed_numbers_cannot_fill_the_memory():
    short = np.frombuffer(zlib.compress(bytes(2**24)), dtype=np.uint8)
    reader = DataReader({"t0": short}, lambda name: None)
    assert RATIO * len(short) < 2**24
    with pytest.raises(ValueError, match="which is too many"):
        reader.read({"packed": "t0", "dtype": "<f8", "length": 2**21})
