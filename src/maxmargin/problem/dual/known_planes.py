"""The planes that a dual point knows one by one: what joint rounds solve for all examples at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows


class KnownPlanes(NamedTuple):
    """Known planes of all examples that count, those with weight at least, in the order of the examples."""

    slots: NDArray[np.intp]  # where the dual point keeps each of them
    owners: NDArray[np.intp]  # the example of each
    rows: AtomRows
    offset: Array
    alpha: Array  # their weights


class JointSize(NamedTuple):
    """The size of the joint problem over all known planes."""

    planes: int
    examples: int  # that have a plane
    writing: float = 0.0  # multiplications that it takes to write the planes out
