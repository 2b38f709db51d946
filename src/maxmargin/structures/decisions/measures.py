"""Measures of decisions: the regret, which is their cost minus the cost of the best decisions."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.decisions.answers import Optimisers
from maxmargin.structures.decisions.observations import part_counts


def regret(optimiser: Any, predicted: Any, true: Any, sense: Literal["min", "max"] | None = None) -> float:
    """Compute the normalised regret of predict-then-optimise: the relative excess cost of deciding by predicted costs.

        Σᵢ |cᵢ·z(ĉᵢ) - cᵢ·z(cᵢ)| / Σᵢ |cᵢ·z(cᵢ)|                                                                 (1)

    where z(c) is the optimiser's decision at the costs c. This is the normalised regret of PyEPO.

    Parameters
    ----------
    optimiser : callable or list of callables
        A function of costs that returns the best decision, as for CostLearner; or a list, one per example.
    predicted, true : array of shape (n, P), or list of arrays
        The predicted and the true costs of every part.
    sense : {"min", "max"} or None
        Whether the optimiser minimises or maximises; None takes its own attribute `sense`.

    Returns
    -------
    float
        0 is best.

    See Also
    --------
    decision_regret : The same for decisions.
    maxmargin.CostLearner : Learns to predict costs with a low regret.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> cheaper = lambda c: [1.0, 0.0] if c[0] < c[1] else [0.0, 1.0]
    >>> metrics.regret(cheaper, predicted=[[1.0, 2.0]], true=[[3.0, 2.0]])  # decides for 3 instead of 2
    0.5
    """
    optimisers = Optimisers(optimiser, sense)
    _check_some(predicted, true, "predicted costs")
    sizes = part_counts(predicted)
    return decision_regret(true, np.split(_answers(optimisers, predicted), np.cumsum(sizes)[:-1]), optimiser, sense)


def decision_regret(true: Any, decisions: Any, optimiser: Any, sense: Literal["min", "max"] | None = None) -> float:
    """Compute the normalised regret of given decisions: their cost above the best ones, relative to the best.

    Parameters
    ----------
    true : array of shape (n, P), or list of arrays
        The true costs of every part.
    decisions : array of shape (n, P), or list of arrays
        The decisions to score.
    optimiser, sense
        As for `regret`.

    Returns
    -------
    float
        0 is best.

    See Also
    --------
    regret : The same for predicted costs.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> cheaper = lambda c: [1.0, 0.0] if c[0] < c[1] else [0.0, 1.0]
    >>> metrics.decision_regret([[3.0, 2.0]], [[1.0, 0.0]], cheaper)
    0.5
    """
    optimisers = Optimisers(optimiser, sense)
    _check_some(decisions, true, "decisions")
    best = _answers(optimisers, true)
    sizes, found = part_counts(true), part_counts(decisions)
    if not np.array_equal(sizes, found):
        i = int(np.argmax(sizes != found))
        raise ValueError(f"the decision of example {i} has {found[i]} numbers; expected {sizes[i]}, one per cost")
    costs, owner = _flat(true), np.repeat(np.arange(len(sizes)), sizes)
    lost = optimisers.sign * float(costs @ (_flat(decisions) - best))
    total = float(np.abs(np.bincount(owner, costs * best)).sum())
    if total == 0:
        return 0.0 if lost == 0 else inf
    return lost / total


def _check_some(given: Any, true: Any, what: str) -> None:
    """Check that there are as many true costs as predictions, and at least one."""
    if len(true) != len(given):
        raise ValueError(
            f"there are true costs of {len(true)} examples but {what} of {len(given)}; expected the same examples"
        )
    if len(true) == 0:
        raise ValueError("no examples given: there is nothing to score; expected at least one")


def _answers(optimisers: Optimisers, costs: Any) -> Array:
    sizes, flat = part_counts(costs), _flat(costs)
    if not np.isfinite(flat).all():
        i = int(np.searchsorted(np.cumsum(sizes), int(np.argmin(np.isfinite(flat))), side="right"))
        raise ValueError(f"the costs of example {i} are not finite; expected finite numbers")
    return optimisers.answers(flat, sizes, range(len(sizes)))


def best_decisions(optimisers: Optimisers, costs: Any) -> list[Array]:
    """Return the best decision of every example at these costs."""
    return np.split(_answers(optimisers, costs), np.cumsum(part_counts(costs))[:-1])


def _flat(values: Any) -> Array:
    """Concatenate the values of all examples."""
    return np.concatenate([np.asarray(each, dtype=float) for each in values])
