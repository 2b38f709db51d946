"""PartSpace: the score space of sets of parts, searched by a user's decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.structures.parts.numbers import PartNumbers, as_numbers

PartDecoder = Callable[[int, Array], PartNumbers]  # (j, scores of the parts of input j) -> its best parts


class TrueParts(NamedTuple):
    """True parts of one input, and the prices of mistakes."""

    truth: PartNumbers  # numbers of the right parts, ascending
    added: Array  # (P,) increase of the loss by choosing a part: its price, or minus the price of missing it

    @classmethod
    def of(cls, truth: PartNumbers, extra: Array, missing: Array) -> TrueParts:
        """Combine the (P,) prices of choosing each part wrongly and of missing it."""
        added = extra.copy()
        added[truth] = -missing[truth]
        return cls(truth, added)

    def loss(self, chosen: PartNumbers) -> float:
        """Return the loss of choosing these parts."""
        left, wrong = np.setdiff1d(self.truth, chosen), np.setdiff1d(chosen, self.truth)
        return float(self.added[wrong].sum() - self.added[left].sum())


class PartSpace:
    """Score space of the sets of parts of n inputs (problem/contract/scored.py).

    Scores are an array with a number for every part, the parts of all inputs concatenated. Found outputs are a list
    with the ascending numbers of the chosen parts of every input, each counted from 0. The decoder must find the best
    set.

    Parameters
    ----------
    bounds : array of shape (n + 1,)
        The first part of every input, and the number of all parts.
    decode : callable
        decode(j, scores of the parts of input j) -> the numbers of the best parts.
    truths : sequence of TrueParts, optional
        The true parts of every input with the prices of mistakes.

    See Also
    --------
    Parts : The task.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> space = tasks.PartSpace.of_sizes([3], lambda scores, x: [np.argmax(scores)], X=[None], truth=[[2]])
    >>> space.best(np.array([1.0, 3.0, 2.0])).found[0].tolist()
    [1]
    >>> space.losses([np.array([1])])  # one wrong part, and one missing
    array([2.])
    """

    def __init__(self, bounds: NDArray[np.int64], decode: PartDecoder, truths: Sequence[TrueParts] | None = None):
        self.bounds, self.decode, self.truths = bounds, decode, truths

    @classmethod
    def of_sizes(
        cls,
        sizes: Any,
        best: Callable[[Array, Any], Any],
        X: Sequence[Any],
        truth: Sequence[Any] | None = None,
        costs: tuple[float, float] = (1.0, 1.0),
    ) -> PartSpace:
        """Make the space of inputs with these numbers of parts, decoded by best(scores, x) as in a Parts task.

        truth : None, or the true parts of every input: their numbers, or a mask
        costs : (extra, missing), the costs of choosing a part wrongly and of missing one
        """
        bounds = np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])

        def decode(j: int, scores: Array) -> PartNumbers:
            return as_numbers(best(scores, X[j]), "best(scores, x)", len(scores))

        if truth is None:
            return cls(bounds, decode)
        each = [as_numbers(y, f"truth[{j}]", int(n)) for j, (y, n) in enumerate(zip(truth, sizes, strict=True))]
        prices = [[np.full(int(n), float(cost)) for cost in costs] for n in sizes]
        return cls(bounds, decode, [TrueParts.of(y, *own) for y, own in zip(each, prices, strict=True)])

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def truth(self) -> list[PartNumbers] | None:
        """The numbers of the true parts of every input."""
        return None if self.truths is None else [own.truth for own in self.truths]

    def best(self, scores: Array, augment: float | Array = 0.0) -> BestOutputs:
        """Return the parts with the highest score + augment · loss of every input."""
        found = self.found(scores, augment)
        values = self.totals(scores, found)
        if np.any(augment):
            values += augment * self.losses(found)
        return BestOutputs(found, values)

    def found(self, scores: Array, augment: float | Array = 0.0) -> list[PartNumbers]:
        """Return the parts that `best` finds, without their values."""
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        if scores.shape != (self.bounds[-1],):
            raise ValueError(f"the scores have shape {scores.shape}; expected ({self.bounds[-1]},), one for every part")
        each, lam = self._split(scores), np.full(len(self), augment, dtype=float)
        if lam.any():
            need_truth(self.truths)
            assert self.truths is not None
            each = [s + x * t.added if x else s for s, x, t in zip(each, lam.tolist(), self.truths, strict=True)]
        return [self.decode(j, own) for j, own in enumerate(each)]

    def losses(self, found: Sequence[PartNumbers]) -> Array:
        """Return the loss of every set of parts."""
        need_truth(self.truths)
        assert self.truths is not None
        return np.array([own.loss(chosen) for own, chosen in zip(self.truths, found, strict=True)], dtype=float)

    def indicator(self, found: Sequence[PartNumbers], weights: Array | None = None) -> Array:
        """Return weights[j], or 1, for every chosen part of input j, and 0 for all other parts."""
        counts = np.zeros(int(self.bounds[-1]))
        for j, chosen in enumerate(found):
            counts[self.bounds[j] + chosen] = 1.0 if weights is None else weights[j]
        return counts

    def totals(self, scores: Array, found: Sequence[PartNumbers]) -> Array:
        """Return the total score of the chosen parts of every input."""
        each = self._split(np.asarray(scores, dtype=float))
        return np.array([own[chosen].sum() for own, chosen in zip(each, found, strict=True)], dtype=float)

    def _split(self, scores: Array) -> list[Array]:
        """Return the scores of the parts of every input."""
        return np.split(scores, self.bounds[1:-1]) if len(self) else []
