"""Ridge regression of costs, regardless of the decisions that follow from the predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array

MOST_NUMBERS = 2**27  # entries of the dense matrix of features
STRENGTHS = 10.0 ** np.arange(-12, 3)  # penalties s, relative to the largest squared singular value


def least_squares(rows: Any, targets: Array, weights: Array, constant: bool) -> Array:
    """Return the (F, K) minimiser W of Σᵢ weightsᵢ ‖targetsᵢ - rowsᵢ W‖² + s ‖W‖², s by generalised cross-validation.

        s minimises  Σᵢ weightsᵢ ‖residualᵢ(s)‖² / (n - trace H(s))²,    H(s) targets = predictions                (1)

    (Golub, Heath and Wahba 1979): W is close to plain least squares if there are many examples, and does not overfit if
    there are fewer examples than features. Examples of weight 0 are ignored.

    constant : whether the last feature is the constant 1, whose weights are not penalised.
    """
    if rows.shape[0] * rows.shape[1] > MOST_NUMBERS:
        raise ValueError(
            f'prior="least_squares" makes X dense, and {rows.shape[0]} rows of {rows.shape[1]} features '
            "are too many for that; give the weights of a regression of your own as the prior"
        )
    used = np.flatnonzero(weights)
    A = rows[used].toarray() if sparse.issparse(rows) else np.asarray(rows)[used]
    Y, shares = targets[used], weights[used] / weights[used].sum()
    middle, level = np.zeros(A.shape[1] - constant), np.zeros(Y.shape[1])
    if constant:
        A = A[:, :-1]
        middle, level = shares @ A, shares @ Y
    roots = np.sqrt(shares * len(used))[:, None]
    coefficients = _penalised(roots * (A - middle), roots * (Y - level), len(used) - constant)
    return np.vstack([coefficients, level - middle @ coefficients]) if constant else coefficients


def _penalised(A: Array, Y: Array, n: float) -> Array:
    """Solve ridge regression with s by (1); n is the number of rows less the parameters estimated before."""
    left, sizes, right = np.linalg.svd(A, full_matrices=False)
    if not sizes.any():  # no feature varies
        return np.zeros((A.shape[1], Y.shape[1]))
    inside = left.T @ Y
    outside = float(np.sum((Y - left @ inside) ** 2))
    relative = (sizes / sizes[0]) ** 2
    best, least = relative, np.inf
    for strength in STRENGTHS[::-1]:  # ties go to the strongest
        kept = relative / (relative + strength)
        value = (outside + float(np.sum(((1 - kept)[:, None] * inside) ** 2))) / max(n - kept.sum(), 1e-12) ** 2
        if value < least:
            best, least = kept, value
    known = sizes > 0
    return np.asarray(right[known].T @ ((best[known] / sizes[known])[:, None] * inside[known]))
