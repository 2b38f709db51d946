"""Labels of the nodes of a graph: a list, an array, or an array in the shape of a grid; some may be missing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels, label_numbers, plain
from maxmargin.inputs.labels.weighted import Weighted


class NodeLabels(NamedTuple):
    """The labels of one graph: node t has the label kinds[kind_of[t]], which may be None."""

    kinds: Sequence[Hashable]  # the different labels
    kind_of: NDArray[np.intp]  # (N,)
    costs: Array  # (N,) by which factor a mistake at a node costs more

    @property
    def known(self) -> NDArray[np.bool_]:
        """An (N,) mask of the nodes with a label."""
        return np.array([kind is not None for kind in self.kinds], dtype=bool)[self.kind_of]

    def numbers(self, numbers: dict[Hashable, int]) -> Labels:
        """Return the (N,) numbers of the labels; missing ones have 0."""
        named = [kind for kind in self.kinds if kind is not None]
        of_kind = np.zeros(len(self.kinds), dtype=np.int32)
        of_kind[[kind is not None for kind in self.kinds]] = label_numbers(named, numbers)
        return of_kind[self.kind_of]

    def prices(self, numbers: dict[Hashable, int], cost: Array) -> Array:
        """Return an (N, K) array of the cost of every label at every node.

        Costs are 0 if the true label is missing, and the costs of the worst mistake if it is not a class.
        """
        none, worst = np.zeros(len(cost)), np.full(len(cost), cost.max())
        rows = [
            none if kind is None else cost[numbers[kind]] if kind in numbers else worst  # a kind that training missed
            for kind in self.kinds
        ]
        return np.asarray(np.array(rows)[self.kind_of] * self.costs[:, None])

    def shown_by(self, found: Any) -> NDArray[np.bool_]:
        """Return an (N,) mask of the nodes that have a label, and the same one in this labelling."""
        kinds, kind_of = different(flat_labels(found))
        same = np.array([[one is not None and one == other for other in kinds] for one in self.kinds], dtype=bool)
        return np.asarray(same[self.kind_of, kind_of])

    def at(self, keep: NDArray[np.bool_]) -> NodeLabels:
        """Return the labels of some of the nodes."""
        return NodeLabels(self.kinds, self.kind_of[keep], self.costs[keep])


def read_labels(y: Any, n_nodes: int, shape: tuple[int, ...] | None = None) -> NodeLabels:
    """Return the labels of a graph, given as labels or Weighted(labels, costs); raise a ValueError if they do not fit.

    shape : the shape of the image if nodes are a grid; labels of other shapes are read row by row.
    """
    labels: Any = y.labels if isinstance(y, Weighted) else y
    if isinstance(labels, np.ma.MaskedArray):  # masked nodes have no label
        shown = np.array(labels.data, dtype=object)
        shown[np.ma.getmaskarray(labels)] = None
        labels = shown
    costs = y.costs if isinstance(y, Weighted) else None
    flat = _flat(labels)
    if flat is None:
        raise ValueError(f"its labels are {labels!r}; expected one label per node")
    grid = shape is not None and len(shape) > 1
    image = hasattr(labels, "__array__") and np.ndim(labels) > 1
    if len(flat) != n_nodes or (image and grid and np.shape(labels) != shape):
        found = f"labels of shape {np.shape(labels)}" if image else f"{len(flat)} labels"
        form = f" in a list, or an array of shape {shape}" if grid else ", one per node"
        raise ValueError(f"it has {n_nodes} nodes but {found}; expected {n_nodes} labels{form}")
    kinds, kind_of = different(flat)
    for k, kind in enumerate(kinds):  # NaN, which elsewhere stands for a missing value, would become a label
        if isinstance(kind, float) and np.isnan(kind):
            t = int(np.flatnonzero(kind_of == k)[0])
            raise ValueError(f"the label of node {t} is NaN; put None where a label is not known")
    return NodeLabels(kinds, kind_of, _checked_costs(costs, n_nodes))


def read_all_labels(graphs: Sequence[Any], Y: Any) -> list[NodeLabels]:
    """Return the labels of all graphs, of which n_nodes and label_shape are read; an error names the graph."""
    labels = []
    for i, (x, y) in enumerate(zip(graphs, Y, strict=True)):
        try:
            labels.append(read_labels(y, x.n_nodes, x.label_shape))
        except ValueError as error:
            raise ValueError(f"graph {i}: {error}") from None
    return labels


def different(flat: Any) -> tuple[list[Hashable], NDArray[np.intp]]:
    """Return the different labels, and the index of the label of every node."""
    if isinstance(flat, np.ndarray) and flat.dtype.kind in "biufUS":  # sorting is faster than a loop over pixels
        kinds, kind_of = np.unique(flat, return_inverse=True)
        return kinds.tolist(), kind_of
    numbers: dict[Hashable, int] = {}
    try:
        kind_of = np.fromiter((numbers.setdefault(label, len(numbers)) for label in flat), np.intp, count=len(flat))
    except TypeError as error:
        raise ValueError(f"a label cannot be used: {error}") from None
    return list(map(plain, numbers)), kind_of


def flat_labels(z: Any) -> Any:
    """Return a labelling without its costs and without the shape of its grid."""
    return _flat(z.labels if isinstance(z, Weighted) else z)


def _flat(labels: Any) -> Any:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        return None
    if hasattr(labels, "__array__"):
        array = np.asarray(labels)
        return array.ravel() if array.ndim else None
    return list(labels)


def _checked_costs(costs: Any, n_nodes: int) -> Array:
    if costs is None:
        return np.ones(n_nodes)
    try:
        factors = np.asarray(costs, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise ValueError(f"its node costs are {costs!r}; expected one number per node") from None
    if len(factors) != n_nodes:
        raise ValueError(f"it has {n_nodes} nodes but {len(factors)} costs; expected one per node")
    if not (np.isfinite(factors).all() and (factors >= 0).all()):
        t = int(np.flatnonzero(~(np.isfinite(factors) & (factors >= 0)))[0])
        raise ValueError(f"the cost of node {t} is {factors[t]}; node costs must be finite and >= 0")
    return factors
