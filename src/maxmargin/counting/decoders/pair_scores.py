"""Scores of ordered pairs, as searches want them."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array


def checked_scores(W: Any, pair: str) -> Array:
    """A copy of a square matrix of finite scores, with a zero diagonal; `pair` says for messages what u, v stands for.

    The diagonal of W is not read.
    """
    W = np.array(W, dtype=np.float64, order="C")
    np.fill_diagonal(W, 0.0)
    if not np.isfinite(W).all():
        u, v = np.argwhere(~np.isfinite(W))[0]
        raise ValueError(f"the score of {pair.format(u=u, v=v)} is {W[u, v]}; expected finite numbers")
    return W
