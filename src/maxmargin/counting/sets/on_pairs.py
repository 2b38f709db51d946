"""OnPairs: output sets over items whose features speak of pairs of items."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, ClassVar

from maxmargin.counting.sets.items import Items, ItemsLike
from maxmargin.counting.sets.output_set import OutputSet


class OnPairs(OutputSet):
    """`items` (their number or their names), and a numbering of pairs of them: one coordinate of φ each."""

    least: ClassVar[int] = 2  # items
    items: ItemsLike

    @cached_property
    def _items(self) -> Items:
        return Items(self.items, least=self.least)

    @property
    def _pairs(self) -> Any:
        """Which pairs, in which order: SignedPairs, Arcs or CompleteGraph."""
        raise NotImplementedError

    @property
    def dim(self) -> int:
        return len(self._pairs)

    @property
    def coordinates(self) -> list[tuple[Hashable, Hashable]]:
        """The pair of items of every coordinate of φ."""
        tails, heads = self._pairs.ends
        return list(zip(self._items.named(tails), self._items.named(heads), strict=True))
