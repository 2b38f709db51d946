"""Score space: a structure once its units have scores.

Most structures get from weights to planes in the same three steps. They score their units (labels at positions,
segments, arcs, pairs of residues, …), search for the output with the highest total score, and count the features of the
output found:

    scores = scored.scores(w)                 linear in w
    best   = scored.best(scores, augment)     argmax_z score(z) + augment · Δ(y, z), for every example
    planes = scored.planes_of(best.found)     Ψ(x, y) - Ψ(x, z) and Δ(y, z)

Training takes all three with augment = 1. Prediction takes the first two with augment = 0, for inputs whose labels are
not known. Probabilities take the first and `sums`.

The second step does not depend on weights. A ScoreSpace is that step alone: the outputs of n inputs, whose scores are
given as arrays. An encoder that computes these arrays in another way, such as a neural network, can be trained on the
structured hinge and its subgradient with respect to the scores:

    Σ_j max_z [score(z) + Δ(y_j, z)] - score(y_j)   =   Σ_j best.values[j] - ⟨indicator(truth), scores⟩           (1)
    subgradient                                     =   indicator(best.found) - indicator(truth)                  (2)

Each structure has its own type of scores, a NamedTuple of arrays or one array, and its own type of found outputs, the
outputs of all examples in arrays. Both are described in the structure's ScoreSpace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.sums import Sums
from maxmargin.problem.planes.planes import Planes


class BestOutputs(NamedTuple):
    """The outputs of n examples that a search found."""

    found: Any  # the outputs, in the form of their structure
    values: Array  # (n,): score of each, plus `augment` times its loss
    upper: Array | None = None  # (n,): no output has a higher value; None if the search is exact


@runtime_checkable
class ScoreSpace(Protocol):
    """The outputs of n inputs, searched by scores alone.

    Order of calls: `best` or `sums` with scores; then `losses` and `indicator` with the outputs of `best` or with
    `truth`. All methods may be called again with other scores. None of them changes the space or the arrays that it is
    given.
    """

    @property
    def truth(self) -> Any:
        """The true outputs, in the form of found ones; None if they are not known."""

    def __len__(self) -> int:
        """Return n, the number of inputs."""

    def best(self, scores: Any, augment: float | Array = 0.0) -> BestOutputs:
        """Return the output with the highest score + augment · loss of every input.

        augment : a number, or one for each input. Unless it is 0, truths must be known.
        """

    def losses(self, found: Any) -> Array:
        """Return the loss (n,) of every output against its truth."""

    def indicator(self, found: Any, weights: Array | None = None) -> Any:
        """Return how often the outputs use each score, in the form of scores.

        ⟨indicator(found, weights), scores⟩ = Σ_j weights[j] · score of output j, whatever the scores are; without
        weights, all of them are 1. It is the gradient of that sum with respect to the scores.
        """


@runtime_checkable
class Summable(Protocol):
    """A ScoreSpace that can sum over all outputs of an input."""

    def sums(self, scores: Any) -> Sums:
        """Return the distributions p(z) ∝ exp score(z) of the outputs of every input."""


@runtime_checkable
class Scored(ScoreSpace, Protocol):
    """A ScoreSpace whose scores are computed from features and weights.

    Order of calls: `scores`, `best`, then `planes_of` with the outputs found.
    """

    def scores(self, w: Array) -> Any:
        """Return the scores of all units at the weights w; they are linear in w, except for forbidden ones (-inf)."""

    def planes_of(self, found: Any) -> Planes:
        """Return the planes of these outputs, Ψ(x, y) - Ψ(x, z) and Δ(y, z) of every input; truths must be known."""


class ScoredTask(Protocol):
    """A task with a score space."""

    def scored(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Scored:
        """Return the inputs X, with their truths if Y is given, ready for scoring and search."""


def inner(indicator: Any, scores: Any) -> float:
    """Return ⟨indicator, scores⟩, where unused scores may be -inf.

    Parameters
    ----------
    indicator, scores : array or NamedTuple of arrays
        Arrays, or NamedTuples of arrays, of the same shapes.

    Returns
    -------
    float.
    """
    total = 0.0
    for counts, each in zip(arrays_of(indicator), arrays_of(scores), strict=True):
        used = counts != 0
        total += float(np.dot(counts[used], each[used]))
    return total


def arrays_of(scores: Any) -> Iterator[Array]:
    """Yield the arrays of scores, or of an indicator, one after another."""
    if isinstance(scores, tuple | list):
        for each in scores:
            yield from arrays_of(each)
    else:
        yield np.asarray(scores)


def checked_scores(scores: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
    """Return a NamedTuple of scores with contiguous arrays of floats, which compiled code reads without checks.

    Raise a ValueError if an array has the wrong shape.
    """
    arrays = [np.ascontiguousarray(each, dtype=np.float64) for each in scores]
    for name, each, shape in zip(scores._fields, arrays, shapes, strict=True):
        if each.shape != shape:
            raise ValueError(f"the scores `{name}` have shape {each.shape}; expected {shape}")
    return type(scores)(*arrays)


def need_truth(truth: Any) -> None:
    """Raise a ValueError if truths are None, because losses and planes need them."""
    if truth is None:
        raise ValueError("losses need true outputs: make the score space with the labels of its inputs")
