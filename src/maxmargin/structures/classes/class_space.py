"""ClassSpace: the score space of multiclass problems, one class per input."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.score_capabilities import SoftOutputs, Violation
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.structures.classes.class_sums import ClassSums


class TrueClasses(NamedTuple):
    """True classes of n inputs; predicting class k for input j costs cost[labels[j], k]."""

    labels: Labels  # (n,)
    cost: Array  # (K, K)


class ClassSpace:
    """Score space of the classes of n inputs (problem/contract/scored.py).

    Scores are an array (n, K). Found outputs are an int32 array (n,) of class numbers. Among classes with equal values
    the true one is found if it is known, else the one with the lowest number.

    Parameters
    ----------
    n, n_labels : int
        The numbers of inputs and of classes.
    truths : TrueClasses or None
        The true classes and the costs of mistakes, if known.

    See Also
    --------
    Multiclass : The task.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> space = tasks.ClassSpace.of_labels([0, 2], n_labels=3)
    >>> scores = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 2.0]])
    >>> space.best(scores).found.tolist(), space.best(scores, augment=1.0).found.tolist()
    ([0, 2], [1, 2])
    """

    def __init__(self, n: int, n_labels: int, truths: TrueClasses | None = None):
        self.n, self.n_labels, self.truths = n, n_labels, truths

    @classmethod
    def of_labels(cls, labels: Any, n_labels: int, cost: Any = None) -> ClassSpace:
        """Make the space of inputs with these true classes, numbers from 0 to n_labels - 1.

        cost : None (every mistake costs 1), or an (n_labels, n_labels) matrix cost[true, found]
        """
        numbers = np.ascontiguousarray(labels, dtype=np.int32)
        prices = 1.0 - np.eye(n_labels) if cost is None else np.array(cost, dtype=float)
        if numbers.ndim != 1 or (len(numbers) and not (numbers.min() >= 0 and numbers.max() < n_labels)):
            raise ValueError(f"labels must be a list of whole numbers from 0 to {n_labels - 1}, got {labels!r}")
        if prices.shape != (n_labels, n_labels):
            raise ValueError(f"cost has shape {prices.shape}; expected ({n_labels}, {n_labels})")
        return cls(len(numbers), n_labels, TrueClasses(numbers, prices))

    def __len__(self) -> int:
        return self.n

    @property
    def truth(self) -> Labels | None:
        """The true classes."""
        return None if self.truths is None else self.truths.labels

    def best(self, scores: Array, augment: float | Array = 0.0) -> BestOutputs:
        """Return the class with the highest score + augment · loss of every input."""
        found = self.found(scores, augment)
        values = np.asarray(scores, dtype=float)[np.arange(self.n), found]
        if self.truths is not None:
            labels, cost = self.truths
            values = values + augment * cost[labels, found]
        return BestOutputs(found, values)

    def found(self, scores: Array, augment: float | Array = 0.0) -> Labels:
        """Return the classes that `best` finds, without their values."""
        from maxmargin.inputs.labels.compiled.labelling import best_labels

        scores = self._checked(scores)
        if self.truths is None:
            if np.any(augment):
                need_truth(None)
            return np.argmax(scores, axis=1).astype(np.int32)
        labels, cost = self.truths
        found = np.empty_like(labels)
        best_labels(scores, cost, labels, np.full(self.n, augment, dtype=float), found)
        return found

    def losses(self, found: Labels) -> Array:
        """Return the loss of every class."""
        need_truth(self.truths)
        assert self.truths is not None
        labels, cost = self.truths
        return cost[labels, found]

    def indicator(self, found: Labels, weights: Array | None = None) -> Array:
        """Return an (n, K) array with weights[j], or 1, at the class of input j, and 0 elsewhere."""
        counts = np.zeros((self.n, self.n_labels))
        counts[np.arange(self.n), found] = 1.0 if weights is None else weights
        return counts

    def sums(self, scores: Array) -> ClassSums:
        """Return the distributions of the classes of every input."""
        return ClassSums(self._checked(scores))

    def totals(self, scores: Array, found: Labels) -> Array:
        """Return the score of every class."""
        return self._checked(scores)[np.arange(self.n), found]

    def soft_best(
        self, scores: Array, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maxima over classes, and the probabilities of classes times weights[j]."""
        raised = self._checked(scores)
        if np.any(augment):
            raised = raised + np.broadcast_to(augment, self.n)[:, None] * self._prices
        sums = ClassSums(sharpness * raised)
        each = np.ones(self.n) if weights is None else np.asarray(weights, dtype=float)
        return SoftOutputs(sums.log_partitions / sharpness, each[:, None] * sums.probabilities)

    def most_violated(self, scores: Array, violation: Violation) -> Labels:
        """Return the class with the highest violation(loss, margin) of every input."""
        need_truth(self.truths)
        scores, rows = self._checked(scores), np.arange(self.n)
        margins = scores[rows, self.truth][:, None] - scores
        return np.argmax(violation(self._prices, margins), axis=1).astype(np.int32)

    def best_lists(self, scores: Array, n: int) -> list[list[tuple[int, float]]]:
        """Return the n best classes of every input with their scores, best first."""
        scores = self._checked(scores)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        return [[(int(k), float(own[k])) for k in each] for own, each in zip(scores, order, strict=True)]

    @property
    def _prices(self) -> Array:
        """The loss (n, K) of every class."""
        need_truth(self.truths)
        assert self.truths is not None
        return self.truths.cost[self.truths.labels]

    def _checked(self, scores: Array) -> Array:
        """Return scores that compiled code can read; raise a ValueError if they have another shape than (n, K)."""
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        if scores.shape != (self.n, self.n_labels):
            raise ValueError(f"the scores have shape {scores.shape}; expected ({self.n}, {self.n_labels})")
        return scores
