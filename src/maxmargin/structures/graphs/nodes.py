"""Nodes: the input of graph labelling, nodes and edges with features; pixels of an image, superpixels, any graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.inputs.matrices import bad_number, check_rows_of_pairs, number_matrix
from maxmargin.structures.graphs.inference.model import Edges, checked_edges

# the neighbours of a pixel as (rows down, columns to the right); a grid of four neighbours uses the first two
STEPS = {"right": (0, 1), "down": (1, 0), "down right": (1, 1), "down left": (1, -1)}


class Nodes:
    """A graph whose nodes are to be labelled.

    An edge joins two nodes and is listed once. The order of its nodes matters if weights depend on the direction (see
    tasks.Graph); other differences between edges are expressed by their features.

    Parameters
    ----------
    features : array or sparse matrix of shape (N, F)
        The features of nodes, one row per node.
    edges : array of shape (E, 2)
        The node numbers, counted from 0, of the ends of every edge.
    edge_features : array of shape (E, G) or None
        The features of edges, one row per edge; None: one feature, 1.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tasks import Nodes
    >>> Nodes(np.eye(3), [(0, 1), (1, 2)]).n_nodes
    3
    >>> len(Nodes.grid(np.zeros((2, 2))).edges)
    4

    See Also
    --------
    maxmargin.GraphLabeler : the estimator that takes them.
    """

    features: Any  # (N, F) float64, dense or CSR
    edges: Edges  # (E, 2) in the order and direction that they were given
    edge_features: Array  # (E, G)
    label_shape: tuple[int, ...]  # the shape of a labelling: (N,), or (height, width) for a grid
    edge_names: tuple[str, ...] | None = None  # names of the edge features of a grid; other graphs have numbers only

    def __init__(self, features: Any, edges: Any, edge_features: Any = None):
        self.features = _checked_features(features)
        self.edges = _checked_edges(edges, self.n_nodes)
        self.edge_features = _checked_edge_features(edge_features, self.edges)
        self.label_shape = (self.n_nodes,)

    @classmethod
    def grid(
        cls, image: Any, neighbours: int = 4, edge_features: str | Callable[[Array, Array], Any] = "directions"
    ) -> Self:
        """Make a graph with one node per pixel, row by row, with edges to the right and down, or also diagonal ones.

        image : (H, W) or (H, W, F) array of the features of pixels.
        neighbours : 4 or 8.
        edge_features : "directions": the direction of the edge, one column each (right, down, down right, down left),
            so that every direction has weights of its own. "constant": 1 for all edges. "differences": the directions,
            and the absolute differences of the features of the two pixels. A function (first, second) -> columns: the
            directions, and what it computes from the features (E, F) of the first and the second pixel of all edges.
        """
        pixels = _checked_image(image)
        if neighbours not in (4, 8):
            raise ValueError(f"neighbours is {neighbours!r}; expected 4 or 8")
        names = list(STEPS)[: 2 if neighbours == 4 else 4]
        numbers = np.arange(pixels.shape[0] * pixels.shape[1], dtype=np.int32).reshape(pixels.shape[:2])
        by_direction = [_steps(numbers, *STEPS[name]) for name in names]
        edges = np.concatenate(by_direction)
        features = pixels.reshape(numbers.size, -1)
        graph = cls.__new__(cls)  # its edges need no check
        graph.features, graph.edges, graph.label_shape = _checked_features(features), edges, numbers.shape
        way = np.repeat(np.arange(len(by_direction)), list(map(len, by_direction)))
        columns = [np.eye(len(by_direction))[way]]
        if callable(edge_features):
            columns.append(_made_columns(edge_features, graph.features[edges[:, 0]], graph.features[edges[:, 1]]))
            names += [f"function, column {c}" for c in range(columns[1].shape[1])]
        elif edge_features == "differences":
            columns.append(np.abs(graph.features[edges[:, 0]] - graph.features[edges[:, 1]]))
            names += [f"difference of feature {c}" for c in range(columns[1].shape[1])]
        elif edge_features == "constant":
            columns, names = [np.ones((len(edges), 1))], ["constant"]
        elif edge_features != "directions":
            raise ValueError(
                f"edge_features is {edge_features!r}; expected 'directions', 'constant', 'differences' or a function"
            )
        graph.edge_features, graph.edge_names = _checked_edge_features(np.hstack(columns), edges), tuple(names)
        return graph

    def subgraph(self, keep: Any) -> Self:
        """Return a graph of some of the nodes, in the given order, and the edges between them.

        keep : node numbers, or one Boolean value per node (an (H, W) mask for a grid).
        """
        chosen = _chosen(keep, self.n_nodes)
        number = np.full(self.n_nodes, -1, dtype=np.int32)
        number[chosen] = np.arange(len(chosen), dtype=np.int32)
        edges = number[self.edges]
        inside = (edges >= 0).all(axis=1)
        graph = type(self).__new__(type(self))
        graph.features, graph.label_shape = self.features[chosen], (len(chosen),)
        graph.edges = np.ascontiguousarray(edges[inside])
        graph.edge_features = np.ascontiguousarray(self.edge_features[inside])
        graph.edge_names = self.edge_names
        return graph

    def with_features(self, features: Any) -> Self:
        """Return the same graph with other features of its nodes."""
        graph = copy(self)
        graph.features = _checked_features(features)
        if graph.n_nodes != self.n_nodes:
            raise ValueError(f"features have {graph.n_nodes} rows; expected {self.n_nodes}, one per node")
        return graph

    @property
    def n_nodes(self) -> int:
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """The number of features per node."""
        return int(self.features.shape[1])

    @property
    def n_edge_features(self) -> int | None:
        """The number of features per edge, or None if there are no edges."""
        return int(self.edge_features.shape[1]) if len(self.edges) else None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return self.n_nodes

    def __repr__(self) -> str:
        form = (
            f"a grid of {self.label_shape[0]} × {self.label_shape[1]} nodes"
            if len(self.label_shape) == 2
            else f"{self.n_nodes} nodes"
        )
        return (
            f"Nodes({form} with {self.n_features} features, "
            f"{len(self.edges)} edges with {self.edge_features.shape[1]} features)"
        )


def read_all(X: Sequence[Any]) -> list[Nodes]:
    """Return graphs, each given as Nodes or as a tuple (features, edges) or (features, edges, edge_features)."""
    if isinstance(X, Nodes) or not isinstance(X, Iterable):
        raise ValueError(f"X is of type {type(X).__name__}; expected a list of graphs: Nodes, or tuples of arrays")
    graphs = []
    for i, x in enumerate(X):
        try:
            graphs.append(_read(x))
        except ValueError as error:
            raise ValueError(f"graph {i}: {error}") from None
    return graphs


def stacked_features(graphs: Sequence[Nodes]) -> Any:
    """Return the features of all nodes, one graph after another."""
    if any(sparse.issparse(x.features) for x in graphs):
        return sparse.vstack([sparse.csr_array(x.features) for x in graphs], format="csr")
    return np.concatenate([x.features for x in graphs])


def _read(x: Any) -> Nodes:
    if isinstance(x, Nodes):
        return x
    if isinstance(x, tuple | list) and len(x) in (2, 3):
        return Nodes(*x)
    if isinstance(x, np.ndarray):
        raise ValueError(
            f"expected Nodes or (features, edges, edge_features), got an array of shape {x.shape}; for an image use "
            "Nodes.grid(image)"
        )
    what = f"{type(x).__name__} of length {len(x)}" if isinstance(x, tuple | list) else type(x).__name__
    raise ValueError(f"expected Nodes or a tuple (features, edges) or (features, edges, edge_features), got a {what}")


def _checked_features(features: Any) -> Any:
    matrix = number_matrix(features, "features must be an (N, F) array of numbers, one row per node")
    if matrix.ndim != 2 or np.ndim(features) != 2:
        raise ValueError(f"features have shape {np.shape(features)}; expected (N, F), one row per node")
    if matrix.shape[0] == 0:
        raise ValueError("there are no nodes; leave out graphs without nodes")
    place = bad_number(matrix)
    if place is not None:
        raise ValueError(f"feature {place[1]} of node {place[0]} is {place[2]}; expected a finite number")
    return matrix


def _checked_edges(edges: Any, n_nodes: int) -> Edges:
    numbers = checked_edges(n_nodes, edges)
    ordered = np.sort(numbers.astype(np.int64), axis=1)
    codes = ordered[:, 0] * n_nodes + ordered[:, 1]
    order = np.argsort(codes, kind="stable")
    for k in np.flatnonzero(np.diff(codes[order]) == 0)[:1]:
        one, other = (tuple(numbers[e].tolist()) for e in order[k : k + 2])
        raise ValueError(
            f"edges {order[k]} and {order[k + 1]} are {one} and {other}; expected one edge between two nodes. Several "
            "relations are several columns of edge_features"
        )
    return numbers


def _checked_edge_features(features: Any, edges: Edges) -> Array:
    if features is None:
        return np.ones((len(edges), 1))
    if sparse.issparse(features):
        raise ValueError("edge_features are a sparse matrix; expected a dense (E, G) array, one row per edge")
    matrix: Array = number_matrix(features, "edge_features must be an (E, G) array of numbers, one row per edge")
    if matrix.size == 0 and not len(edges):
        return matrix.reshape(0, matrix.shape[-1] if np.ndim(features) == 2 else 1)
    if np.ndim(features) != 2:
        raise ValueError(f"edge_features have shape {np.shape(features)}; expected ({len(edges)}, G), one row per edge")
    check_rows_of_pairs(matrix, edges, "edge_features", "edge")
    return matrix


def _checked_image(image: Any) -> Array:
    refuse_complex("the image", image)
    try:
        pixels = np.asarray(image, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("an image must be an (H, W) or (H, W, F) array of numbers") from None
    if pixels.ndim not in (2, 3):
        raise ValueError(f"the image has shape {pixels.shape}; expected (H, W) or (H, W, F)")
    if 0 in pixels.shape[:2]:
        raise ValueError(f"the image has shape {pixels.shape}, so it has no pixels")
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def _steps(numbers: Edges, down: int, right: int) -> Edges:
    """Return the edges from every pixel to the one `down` rows and `right` columns further, if there is one."""
    height, width = numbers.shape
    first = numbers[: height - down, max(0, -right) : width - max(0, right)]
    second = numbers[down:, max(0, right) : width - max(0, -right)]
    return np.column_stack([first.ravel(), second.ravel()])


def _made_columns(function: Callable[[Array, Array], Any], first: Array, second: Array) -> Array:
    columns = np.asarray(function(first, second), dtype=np.float64)
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.ndim != 2 or len(columns) != len(first):
        raise ValueError(
            f"the function for edge_features returned shape {columns.shape}; expected ({len(first)},) or "
            f"({len(first)}, G), one row per edge"
        )
    return columns


def _chosen(keep: Any, n_nodes: int) -> NDArray[np.intp]:
    chosen = np.asarray(keep)
    if chosen.dtype == bool:
        if chosen.size != n_nodes:
            raise ValueError(f"keep has {chosen.size} truth values; expected {n_nodes}, one per node")
        chosen = np.flatnonzero(chosen)
    elif chosen.size and (chosen.dtype.kind not in "iu" or chosen.ndim != 1):
        raise ValueError("keep must be a list of node numbers, or one truth value per node")
    if len(chosen) == 0:
        raise ValueError("keep names no node; expected at least one")
    if chosen.min() < 0 or chosen.max() >= n_nodes:
        wrong = chosen[(chosen < 0) | (chosen >= n_nodes)][0]
        raise ValueError(f"keep names node {wrong}; expected numbers from 0 to {n_nodes - 1}")
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError("keep names a node twice")
    return chosen.astype(np.intp)
