"""What decisions cost beyond the best ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from maxmargin.arrays import Array
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
    return decision_regret(true, _answers(asked, predicted), optimiser, sense)


def decision_regret(true: Any, decisions: Any, optimiser: Any, sense: str | None = None) -> float:
    """The same for decisions, however they were made: what they cost above the best ones, as a share of these."""
    asked = Optimisers(optimiser, sense)
    _check_some(decisions, true, "decisions")
    costs = [np.asarray(c, dtype=float) for c in true]
    pairs = zip(costs, decisions, _answers(asked, true), strict=True)
    lost = total = 0.0
    for i, (c, z, best) in enumerate(pairs):
        if np.shape(z) != c.shape:
            raise ValueError(f"the decision of example {i} has shape {np.shape(z)}; its costs have {c.shape}")
        lost += asked.sign * float(c @ (np.asarray(z, dtype=float) - best))
        total += abs(float(c @ best))
    if total == 0:
        return 0.0 if lost == 0 else inf
    return lost / total


def _check_some(given: Any, true: Any, what: str) -> None:
    """At least one example, and the same ones."""
    if len(true) != len(given):
        raise ValueError(f"there are true costs of {len(true)} examples but {what} of {len(given)}")
    if len(true) == 0:
        raise ValueError("no examples given: there is nothing to score")


def _answers(asked: Optimisers, costs: Sequence[Any]) -> list[Array]:
    sizes = part_counts(costs)
    flat = np.concatenate([np.asarray(c, dtype=float) for c in costs])
    if not np.isfinite(flat).all():
        i = int(np.searchsorted(np.cumsum(sizes), int(np.argmin(np.isfinite(flat))), side="right"))
        raise ValueError(f"the costs of example {i} are not finite")
    return np.split(asked.answers(flat, sizes, range(len(sizes))), np.cumsum(sizes)[:-1])
