"""The constraints on single weights that the options `bounds` and `prior` of an estimator define.

Weights are named as in `weights_`: by the name of an array, or by a tuple of that name and one name per axis, where
None stands for all names of an axis. For weights that a model shows with the opposite sign, constraints are negated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_real
from maxmargin.base.named_weights import MixedWeights, Weights
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.geometry import Geometry

LARGEST = 1e150  # the largest weight; its square does not overflow
Layout = Callable[[], dict[str, Weights]]  # `weights_`, with the numbers 1, 2, … of weights instead of their values


def geometry_of(task: Task, bounds: Any, prior: Any, layout: Layout) -> Geometry | None:
    """Return the prior and the bounds from these options and from the task, or None if there are none.

    The bounds of the options and those of the task both hold; a given prior replaces the prior of the task.
    """
    own_bounds, own_prior = getattr(task, "bounds_", None), getattr(task, "prior_", None)
    if bounds is None and prior is None and own_bounds is None and own_prior is None:
        return None
    names = _Names(layout, task.dim)
    low, high, origin = np.full(task.dim, -np.inf), np.full(task.dim, np.inf), np.zeros(task.dim)
    for given in (own_bounds, bounds):
        if given is not None:
            _narrow(given, names, low, high)
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        j = int(crossed[0])
        raise ValueError(
            f"the bounds of {names.of(j)} contradict each other: at least {low[j]:g} and at most {high[j]:g}"
        )
    chosen = own_prior if prior is None else prior
    if chosen is not None:
        _draw(chosen, names, origin)
    return Geometry(origin, low, high)


def _narrow(bounds: Any, names: _Names, low: Array, high: Array) -> None:
    if not isinstance(bounds, Mapping):
        bounds = {None: bounds}
    for key, pair in bounds.items():
        what = "bounds" if key is None else f"bounds[{key!r}]"
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"{what} must be a pair (low, high), with None for no limit; got {pair!r}")
        places, signs = names.places(key, what)
        least, most = _numbers(pair[0], signs.shape, what, -np.inf), _numbers(pair[1], signs.shape, what, np.inf)
        if np.max(least, initial=0.0) > LARGEST or np.min(most, initial=0.0) < -LARGEST:
            raise ValueError(f"{what} allows no finite weights: at least {pair[0]!r}, at most {pair[1]!r}")
        if isinstance(places, slice):
            np.maximum(low, least, out=low)
            np.minimum(high, most, out=high)
        else:  # a weight may have several names
            turned = signs < 0
            least, most = np.where(turned, -most, least), np.where(turned, -least, most)
            np.maximum.at(low, places, least)
            np.minimum.at(high, places, most)


def _draw(prior: Any, names: _Names, origin: Array) -> None:
    if not isinstance(prior, Mapping):
        prior = {None: prior}
    for key, value in prior.items():
        what = "prior" if key is None else f"prior[{key!r}]"
        places, signs = names.places(key, what)
        numbers = _numbers(value, signs.shape, what, None)
        if not (np.abs(numbers) <= LARGEST).all():
            raise ValueError(f"{what} must be finite numbers whose squares do not overflow, got {value!r}")
        origin[places] = signs * numbers
        if not np.array_equal(origin[places], signs * numbers):
            raise ValueError(
                f"{what} has different values for entries that share one weight (such as the pairs of "
                "a symmetric model)"
            )


def _numbers(value: Any, shape: tuple[int, ...], what: str, unlimited: float | None) -> Array:
    """Return an array with one number for each weight, from one number for all or one for each."""
    if value is None and unlimited is not None:
        return np.broadcast_to(unlimited, shape)
    if is_real(value):
        numbers = np.broadcast_to(float(value), shape)
    else:
        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{what} must be numbers, got {value!r}") from None
        if numbers.ndim == 0:
            raise ValueError(f"{what} must be numbers, got {value!r}")
        if numbers.shape != shape:
            raise ValueError(f"{what} has shape {numbers.shape}; expected a number, or an array of shape {shape}")
    if np.isnan(numbers).any():
        raise ValueError(f"{what} must not be NaN")
    return numbers


class _Names:
    """The positions of weights in w, by their names."""

    def __init__(self, layout: Layout, dim: int):
        self._layout, self.dim = layout, dim
        self._arrays: dict[str, Weights] | None = None

    @property
    def arrays(self) -> dict[str, Weights]:
        """The named arrays, with the numbers of weights in w, counted from 1, instead of their values."""
        if self._arrays is None:
            self._arrays = self._layout()
        return self._arrays

    def places(self, key: Any, what: str) -> tuple[NDArray[np.intp] | slice, NDArray[np.float64]]:
        """Return the positions of the weights of this name in w, and the signs with which they are shown."""
        if key is None:
            return slice(None), np.broadcast_to(1.0, self.dim)
        kind, *names = key if isinstance(key, tuple) and key else (key,)
        if kind not in self.arrays:
            raise ValueError(f"{what}: there are no weights {kind!r}; there are {', '.join(map(repr, self.arrays))}")
        array = self.arrays[kind]
        if names and len(names) != len(array.axes):
            raise ValueError(f"{what}: expected a name (or None for all) for each of {', '.join(array.axes)}")
        index: list[Any] = [slice(None)] * len(array.axes)
        for axis, name in enumerate(names):
            if name is not None:
                if name not in array.names[axis]:
                    raise ValueError(f"{what}: there is no {array.axes[axis]} {name!r}")
                index[axis] = array.names[axis].index(name)
        numbers = np.asarray(array.values[tuple(index)])
        sizes = np.abs(numbers)
        if (
            isinstance(array, MixedWeights)
            or not ((sizes >= 1) & (sizes <= self.dim) & (sizes == np.round(sizes))).all()
        ):
            raise ValueError(
                f"{what}: these are not weights that are learnt but values computed from them; give arrays of all "
                f"{self.dim} weights"
            )
        return np.abs(numbers).astype(np.intp) - 1, np.sign(numbers)

    def of(self, j: int) -> str:
        """Return a name of weight number j of w."""
        for kind, array in self.arrays.items():
            if isinstance(array, MixedWeights):
                continue
            found = np.argwhere(np.abs(array.values) == j + 1)
            if len(found):
                words = [f"{axis}={names[i]}" for axis, names, i in zip(array.axes, array.names, found[0], strict=True)]
                return f"{kind}: {', '.join(words)}"
        return f"weight {j}"
