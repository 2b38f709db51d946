"""The initial weights of latent training of rankings: a classifier of relevant rows, or weights of the user."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.structures.ranking.topk_batch import TopKBatch


def relevance_classifier(batch: TopKBatch, weights: Array, C: float) -> Array:
    """Train a linear classifier of relevant rows, in which every query counts by its weight.

    The intercept is hardly penalised, so that it, and not the weights, models how rare relevant rows are.
    """
    from sklearn.svm import LinearSVC  # slow to import

    sizes = np.diff(batch.bounds)
    query = np.repeat(np.arange(len(sizes)), sizes)
    relevant = np.arange(len(query)) - batch.bounds[query] < batch.n_relevant[query]  # they come first in a batch
    used = np.flatnonzero(weights[query] > 0)
    if len(np.unique(relevant[used])) < 2:  # all queries with both kinds of rows have weight 0
        return np.zeros(batch.atoms.dim)
    each = np.arange(len(used) + 1, dtype=np.int32)
    rows = AtomRows(batch.atoms, each, batch.rows[used].astype(np.int32), np.ones(len(used))).tocsr()
    rows.indptr, rows.indices = rows.indptr.astype(np.int32), rows.indices.astype(np.int32)  # required by liblinear
    model = LinearSVC(C=C, dual=False, intercept_scaling=10.0)
    model.fit(rows, relevant[used], (weights / sizes / len(sizes))[query][used])
    return np.array(model.coef_[0])


def checked_start(start: Any, n_features: int) -> Array:
    """Return the user's initial weights after checking them."""
    try:
        weights = np.array(start, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"start must be None or an array of weights (the coef_ of a model), got {start!r}") from None
    if weights.shape != (n_features,):
        raise ValueError(f"start has shape {weights.shape}; expected ({n_features},), a weight per feature")
    if not np.isfinite(weights).all():
        i = int(np.argmin(np.isfinite(weights)))
        raise ValueError(f"start[{i}] is {weights[i]}; expected a finite number")
    return weights
