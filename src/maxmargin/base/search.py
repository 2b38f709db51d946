"""What a search for the best output promises, and what follows from it."""

from __future__ import annotations

from enum import StrEnum


class Search(StrEnum):
    """Which outputs a decoder finds.

    EXACT: the best of all outputs. UNDERGENERATING (greedy, local search): an output, perhaps not the best one.
    OVERGENERATING (relaxations): the best of a larger set, whose members have Ψ and Δ too.
    """

    EXACT = "exact"
    UNDERGENERATING = "undergenerating"
    OVERGENERATING = "overgenerating"

    @property
    def proves(self) -> bool:
        """Whether nothing is better than what was found, so that it bounds the violation from above."""
        return self is not Search.UNDERGENERATING

    @property
    def estimates(self) -> bool:
        """Whether the objective is only estimated, from below, by what was found."""
        return self is Search.UNDERGENERATING

    @classmethod
    def worst(cls, kinds: set[Search]) -> Search:
        """Of several searches, what can be said of all of them together."""
        return next((kind for kind in (cls.UNDERGENERATING, cls.OVERGENERATING) if kind in kinds), cls.EXACT)
