"""Search: what a decoder guarantees about the output that it finds."""

from __future__ import annotations

from enum import StrEnum


class Search(StrEnum):
    """The guarantee of a decoder.

    EXACT: it finds the best output. UNDERGENERATING (greedy or local search): it finds an output, perhaps not the best.
    OVERGENERATING (relaxations): it finds the best member of a larger set, whose members have Ψ and Δ, too.
    """

    EXACT = "exact"
    UNDERGENERATING = "undergenerating"
    OVERGENERATING = "overgenerating"

    @property
    def proves(self) -> bool:
        """True if no output is better than the one found, so that it bounds the violation from above."""
        return self is not Search.UNDERGENERATING

    @property
    def estimates(self) -> bool:
        """True if the output found only bounds the objective from below."""
        return self is Search.UNDERGENERATING

    @classmethod
    def worst(cls, kinds: set[Search]) -> Search:
        """Return the guarantee that holds for several searches together."""
        return next((kind for kind in (cls.UNDERGENERATING, cls.OVERGENERATING) if kind in kinds), cls.EXACT)
