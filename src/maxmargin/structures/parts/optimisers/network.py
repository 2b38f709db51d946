"""Network: a graph with numbered nodes and arcs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from maxmargin.base.arrays import Index


class Network:
    """Graph with nodes 0, 1, …, their names, and the two ends of every arc; arc p is part p.

    arcs : pairs (u, v) of names, or an array with two columns. Two arcs may have the same ends.
    nodes : the names of all nodes; by default those of the arcs, in order of appearance.
    """

    def __init__(self, arcs: Any, nodes: Iterable[Hashable] | None = None):
        numbers: dict[Hashable, int] = {} if nodes is None else {name: i for i, name in enumerate(nodes)}
        given = len(numbers)
        ends = []
        for p, arc in enumerate(arcs.tolist() if isinstance(arcs, np.ndarray) else arcs):
            if not isinstance(arc, tuple | list) or len(arc) != 2:
                raise ValueError(f"arc {p} is {arc!r}; expected a pair of nodes (u, v)")
            try:
                ends.append([numbers.setdefault(node, len(numbers)) for node in arc])
            except TypeError as error:
                raise ValueError(f"a node of arc {p}, {arc!r}, cannot be used: {error}") from None
            if nodes is not None and len(numbers) > given:
                raise ValueError(f"arc {p} is {arc!r}, but nodes are numbered from 0 to {given - 1}")
        if not ends:
            raise ValueError("there are no arcs; expected at least one")
        both = np.array(ends, dtype=np.intp)
        self.numbers = numbers
        self.names = list(numbers)
        self.tails: Index = np.ascontiguousarray(both[:, 0])
        self.heads: Index = np.ascontiguousarray(both[:, 1])

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.names)

    @property
    def n_arcs(self) -> int:
        """The number of arcs."""
        return len(self.tails)

    def number(self, node: Any, role: str) -> int:
        """Return the number of a node; an error calls it by its role."""
        try:
            return self.numbers[node]
        except (KeyError, TypeError):
            raise ValueError(f"{role} is {node!r}, which is not an end of any arc; expected a node") from None

    def arc_name(self, p: int) -> str:
        """Return a name of arc p for messages."""
        return f"arc {p} ({self.names[self.tails[p]]!r} -> {self.names[self.heads[p]]!r})"
