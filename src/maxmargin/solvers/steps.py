"""Step, Memory: what an algorithm says to the loop around it after every piece of work."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple, Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows


class Step(NamedTuple):
    """The state of an algorithm after a piece of work (for most: a pass over the data)."""

    w: Array  # may be the algorithm's working array: the loop copies what it keeps before it asks for the next step
    dual: float = -inf  # a lower bound on the optimum, proved in floating point
    risk: float | None = None  # R(w), where the algorithm's own oracle calls have measured it at exactly this w
    guess: float | None = None  # otherwise an estimate of P(w); the loop measures only when this looks converged
    memory: Any = None  # what the algorithm remembers (see Memory): the next run can start from it
    slacks: Array | None = None  # of every example at w, where the risk was measured by them
    hoped: float = -inf  # a running value of the bound; before it counts, the loop asks memory.bound() to prove it


@runtime_checkable
class Memory(Protocol):
    """The cuts that an algorithm has found and remembers. It may offer `bound`, too: see Step.hoped."""

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """Return R(w) as far as these cuts know, which an undergenerating search at w may miss.

        `gains`: by how much other truths than those of the cuts have a higher ⟨w, Ψ⟩ (latent tasks).
        """

    def slacks(self, w: Array) -> Array | None:
        """Return the highest cut of every example at w, or 0; None where cuts are not of single examples."""


@runtime_checkable
class ShiftingMemory(Memory, Protocol):
    """Cuts that can follow a change of the truths, as training with hidden parts needs."""

    def shift(self, rows: AtomRows) -> None:
        """Make the cuts those of the problem whose truths' Ψ have changed by these rows, one per example."""


def remembered_risk(memory: Any, w: Array) -> float:
    """Return R(w) as far as the cuts know that an algorithm remembers; 0 where it remembers none."""
    return memory.risk(w) if isinstance(memory, Memory) else 0.0
