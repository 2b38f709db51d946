"""DecisionSpace: the decisions of an optimiser, searched by predicted costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.structures.decisions.answers import Optimisers


class DecisionSpace:
    """Score space of the decisions of an optimiser for n inputs (problem/contract/scored.py).

    Scores are the predicted costs ĉ of all parts, an array (n, P). The score of a decision z, a number for every part,
    is -σ ĉ·z, with σ = 1 for an optimiser that minimises and -1 for one that maximises: the best decision at the costs
    ĉ has the highest score. Its loss is its regret σ (c·z - c·z*) at the true costs c, where z* is the best decision at
    c. Found outputs are an array (n, P) of decisions.

    Parameters
    ----------
    optimiser : callable or list
        As in `maxmargin.CostLearner`: a function of costs that returns the best decision, or one for each input, such
        as those of `maxmargin.optimisers`. Loss-augmented searches call it at costs of any sign.
    n, n_parts : int
        The number of inputs, and of the costs of each.
    costs : array (n, P), or None
        The true costs; None if they are not known.

    See Also
    --------
    maxmargin.CostLearner : Learns linear costs.
    maxmargin.neural.SPOPlus : The usual loss of predicted costs.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, optimisers, tasks
    >>> space = tasks.DecisionSpace.of_costs(optimisers.GridPath(2, 2), np.array([[1.0, 5.0, 1.0, 1.0]]))
    >>> space.truth
    array([[1., 0., 1., 0.]])
    >>> neural.loss(space, np.array([[1.0, 1.0, 2.0, 1.0]]), "spo_plus")
    ScoreLoss(values=array([6.]), gradient=array([[ 2., -2.,  2., -2.]]))
    """

    def __init__(self, optimiser: Any, n: int, n_parts: int, costs: Array | None = None):
        self.optimisers, self.n, self.n_parts = Optimisers(optimiser), n, n_parts
        self.optimisers.check_sizes(self._sizes)
        self.costs, self.truth = costs, None if costs is None else self._solved(costs)

    @classmethod
    def of_costs(cls, optimiser: Any, costs: Any) -> DecisionSpace:
        """Make the space of inputs with these true costs, an array (n, P)."""
        known = np.ascontiguousarray(costs, dtype=float)
        if known.ndim != 2 or not np.isfinite(known).all():
            raise ValueError(f"true costs have shape {known.shape}; expected finite numbers of shape (inputs, parts)")
        return cls(optimiser, len(known), known.shape[1], known)

    def __len__(self) -> int:
        return self.n

    def best(self, scores: Array, augment: float | Array = 0.0) -> BestOutputs:
        """Return the decision with the highest -σ ĉ·z + augment · regret of every input."""
        raised = self._checked(scores)
        if np.any(augment):
            need_truth(self.costs)
            assert self.costs is not None
            self.optimisers.refuse_nonnegative()
            raised = raised - np.broadcast_to(augment, self.n)[:, None] * self.costs
        found = self._solved(raised)
        values = self.totals(scores, found)
        return BestOutputs(found, values + augment * self.losses(found) if np.any(augment) else values)

    def losses(self, found: Array) -> Array:
        """Return the regret of every decision."""
        need_truth(self.costs)
        assert self.costs is not None
        return self.optimisers.sign * np.einsum("np,np->n", self.costs, found - np.asarray(self.truth))

    def totals(self, scores: Array, found: Array) -> Array:
        """Return the score of every decision."""
        return -self.optimisers.sign * np.einsum("np,np->n", self._checked(scores), found)

    def indicator(self, found: Array, weights: Array | None = None) -> Array:
        """Return -σ weights[j] z for the decision z of input j, the gradient of its score."""
        each = np.ones(self.n) if weights is None else np.asarray(weights, dtype=float)
        return -self.optimisers.sign * each[:, None] * found

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.full(self.n, self.n_parts, dtype=np.int64)

    def _checked(self, scores: Array) -> Array:
        given = np.ascontiguousarray(scores, dtype=np.float64)
        if given.shape != (self.n, self.n_parts):
            raise ValueError(f"predicted costs have shape {given.shape}; expected ({self.n}, {self.n_parts})")
        if not np.isfinite(given).all():
            j, p = np.argwhere(~np.isfinite(given))[0]
            raise ValueError(f"input {j}: the predicted cost of part {p} is {given[j, p]}; expected a finite number")
        return given

    def _solved(self, costs: Array) -> Array:
        answers = self.optimisers.answers(np.ascontiguousarray(costs).ravel(), self._sizes, range(self.n))
        return answers.reshape(self.n, self.n_parts)
