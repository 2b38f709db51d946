"""The planes that a dual point stores one by one, over which joint rounds optimise all examples at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows


class KnownPlanes(NamedTuple):
    """Known planes of all examples with a positive cap, at least the planes with weight, in the order of examples."""

    slots: NDArray[np.intp]  # the slot of each plane in the dual point
    owners: NDArray[np.intp]  # the example of each plane
    rows: AtomRows  # the vectors a of the planes
    offset: Array  # the constants b of the planes
    alpha: Array  # the weights of the planes


class JointSize(NamedTuple):
    """The size of the joint problem over all known planes."""

    planes: int
    examples: int  # the number of examples with a plane
    writing: float = 0.0  # multiplications needed to write the planes as vectors
