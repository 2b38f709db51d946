"""Declarations of what the fields of fitted objects may be: flags, numbers, texts, labels, arrays, objects.

Compiled code trusts the sizes and numbers it receives. Therefore a field checks everything that such code relies on, if
necessary against the fields before it: `NumberArray(float, "n_words", least=0)`. Which fields a class has, and how
objects are made from them, is declared in objects.py.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from math import inf, isfinite
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.checks import check_memory, is_real, is_whole
from maxmargin.base.files.objects import Field, fields_of
from maxmargin.base.pickled_weights import PickledWeights

Size = int | str | Callable[[Any], Any]  # a number, the name of a field, or a function of the owner

MOST_NUMBERS = 2**28  # limit on the size of computed fields


class Flag(Field):
    """True or False."""

    def read(self, value: Any, owner: Any) -> Any:
        return _expect(value, isinstance(value, bool), "True or False")


class Whole(Field):
    """A whole number between `least` and `most`."""

    def __init__(self, least: Size = 0, most: Size = 2**40):
        self.least, self.most = least, most

    def read(self, value: Any, owner: Any) -> Any:
        least, most = _size(self.least, owner), _size(self.most, owner)
        return _expect(value, is_whole(value) and least <= value <= most, f"a whole number between {least} and {most}")


class Real(Field):
    """A number between `least` and `most`, finite unless `finite` is False."""

    def __init__(self, least: float = -inf, most: float = inf, finite: bool = True):
        self.least, self.most, self.finite = least, most, finite

    def read(self, value: Any, owner: Any) -> Any:
        fits = is_real(value) and (self.least <= value <= self.most or value != value)
        kind = "a finite number" if self.finite else "a number"
        expected = f"{kind} between {self.least:g} and {self.most:g}"
        return _expect(value, fits and (isfinite(value) or not self.finite), expected)


class Argument(Field):
    """Plain data of any kind; the constructor that receives it checks its value."""

    def read(self, value: Any, owner: Any) -> Any:
        return _expect(value, fields_of(type(value)) is None, "plain data")


class Sized(Argument):
    """A whole number of at most `most`, or something of at most that length. Other values are not checked."""

    def __init__(self, most: int):
        self.most = most

    def read(self, value: Any, owner: Any) -> Any:
        super().read(value, owner)
        size = value if is_whole(value) else len(value) if hasattr(value, "__len__") else 0
        return _expect(value, size <= self.most, f"at most {self.most}")


class Text(Field):
    """A text, one of `choices` if there are any."""

    def __init__(self, *choices: str):
        self.choices = choices

    def read(self, value: Any, owner: Any) -> Any:
        return _expect(value, isinstance(value, str) and (not self.choices or value in self.choices), "another text")


class Member(Field):
    """A member of a StrEnum."""

    def __init__(self, kind: type[StrEnum]):
        self.kind = kind

    def read(self, value: Any, owner: Any) -> Any:
        return self.kind(_expect(value, isinstance(value, str) and value in list(self.kind), "another text"))


class Raw(Field):
    """Bytes."""

    def read(self, value: Any, owner: Any) -> Any:
        return _expect(value, isinstance(value, bytes), "bytes")


class Label(Field):
    """The name of an output: a text, bytes, a number, or a tuple or frozenset of these."""

    def read(self, value: Any, owner: Any) -> Any:
        return _expect(value, _is_label(value), "a label")


class LabelList(Field):
    """A list of different labels."""

    def __init__(self, size: Size | None = None, least: int = 0):
        self.size, self.least = size, least

    def read(self, value: Any, owner: Any) -> Any:
        _expect(value, isinstance(value, list) and all(map(_is_label, value)), "a list of labels")
        _expect(value, len(set(value)) == len(value) >= self.least, "different labels")
        if self.size is not None:
            _expect(value, len(value) == _size(self.size, owner), f"{_size(self.size, owner)} labels")
        return value


class Texts(Field):
    """A list of texts."""

    def __init__(self, size: Size | None = None, different: bool = False):
        self.size, self.different = size, different

    def read(self, value: Any, owner: Any) -> Any:
        _expect(value, isinstance(value, list) and all(isinstance(text, str) for text in value), "a list of texts")
        _expect(value, not self.different or len(set(value)) == len(value), "texts that all are different")
        if self.size is not None:
            _expect(value, len(value) == _size(self.size, owner), f"{_size(self.size, owner)} texts")
        return value


class LabelArray(Field):
    """An array of labels, of any type that numpy has for texts and numbers."""

    def __init__(self, size: Size | None):
        self.size = size

    def read(self, value: Any, owner: Any) -> Any:
        _expect(value, isinstance(value, np.ndarray) and value.ndim == 1, "an array of labels")
        if self.size is not None:
            _expect(value, len(value) == _size(self.size, owner), f"{_size(self.size, owner)} labels")
        _expect(value, value.dtype.kind in "biufU" or all(map(_is_label, value.tolist())), "an array of labels")
        return value


class NumberArray(Field):
    """An array of numbers of a type (float, int, bool or a numpy type) and shape, with all values between its limits.

    Sizes that are None are not checked. Weights that are mostly zeros are stored without the zeros.
    """

    def __init__(
        self,
        kind: Any,
        *shape: Size | None,
        least: Size | float | None = None,
        below: Size | None = None,
        finite: bool = True,
        only: tuple[float, ...] = (),
    ):
        self.dtype, self.shape, self.least, self.below, self.finite, self.only = (
            np.dtype(kind),
            shape,
            least,
            below,
            finite,
            only,
        )

    def read(self, value: Any, owner: Any) -> Any:
        if isinstance(value, PickledWeights):  # the length is checked before memory is allocated
            _expect(value, len(self.shape) == 1, "an array")
            if self.shape[0] is not None:
                _expect(value, value.length == _size(self.shape[0], owner), "another number of weights")
            _expect(value, np.isfinite(value.values).all(), "finite weights")
            check_memory(f"an array of {value.length:,} weights", 8.0 * value.length, "load it on a larger one")
            return value.unpacked()
        _expect(value, isinstance(value, np.ndarray) and value.dtype == self.dtype, f"an array of {self.dtype}")
        sizes = tuple(
            n if size is None else _size(size, owner) for n, size in zip(value.shape, self.shape, strict=False)
        )
        _expect(value, value.ndim == len(self.shape) and value.shape == sizes, f"an array of shape {sizes}")
        if value.size and self.dtype.kind == "f":
            _expect(value, not self.finite or np.isfinite(value).all(), "finite numbers")
            _expect(value, not self.only or np.isin(value, self.only).all(), f"the numbers {self.only}")
        if value.size and self.least is not None:
            _expect(value, value.min() >= _size(self.least, owner), f"numbers >= {_size(self.least, owner)}")
        if value.size and self.below is not None:
            _expect(value, value.max() < _size(self.below, owner), f"numbers < {_size(self.below, owner)}")
        return value


class MostlyZeros(NumberArray):
    """A one-dimensional array of weights, stored without its zeros."""

    def __init__(self, size: Size | None):
        super().__init__(float, size)

    def written(self, writer: Any, value: Any, where: str) -> Any:
        return writer.vector(value)


class NumberMatrix(Field):
    """A dense or CSR matrix of numbers with the given numbers of columns and rows."""

    def __init__(self, columns: Size | None = None, rows: Size | None = None):
        self.columns, self.rows = columns, rows

    def read(self, value: Any, owner: Any) -> Any:
        dense = isinstance(value, np.ndarray) and value.ndim == 2
        thin = sparse.issparse(value) and value.format == "csr"
        _expect(value, (dense or thin) and value.dtype == np.float64, "a matrix of numbers")
        for size, expected in zip(value.shape, (self.rows, self.columns), strict=True):
            if expected is not None:
                _expect(
                    value, size == _size(expected, owner), f"a matrix with {_size(expected, owner)} rows or columns"
                )
        _expect(value, np.isfinite(value if dense else value.data).all(), "finite numbers")
        return value


class RowArrays(Field):
    """The arrays (indptr, indices, data) of a CSR matrix of a given shape, with sorted entries."""

    def __init__(self, rows: Size, columns: Size):
        self.rows, self.columns = rows, columns

    def read(self, value: Any, owner: Any) -> Any:
        rows, columns = _size(self.rows, owner), _size(self.columns, owner)
        _expect(value, isinstance(value, tuple) and len(value) == 3, "three arrays")
        bounds, places, numbers = value
        _expect(value, all(isinstance(each, np.ndarray) and each.ndim == 1 for each in value), "three arrays")
        _expect(value, bounds.dtype == places.dtype == np.int32 and numbers.dtype == np.float64, "numbers of rows")
        _expect(value, len(bounds) == rows + 1 and bounds[0] == 0 and bounds[-1] == len(places), f"{rows} rows")
        _expect(value, (np.diff(bounds) >= 0).all() and len(places) == len(numbers), "rows one after another")
        _expect(value, not len(places) or (places.min() >= 0 and places.max() < columns), f"{columns} columns")
        matrix = sparse.csr_array((numbers, places, bounds), shape=(rows, columns))
        _expect(value, matrix.has_sorted_indices and np.isfinite(numbers).all(), "finite numbers in order")
        return value


class Part(Field):
    """An object of one of these classes."""

    def __init__(self, *kinds: type):
        self.kinds = kinds

    def read(self, value: Any, owner: Any) -> Any:
        return _expect(value, isinstance(value, self.kinds), " or ".join(kind.__name__ for kind in self.kinds))


class OneOf(Field):
    """A value that one of several fields accepts; None among the fields stands for the value None."""

    def __init__(self, *fields: Field | None):
        self.fields = fields

    def written(self, writer: Any, value: Any, where: str) -> Any:
        return writer.write(value, where)

    def read(self, value: Any, owner: Any) -> Any:
        complaints = []
        for field in self.fields:
            if field is None:
                if value is None:
                    return None
                continue
            try:
                return field.read(value, owner)
            except ValueError as error:
                complaints.append(str(error))
        raise ValueError("; ".join(complaints) or f"expected None, found {_said(value)}")


class Seed(OneOf):
    """A seed of random numbers: a whole number >= 0, or None."""

    def __init__(self) -> None:
        super().__init__(None, Whole())

    def written(self, writer: Any, value: Any, where: str) -> Any:
        if value is not None and not is_whole(value):
            raise ValueError(
                f"{where} is a {type(value).__name__}, which a model file does not keep: only training uses it, and "
                "set_params(random_state=0) before saving changes no prediction"
            )
        return super().written(writer, value, where)


class Each(Field):
    """A list or tuple whose members all satisfy one field."""

    def __init__(self, field: Field, size: Size | None = None, kind: type = list):
        self.field, self.size, self.kind = field, size, kind

    def read(self, value: Any, owner: Any) -> Any:
        _expect(value, type(value) is self.kind, f"a {self.kind.__name__}")
        if self.size is not None:
            _expect(value, len(value) == _size(self.size, owner), f"{_size(self.size, owner)} of them")
        return self.kind(self.field.read(each, owner) for each in value)


class Mapped(Field):
    """A dict whose keys and values satisfy given fields."""

    def __init__(self, key: Field, value: Field):
        self.key, self.value = key, value

    def read(self, value: Any, owner: Any) -> Any:
        _expect(value, isinstance(value, dict), "a dict")
        return {self.key.read(key, owner): self.value.read(each, owner) for key, each in value.items()}


def afford(n_numbers: int, what: str) -> None:
    """Raise a ValueError if a field would be computed to have more numbers than any model should have."""
    if n_numbers > MOST_NUMBERS:
        raise ValueError(f"{n_numbers:,} {what} were found; expected at most {MOST_NUMBERS:,}")


def _is_label(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return len(value) < 100 and all(map(_is_label, value))
    return value is None or isinstance(value, str | bytes | bool | int | float | np.bool_ | np.number | np.str_)


def _size(size: Any, owner: Any) -> Any:
    if isinstance(size, str):
        for name in size.split("."):
            owner = owner[int(name)] if name.isdigit() else getattr(owner, name)
        return owner() if callable(owner) else owner
    return size(owner) if callable(size) else size


def _expect(value: Any, fits: Any, expected: str) -> Any:
    if not fits:
        raise ValueError(f"expected {expected}, found {_said(value)}")
    return value


def _said(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    text = repr(value) if value is None or isinstance(value, str | int | float) else f"a {type(value).__name__}"
    return text if len(text) < 60 else f"{text[:60]}…"
