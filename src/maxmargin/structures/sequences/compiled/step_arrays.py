"""Label histories as kernels read them. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


class Steps(NamedTuple):
    """Histories, and the steps between them (see histories.py); a step of depth min(t, k) leads to position t.

    The steps into a history are neighbours: those of depth d into history h, among the histories with as many labels as
    such a step makes, begin at begins[rows[d] + h - levels[...]].
    """

    levels: NDArray[np.int64]  # (k + 2,): the histories of j labels are levels[j] : levels[j + 1]; the first has none
    rows: NDArray[np.int64]  # (k + 1,)
    begins: NDArray[np.int64]
    source: NDArray[np.uint32]  # the history that a step leaves; unsigned, so that indices need no sign test
    target: NDArray[np.uint32]  # the history that a step enters
    pair: NDArray[np.int32]  # the number of the label pair that a step ends with, -1 for a first step
    outs: NDArray[np.int64]  # the steps out of history h are out[outs[h] : outs[h + 1]]
    out: NDArray[np.uint32]  # see outs
    label: NDArray[np.uint32]  # the last label of every history
    ending: NDArray[np.int32]  # the number of the pair of its last two labels; -1 if it has fewer
    parts: NDArray[np.int32]  # (steps, k): the weights whose sum is a step's score; -1 for none
    ends: NDArray[np.int32]  # (histories, k): the same for an end
    closed: Array  # for each history: 0, or -inf if no sequence may end with it
    follow: NDArray[np.int32]  # (histories, K): the step that appends a label; -1 if it is not allowed


class Blocks(NamedTuple):
    """The steps between histories of k labels as small tables, one for each k - 1 labels in the middle.

    Block i has a row for each of the sources first[i] : first[i] + height[i] and `width[i]` columns, in the table from
    begin[i] on; its targets are target[columns[i] : columns[i + 1]].
    """

    first: NDArray[np.int64]
    height: NDArray[np.int64]
    width: NDArray[np.int64]  # at least 2: the length of vectors
    begin: NDArray[np.int64]
    columns: NDArray[np.int64]
    target: NDArray[np.uint32]
    label: NDArray[np.uint32]  # the last label of each target
    cell: NDArray[np.int64]  # the cell of every step in the table; -1 if it has none
    size: int  # the size of the table
    loose: NDArray[np.uint32]  # histories in no block: few or no steps lead to them


class PairRows(NamedTuple):
    """The features of every unit that have a weight for each pair of labels."""

    n_pairs: int  # 0 if there are none
    indptr: NDArray[np.int64]  # where the features of each unit begin
    places: NDArray[np.int64]  # the position of the first weight of each feature, among the weights of pairs
    values: Array  # the values of the features


class ScoredSteps(NamedTuple):
    """Steps with their scores, the scores of ends, and additional scores of pairs of labels."""

    steps: Steps  # the histories and steps
    each: Array  # the score of each step
    ends: Array  # the score of each history at the end of a sequence
    pairs: PairRows
    weights: Array  # the weights of features of pairs

    def times(self, factor: float) -> ScoredSteps:
        """Return the same steps with all scores multiplied by a number above 0."""
        return self._replace(each=factor * self.each, ends=factor * self.ends, weights=factor * self.weights)


class StepSums(NamedTuple):
    """Sums over sequences of their weights times the expected numbers of steps, ends and features of pairs."""

    steps: Array
    ends: Array
    pairs: Array


class HistoryScratch(NamedTuple):
    """Numbers that sums over histories compute once, and scratch arrays for sequences up to the longest one."""

    factors: Array  # exp(score - shift) of each step
    shift: float  # the largest score of a step
    rows: Array  # (3, steps or histories): scratch
    x: Array  # (pairs,): scores of pairs at one position
    X: Array  # (pairs,): masses of pairs at one position
    a: Array  # (longest + 1, histories): logarithms of masses before each position
    b: Array  # (longest + 1, histories): logarithms of masses after each position

    @classmethod
    def of(cls, scored: ScoredSteps, longest: int) -> HistoryScratch:
        """Compute the factors, and allocate the scratch arrays, for sequences of at most `longest` positions."""
        each, n = scored.each, len(scored.steps.label)
        shift = float(each.max()) if len(each) else 0.0
        rows, (x, X) = np.empty((3, max(len(each), n))), np.empty((2, scored.pairs.n_pairs))
        return cls(np.exp(each - shift), shift, rows, x, X, *np.empty((2, longest + 1, n)))
