"""ClassProblem: the data of a dual of classes, for kernels. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels


class ClassProblem(NamedTuple):
    """Examples with one label each, of K labels."""

    units: NDArray[np.int64]  # (n,): the unit whose features each example has
    truths: Labels  # (n,): the true label of each example
    cost: Array  # (K, K): the cost of each label if another one is true
    lengths: Array  # (units,): ‖x‖ of the features of each unit
    squares: Array  # (units,): ‖x‖²
    cap: Array  # (n,): the largest sum of the weights of each example
