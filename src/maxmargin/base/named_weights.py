"""Weights: an array of weights whose every number has a name, for people who want to read a model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole


class Weights:
    """`values[i, j, …]` is the weight of names[0][i], names[1][j], …; `axes` says what kind of thing each axis names.

    Weights(values, feature=["capital", "digit"], label=["B", "I", "O"]) is read by name, weights["capital", "B"], or as
    an array, np.asarray(weights).
    """

    def __init__(self, values: Any, **axes: Sequence[Hashable]):
        self.values = np.asarray(values, dtype=float)
        self.axes = tuple(axes)
        sizes = tuple(map(len, axes.values()))
        if self.values.shape != sizes:  # before lists are made: a model file may name any size
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
        """Which numbers are weights of their own; the others repeat one of these."""
        return np.ones(self.shape, dtype=bool)

    def __getitem__(self, names: Any) -> Any:
        """The weight of one name on every axis."""
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
    """Weights of unordered pairs: values[i, j] and values[j, i] are the same one."""

    @property
    def distinct(self) -> NDArray[np.bool_]:
        return np.triu(super().distinct)


class MixedWeights(Weights):
    """Weights that are no coordinates of w, but sums of some; bounds and priors of theirs have no names."""


class NamedWeight(NamedTuple):
    """One weight: what it is for, in words, and the number."""

    name: str
    weight: float


def top_weights(arrays: Mapping[str, Weights], label: Hashable | None, n: int) -> list[NamedWeight]:
    """The n weights that are farthest from 0, of those that speak of `label` (None: of all), farthest first.

    A name that is a tuple, such as a pair of items, speaks of its members too. A weight that has the label on two axes
    (a transition to itself) counts once.
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
    """Of the matrix that an estimator was fitted to: the names of its columns where it was a table, else numbers."""
    names = getattr(model, "feature_names_in_", None)
    return range(model.n_features_in_) if names is None else list(names)


class WithNamedWeights:
    """A mixin for estimators that show their weights by name. A subclass defines `_named_weights`."""

    @property
    def weights_(self) -> dict[str, Weights]:
        """The weights by what they are for; every number knows the feature and the label that it belongs to."""
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
        """Return what `weights_` shows of a fitted model."""
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
    # True is a class of its own, and not the position 1
    same = name == label and isinstance(name, bool | np.bool_) == isinstance(label, bool | np.bool_)
    return same or (isinstance(name, tuple) and any(_speaks_of(each, label) for each in name))
