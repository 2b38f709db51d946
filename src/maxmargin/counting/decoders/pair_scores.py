"""Scores of ordered pairs, in the form that searches need."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array


def checked_scores(W: Any, pair: str) -> Array:
    """Return a copy of a square matrix of finite scores, with a zero diagonal; the diagonal of W is not read.

    `pair` describes the pair (u, v) in errors.
    """
    W = np.array(W, dtype=np.float64, order="C")
    np.fill_diagonal(W, 0.0)
    if not np.isfinite(W).all():
        u, v = np.argwhere(~np.isfinite(W))[0]
        raise ValueError(f"the score of {pair.format(u=u, v=v)} is {W[u, v]}; expected finite numbers")
    return W
