"""LabelledUnits: the true labels of examples, for kernels. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels


class LabelledUnits(NamedTuple):
    """Units with their true labels: example j owns the units bounds[j] : bounds[j + 1]."""

    direct: int  # the number of atoms before those of units
    n_labels: int  # K, the number of labels
    bounds: NDArray[np.int64]
    units: NDArray[np.int64]  # the number of each unit among all of the data set
    truth: Labels  # the true label of each unit
    priced: Labels  # the row of the cost table that each unit uses
    cost: Array  # (rows, n_labels): the cost of each label
    weight: Array  # a multiple of these costs for each unit
