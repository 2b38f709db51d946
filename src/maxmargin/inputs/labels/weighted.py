"""Labels whose mistakes cost more at some places than at others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple


class Weighted(NamedTuple):
    """Labels of a sequence or a graph in which single places cost more or less than others when they are wrong."""

    labels: Sequence[Hashable]
    costs: Sequence[float]
