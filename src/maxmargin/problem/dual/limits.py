"""Limits: how much a dual point may remember."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget


class Limits(NamedTuple):
    """The memory that a dual point may use. A limit changes how long training takes, and not what it converges to."""

    planes_per_example: int = 32  # explicit planes that are kept of one example; a full example folds two into one
    cache_mb: float = 1024.0  # megabytes of all explicit planes, or of a structure's own tables
    memory: MemoryBudget = UNLIMITED  # where large arrays are allocated


DEFAULT_LIMITS = Limits()
