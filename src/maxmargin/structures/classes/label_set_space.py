"""LabelSetSpace: sets of labels, searched by a score for every label."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.score_capabilities import SoftOutputs
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.structures.classes.class_sums import ClassSums


class LabelSetSpace:
    """Score space of the label sets of n inputs (problem/contract/scored.py).

    Scores are an array (n, L); the score of a set is the sum of the scores of its labels. Found outputs are an array
    (n, L) of True for the labels of the set. The loss is the sum of the costs of labels that are wrong or missing.

    Parameters
    ----------
    n, n_labels : int
        The numbers of inputs and of labels.
    truth : array of bool (n, L), or None
        The true sets.
    costs : (float, float)
        The costs of a wrong label and of a missing one.

    See Also
    --------
    maxmargin.tasks.ClassSpace : One label for every input.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.LabelSetSpace(1, 3, truth=[[True, False, False]])
    >>> neural.loss(space, np.array([[2.0, 0.5, -3.0]]), "hinge").gradient
    array([[0., 1., 0.]])
    """

    def __init__(self, n: int, n_labels: int, truth: Any = None, costs: tuple[float, float] = (1.0, 1.0)):
        self.n, self.n_labels = n, n_labels
        self.truth = None if truth is None else np.asarray(truth, dtype=bool)
        if self.truth is not None and self.truth.shape != (n, n_labels):
            raise ValueError(f"the true sets have shape {self.truth.shape}; expected ({n}, {n_labels})")
        self.costs = costs

    def __len__(self) -> int:
        return self.n

    def best(self, scores: Array, augment: float | Array = 0.0) -> BestOutputs:
        """Return the set with the highest score + augment · loss of every input; labels that add nothing are left out,
        unless they are true.
        """
        raised, constant = self._raised(scores, augment)
        found = raised > 0
        if self.truth is not None:
            found |= (raised == 0) & self.truth
        return BestOutputs(found, np.where(found, raised, 0.0).sum(axis=1) + constant)

    def losses(self, found: Array) -> Array:
        """Return the loss of every set."""
        need_truth(self.truth)
        (extra, missing), truth, chosen = self.costs, np.asarray(self.truth), np.asarray(found, dtype=bool)
        return np.asarray((extra * (chosen & ~truth) + missing * (truth & ~chosen)).sum(axis=1))

    def totals(self, scores: Array, found: Array) -> Array:
        """Return the score of every set."""
        return np.where(found, self._checked(scores), 0.0).sum(axis=1)

    def indicator(self, found: Array, weights: Array | None = None) -> Array:
        """Return weights[j], or 1, for the labels of the set of input j, and 0 for all others."""
        return np.where(found, 1.0 if weights is None else np.asarray(weights, dtype=float)[:, None], 0.0)

    def soft_best(
        self, scores: Array, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maxima over sets, and the probabilities of labels times weights[j]."""
        raised, constant = self._raised(scores, augment)
        flat = sharpness * raised.ravel()
        sums = ClassSums(np.column_stack([np.zeros_like(flat), flat]))
        values = sums.log_partitions.reshape(raised.shape).sum(axis=1) / sharpness + constant
        p = sums.probabilities[:, 1].reshape(raised.shape)
        return SoftOutputs(values, p if weights is None else p * np.asarray(weights, dtype=float)[:, None])

    def _checked(self, scores: Array) -> Array:
        given = np.asarray(scores, dtype=float)
        if given.shape != (self.n, self.n_labels):
            raise ValueError(f"the scores have shape {given.shape}; expected ({self.n}, {self.n_labels})")
        return given

    def _raised(self, scores: Array, augment: float | Array) -> tuple[Array, Array]:
        """Return the scores of labels with their part of the loss, and the loss (n,) of the empty set."""
        given = self._checked(scores)
        if not np.any(augment):
            return given, np.zeros(self.n)
        need_truth(self.truth)
        (extra, missing), each = self.costs, np.broadcast_to(np.asarray(augment, dtype=float), self.n)
        truth = np.asarray(self.truth)
        return given + each[:, None] * np.where(truth, -missing, extra), each * missing * truth.sum(axis=1)
