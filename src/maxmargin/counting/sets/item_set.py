"""ItemSet: output sets whose outputs are made of items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

from maxmargin.counting.sets.items import Items
from maxmargin.counting.sets.output_set import OutputSet


class ItemSet(OutputSet):
    """An output set with named or numbered items. By default φ has a coordinate for each of them, which is 0 or 1."""

    indicators = True

    @cached_property
    def _items(self) -> Items:
        raise NotImplementedError

    @property
    def dim(self) -> int:
        return len(self._items)

    @property
    def coordinates(self) -> Sequence[Hashable]:
        """The item of every coordinate of φ."""
        return list(self._items.names)
