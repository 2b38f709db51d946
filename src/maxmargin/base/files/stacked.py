"""Per-example state stored as a few arrays, because a file can hold only a limited number of arrays."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from maxmargin.base.files.learnt import Learnt

OfEvery = list[Any]  # one array or None per example


class Stacked(Learnt):
    """State of n examples: for each an array, None, or a list of these of constant length; or None for all of them.

    Arrays at the same position of these lists are concatenated and stored with their shapes. If their types differ, or
    if the state is something else, it is stored as it is.
    """

    def left(self, value: list[Any] | None) -> Any:
        if value is None:
            return None
        lists = [each for each in value if isinstance(each, list)]
        alone = len(lists) < len(value)
        columns = [value] if alone else [list(column) for column in zip(*lists, strict=False)]
        even = alone or len({len(each) for each in lists}) == 1
        if not columns or not even or not all(map(_is_even, columns)):
            return {"each": value}
        return {"alone": alone, "columns": [_joined(column) for column in columns]}

    def refilled(self, found: Any, current: Any, owner: Any) -> list[Any] | None:
        if found is None:
            return None
        if isinstance(found, dict) and set(found) == {"each"}:
            value = found["each"]
            if not isinstance(value, list) or len(value) != owner.n:
                raise ValueError(f"expected a list of {owner.n} values, one per example")
            return value
        if not isinstance(found, dict) or set(found) != {"alone", "columns"} or not isinstance(found["columns"], list):
            raise ValueError("expected the values of every example")
        columns = [_parted(each, owner.n) for each in found["columns"]]
        if found["alone"] is True and len(columns) == 1:
            return columns[0]
        if found["alone"] is not False or not columns:
            raise ValueError("expected columns of arrays")
        return [list(each) for each in zip(*columns, strict=True)]


def _is_even(column: OfEvery) -> bool:
    """Return whether all members of a column are None or arrays of the same type and number of dimensions."""
    if not all(each is None or isinstance(each, np.ndarray) for each in column):
        return False
    kinds = {(each.dtype, each.ndim) for each in column if each is not None}
    return len(kinds) <= 1 and all(dtype.kind in "biuf" for dtype, _ in kinds)


def _joined(column: OfEvery) -> dict[str, Any]:
    """Return the concatenated numbers of all arrays of a column, their shapes, and which examples have an array."""
    arrays = [each for each in column if each is not None]
    dtype, ndim = (arrays[0].dtype, arrays[0].ndim) if arrays else (np.dtype(float), 0)
    return {
        "numbers": np.concatenate([np.zeros(0, dtype=dtype), *(each.ravel() for each in arrays)]),
        "shapes": np.array([each.shape for each in arrays], dtype=np.int64).reshape(len(arrays), ndim),
        "known": np.array([each is not None for each in column], dtype=bool),
    }


def _parted(found: Any, n: int) -> OfEvery:
    """Return the column of n examples that `_joined` turned into `found`."""
    if not isinstance(found, dict) or set(found) != {"numbers", "shapes", "known"}:
        raise ValueError("expected numbers, their shapes, and which examples have an array")
    numbers, shapes, known = (found[name] for name in ("numbers", "shapes", "known"))
    if not all(isinstance(each, np.ndarray) for each in (numbers, shapes, known)) or numbers.ndim != 1:
        raise ValueError("expected arrays")
    if known.dtype != np.bool_ or known.shape != (n,):
        raise ValueError(f"expected {n} Boolean values, one per example")
    if shapes.dtype != np.int64 or shapes.ndim != 2 or len(shapes) != np.count_nonzero(known) or (shapes < 0).any():
        raise ValueError("expected a shape for every array")
    listed = shapes.tolist()
    sizes = [prod(shape) for shape in listed]
    if sum(sizes) != len(numbers):
        raise ValueError(f"expected {sum(sizes)} numbers, found {len(numbers)}")
    parts = iter(np.split(numbers, np.cumsum(sizes[:-1], dtype=np.int64)) if sizes else ())
    made = [part.reshape(shape) for part, shape in zip(parts, listed, strict=True)]
    column: OfEvery = [None] * n
    for i, array in zip(np.flatnonzero(known), made, strict=True):
        column[i] = array
    return column
