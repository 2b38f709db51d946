"""Scores of coordinates, in the form that decoders need."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array


def finite_scores(f: Any, dim: int) -> Array:
    """Return f as an array of dim finite numbers; raise a ValueError if this is impossible."""
    scores = np.asarray(f, dtype=np.float64)
    if scores.shape != (dim,):
        raise ValueError(f"scores have the shape {scores.shape}; expected ({dim},), one for each coordinate")
    if not np.isfinite(scores).all():
        place = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(f"score {place} is {scores[place]}; expected finite numbers")
    return scores
