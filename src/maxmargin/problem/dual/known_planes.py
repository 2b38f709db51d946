"""The planes that a dual point stores one by one, over which joint rounds optimise all examples at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows


class KnownPlanes(NamedTuple):
    """Known planes of all examples that count, at least those with weight, in the order of the examples."""

    slots: NDArray[np.intp]  # the slot of each in the dual point
    owners: NDArray[np.intp]  # the example of each
    rows: AtomRows
    offset: Array
    alpha: Array  # their weights


class JointSize(NamedTuple):
    """The size of the joint problem over all known planes."""

    planes: int
    examples: int  # the number of examples with a plane
    writing: float = 0.0  # multiplications needed to write the planes as vectors
