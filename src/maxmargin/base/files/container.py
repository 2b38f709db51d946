"""The bytes of a model file: the safetensors format, read strictly.

A file consists of the length of its header in eight bytes, the header, and the numbers of all arrays, one array after
another. The header is JSON: the type, shape and offsets of every array and, under `__metadata__`, the description of
the model as a text. The description is JSON itself (see plain_data.py) and contains the SHA-256 of its other entries
and of the arrays.

A reader cannot trust the writer of a file, so everything is checked before it is used: the length of the header is
limited, the arrays follow each other without gaps and overlaps to the last byte, shapes agree with sizes, and the
checksum is right. Otherwise a ValueError is raised. Files are written with the library safetensors, whose own reader is
less strict.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_HEADER = 2**25  # bytes
MOST_VALUES = 2**20  # commas and brackets; parsing time grows with them
MOST_ARRAYS = 2**15
MOST_DIMENSIONS = 8
DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}

Tensors = dict[str, NDArray[Any]]


def written(description: dict[str, Any], tensors: Tensors) -> bytes:
    """Return the bytes of a file with this description and these arrays."""
    from safetensors.numpy import save

    try:
        described = _described(description, tensors)
    except ValueError as error:
        raise ValueError(f"{error}. Use pickle to keep this model") from None
    return bytes(save(tensors, metadata={"maxmargin": described}))


def _described(description: dict[str, Any], tensors: Tensors) -> str:
    """Return the description with its checksum as JSON text; raise a ValueError if it is too large to be read again."""
    text = _text({"sha256": _checksum(description, tensors), **description})
    if len(text) > MOST_HEADER // 2:
        raise ValueError(
            f"its description would have {len(text):,} characters; expected at most {MOST_HEADER // 2:,}. "
            "Long lists of labels or names take most of them"
        )
    if len(tensors) > MOST_ARRAYS or _values(text) > MOST_VALUES - 9 * MOST_ARRAYS:
        raise ValueError(
            f"it has {len(tensors):,} arrays and {_values(text):,} other values; a file can hold {MOST_ARRAYS:,} "
            f"arrays and about {MOST_VALUES - 9 * MOST_ARRAYS:,} other values"
        )
    return text


def pieces(description: dict[str, Any], tensors: Tensors) -> Iterator[Any]:
    """Yield the bytes of `written` in pieces, so that large arrays are not copied into one buffer."""
    arrays = {name: np.asarray(each, dtype=each.dtype.newbyteorder("<"), order="C") for name, each in tensors.items()}
    kinds = {dtype: name for name, dtype in DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": {"maxmargin": _described(description, arrays)}}
    end = 0
    for name, each in arrays.items():
        begin, end = end, end + each.nbytes
        header[name] = {"dtype": kinds[each.dtype], "shape": list(each.shape), "data_offsets": [begin, end]}
    head = _text(header).encode()
    head += b" " * (-len(head) % 8)
    if len(head) > MOST_HEADER:
        raise ValueError(f"the description would have {len(head):,} bytes; expected at most {MOST_HEADER:,}")
    yield struct.pack("<Q", len(head)) + head
    for each in arrays.values():
        yield each.data.cast("B") if each.size else b""


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the arrays of a model file; raise a ValueError if it is not one."""
    name = os.fspath(path)
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        header = _header(stream, size, name)
        content = stream.read()
    return _checked(header, content, name)


EXPECTED = "expected a file that `save` or `maxmargin fit` has written"


def _header(stream: Any, size: int, name: str) -> dict[str, Any]:
    first = stream.read(8)
    if len(first) < 8:
        raise ValueError(f"{name} is not a model file: it has {size} bytes; {EXPECTED}")
    (length,) = struct.unpack("<Q", first)
    if length > min(MOST_HEADER, size - 8):
        raise ValueError(
            f"{name} is not a model file, or it is cut off: it does not begin as such a file does; {EXPECTED}"
        )
    text = stream.read(length)
    n_arrays = text.count(b'"data_offsets"')  # an upper bound, checked before the header is parsed
    if n_arrays > MOST_ARRAYS:
        raise ValueError(f"{name} has {n_arrays:,} arrays; expected at most {MOST_ARRAYS:,}")
    return json_object(text, f"the header of {name}")


