"""PairTask: the base of tasks whose outputs are scored by features of pairs of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Flag, OneOf, Texts, Whole
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.problem.contract.task import Task
from maxmargin.structures.clustering.pair_table import PairTable
from maxmargin.structures.clustering.pairs import Pairs, read_clustered


class PairTask(Task):
    """Base class of tasks in which Ψ(x, z) is a sum of features over the pairs of items that z joins.

    With `fit_intercept`, a constructor argument, pairs have one more feature, 1, whose weight is the last one.
    """

    fit_intercept: bool
    n_features_: int
    feature_names_: list[str] | None  # the feature names of the training data, if there are any

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
        """Return the table of all pairs of these examples, after comparing their features with the training data."""
        for i, x in enumerate(examples):
            if self.feature_names_ is not None and x.feature_names not in (None, self.feature_names_):
                raise ValueError(
                    f"example {i} has the features {', '.join(x.feature_names)}; expected "
                    f"{', '.join(self.feature_names_)} as in training"
                )
        return PairTable(examples, self.n_features_, bool(self.fit_intercept))

    def split_weights(self, w: Array) -> dict[str, Array]:
        """Split w into the weights of the pair features and, with an intercept, the constant."""
        n = self.n_features_
        return {"features": w[:n], "intercept": w[n:]} if self.fit_intercept else {"features": w}

    def _pair_pieces(self, x: Pairs, rows: NDArray[np.int64], shares: Array) -> Pieces:
        """Return Ψ by joined pairs, given by their rows in x, whose features count with these shares."""
        units = [Unit("pair", (i, j)) for i, j in x.pairs[rows].tolist()]
        features = sparse.csr_array(x.features[rows] if len(x.pairs) else np.zeros((0, self.n_features_)))
        constant = np.ones((len(rows), int(self.fit_intercept)))
        return Pieces.of_rows(units, sparse.diags_array(shares) @ sparse.hstack([features, constant]))

    def _psi(self, x: Pairs, features: Any, n_together: float, weight: float = 1.0) -> Any:
        """Return Ψ from the sums of features and of the constant over joined pairs, both divided by `weight`.

        If the features are sparse, Ψ is returned as (indices, values) of its nonzero entries.
        """
        psi = np.zeros(self.dim)
        if len(x.pairs):  # the number of features is unknown for an example without pairs
            psi[: self.n_features_] = np.asarray(features, dtype=float).reshape(-1)
        if self.fit_intercept:
            psi[-1] = n_together
        psi /= weight
        if not sparse.issparse(x.features):
            return psi
        indices = np.flatnonzero(psi)
        return indices, psi[indices]
