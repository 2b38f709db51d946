"""NarrowedSearch: a cheaper search over the outputs that matter near a point."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch


@runtime_checkable
class NarrowedSearch(Protocol):
    """A batch that can leave out outputs that are far from the most violated ones.

    Order of calls: `narrowed` at a point w; then `planes` of its result, at points near w.
    """

    def narrowed(self, w: Array) -> Batch | None:
        """Return the same examples with fewer outputs: the truth, and those that come close to the maximum at w.

        None means that nothing can be saved. A plane found among these is a plane of the whole problem, though perhaps
        not the highest.
        """
