"""Ordinal: one of several ordered classes per example."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np

from maxmargin.inputs.labels.labels import label_set
from maxmargin.structures.classes.attributes import Attributed
from maxmargin.structures.classes.multiclass import width

OrdinalMeasure = Literal["distance", "error"]
Directions = Literal["shared", "separate"]


class Ordinal(Attributed):
    """Ordinal classification: classes 0 < 1 < … < K-1, with the score ⟨u_k, x⟩ + b_k of the step to class k.

    A class has the attributes of all steps below it, Λ(k) = {1, …, k}: a taxonomy that is a chain, with a class at
    every node. Its score is the sum of the scores of those steps.

    X is a dense or sparse (n, F) matrix. It needs no constant feature.

    Parameters
    ----------
    order : list or None
        The classes from the lowest to the highest. None sorts them: numbers by size, but names alphabetically.
    directions : "shared" or "separate"
        "shared": all steps have the same u, so that x has a position ⟨u, x⟩ on a scale which K-1 thresholds divide into
        classes: Ψ(x, k) = (e_1 + … + e_k, k·x). "separate": each step has a direction of its own.
    measure : "distance" or "error"
        The cost of a mistake: |k - y| steps, or 1.
    costs : None, dict or array
        Costs of mistakes, which replace `measure`: {label: cost of missing it}, or a matrix cost[true, predicted] in
        that order.
    kernel : None, str, callable or Kernel
        A kernel of rows (maxmargin.kernels), whose features replace x.

    See Also
    --------
    maxmargin.OrdinalSVC : The estimator.
    Taxonomy : Classes in a hierarchy.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> task, X = tasks.Ordinal(order=["low", "mid", "high"]), np.array([[0.0], [1.0], [2.0]])
    >>> task.setup(X, ["low", "mid", "high"])
    >>> task.decode(np.array([-0.5, -1.5, 1.0]), X)  # minus the thresholds, and the direction
    ['low', 'mid', 'high']
    """

    def __init__(
        self,
        order: Sequence[Hashable] | None = None,
        directions: Directions = "shared",
        measure: OrdinalMeasure = "distance",
        costs: Any = None,
        kernel: Any = None,
    ):
        self.order = order
        self.directions = directions
        self.measure = measure
        self.costs = costs
        self.kernel = kernel

    def setup(self, X: Any, Y: Any) -> None:
        if self.directions not in ("shared", "separate"):
            raise ValueError(f"directions must be 'shared' or 'separate', got {self.directions!r}")
        self.n_features_ = width(X)
        classes = label_set(self.order, Y)
        ranks = np.arange(len(classes))
        steps = ranks[:, None] > ranks[:-1]  # row k: the k steps below class k
        costs = self._costs("distance", lambda: np.abs(ranks[:, None] - ranks))
        shared = ranks[:, None] if self.directions == "shared" else steps
        self._describe(classes, costs, X, Y, shared, alone=steps)
