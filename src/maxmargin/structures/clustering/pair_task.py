"""PairTask: what the tasks share whose outputs are scored by the features of pairs of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Flag, OneOf, Texts, Whole
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.problem.contract.task import Task
from maxmargin.structures.clustering.pair_table import PairTable
from maxmargin.structures.clustering.pairs import Pairs, read_clustered


class PairTask(Task):
    """Ψ(x, z) is a sum over pairs of items of x that z puts together, so that w is a weight for every feature of pairs.

    With `fit_intercept`, a constructor argument, pairs have one more feature, 1, whose weight is the last one.
    """

    fit_intercept: bool
    n_features_: int
    feature_names_: list[str] | None  # where the pairs of the training data know them

    saved: ClassVar[Fields] = {
        "fit_intercept": Flag(),
        "n_features_": Whole(1),
        "feature_names_": OneOf(None, Texts("n_features_")),
        "dim": Derived(lambda task: task.n_features_ + task.fit_intercept),
    }

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.n_features_, self.feature_names_ = read_clustered(X, Y)
        self.dim = self.n_features_ + bool(self.fit_intercept)

    def table(self, examples: list[Pairs]) -> PairTable:
        """The pairs of these examples, with the features that training has seen."""
        for i, x in enumerate(examples):
            if self.feature_names_ is not None and x.feature_names not in (None, self.feature_names_):
                raise ValueError(
                    f"example {i} has the features {', '.join(x.feature_names)}; expected "
                    f"{', '.join(self.feature_names_)} as in training"
                )
        return PairTable(examples, self.n_features_, bool(self.fit_intercept))

    def parts(self, w: Array) -> dict[str, Array]:
        """The weights by meaning: those of the features of pairs, and the constant, where there is one."""
        n = self.n_features_
        return {"features": w[:n], "intercept": w[n:]} if self.fit_intercept else {"features": w}

    def _psi(self, x: Pairs, features: Any, n_together: float, weight: float = 1.0) -> Any:
        """Ψ from its sums over pairs, of their features and of the constant, which are divided by `weight`.

        Where features are sparse, it is spelt by the entries that are not 0.
        """
        psi = np.zeros(self.dim)
        if len(x.pairs):  # an example without pairs does not know how many features they would have
            psi[: self.n_features_] = np.asarray(features, dtype=float).reshape(-1)
        if self.fit_intercept:
            psi[-1] = n_together
        psi /= weight
        if not sparse.issparse(x.features):
            return psi
        indices = np.flatnonzero(psi)
        return indices, psi[indices]
