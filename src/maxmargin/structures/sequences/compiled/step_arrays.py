"""What kernels know of label histories. Without numba, so that Python can name these fields before it is loaded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array


class Steps(NamedTuple):
    """Histories, and the steps between them (see histories.py); position t is reached by a step of depth min(t, k).

    The steps into a history are neighbours: those of depth d into history h, of those that have as many labels as
    such a step makes, begin at begins[rows[d] + h - levels[...]].
    """

    levels: NDArray[np.int64]  # (k + 2,): the histories of j labels are levels[j] : levels[j + 1]; the first has none
    rows: NDArray[np.int64]  # (k + 1,)
    begins: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    pair: NDArray[np.int32]  # the number of the label pair that a step ends with, -1 of a first step
    outs: NDArray[np.int64]  # the steps out of history h are out[outs[h] : outs[h + 1]]
    out: NDArray[np.int32]
    label: NDArray[np.int32]  # the last one of every history
    parts: NDArray[np.int32]  # (steps, k): the weights that a step's score is the sum of; -1: no more
    ends: NDArray[np.int32]  # (histories, k): the same of an end
    closed: Array  # of every history: 0, or -inf where no sequence may end
    follow: NDArray[np.int32]  # (histories, K): the step that appends a label; -1 where it is not allowed


class PairRows(NamedTuple):
    """The features of every unit that have a weight for every pair of labels."""

    n_pairs: int  # 0: there are none
    indptr: NDArray[np.int64]
    places: NDArray[np.int64]  # where the weights of a feature begin, among those of pairs
    values: Array
