"""Step, Memory: the report of an algorithm to the loop around it after every piece of work."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple, Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows


class Step(NamedTuple):
    """The state of an algorithm after a piece of work (for most: a pass over the data)."""

    w: Array  # may be the algorithm's working array: the loop copies it, if needed, before the next step
    dual: float = -inf  # a lower bound on the optimum, proved in floating point
    risk: float | None = None  # R(w), if the algorithm's own oracle calls have measured it at exactly this w
    guess: float | None = None  # otherwise an estimate of P(w); the loop measures only when this looks converged
    memory: Any = None  # the memory of the algorithm (see Memory), from which the next run can start
    slacks: Array | None = None  # the slacks of all examples at w, if the risk was computed from them
    hoped: float = -inf  # a running value of the bound; before it is used, the loop calls memory.bound() to prove it


@runtime_checkable
class Memory(Protocol):
    """The cuts that an algorithm has found and remembers. It may also have `bound`: see Step.hoped."""

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """Return the maximum of these cuts at w, a lower bound on R(w) that an undergenerating search may miss.

        `gains`: for latent tasks, the increase of ⟨w, Ψ⟩ from the truths of the cuts to better completions.
        """

    def slacks(self, w: Array) -> Array | None:
        """Return the highest cut of every example at w, or 0; None if cuts do not belong to single examples."""


@runtime_checkable
class ShiftingMemory(Memory, Protocol):
    """Cuts that can be adapted to a change of the truths, as latent training needs."""

    def shift(self, rows: AtomRows) -> None:
        """Adapt the cuts to other truths, whose Ψ differ from the current ones by these rows, one per example."""


def remembered_risk(memory: Any, w: Array) -> float:
    """Return the lower bound on R(w) that an algorithm's cuts give; 0 if it remembers none."""
    return memory.risk(w) if isinstance(memory, Memory) else 0.0
