"""Clusterings as lists of labels: items with equal labels are in one cluster."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Clusters: TypeAlias = NDArray[np.int64]  # the cluster number of every item


def cluster_numbers(labels: Any, n_items: int, name: str) -> Clusters:
    """Number the clusters of labels of any kind 0, 1, … in order of appearance.

    `name` names the labels in error messages, for example "example 3".
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
                "(a label of its own if it is alone in its cluster)"
            )
        try:
            found[i] = numbers.setdefault(label, len(numbers))
        except TypeError as error:
            raise ValueError(f"{name}: the label of item {i} cannot be used: {error}") from None
    return found
