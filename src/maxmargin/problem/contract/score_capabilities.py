"""What a score space may offer beyond the search for the best outputs.

A loss of scores needs at least `ScoreSpace.best`, `losses` and `indicator`. Smooth losses need `soft_best`, the same
search with a sum over all outputs in the place of the maximum. The other protocols save time, or make a result exact.
Each is asked for with isinstance, so that a space offers one by having its method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from maxmargin.base.arrays import Array

Violation = Callable[[Array, Array], Array]  # (losses, margins) of outputs -> how much each violates


class SoftOutputs(NamedTuple):
    """Smooth maxima over the outputs of n inputs, and their gradient with respect to the scores."""

    values: Array  # (n,)
    indicator: Any  # in the form of scores: the expected number of uses of each


class ScoreLoss(NamedTuple):
    """The losses of n inputs, and the gradient of their weighted sum with respect to the scores."""

    values: Array  # (n,)
    gradient: Any  # in the form of scores


@runtime_checkable
class SoftSpace(Protocol):
    """A score space that sums over all outputs, for losses that weigh every output by its probability.

    Order of calls: any. Nothing is set.
    """

    def soft_best(
        self, scores: Any, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maximum (1/b) log Σ_z exp b [score(z) + augment · loss(z)] of every input, b = sharpness.

        The indicator is Σ_j weights[j] E indicator(z) under p(z) ∝ exp b [score(z) + augment · loss(z)], the gradient
        of Σ_j weights[j] · values[j]; without weights, all of them are 1.
        """


@runtime_checkable
class TotalledSpace(Protocol):
    """A score space that computes the scores of all outputs at once.

    Order of calls: any. Nothing is set.
    """

    def totals(self, scores: Any, found: Any) -> Array:
        """Return the total score (n,) of every output."""


@runtime_checkable
class RescaledSpace(Protocol):
    """A score space that finds the most violated outputs of slack rescaling exactly.

    Order of calls: any. Nothing is set.
    """

    def most_violated(self, scores: Any, violation: Violation) -> Any:
        """Return the output with the highest violation(loss, margin) of every input.

        The margin of an output is the score of the truth less its own.
        """


@runtime_checkable
class ListingSpace(Protocol):
    """A score space that lists the best outputs of every input.

    Order of calls: any. Nothing is set.
    """

    def best_lists(self, scores: Any, n: int) -> list[list[tuple[Any, float]]]:
        """Return, for every input, its n best outputs with their scores, best first; there may be fewer."""


@runtime_checkable
class OwnLosses(Protocol):
    """A score space that computes losses and gradients in one step, faster than by search and indicators.

    Order of calls: any. Nothing is set.
    """

    def hinge(self, scores: Any, augment: float = 1.0, weights: Array | None = None) -> ScoreLoss:
        """Return max_z [score(z) + augment · loss(z)] - score(truth) of every input, with its gradient."""

    def soft_hinge(
        self, scores: Any, augment: float = 1.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> ScoreLoss:
        """Return `soft_best` less the score of the truth, with its gradient."""
