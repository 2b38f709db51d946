"""Limits: the memory limits of a dual point."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget


class Limits(NamedTuple):
    """The memory that a dual point may use. A limit affects the time of training, but not its limit point."""

    planes_per_example: int = 32  # explicit planes of one example; if there are more, two are merged
    cache_mb: float = 1024.0  # megabytes of all explicit planes, or of a structure's own tables
    memory: MemoryBudget = UNLIMITED  # allocates large arrays


DEFAULT_LIMITS = Limits()
