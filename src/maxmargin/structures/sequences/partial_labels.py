"""What may stand at a position of a partially labelled sequence: one label, any label (None), or a set of labels."""

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
    """The label itself where only one is left; other sets in a form that can be a key."""
    if not isinstance(label, set | frozenset):
        return label
    return next(iter(label)) if len(label) == 1 else frozenset(label)


def is_partial(label: Any) -> bool:
    """Whether this leaves the label open."""
    return label is None or (isinstance(label, set | frozenset) and len(label) != 1)


def named_labels(labels: Iterable[Any]) -> Iterator[Hashable]:
    """All labels that are mentioned, inside sets too."""
    for label in map(as_choice, labels):
        if not is_partial(label):
            yield label
        elif label is not None:
            yield from sorted(label, key=repr)  # a set has another order in every process


def different(labels: list[Any]) -> list[Any]:
    """These labels, once each where they can be keys (sets cannot)."""
    try:
        return list(dict.fromkeys(labels))
    except TypeError:
        return labels


def is_nan(label: Any) -> bool:
    """Whether this stands for what is missing elsewhere, and would be a label of its own here."""
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


class Choices:
    """Numbers for what may stand at a position: 0 … K-1 are the single labels, others come as they are read.

    Every choice has a row in two tables with a column for each label, `allowed` and `prices`.
    """

    def __init__(self, numbers: dict[Hashable, int]):
        self.numbers = numbers
        self._rows: dict[Hashable, int] = dict(numbers)
        self._whole = not any(map(is_nan, numbers))  # whether all classes are labels

    def read_single(self, labels: Iterable[Any], n: int) -> Labels | None:
        """The numbers of n labels; None where something else stands at a position than one of the classes."""
        if self._whole:
            with suppress(KeyError, TypeError):
                return np.fromiter(map(self.numbers.__getitem__, labels), dtype=np.int32, count=n)
        return None

    def read(self, labels: Sequence[Any]) -> Labels:
        """The numbers of these choices."""
        found = self.read_single(labels, len(labels))
        if found is not None:  # as a rule
            return found
        keys = list(map(as_choice, labels))
        for t, key in enumerate(keys):  # NaN, which elsewhere stands for what is missing, would be a label of its own
            if is_nan(key):
                raise ValueError(f"the label at position {t} is NaN; put None where a label is not known")
        label_numbers([key for key in keys if not is_partial(key)], self.numbers)  # names a label that is not known
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
        """The same where labels need not be classes: then whatever is found is the worst mistake."""
        keys = list(map(as_choice, labels))
        for key in keys:
            self._rows.setdefault(key, len(self._rows))
        return label_numbers(keys, self._rows)

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(R, K): which labels each choice allows."""
        n_labels = len(self.numbers)
        table = np.eye(len(self._rows), n_labels, dtype=bool)
        for key, row in islice(self._rows.items(), n_labels, None):
            members = self.numbers if key is None else key if isinstance(key, frozenset) else ()
            table[row, [self.numbers[label] for label in members if label in self.numbers]] = True
        return table

    def prices(self, cost: Array) -> Array:
        """(R, K): what a label costs where a choice was right, i.e. the cheapest mistake that it can be."""
        others = self.allowed[len(self.numbers) :]
        worst = np.full(len(cost), cost.max())
        return np.vstack([cost, *(cost[labels].min(axis=0) if labels.any() else worst for labels in others)])


class LabelPositions(NamedTuple):
    """Of all positions in a row, what may stand there; sequence i has those of offsets[i] : offsets[i + 1]."""

    rows: Labels
    offsets: NDArray[np.int64]
    choices: Choices
