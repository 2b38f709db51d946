"""Features that are zeros and ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array


def indicator(places: Any, dim: int) -> Array:
    """Return a vector that is 1 at these indices and 0 elsewhere."""
    phi = np.zeros(dim)
    phi[places] = 1.0
    return phi
