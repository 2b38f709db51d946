"""Weights: arrays of weights in which every number has a name, for reading a model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole


class Weights:
    """An array of weights with names: `values[i, j, …]` is the weight of names[0][i], names[1][j], …

    `axes` has the kind of object that each axis names. Weights(values, feature=["capital", "digit"], label=["B", "I",
    "O"]) is indexed by name, weights["capital", "B"], and converts to an array, np.asarray(weights).
    """

    def __init__(self, values: Any, **axes: Sequence[Hashable]):
        self.values = np.asarray(values, dtype=float)
        self.axes = tuple(axes)
        sizes = tuple(map(len, axes.values()))
        if self.values.shape != sizes:  # checked before lists are made, because a model file may name any size
            raise ValueError(f"values have shape {self.values.shape}; expected {sizes}, one value for every name")
        self.names = tuple(list(names) for names in axes.values())
        self._places: list[dict[Hashable, int]] | None = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype=dtype, copy=True if copy is None else copy)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def distinct(self) -> NDArray[np.bool_]:
        """A mask of the numbers that are weights of their own; the others repeat one of these."""
        return np.ones(self.shape, dtype=bool)

    def __getitem__(self, names: Any) -> Any:
        """Return the weight for one name on every axis."""
        names = names if isinstance(names, tuple) and len(self.axes) > 1 else (names,)
        if len(names) != len(self.axes):
            raise KeyError(f"expected a name for each of {', '.join(self.axes)}, got {names!r}")
        if self._places is None:
            self._places = [{name: k for k, name in enumerate(known)} for known in self.names]
        for axis, places, name in zip(self.axes, self._places, names, strict=True):
            if name not in places:
                raise KeyError(f"there is no {axis} {name!r}")
        return float(self.values[tuple(places[name] for places, name in zip(self._places, names, strict=True))])

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(names)} {axis}s" for axis, names in zip(self.axes, self.names, strict=True))
        return f"Weights({sizes})"


class SymmetricWeights(Weights):
    """Weights of unordered pairs: values[i, j] and values[j, i] are the same weight."""

    @property
    def distinct(self) -> NDArray[np.bool_]:
        return np.triu(super().distinct)


class MixedWeights(Weights):
    """Values that are sums of several coordinates of w; bounds and priors cannot refer to them by name."""


class NamedWeight(NamedTuple):
    """A weight with a readable name."""

    name: str
    weight: float


def top_weights(arrays: Mapping[str, Weights], label: Hashable | None, n: int) -> list[NamedWeight]:
    """Return the n weights of largest absolute value among those of `label` (None: among all), largest first.

    A name that is a tuple, such as a pair of items, belongs to each of its members. A weight that has the label on two
    axes (a transition to itself) counts once.
    """
    found: list[tuple[float, str]] = []
    known = label is None
    for kind, array in arrays.items():
        chosen = np.ones(array.shape, dtype=bool)
        if label is not None:
            chosen[:] = False
            for axis, names in enumerate(array.names):
                for k, name in enumerate(names):
                    if array.axes[axis] != "feature" and _speaks_of(name, label):
                        np.moveaxis(chosen, axis, 0)[k] = True
                        known = True
        places = np.flatnonzero(chosen & array.distinct & (array.values != 0))
        sizes: Array = np.abs(array.values.ravel()[places])
        for place in places[np.argsort(-sizes, kind="stable")[:n]]:
            index = np.unravel_index(place, array.shape)
            words = [f"{axis}={names[i]}" for axis, names, i in zip(array.axes, array.names, index, strict=True)]
            found.append((float(array.values[index]), f"{kind}: {', '.join(words)}"))
    if not known:
        raise ValueError(f"no weight belongs to the label {label!r}")
    found.sort(key=lambda pair: -abs(pair[0]))
    return [NamedWeight(name, weight) for weight, name in found[:n]]


def column_names(model: Any) -> Sequence[Hashable]:
    """Return the column names of the table that an estimator was fitted to, or column numbers if it was an array."""
    names = getattr(model, "feature_names_in_", None)
    return range(model.n_features_in_) if names is None else list(names)


class WithNamedWeights:
    """A mixin for estimators that show their weights by name. A subclass defines `_named_weights`."""

    @property
    def weights_(self) -> dict[str, Weights]:
        """The weights as a dict of named arrays; the keys are the kinds of weights."""
        check_is_fitted(self)
        return self._named_weights()

    def top_weights(self, label: Hashable | None = None, n: int = 10) -> list[NamedWeight]:
        """Return the n weights that are farthest from 0, farthest first.

        Parameters
        ----------
        label : label or None
            Only weights that belong to this label; None: all weights.
        n : int
            How many weights to return.

        Returns
        -------
        list of NamedWeight
            Pairs of a name and a weight.
        """
        return top_weights(self.weights_, label, check_whole("n", n, least=1))

    def _named_weights(self) -> dict[str, Weights]:
        """Return `weights_` of a fitted model."""
        raise NotImplementedError


class WithWeightLayout(WithNamedWeights):
    """A mixin for estimators whose model is a task with a weight vector. A subclass may define `_layout`."""

    task_: Any
    w_: Array

    def _named_weights(self) -> dict[str, Weights]:
        return self._layout(self.task_, self.w_)

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        """Return the weight vector `w` of a task as named arrays.

        It needs no fitted model: `task` is set up, and `w` holds weights, or anything else that is one number for each
        weight, such as their positions in the vector.
        """
        return {"weights": Weights(w, weight=range(len(w)))}


def numbered_weights(model: WithWeightLayout, task: Any) -> dict[str, Weights]:
    """Return the arrays of `weights_` with the numbers 1, 2, … of the weights in w in place of the weights.

    A number is negative if the model shows this weight with the opposite sign.
    """
    return model._layout(task, np.arange(1.0, task.dim + 1))


def _speaks_of(name: Hashable, label: Hashable) -> bool:
    # the label True is not the index 1
    same = name == label and isinstance(name, bool | np.bool_) == isinstance(label, bool | np.bool_)
    return same or (isinstance(name, tuple) and any(_speaks_of(each, label) for each in name))