def json_object(text: bytes | str, what: str) -> dict[str, Any]:
    """Parse a JSON object and raise a ValueError if a name occurs twice or if it is too large."""
    try:
        text = text.decode() if isinstance(text, bytes) else text
        if _values(text) > MOST_VALUES:
            raise ValueError(f"it has more than {MOST_VALUES:,} values")
        found = json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} is damaged: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{what} is damaged: expected a JSON object")
    return found


def _values(text: str) -> int:
    """Return an upper bound on the number of values in a JSON text."""
    return sum(map(text.count, ",[{"))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _checked(header: dict[str, Any], content: bytes, name: str) -> tuple[dict[str, Any], Tensors]:
    told = header.pop("__metadata__", None)
    if not isinstance(told, dict) or set(told) != {"maxmargin"} or not isinstance(told["maxmargin"], str):
        raise ValueError(f"{name} is not a model file of maxmargin: its header does not describe a model")
    description = json_object(told["maxmargin"], f"the description of the model in {name}")
    tensors: Tensors = {}
    end = 0
    for each, entry in sorted(header.items(), key=_place):
        tensors[each], end = _array(entry, content, end, f"the array {each!r} of {name}")
    if end != len(content):
        raise ValueError(f"{name} is damaged: its arrays have {end:,} bytes, but {len(content):,} follow the header")
    if description.pop("sha256", None) != _checksum(description, tensors):
        raise ValueError(f"{name} is damaged: its checksum is wrong")
    return description, tensors


def _place(item: tuple[str, Any]) -> tuple[int, int]:
    """Return the offsets of an array, as the key by which arrays are sorted; empty arrays come first."""
    offsets: Any = item[1].get("data_offsets") if isinstance(item[1], dict) else None
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"the array {item[0]!r} has no position in the file")
    return offsets[0], offsets[1]


def _array(entry: dict[str, Any], content: bytes, begin: int, what: str) -> tuple[NDArray[Any], int]:
    """Return a writable copy of the array that begins at `begin`, and its end.

    Raise a ValueError if its entry in the header is wrong.
    """
    shape: Any = entry.get("shape")
    dtype, (first, end) = DTYPES.get(str(entry.get("dtype"))), entry["data_offsets"]
    if set(entry) != {"dtype", "shape", "data_offsets"} or dtype is None:
        raise ValueError(f"{what} has an unknown type")
    if not _are_sizes(shape) or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"{what} has the shape {shape!r}")
    if first != begin or end - first != prod(shape) * dtype.itemsize or end > len(content):
        raise ValueError(f"{what} overlaps another one, leaves a gap, or is larger than the data")
    piece = memoryview(content)[first:end]
    if dtype == np.bool_ and np.frombuffer(piece, dtype=np.uint8).max(initial=0) > 1:
        raise ValueError(f"{what} has Boolean values that are neither 0 nor 1")
    return np.frombuffer(piece, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("=")), end


def _are_sizes(found: Any) -> bool:
    return isinstance(found, list) and all(type(size) is int and 0 <= size < 2**48 for size in found)


def _text(description: dict[str, Any]) -> str:
    return json.dumps(description, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _checksum(description: dict[str, Any], tensors: Tensors) -> str:
    """Compute the SHA-256 of the description and of the names, types, shapes and bytes of all arrays."""
    found = hashlib.sha256(_text(description).encode())
    for name in sorted(tensors):
        array = np.asarray(tensors[name], dtype=tensors[name].dtype.newbyteorder("<"), order="C")
        found.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.data)
    return found.hexdigest()
