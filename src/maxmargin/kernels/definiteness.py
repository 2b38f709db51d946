"""The check that a kernel is an inner product; training refuses other kernels, because nothing could be certified.

If a kernel matrix G is not positive semidefinite, "‖w‖²" may be negative, the dual is not concave, and neither lower
bounds nor optima have a meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin.kernels.base import Kernel

MOST = 1000  # the most units whose kernel matrix is decomposed; larger sets are sampled
ROUNDING = 1e-8  # relative to the largest eigenvalue; smaller negative ones count as zero


def check_definite(kernel: Kernel, units: Any) -> None:
    """Raise a ValueError, with the smallest eigenvalue, unless the units' kernel matrix is positive semidefinite."""
    if kernel.definite:
        return
    n = units.shape[0]
    some = np.arange(n)
    if n > MOST:
        some = np.sort(np.random.default_rng(0).choice(n, MOST, replace=False))
    gram = kernel.values(units[some], kernel.kept(units, some))
    if not np.isfinite(gram).all():
        i, j = some[np.argwhere(~np.isfinite(gram))[0]]
        raise ValueError(f"the kernel of training units {i} and {j} is not finite")
    largest = float(np.abs(gram).max(initial=0.0))
    difference = np.abs(gram - gram.T)
    if difference.max(initial=0.0) > ROUNDING * largest:
        i, j = some[list(np.unravel_index(np.argmax(difference), gram.shape))]
        raise ValueError(
            f"the kernel is not symmetric: k({i}, {j}) of these training units differs by {difference.max():.3g} from "
            f"k({j}, {i})"
        )
    with threadpool_limits(1, user_api="blas"):  # several threads would wait for each other
        values = np.linalg.eigvalsh((gram + gram.T) / 2)
    if values[0] < -ROUNDING * max(float(values[-1]), largest):
        raise ValueError(
            f"the kernel is not positive semidefinite: on {len(some)} training units its smallest eigenvalue is "
            f"{values[0]:.6g} (the largest is {values[-1]:.6g}), so it is not an inner product and nothing can be "
            "certified. Use another kernel, or give the projection of this matrix as kernel='precomputed'"
        )
