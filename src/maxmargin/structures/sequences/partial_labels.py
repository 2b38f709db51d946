"""Choices for the label of a position: one label, any label (None), or a set of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels, label_numbers, plain


def as_choice(label: Any) -> Any:
    """Return the label itself if only one is left, and other sets in hashable form."""
    if not isinstance(label, set | frozenset):
        return label
    return next(iter(label)) if len(label) == 1 else frozenset(label)


def is_partial(label: Any) -> bool:
    """Return whether the label is left open."""
    return label is None or (isinstance(label, set | frozenset) and len(label) != 1)


def named_labels(labels: Iterable[Any]) -> Iterator[Hashable]:
    """Yield all labels that are mentioned, including members of sets."""
    for label in map(as_choice, labels):
        if not is_partial(label):
            yield label
        elif label is not None:
            yield from sorted(label, key=repr)  # the order of a set differs from process to process


def different(labels: list[Any]) -> list[Any]:
    """Return these labels, without duplicates if they are hashable (sets are not)."""
    try:
        return list(dict.fromkeys(labels))
    except TypeError:
        return labels


def is_nan(label: Any) -> bool:
    """Return whether a label is NaN, which usually means a missing value but would be a label of its own here."""
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


class Choices:
    """Numbers for the choices at positions: 0 … K-1 are the single labels, others are added as they are read.

    Every choice has a row in two tables with a column for each label, `allowed` and `prices`.
    """

    def __init__(self, numbers: dict[Hashable, int]):
        self.numbers = numbers
        self._rows: dict[Hashable, int] = dict(numbers)
        self._whole = not any(map(is_nan, numbers))  # True if no class is NaN

    def read_single(self, labels: Iterable[Any], n: int) -> Labels | None:
        """Return the numbers of n labels, or None if one of them is not a class."""
        if self._whole:
            with suppress(KeyError, TypeError):
                return np.fromiter(map(self.numbers.__getitem__, labels), dtype=np.int32, count=n)
        return None

    def read(self, labels: Sequence[Any]) -> Labels:
        """Return the numbers of these choices."""
        found = self.read_single(labels, len(labels))
        if found is not None:  # the usual case
            return found
        keys = list(map(as_choice, labels))
        for t, key in enumerate(keys):  # NaN, which usually means a missing value, would be a label of its own
            if is_nan(key):
                raise ValueError(f"the label at position {t} is NaN; put None where a label is not known")
        # raises an error that names the unknown label
        label_numbers([key for key in keys if not is_partial(key)], self.numbers)
        for t, key in enumerate(keys):
            if is_partial(key) and key not in self._rows:
                if key is not None:
                    if not key:
                        raise ValueError(f"the set of labels allowed at position {t} is empty")
                    unknown = [label for label in key if label not in self.numbers]
                    if unknown:
                        raise ValueError(
                            f"the set of labels allowed at position {t} has {plain(unknown[0])!r}, which is not one "
                            "of the classes"
                        )
                self._rows[key] = len(self._rows)
        return label_numbers(keys, self._rows)

    def read_any(self, labels: Sequence[Any]) -> Labels:
        """Return the numbers of choices whose labels need not be classes: any prediction is then the worst mistake."""
        keys = list(map(as_choice, labels))
        for key in keys:
            self._rows.setdefault(key, len(self._rows))
        return label_numbers(keys, self._rows)

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(R, K): the labels that each choice allows."""
        n_labels = len(self.numbers)
        table = np.eye(len(self._rows), n_labels, dtype=bool)
        for key, row in islice(self._rows.items(), n_labels, None):
            members = self.numbers if key is None else key if isinstance(key, frozenset) else ()
            table[row, [self.numbers[label] for label in members if label in self.numbers]] = True
        return table

    def prices(self, cost: Array) -> Array:
        """Return the (R, K) costs of labels, given choices: the smallest cost over the possible true labels."""
        others = self.allowed[len(self.numbers) :]
        worst = np.full(len(cost), cost.max())
        return np.vstack([cost, *(cost[labels].min(axis=0) if labels.any() else worst for labels in others)])


class LabelPositions(NamedTuple):
    """The choices of all positions, concatenated; sequence i has the entries offsets[i] : offsets[i + 1]."""

    rows: Labels  # the choice of every position, a row of `choices`
    offsets: NDArray[np.int64]  # (n + 1,): where each sequence begins
    choices: Choices  # the different choices
