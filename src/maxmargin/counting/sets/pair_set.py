"""Output sets with one coordinate of φ for each of certain pairs: edges, arcs, or precedence of items."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, ClassVar

from maxmargin.base.arrays import Index
from maxmargin.counting.sets.complete_graph import CompleteGraph
from maxmargin.counting.sets.item_set import ItemSet
from maxmargin.counting.sets.items import Items, ItemsLike


class PairSet(ItemSet):
    """An output set in which certain pairs of items have a coordinate."""

    @property
    def _ends(self) -> tuple[Index, Index]:
        """The numbers of the two items of every coordinate."""
        raise NotImplementedError

    @property
    def dim(self) -> int:
        return len(self._ends[0])

    @property
    def coordinates(self) -> list[tuple[Hashable, Hashable]]:
        """The two items of every coordinate of φ."""
        tails, heads = self._ends
        return list(zip(self._items.named(tails), self._items.named(heads), strict=True))


class ItemPairSet(PairSet):
    """A PairSet with `items` (their number or their names) and a numbering of their pairs."""

    least: ClassVar[int] = 2  # the fewest items
    items: ItemsLike

    @cached_property
    def _items(self) -> Items:
        return Items(self.items, least=self.least)

    @property
    def _pairs(self) -> Any:
        """The numbering of pairs: SignedPairs, CompleteDigraph or CompleteGraph."""
        raise NotImplementedError

    @property
    def _ends(self) -> tuple[Index, Index]:
        ends: tuple[Index, Index] = self._pairs.ends
        return ends

    @property
    def dim(self) -> int:
        return len(self._pairs)


class VertexPairSet(PairSet):
    """A PairSet with `vertices` (their number or their names) and all edges between them."""

    vertices: ItemsLike

    @cached_property
    def _items(self) -> Items:
        return Items(self.vertices, least=2, called="vertex")

    @cached_property
    def _graph(self) -> CompleteGraph:
        return CompleteGraph(len(self._items))

    @property
    def _ends(self) -> tuple[Index, Index]:
        return self._graph.ends
