"""Conversion of inputs of any kind to the rows of one matrix and back, so that a map of rows works with any estimator.

A matrix is its own rows. A list of sequences (arrays, sparse matrices, lists of tokens; see inputs/tokens.py) has a row
per position, a list of graphs one per node. Replacing the rows gives an input of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.tokens.tokens import SequencePacker, Sequences

Rebuild = Callable[[Array], Any]


def kind_of(X: Any) -> str:
    """Return "matrix", "sequences" or "graphs", by the form of the first member; anything else is called a matrix."""
    if isinstance(X, Sequences):
        return "sequences"
    if hasattr(X, "shape"):
        if len(X.shape) == 3:
            return "sequences"
        if len(X.shape) != 1 or getattr(getattr(X, "dtype", None), "kind", "") != "O":
            return "matrix"
    elif not isinstance(X, list | tuple):
        return "matrix"
    first = next((x for x in X if not isinstance(x, list | tuple) or x), None)
    if _node_features(first) is not None:
        return "graphs"
    if len(getattr(first, "shape", ())) == 2:
        return "sequences"
    tokens = isinstance(first, list | tuple) and isinstance(first[0], Mapping | list | tuple)
    return "sequences" if tokens else "matrix"


class SequenceRows:
    """The positions of sequences; `fit` numbers the features of tokens, and unknown ones are ignored."""

    saved: ClassVar[Fields] = {"packer": Part(SequencePacker)}

    def fit(self, X: Any) -> SequenceRows:
        self.packer = SequencePacker().fit(X)
        return self

    @property
    def n_features(self) -> int:
        return self.packer.n_features

    def read(self, X: Any) -> tuple[Any, Rebuild]:
        """Return the rows, and a function that makes sequences from other rows."""
        packed = self.packer.pack(X)
        if isinstance(X, Sequences):
            return packed.matrix, lambda rows: Sequences(rows, packed.offsets)
        return packed.matrix, lambda rows: _cut(rows, packed)


class GraphRows:
    """The nodes of graphs: Nodes, whose `features` are read, or tuples (features, edges, …)."""

    saved: ClassVar[Fields] = {"packer": Part(SequencePacker)}

    def fit(self, X: Any) -> GraphRows:
        self.packer = SequencePacker().fit([_checked_features(x, i) for i, x in enumerate(X)])
        return self

    @property
    def n_features(self) -> int:
        return self.packer.n_features

    def read(self, X: Any) -> tuple[Any, Rebuild]:
        """Return the rows, and a function that makes graphs with the same edges from other rows."""
        matrices = [_checked_features(x, i) for i, x in enumerate(X)]
        for i, matrix in enumerate(matrices):
            if matrix.shape[1] != self.n_features:
                raise ValueError(
                    f"graph {i} has {matrix.shape[1]} features per node; expected {self.n_features} as in training"
                )
        try:
            packed = self.packer.pack(matrices)
        except ValueError as error:
            raise ValueError(
                f"the node features of the graphs (each graph is read as a sequence of nodes): {error}"
            ) from None
        return packed.matrix, lambda rows: [
            _with_features(x, own) for x, own in zip(X, _cut(rows, packed), strict=True)
        ]


READERS: dict[str, type[SequenceRows] | type[GraphRows]] = {"sequences": SequenceRows, "graphs": GraphRows}


def _cut(rows: Array, packed: Sequences) -> list[Array]:
    return np.split(rows, packed.offsets[1:-1]) if len(packed) else []


def _node_features(x: Any) -> Any:
    """Return the (nodes, features) matrix of a graph, or None if x is not a graph."""
    features = x[0] if isinstance(x, tuple) and len(x) in (2, 3) else getattr(x, "features", None)
    return features if len(getattr(features, "shape", ())) == 2 else None


def _checked_features(x: Any, i: int) -> Any:
    features = _node_features(x)
    if features is None:
        raise ValueError(
            f"graph {i} is a {type(x).__name__}; expected Nodes or a tuple (features, edges, edge_features) with a "
            "(nodes, features) matrix"
        )
    return features


def _with_features(x: Any, features: Array) -> Any:
    if isinstance(x, tuple):
        return (features, *x[1:])
    graph = copy(x)
    graph.features = features
    return graph
