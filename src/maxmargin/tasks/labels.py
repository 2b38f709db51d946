"""Label sets and cost matrices: any hashable labels, numbered 0 … K-1 inside."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.task import Array

Labels = NDArray[np.int32]


def label_set(classes: Sequence[Hashable] | None, seen: Iterable[Hashable]) -> list[Hashable]:
    """The given classes, or all labels seen: sorted where they can be, else in order of appearance."""
    if classes is not None:
        chosen = list(classes)
        if len(set(chosen)) != len(chosen):
            raise ValueError("classes contains a label twice")
    else:
        chosen = list(dict.fromkeys(_plain(label) for label in seen))
        with suppress(TypeError):  # labels of several kinds have no order
            chosen.sort()  # type: ignore[call-arg]
    if len(chosen) < 2:
        raise ValueError(f"only one class was found ({chosen!r}); a classifier needs at least two classes")
    return chosen


def label_numbers(labels: Sequence[Hashable], numbers: dict[Hashable, int]) -> Labels:
    """The numbers of these labels."""
    try:
        return np.fromiter((numbers[label] for label in labels), dtype=np.int32, count=len(labels))
    except KeyError as error:
        known = ", ".join(repr(label) for label in list(numbers)[:10])
        raise ValueError(
            f"the label {error.args[0]!r} is not one of the classes ({known}{', …' if len(numbers) > 10 else ''})"
        ) from None


def cost_matrix(costs: Any, classes: Sequence[Hashable]) -> Array:
    """cost[true, predicted]: from None (all mistakes cost 1), {label: cost of missing it}, or a matrix."""
    n = len(classes)
    if costs is None:
        return np.ones((n, n)) - np.eye(n)
    if isinstance(costs, Mapping):
        unknown = [label for label in costs if label not in set(classes)]
        if unknown:
            raise ValueError(f"costs names the label {unknown[0]!r}, which is not one of the classes")
        matrix = np.outer([costs.get(label, 1.0) for label in classes], np.ones(n))
        np.fill_diagonal(matrix, 0.0)
    else:
        matrix = np.array(costs, dtype=float)
    if matrix.shape != (n, n):
        raise ValueError(f"the cost matrix has shape {matrix.shape}; expected ({n}, {n}), one row and column per class")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("costs must be finite and >= 0")
    if np.diagonal(matrix).any():
        raise ValueError("the cost of a right answer (the diagonal of the cost matrix) must be 0")
    return matrix


def _plain(label: Hashable) -> Hashable:
    return label.item() if isinstance(label, np.generic) else label
