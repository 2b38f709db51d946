"""What may stand at a position of a partially labelled sequence: one label, any label (None), or a set of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.inputs.labels import Labels, label_numbers, plain, prices


def settled(label: Any) -> Any:
    """The label itself where only one is left; other sets in a form that can be a key."""
    if not isinstance(label, set | frozenset):
        return label
    return next(iter(label)) if len(label) == 1 else frozenset(label)


def is_partial(label: Any) -> bool:
    """Whether this leaves the label open."""
    return label is None or (isinstance(label, set | frozenset) and len(label) != 1)


def named_labels(labels: Iterable[Any]) -> Iterator[Hashable]:
    """All labels that are mentioned, inside sets too."""
    for label in map(settled, labels):
        if not is_partial(label):
            yield label
        elif label is not None:
            yield from sorted(label, key=repr)  # a set has another order in every process


class Choices:
    """Numbers for what may stand at a position: 0 … K-1 are the single labels, others come as they are read."""

    def __init__(self, numbers: dict[Hashable, int]):
        self.numbers = numbers
        self._rows: dict[Hashable, int] = dict(numbers)

    def read(self, labels: Sequence[Any]) -> Labels:
        """The numbers of these choices."""
        keys = list(map(settled, labels))
        for t, key in enumerate(keys):  # NaN, which elsewhere stands for what is missing, would be a label of its own
            if isinstance(key, float | np.floating) and np.isnan(key):
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

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(R, K): which labels each choice allows."""
        n_labels = len(self.numbers)
        table = np.zeros((len(self._rows), n_labels), dtype=bool)
        for key, row in self._rows.items():
            if row < n_labels:
                table[row, row] = True
            elif key is None:
                table[row] = True
            else:
                table[row, label_numbers(list(key), self.numbers)] = True  # type: ignore[call-overload]
        return table

    def costs(self, cost: Array) -> Array:
        """(R, K): what a label costs where a choice was right, i.e. the cheapest mistake that it can be."""
        return np.array([cost[labels].min(axis=0) for labels in self.allowed])


def partial_prices(truth: Sequence[Any], found: Sequence[Any], numbers: dict[Hashable, int], cost: Array) -> Array:
    """The cost of every found label; of the labels that were allowed, the one counts that makes it cheapest."""
    truth = list(map(settled, truth))
    if not any(map(is_partial, truth)):
        return prices(truth, found, numbers, cost)
    stand_in = [f if is_partial(t) else t for t, f in zip(truth, found, strict=True)]
    price = prices(stand_in, found, numbers, cost)
    for t, (choice, label) in enumerate(zip(truth, found, strict=True)):
        if is_partial(choice) and choice is not None:
            price[t] = min(prices([one], [label], numbers, cost)[0] for one in choice)
    return price
