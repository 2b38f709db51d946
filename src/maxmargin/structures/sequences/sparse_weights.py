"""Removal of the small weights of a chain that change few predictions or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.sequences.task import Chain


def sparse_weights(task: Chain, w: Array, X: Any, loss: float) -> Array:
    """Return w with its smallest weights set to 0, so that at most the share `loss` of the positions of X changes.

    The number is found by bisection: the returned weights were tried, but more zeros may be possible if the number of
    changes is not monotone.
    """
    scored = task.scored(X)
    labels = scored.best(scored.scores(w)).found
    if len(labels) == 0:
        raise ValueError("no positions given, so it is unknown which weights matter")
    most = int(loss * len(labels))
    order = np.argsort(np.abs(w), kind="stable")
    dropped, too_many = int(np.sum(w == 0)), len(w) + 1
    best = w
    while too_many - dropped > 1:
        n = (dropped + too_many) // 2
        tried = w.copy()
        tried[order[:n]] = 0.0
        if np.sum(scored.best(scored.scores(tried)).found != labels) <= most:
            dropped, best = n, tried
        else:
            too_many = n
    return best
