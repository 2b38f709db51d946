"""What decisions cost beyond the best ones."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.decisions.answers import Optimisers
from maxmargin.structures.decisions.observations import part_counts


def regret(optimiser: Any, predicted: Any, true: Any, sense: str | None = None) -> float:
    """What it costs to decide by predicted costs, where the true ones are others: 0 is best.

        Σᵢ |cᵢ·z(ĉᵢ) - cᵢ·z(cᵢ)| / Σᵢ |cᵢ·z(cᵢ)|                                                                 (1)

    where z(c) is the optimiser's decision at the costs c. This is the normalised regret of PyEPO.

    optimiser : a function of costs that returns the best decision, as for CostLearner; or a list, one per example.
    predicted, true : (n, P) costs, or lists of arrays.
    sense : "min" or "max"; None takes what the optimiser says.
    """
    asked = Optimisers(optimiser, sense)
    _check_some(predicted, true, "predicted costs")
    sizes = part_counts(predicted)
    return decision_regret(true, np.split(_answers(asked, predicted), np.cumsum(sizes)[:-1]), optimiser, sense)


def decision_regret(true: Any, decisions: Any, optimiser: Any, sense: str | None = None) -> float:
    """The same for decisions, however they were made: what they cost above the best ones, as a share of these."""
    asked = Optimisers(optimiser, sense)
    _check_some(decisions, true, "decisions")
    best = _answers(asked, true)
    sizes, found = part_counts(true), part_counts(decisions)
    if not np.array_equal(sizes, found):
        i = int(np.argmax(sizes != found))
        raise ValueError(f"the decision of example {i} has {found[i]} numbers; its costs have {sizes[i]}")
    costs, owner = _flat(true), np.repeat(np.arange(len(sizes)), sizes)
    lost = asked.sign * float(costs @ (_flat(decisions) - best))
    total = float(np.abs(np.bincount(owner, costs * best)).sum())
    if total == 0:
        return 0.0 if lost == 0 else inf
    return lost / total


def _check_some(given: Any, true: Any, what: str) -> None:
    """At least one example, and the same ones."""
    if len(true) != len(given):
        raise ValueError(f"there are true costs of {len(true)} examples but {what} of {len(given)}")
    if len(true) == 0:
        raise ValueError("no examples given: there is nothing to score")


def _answers(asked: Optimisers, costs: Any) -> Array:
    sizes, flat = part_counts(costs), _flat(costs)
    if not np.isfinite(flat).all():
        i = int(np.searchsorted(np.cumsum(sizes), int(np.argmin(np.isfinite(flat))), side="right"))
        raise ValueError(f"the costs of example {i} are not finite")
    return asked.answers(flat, sizes, range(len(sizes)))


def best_decisions(asked: Optimisers, costs: Any) -> list[Array]:
    """The best decision of every example at these costs."""
    return np.split(_answers(asked, costs), np.cumsum(part_counts(costs))[:-1])


def _flat(values: Any) -> Array:
    """One example after the other."""
    return np.concatenate([np.asarray(each, dtype=float) for each in values])
