"""OneLabel: output sets in which an output is one of several labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import log

import numpy as np

from maxmargin.counting.sets.item_set import ItemSet


class OneLabel(ItemSet):
    """An output set whose items are labels and whose outputs are single labels."""

    def log_size(self) -> float:
        return log(len(self._items))

    def outputs(self) -> Iterator[Hashable]:
        return iter(self._items.names)

    def sample(self, rng: np.random.Generator) -> Hashable:
        return self._items.names[int(rng.integers(len(self._items)))]
