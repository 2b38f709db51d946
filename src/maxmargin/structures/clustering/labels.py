"""Clusterings as labels of items: a list of n labels, of which equal ones are in one cluster."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Clusters: TypeAlias = NDArray[np.int64]  # of every item the number of its cluster


def cluster_numbers(labels: Any, n_items: int, name: str) -> Clusters:
    """Labels of any kind as numbers 0, 1, … in the order in which clusters first appear.

    `name` is what messages call the labels, such as "example 3".
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Collection):
        raise ValueError(f"{name}: the clustering is {labels!r}; expected a list of {n_items} labels, one per item")
    if isinstance(labels, Mapping | Set):
        kind = type(labels).__name__
        raise ValueError(f"{name}: the clustering is a {kind}; expected a list of {n_items} labels in the items' order")
    shape = np.shape(labels) if isinstance(labels, np.ndarray) else (len(labels),)
    if len(shape) != 1:
        raise ValueError(f"{name}: the labels have shape {shape}; expected ({n_items},), one per item")
    if len(labels) != n_items:
        raise ValueError(f"{name} has {n_items} items but {len(labels)} cluster labels; expected one per item")
    numbers: dict[Hashable, int] = {}
    found = np.empty(n_items, dtype=np.int64)
    for i, label in enumerate(labels):
        if label is None or label != label:
            raise ValueError(
                f"{name}: the label of item {i} is {label}; expected the item's cluster "
                "(a label of its own where it is in no cluster with others)"
            )
        try:
            found[i] = numbers.setdefault(label, len(numbers))
        except TypeError as error:
            raise ValueError(f"{name}: the label of item {i} cannot be used: {error}") from None
    return found
