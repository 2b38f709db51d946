"""Counting-based training of small problems as one dense linear system, straight from the normalised objective."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.output_set import OutputSet


def trained(outputs: OutputSet, X: Array, Y: list[list], lam: float) -> tuple[Array, float]:
    """W (p, d) and the objective at W; Y[i] lists all outputs of example i."""
    (n, p), d = X.shape, outputs.dim
    mean, S, size = outputs.mean(), outputs.covariance(), np.exp(outputs.log_size())
    hessian, target = 2 * lam * np.eye(p * d), np.zeros(p * d)
    for i in range(n):
        rows = outputs.feature_rows(Y[i])
        c, s, m = rows - mean, rows.sum(0), len(rows)
        hessian += np.kron(np.outer(X[i], X[i]), m * S + c.T @ c - 2 / size * (m * rows.T @ rows - np.outer(s, s)))
        target += np.kron(X[i], c.sum(0))
    w = np.linalg.solve(hessian, target)
    return w.reshape(p, d), float(0.5 * w @ hessian @ w - w @ target)
