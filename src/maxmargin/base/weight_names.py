"""WeightNames: the name of each coordinate of a weight vector, found without a table of all names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import MixedWeights, Weights

Layout = Callable[[Array], Mapping[str, Weights]]  # the named arrays of a weight vector


class WeightName(NamedTuple):
    """The name of a weight."""

    kind: str  # the key of its array in `weights_`
    names: tuple[Hashable, ...]  # one name per axis of that array
    text: str  # both in words, as `top_weights` writes them
    sign: float  # -1 if the model shows the weight with the opposite sign


class WeightNames:
    """The names of the coordinates of w, by the named arrays that `layout` makes of a weight vector.

    An array that is a view of w needs no search: the place of a coordinate in memory tells its place in the array.
    Arrays of other values, such as tables in which several entries share a weight, are made once more with the numbers
    of the weights in place of the weights, and these numbers are sorted.
    """

    def __init__(self, layout: Layout, w: Array):
        arrays = layout(w)
        self._views: list[tuple[str, Weights, _View]] = []
        self._tables: list[tuple[str, Weights, _Table]] = []
        computed = []
        for kind, array in arrays.items():
            view = _View.of(array.values, w)
            if view is not None:
                self._views.append((kind, array, view))
            elif array.values.size and not isinstance(array, MixedWeights):
                computed.append(kind)
        if computed:
            numbered = layout(np.arange(1.0, len(w) + 1))
            self._tables = [(kind, numbered[kind], _Table(numbered[kind], len(w))) for kind in computed]

    def __getitem__(self, j: int) -> WeightName:
        """Return the name of coordinate j; one that no array shows alone is called by its number."""
        for kind, array, view in self._views:
            place = view.place(j)
            if place is not None:
                return _named(kind, array, place, 1.0)
        for kind, array, table in self._tables:
            found = table.place(j)
            if found is not None:
                return _named(kind, array, *found)
        return WeightName("weights", (j,), f"weights: coordinate={j}", 1.0)


class _View(NamedTuple):
    """An array of numbers that are coordinates of w: entry [i, j, …] is coordinate first + i · step_i + j · step_j …"""

    first: int
    steps: tuple[tuple[int, int, int], ...]  # (step, length, axis), longest steps first
    n_axes: int

    @classmethod
    def of(cls, values: Array, w: Array) -> _View | None:
        """Return the view of w that these values are, or None if they are other numbers."""
        if values.size == 0 or not w.flags.c_contiguous or not np.may_share_memory(values, w):
            return None
        offset = values.__array_interface__["data"][0] - w.__array_interface__["data"][0]
        by_axis = zip(values.strides, values.shape, range(values.ndim), strict=True)
        steps = sorted(((step // w.itemsize, n, axis) for step, n, axis in by_axis if n > 1), reverse=True)
        if any(step <= 0 for step, _, _ in steps):
            return None
        return cls(offset // w.itemsize, tuple(steps), values.ndim)

    def place(self, j: int) -> tuple[int, ...] | None:
        """Return the index of coordinate j in the array, or None if it is not there."""
        rest = j - self.first
        if rest < 0:
            return None
        index = [0] * self.n_axes
        for step, n, axis in self.steps:
            index[axis], rest = divmod(rest, step)
            if index[axis] >= n:
                return None
        return tuple(index) if rest == 0 else None


class _Table:
    """The places of coordinates in an array whose entries are their numbers 1, 2, …, or the negative ones."""

    def __init__(self, numbered: Weights, dim: int):
        flat = numbered.values.ravel()
        sizes = np.abs(flat)
        alone = np.asarray(numbered.distinct).ravel() & (sizes >= 1) & (sizes <= dim) & (sizes == np.round(sizes))
        places = np.flatnonzero(alone)
        order = np.argsort(sizes[places], kind="stable")
        self.shape = numbered.shape
        self.places: NDArray[np.intp] = places[order]
        self.numbers: NDArray[np.int64] = sizes[self.places].astype(np.int64) - 1
        self.signs: Array = np.sign(flat[self.places])

    def place(self, j: int) -> tuple[tuple[int, ...], float] | None:
        """Return the index of coordinate j in the array and its sign, or None if it is not there."""
        k = int(np.searchsorted(self.numbers, j))
        if k == len(self.numbers) or self.numbers[k] != j:
            return None
        index = np.unravel_index(int(self.places[k]), self.shape)
        return tuple(int(i) for i in index), float(self.signs[k])


def _named(kind: str, array: Weights, index: tuple[int, ...], sign: float) -> WeightName:
    names = tuple(known[i] for known, i in zip(array.names, index, strict=True))
    words = ", ".join(f"{axis}={name}" for axis, name in zip(array.axes, names, strict=True))
    return WeightName(kind, names, f"{kind}: {words}", sign)
