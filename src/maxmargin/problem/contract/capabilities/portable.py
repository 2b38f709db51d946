"""Portable: shards that contain only the data of their own examples."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from maxmargin.base.arrays import Index
from maxmargin.problem.contract.batch import Batch


@runtime_checkable
class Portable(Protocol):
    """A batch that can be split into smaller ones before they are sent to other processes.

    Without this capability a shard is the result of `Batch.take`, with the arrays of all examples.

    Order of calls: `shard` once for every worker, before the first pass.
    """

    def shard(self, index: Index) -> Batch:
        """Return the examples at these positions without the data of the others; planes have the same atoms."""
