"""Arborescences: trees of arcs away from a root, such as the dependencies between the words of a sentence."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.decoders.arborescence import best_heads
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.inner_arcs import InnerArcs
from maxmargin.counting.sets.items import Items, ItemsLike, collection, is_pair
from maxmargin.counting.sets.matrix_tree import TreeLaw, unreachable
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.pair_set import PairSet
from maxmargin.counting.sets.scores import finite_scores

Arc = tuple[Hashable, Hashable]


class Arborescences(PairSet):
    """The set of all trees of arcs away from the first node, the root, to all others; φ has one coordinate per arc.

    Moments follow from the matrix-tree theorem for digraphs (see matrix_tree.py). In the complete digraph of N nodes
    there are N^(N-2) trees; an arc from the root is in a tree with probability 2/N, any other arc with 1/N, and S has
    the eigenvalues 2/N, (N+1)/N², (N-1)/N² and 0 (see inner_arcs.py).

    An output is the tuple of the heads h of all nodes except the root, in the order of the nodes: (0, 1, 1) has the
    arcs 0 -> 1, 1 -> 2, 1 -> 3. Decoding is exact (Chu, Liu, Edmonds), samples are uniform.

    Parameters
    ----------
    nodes : int or iterable
        The number of nodes, or their names; the first is the root.
    arcs : sequence of pairs or None
        Pairs (h, m), in the order of the coordinates; None for all arcs, in the order (0, 1), (0, 2) …, (1, 2),
        (1, 3) ….

    Examples
    --------
    >>> from maxmargin.counting import Arborescences
    >>> Arborescences(3, [(0, 1), (0, 2), (1, 2), (2, 1)]).decode([1.0, 2.0, 0.0, 3.0])
    DecodedOutput(y=(2, 0), value=5.0, exact=True)

    See Also
    --------
    SpanningTrees : trees of undirected edges.
    """

    def __init__(self, nodes: ItemsLike, arcs: Sequence[Arc] | None = None):
        self.nodes = nodes
        self.arcs = arcs
        _ = self._numbers  # raises an error now if the arcs are invalid

    def log_size(self) -> float:
        return self._law.log_total

    def mean(self) -> Array:
        return self._law.mean()

    def cov_apply(self, F: Array) -> Array:
        return self._law.cov_apply(F)

    def cov_spectrum(self) -> list[Eigenspace] | None:
        if self.arcs is not None:
            return None
        inner = self._numbers[1:, 1:]
        return InnerArcs(len(inner), [], [self._numbers[0, 1:]], inner[inner >= 0]).spectrum(self.cov_apply)

    def features(self, y: Any) -> Array:
        nodes, numbers = self._items, self._numbers
        heads = collection(y, "arborescence", "head")
        if isinstance(y, set | frozenset):
            raise ValueError(f"{y!r} has no order; expected a list or tuple of heads, one per node except the root")
        if len(heads) != len(nodes) - 1:
            raise ValueError(
                f"{len(heads)} heads were found; expected {len(nodes) - 1}, "
                f"one for every node except the root {nodes.names[0]!r}"
            )
        above = np.array([nodes.number(head) for head in heads], dtype=np.intp)
        places = numbers[above, np.arange(1, len(nodes))]
        for m in np.flatnonzero(places < 0).tolist():
            raise ValueError(
                f"there is no arc from {nodes.names[above[m]]!r} to {nodes.names[m + 1]!r}; "
                "expected a head from which an arc leads to the node"
            )
        cut_off = unreachable(len(nodes), above, np.arange(1, len(nodes)))
        if cut_off:
            raise ValueError(
                f"no arcs lead from the root {nodes.names[0]!r} to {nodes.names[cut_off[0]]!r}: "
                "its heads form a cycle; expected a tree"
            )
        return indicator(places, self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        scores = np.full((len(self._items), len(self._items)), -np.inf)
        scores[self._ends] = f
        heads = best_heads(scores)
        return DecodedOutput(self._items.named(heads), float(scores[heads, np.arange(1, len(scores))].sum()), True)

    def outputs(self) -> Iterator[tuple[Hashable, ...]]:
        n, numbers = len(self._items), self._numbers

        def grow(heads: list[int]) -> Iterator[list[int]]:
            m = len(heads) + 1
            if m == n:
                yield heads
                return
            for h in np.flatnonzero(numbers[:, m] >= 0).tolist():
                top = h
                while 0 < top < m:
                    top = heads[top - 1]
                if top != m:  # otherwise m would close a cycle
                    yield from grow([*heads, h])

        return map(self._items.named, grow([]))

    def sample(self, rng: np.random.Generator) -> tuple[Hashable, ...]:
        return self._items.named(self._ends[0][self._law.sample(rng)])

    # --- the digraph

    @cached_property
    def _items(self) -> Items:
        return Items(self.nodes, least=2, called="node")

    @cached_property
    def _ends(self) -> tuple[Index, Index]:
        n = len(self._items)
        if self.arcs is None:
            possible = ~np.eye(n, dtype=bool)
            possible[:, 0] = False
            tails, heads = np.nonzero(possible)
            return tails, heads
        found: dict[tuple[int, int], None] = {}
        for arc in self.arcs:
            if not is_pair(arc):
                raise ValueError(f"{arc!r} is not an arc; expected a pair of nodes (head, modifier)")
            h, m = (self._items.number(node) for node in arc)
            if h == m:
                raise ValueError(f"the arc {arc!r} leads from a node to itself; expected two different nodes")
            if m == 0:
                raise ValueError(f"the arc {arc!r} leads to the root, which has no head; expected no such arc")
            if (h, m) in found:
                raise ValueError(f"the arc {arc!r} is given twice; expected every arc once")
            found[h, m] = None
        tails, heads = np.array(list(found), dtype=np.intp).reshape(-1, 2).T.copy()
        cut_off = unreachable(n, tails, heads)
        if cut_off:
            names = self._items.names
            raise ValueError(f"there is no tree: no arcs lead from the root {names[0]!r} to {names[cut_off[0]]!r}")
        return tails, heads

    @cached_property
    def _numbers(self) -> Index:
        """An (n, n) array with the coordinate of every arc, -1 if there is none."""
        numbers = np.full((len(self._items), len(self._items)), -1, dtype=np.intp)
        numbers[self._ends] = np.arange(self.dim)
        return numbers

    @cached_property
    def _law(self) -> TreeLaw:
        return TreeLaw(len(self._items), *self._ends)
