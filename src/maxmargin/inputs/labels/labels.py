"""Label sets and cost matrices: any hashable labels, numbered 0 … K-1 internally."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

Labels = NDArray[np.int32]


class NumberedLabels(Sequence[Hashable]):
    """Labels of many examples, stored as numbers of their names instead of one Python object each.

    names : the different labels, sorted.   numbers : the number of the label of every example.
    """

    def __init__(self, names: NDArray[Any], numbers: Labels):
        self.names, self.numbers = names, numbers

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.names.dtype

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, i: Any) -> Any:
        return self.names[self.numbers[i]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.names[self.numbers], dtype=dtype)


def different_labels(labels: Any) -> NDArray[Any]:
    """Return the different labels of an array, sorted."""
    return labels.names if isinstance(labels, NumberedLabels) else np.unique(labels)


def in_order(labels: Iterable[Hashable]) -> list[Hashable]:
    """Return the different labels, sorted if possible, otherwise in order of appearance."""
    chosen = _different(labels)
    with suppress(TypeError):  # labels of several types cannot be sorted
        return sorted(chosen)  # type: ignore[type-var]
    return chosen


def label_set(classes: Sequence[Hashable] | None, labels: Iterable[Hashable], least: int = 2) -> list[Hashable]:
    """Return the given classes, or the sorted labels of the data; raise a ValueError if there are too few."""
    chosen = in_order(labels) if classes is None else _different(classes)
    if classes is not None and len(chosen) < len(classes):
        raise ValueError("classes contains a label twice")
    _refuse_lookalikes(chosen)
    if len(chosen) < least:
        raise ValueError(f"only one class was found ({chosen!r}); a classifier needs at least two classes")
    return chosen


def refuse_mixed(labels: Any, begin: int = 0) -> None:
    """Raise a ValueError if labels are strings as well as numbers, which an array would turn into strings.

    begin : the number of the first example.
    """
    if not isinstance(labels, list | tuple) and getattr(labels, "dtype", None) != np.dtype(object):
        return
    first = {isinstance(label, str): i for i, label in reversed(list(enumerate(labels))) if _is_usual(label)}
    if len(first) == 2:
        i, j = sorted(first.values())
        raise ValueError(
            f"labels have several types: example {begin + i} has {plain(labels[i])!r} and example "
            f"{begin + j} has {plain(labels[j])!r}; expected all strings or all numbers"
        )


def _is_usual(label: Any) -> bool:
    return isinstance(label, str | Real | np.bool_)


def _refuse_lookalikes(labels: list[Hashable]) -> None:
    """Raise a ValueError if different labels read the same, such as 1 and "1", which indicates a reading mistake."""
    seen: dict[str, Hashable] = {}
    for label in labels:
        other = seen.setdefault(str(label), label)
        if type(other) is not type(label):
            raise ValueError(
                f"the labels {other!r} and {label!r} are different ({type(other).__name__} and "
                f"{type(label).__name__}) but read the same; expected labels of one type"
            )


def label_array(labels: Sequence[Hashable], like: Any) -> NDArray[Any]:
    """Return labels as an array of the type of `like`, if this changes none of them."""
    kind = getattr(getattr(like, "dtype", None), "kind", "")
    array = np.fromiter(labels, dtype=object, count=len(labels))
    kinds = {type(label) for label in labels}
    if kind == "O" or len(kinds) > 1 or not kinds <= {bool, int, float, str}:
        return array
    natural = np.array(labels)
    cast = natural.astype(like.dtype) if kind and kind in "biuf" and natural.dtype.kind in "biuf" else natural
    return cast if np.array_equal(cast, natural) else natural


def label_numbers(labels: Sequence[Hashable], numbers: dict[Hashable, int]) -> Labels:
    """Return the numbers of these labels; raise a ValueError if one is not a class."""
    if isinstance(labels, NumberedLabels):
        places = label_numbers(labels.names.tolist(), numbers)
        return labels.numbers if np.array_equal(places, np.arange(len(places))) else places[labels.numbers]
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "biu":  # many labels with few different values
        kinds, which = np.unique(labels, return_inverse=True)
        found = [numbers.get(label) for label in kinds.tolist()]
        if None not in found:
            return np.array(found, dtype=np.int32)[which]
    try:
        return np.fromiter((numbers[label] for label in labels), dtype=np.int32, count=len(labels))
    except KeyError as error:
        label, known = plain(error.args[0]), ", ".join(repr(label) for label in list(numbers)[:10])
        raise ValueError(
            f"the label {label!r} is not one of the classes ({known}{', …' if len(numbers) > 10 else ''})"
        ) from None


def cost_matrix(costs: Any, classes: Sequence[Hashable]) -> Array:
    """Return the matrix cost[true, predicted], given None (all cost 1), {label: cost of missing it}, or a matrix."""
    n = len(classes)
    if costs is None:
        return np.ones((n, n)) - np.eye(n)
    if isinstance(costs, Mapping):
        unknown = [label for label in costs if label not in set(classes)]
        if unknown:
            raise ValueError(f"costs names the label {unknown[0]!r}, which is not one of the classes")
        costs = [[0.0 if other == label else costs.get(label, 1.0) for other in classes] for label in classes]
    try:
        matrix = np.array(costs, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"costs must be None, a dict or a matrix of numbers, got {costs!r}") from None
    if matrix.shape != (n, n):
        raise ValueError(f"the cost matrix has shape {matrix.shape}; expected ({n}, {n}), one row and column per class")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("costs must be finite and >= 0")
    if np.diagonal(matrix).any():
        raise ValueError("the cost of a correct answer (the diagonal of the cost matrix) must be 0")
    return matrix


def prices(truth: Sequence[Hashable], found: Sequence[Hashable], numbers: dict[Hashable, int], cost: Array) -> Array:
    """Return the cost of every predicted label; if the true label is not a class, the cost of the worst mistake."""
    if len(truth) != len(found):
        raise ValueError(f"there are {len(truth)} true but {len(found)} predicted labels")
    rows = np.fromiter((numbers.get(label, -1) for label in truth), dtype=np.int32, count=len(truth))
    return np.where(rows < 0, cost.max(), cost[rows, label_numbers(found, numbers)])


def plain(label: Any) -> Any:
    """Return a numpy scalar as the equal Python object, which is easier to read in messages."""
    return label.item() if isinstance(label, np.generic) else label


def _different(labels: Iterable[Hashable]) -> list[Hashable]:
    labels = labels.names if isinstance(labels, NumberedLabels) else labels
    try:
        return list(dict.fromkeys(map(plain, labels)))
    except TypeError as error:
        raise ValueError(f"a label cannot be used: {error}") from None
