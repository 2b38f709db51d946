"""Conversion of Python values to JSON and arrays, and back: the content that a model file can hold.

Allowed are numbers, texts, lists, tuples, dicts, sets, arrays, sparse matrices and objects whose classes declare their
fields (objects.py). An object that occurs twice is written once, as an *entry* that others refer to. Everything else,
above all functions, is refused when writing. Reading creates values of these types only; it imports nothing and calls
nothing that a file names: the class of an entry is looked up in a table that the reader receives.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.container import DTYPES, Tensors
from maxmargin.base.files.known_classes import check_known
from maxmargin.base.files.objects import Field, fields_of, is_own, restored, shown
from maxmargin.base.pickled_weights import PickledWeights

RATIO = 100  # largest ratio of compression that is accepted, so that a short file cannot fill the memory
SMALL = 1000  # bytes; less is not compressed
ALWAYS = 2**30  # bytes that the arrays of any file may take, because weights that are mostly zeros are not stored
PER_PART = 2**11  # bytes that an object takes, roughly
LEVEL = 5  # level of compression; level 6 takes 1.6 times as long for feature names and saves 0.3% of the bytes
KINDS = {dtype.newbyteorder("=") for dtype in DTYPES.values()}


class DataWriter:
    """A converter of values to JSON; arrays are collected in `tensors`, objects in `parts`."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}
        self.parts: list[Any] = []
        self._numbers: dict[int, int] = {}  # the numbers of parts, by identity
        self._kept: list[Any] = []  # so that no identity is used twice
        self._users_class: type | None = None  # the class of parts that is not the library's

    def write(self, value: Any, where: str) -> Any:
        """Return the JSON of a value; `where` names it in errors."""
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if isinstance(value, float):
            return float(value) if isfinite(value) else {"float": repr(float(value))}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), where)}
        if sparse.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, bytes):
            return {"bytes": self._packed(np.frombuffer(value, dtype=np.uint8))}
        if isinstance(value, range):
            return {"range": [value.start, value.stop, value.step]}
        declared = fields_of(type(value))
        if declared is not None:
            return {"part": self._part(value, declared, where)}
        return self._container(value, where)

    def _container(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind is list:
            return [self.write(each, f"{where}[{i}]") for i, each in enumerate(value)]
        if kind in (tuple, set, frozenset):
            members = [self.write(each, f"{where}[{i}]") for i, each in enumerate(value)]
            # The order of a set depends on hashes, which differ between processes; files must not.
            return {kind.__name__: members if kind is tuple else sorted(members, key=repr)}
        if isinstance(value, Mapping):
            return {"dict": [[self.write(key, where), self.write(value[key], f"{where}[{key!r}]")] for key in value]}
        what = (
            f"the {'class' if isinstance(value, type) else 'function'} {value.__qualname__}"
            if hasattr(value, "__qualname__")
            else f"a {kind.__module__}.{kind.__qualname__}"
        )
        raise ValueError(
            f"{where} is {what}, which a model file cannot hold: model files hold plain data only, so that loading "
            "runs no code. Use pickle or skops to share such a model with people who trust you"
        )

    def vector(self, w: Array) -> Any:
        """Return the JSON of weights. If most are zero, only the others are stored, in compressed form."""
        found = PickledWeights.of(w)
        if not isinstance(found, PickledWeights):
            return self._array(w, "weights")
        steps = np.diff(found.places, prepend=0)
        kind = np.min_scalar_type(int(steps.max(initial=0)))
        return {
            "vector": len(w),
            "steps": self._packed(steps.astype(kind)),
            "values": self._packed(found.values),
        }

    def _part(self, value: Any, declared: Mapping[str, Field], where: str) -> int:
        if id(value) not in self._numbers:
            fields = {
                name: field.written(self, each, f"{where}.{name}")
                for name, field, each in shown(value, declared, where)
            }
            self._numbers[id(value)] = len(self.parts)  # after the entries that it refers to
            self._kept.append(value)
            self._check_class(type(value), where)
            marked = {} if is_own(type(value)) else {"own": True}
            self.parts.append({"class": type(value).__name__, **marked, "fields": fields})
        return self._numbers[id(value)]

    def _check_class(self, kind: type, where: str) -> None:
        """Raise a ValueError if an object of this class could be written but not read."""
        if is_own(kind):
            check_known(kind, where)
            return
        self._users_class = self._users_class or kind
        if self._users_class is not kind:
            raise ValueError(
                f"{where} is a {kind.__name__}, and another part of the model is a {self._users_class.__name__}: a "
                "model file can hold objects of one class that is not maxmargin's, which `load` is given"
            )

    def _array(self, array: NDArray[Any], where: str) -> Any:
        if array.dtype.kind == "U":
            return {"texts": array.ravel().tolist(), "shape": list(array.shape)}
        if array.dtype.kind == "O":
            found = [self.write(each, f"{where}[{i}]") for i, each in enumerate(array.ravel().tolist())]
            return {"objects": found, "shape": list(array.shape)}
        if array.dtype.newbyteorder("=") not in KINDS:
            raise ValueError(f"{where} is an array of {array.dtype}, which a model file cannot hold")
        columns = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        name = self._tensor(array.T if columns else array)
        return {"columns" if columns else "array": name}

    def _sparse(self, matrix: Any, where: str) -> Any:
        if matrix.format not in ("csr", "csc"):
            raise ValueError(f"{where} is a sparse matrix of the format {matrix.format}; expected csr or csc")
        names = [self._tensor(getattr(matrix, each)) for each in ("indptr", "indices", "data")]
        return {matrix.format: names, "shape": list(matrix.shape), "sorted": bool(matrix.has_sorted_indices)}

    def _packed(self, numbers: NDArray[Any]) -> Any:
        """Return the JSON of a one-dimensional array, compressed if that saves space."""
        content = numbers.tobytes()
        short = zlib.compress(content, LEVEL) if len(content) > SMALL else content
        if len(short) >= 0.9 * len(content) or RATIO * len(short) < len(content):
            return {"array": self._tensor(numbers)}
        name = self._tensor(np.frombuffer(short, dtype=np.uint8))
        return {"packed": name, "dtype": numbers.dtype.newbyteorder("<").str, "length": len(numbers)}

    def _tensor(self, array: NDArray[Any]) -> str:
        name = f"t{len(self.tensors)}"
        self.tensors[name] = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
        return name


class DataReader:
    """The inverse of `DataWriter`. `classes` maps names to classes; `own` is the user's class, if it is given.

    limit : the most bytes that all values together may take, so that a short file cannot fill the memory by naming an
        array many times or by compression; None: ALWAYS, or RATIO times the bytes of the arrays if that is more.
    """

    def __init__(
        self,
        tensors: Tensors,
        classes: Callable[[str], type | None],
        own: type | None = None,
        limit: float | None = None,
    ):
        self.tensors, self.classes, self.own = tensors, classes, own
        stored = sum(array.nbytes for array in tensors.values())
        self.limit = max(ALWAYS, RATIO * stored) if limit is None else limit
        self._taken = 0  # bytes
        self._named: set[str] = set()  # arrays that were handed out
        self._ways: dict[str, Callable[[Any], Any]] = {
            "float": self._float,
            "scalar": self._scalar,
            "bytes": lambda found: self._numbers_of(found, np.uint8).tobytes(),
            "range": self._range,
            "part": self._known_part,
            "tuple": lambda found: tuple(self._list(found)),
            "set": lambda found: self._hashed(set, found),
            "frozenset": lambda found: self._hashed(frozenset, found),
            "dict": self._dict,
            "array": lambda found: self._tensor(found),
            "columns": lambda found: self._tensor(found).T,
        }
        self.parts: list[Any] = []

    def add_part(self, entry: Any) -> None:
        """Create the object of the next entry; it may refer to earlier entries."""
        if (
            not isinstance(entry, dict)
            or set(entry) - {"own"} != {"class", "fields"}
            or entry.get("own", True) is not True
        ):
            raise ValueError(f"entry {len(self.parts)} must have a class and fields, and nothing else")
        if not isinstance(entry["fields"], dict) or not isinstance(entry["class"], str):
            raise ValueError(f"entry {len(self.parts)} has no class or no fields")
        self._take(PER_PART)
        kind = self._class(entry["class"], "own" in entry)
        declared = fields_of(kind)
        if declared is None:
            raise ValueError(f"a model file cannot hold objects of the class {entry['class']!r}")
        fields = {name: self.read(each) for name, each in entry["fields"].items()}
        self.parts.append(restored(kind, declared, fields))

    def _class(self, name: str, own: bool) -> type:
        if not own:
            kind = self.classes(name)
            if kind is None:
                raise ValueError(f"entry {len(self.parts)} has the unknown class {name[:80]!r}")
            return kind
        if self.own is None:
            raise ValueError(
                f"it has a task of the class {name[:80]!r}, which is not one of maxmargin: pass that class to load"
            )
        if self.own.__name__ != name:
            raise ValueError(f"the task of the model is a {name[:80]!r}, the given class is {self.own.__name__!r}")
        return self.own

    def read(self, found: Any) -> Any:
        """Return the value of a JSON value."""
        if found is None or isinstance(found, bool | int | float | str):
            return found
        if isinstance(found, list):
            return self._list(found)
        if len(found) == 1:
            (name, inner), *_ = found.items()
            if name in self._ways:
                return self._ways[name](inner)
        keys = set(found)
        if keys == {"texts", "shape"}:
            return self._texts(found)
        if keys == {"objects", "shape"}:
            return self._objects(found)
        if keys in ({"csr", "shape", "sorted"}, {"csc", "shape", "sorted"}):
            return self._sparse(found)
        if keys == {"vector", "steps", "values"}:
            return self._vector(found)
        if keys == {"packed", "dtype", "length"}:
            return self._unpacked(found)
        raise ValueError(f"a value has the unknown description {sorted(map(str, keys))[:5]}")

    def _list(self, found: Any) -> list[Any]:
        if not isinstance(found, list):
            raise ValueError("a list was expected")
        return [self.read(each) for each in found]

    def _hashed(self, kind: Callable[[list[Any]], Any], found: Any) -> Any:
        try:
            return kind(self._list(found))
        except TypeError as error:
            raise ValueError(f"a set has a member that is not hashable: {error}") from None

    def _dict(self, found: Any) -> dict[Any, Any]:
        pairs = self._list(found)
        try:
            made = {key: value for key, value in pairs}  # noqa: C416  (its error says what is wrong with a pair)
        except TypeError as error:
            raise ValueError(f"a dict has a key that is not hashable: {error}") from None
        if len(made) < len(pairs):
            raise ValueError("a dict has a key twice")
        return made

    def _float(self, found: Any) -> float:
        if found not in ("inf", "-inf", "nan"):
            raise ValueError(f"{found!r} is not a number")
        return float(found)

    def _scalar(self, found: Any) -> Any:
        array = self.read(found)
        if not isinstance(array, np.ndarray) or array.shape != () or array.dtype.kind == "O":
            raise ValueError("a single number was expected")
        return array[()]

    def _range(self, found: Any) -> range:
        if not isinstance(found, list) or len(found) != 3 or not all(type(n) is int for n in found) or found[2] == 0:
            raise ValueError(f"{found!r} does not describe a range")
        return range(*found)

    def _known_part(self, found: Any) -> Any:
        if type(found) is not int or not 0 <= found < len(self.parts):
            raise ValueError(f"entry {found!r} does not come before the entry that refers to it")
        return self.parts[found]

    def _tensor(self, name: Any) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self.tensors:
            raise ValueError(f"there is no array {name!r}")
        array = self.tensors[name]
        self._take(array.nbytes)
        if name in self._named or not array.flags.writeable:
            return array.copy()  # two objects must not share numbers, because one of them may change them
        self._named.add(name)
        return array

    def _take(self, n_bytes: int) -> None:
        """Count the memory that values take; raise a ValueError if it exceeds the limit."""
        self._taken += n_bytes
        if self._taken > self.limit:
            raise ValueError(
                f"its values take more than {self.limit:,} bytes, far more than the file; if you trust it, give a "
                "larger limit: load(path, limit=…)"
            )

    def _texts(self, found: dict[str, Any]) -> NDArray[Any]:
        texts = found["texts"]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("a list of texts was expected")
        longest = max(map(len, texts), default=1)
        if 4 * longest * len(texts) > RATIO * (SMALL + sum(map(len, texts))):
            raise ValueError("the lengths of the texts differ too much to make an array of them")
        self._take(4 * longest * len(texts))
        return self._shaped(np.array(texts, dtype=f"<U{max(longest, 1)}"), found["shape"])

    def _objects(self, found: dict[str, Any]) -> NDArray[Any]:
        listed = self._list(found["objects"])
        array = np.empty(len(listed), dtype=object)
        for i, each in enumerate(listed):
            array[i] = each
        return self._shaped(array, found["shape"])

    def _shaped(self, array: NDArray[Any], shape: Any) -> NDArray[Any]:
        sizes = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
        if not sizes or len(shape) > 8 or prod(shape) != len(array):
            raise ValueError(f"{len(array)} members do not fill an array of shape {shape!r}")
        return array.reshape(shape)

    def _sparse(self, found: dict[str, Any]) -> Any:
        kind = "csr" if "csr" in found else "csc"
        names, shape = found[kind], found["shape"]
        if not isinstance(names, list) or len(names) != 3:
            raise ValueError("a sparse matrix has three arrays")
        bounds, places, values = map(self._tensor, names)
        if not (isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 0 <= n < 2**31 for n in shape)):
            raise ValueError(f"a sparse matrix has the shape {shape!r}")
        lines, across = shape if kind == "csr" else reversed(shape)
        whole = all(each.ndim == 1 and each.dtype in (np.int32, np.int64) for each in (bounds, places))
        if not whole or bounds.dtype != places.dtype or values.ndim != 1 or len(places) != len(values):
            raise ValueError("the arrays of a sparse matrix do not fit each other")
        if len(bounds) != lines + 1 or bounds[0] != 0 or bounds[-1] != len(places) or (np.diff(bounds) < 0).any():
            raise ValueError("the rows of a sparse matrix do not follow each other")
        if len(places) and (places.min() < 0 or places.max() >= across):
            raise ValueError("a sparse matrix has an entry outside of it")
        make = sparse.csr_array if kind == "csr" else sparse.csc_array
        matrix = make((values, places, bounds), shape=tuple(shape))
        if found["sorted"] is True and not matrix.has_sorted_indices:
            raise ValueError("the entries of a sparse matrix are not in order")
        return matrix

    def _vector(self, found: dict[str, Any]) -> PickledWeights:
        length, steps, values = found["vector"], self.read(found["steps"]), self.read(found["values"])
        numbers = all(isinstance(each, np.ndarray) and each.ndim == 1 for each in (steps, values))
        if type(length) is not int or not 0 <= length < 2**40 or not numbers or len(steps) != len(values):
            raise ValueError("weights and their indices have different lengths")
        if steps.dtype.kind != "u" or values.dtype != np.float64 or (len(steps) and steps.max() >= 2**40):
            raise ValueError("weights or their indices have a wrong type")
        places = np.cumsum(steps, dtype=np.int64)
        if len(places) and (places[-1] >= length or (steps[1:] == 0).any()):
            raise ValueError("a weight has an index that is out of range")
        self._take(8 * length)
        return PickledWeights(places, values, length)

    def _unpacked(self, found: dict[str, Any]) -> NDArray[Any]:
        dtype, length, short = found["dtype"], found["length"], self._tensor(found["packed"])
        if dtype not in [each.str for each in DTYPES.values()] or type(length) is not int or short.dtype != np.uint8:
            raise ValueError("packed numbers have an unknown type")
        size = length * np.dtype(dtype).itemsize
        if not 0 <= size <= RATIO * short.size:
            raise ValueError(f"{short.size:,} bytes are said to unpack to {size:,}, which is too many")
        self._take(size)
        unpacking = zlib.decompressobj()
        try:
            content = unpacking.decompress(short.tobytes(), size + 1)
        except zlib.error as error:
            raise ValueError(f"packed numbers are damaged: {error}") from None
        if len(content) != size or not unpacking.eof or unpacking.unused_data:
            raise ValueError("the length of packed numbers differs from what the file says")
        return np.frombuffer(content, dtype=dtype).astype(np.dtype(dtype).newbyteorder("="))

    def _numbers_of(self, found: Any, dtype: type) -> NDArray[Any]:
        array = self.read(found)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise ValueError("bytes were expected")
        return array
