"""SummingShards: shards whose units are numbered from 0."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from maxmargin.base.arrays import Index
from maxmargin.problem.contract.batch import Batch


@runtime_checkable
class SummingShards(Protocol):
    """A batch that makes shards for executors that sum planes at the workers, so that no plane is returned.

    Order of calls: `summing_shard` once for every worker, before the first pass.
    """

    def summing_shard(self, index: Index) -> Batch:
        """Return the examples at these positions with atoms of their own, numbered from 0."""
