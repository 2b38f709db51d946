"""Matching of predicted with true entities: strict, exact, partial, or by type alone.

Predicted entities are taken from left to right. Each is compared with the true entities that no earlier one has been
matched with and of which it covers at least a given share. Among these, one that is right for the kind of match is
taken, the closest one if there are several; if none is right, the first one is taken, and counts as a mistake:

    match      right if                     a mistake is
    strict     bounds and type are equal    incorrect
    exact      bounds are equal             incorrect
    partial    bounds are equal             partially right, counted ½
    type       types are equal              incorrect

A predicted entity that overlaps no such true entity is spurious, and a true entity that is never taken is missed. These
are the definitions of MUC-5 (Chinchor and Sundheim 1993) and SemEval-2013, task 9.1 (Segura-Bedmar et al.), in the form
in which the package nervaluate counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from maxmargin.structures.sequences.entities import Entity

EntityMatch = Literal["strict", "exact", "partial", "type"]


class MatchCounts(NamedTuple):
    """The numbers of entities by what became of them."""

    correct: int  # right predictions
    incorrect: int  # predictions that overlap a true entity, but are wrong
    partial: int  # predictions that overlap a true entity and count half; only if match="partial"
    missed: int  # true entities that no prediction was matched with
    spurious: int  # predictions that overlap no free true entity

    @property
    def true(self) -> int:
        """The number of true entities."""
        return self.correct + self.incorrect + self.partial + self.missed

    @property
    def found(self) -> int:
        """The number of predicted entities."""
        return self.correct + self.incorrect + self.partial + self.spurious


def _same_bounds(a: Entity, b: Entity) -> bool:
    return a[:2] == b[:2]


RIGHT: dict[str, Callable[[Entity, Entity], bool]] = {
    "strict": lambda a, b: a == b,
    "exact": _same_bounds,
    "partial": _same_bounds,
    "type": lambda a, b: a.type == b.type,
}


def match_counts(
    true: Sequence[Entity], found: Sequence[Entity], match: EntityMatch, min_overlap: float
) -> MatchCounts:
    """Return what became of the entities of one document.

    min_overlap : the share of a true entity that a prediction must cover to be matched with it.
    """
    if true == found:
        return MatchCounts(len(true), 0, 0, 0, 0)
    right, free = RIGHT[match], list(true)
    correct = wrong = spurious = 0
    for one in found:
        near = [other for other in free if _covers(one, other, min_overlap)]
        good = [other for other in near if right(one, other)]
        if good:
            correct += 1
            free.remove(min(good, key=lambda other: abs(one.start - other.start) + abs(one.end - other.end)))
        elif near:
            wrong += 1
            free.remove(near[0])
        else:
            spurious += 1
    halves = match == "partial"
    return MatchCounts(correct, 0 if halves else wrong, wrong if halves else 0, len(free), spurious)


def _covers(one: Entity, other: Entity, share: float) -> bool:
    common = min(one.end, other.end) - max(one.start, other.start)
    return common > 0 and common / (other.end - other.start) >= share
