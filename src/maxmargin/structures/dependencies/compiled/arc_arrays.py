"""Named tuples of arrays for the kernels of arcs. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


class CodedSentences(NamedTuple):
    """Concatenated sentences; each begins with the root, whose form and tag have separate codes."""

    forms: NDArray[np.int64]  # codes of all forms
    tags: NDArray[np.int64]  # codes of all tags
    fine: NDArray[np.int64]  # codes of the second tags; empty if words have one
    starts: NDArray[np.int64]  # where the root of each sentence is
    lengths: NDArray[np.int64]  # the number of words of each sentence, without the root
    heads: NDArray[np.int64]  # the head of every word, like forms; -1 if the truth is not known
    labels: NDArray[np.int64]  # labels of the true arcs; -1 without labels


class KeyTable(NamedTuple):
    """A hash table of keys; see key_places.py."""

    slots: NDArray[np.uint64]  # the key in each slot, 0 if it is empty
    numbers: NDArray[np.int32]  # the coordinate of the weight of each key
    bits: int  # the logarithm of the number of slots or buckets


class ArcLayout(NamedTuple):
    """The positions of weights in w: first the weights of arcs, then rows with a weight for every label."""

    table: KeyTable  # weight positions of the features of arcs
    first: int  # where the rows of labels begin
    n_labels: int  # 0: arcs have no labels
    label_table: KeyTable  # rows of the features of labelled arcs


class KnownPlaces(NamedTuple):
    """The weight positions of all arcs; arc a has begins[a] : begins[a + 1]. The arrays are empty if not kept."""

    places: NDArray[np.uint32]  # the indices of the weights in w
    begins: NDArray[np.uint32]
    n_rows: NDArray[np.uint8]  # the number of positions of each arc that begin a row of labels; they come last
    first_arcs: NDArray[np.int64]  # the number of the first arc of every sentence


class ArcScratch(NamedTuple):
    """Scratch arrays for the features of one arc, and for the weight positions that are found."""

    between: NDArray[np.int64]  # tags between the two words
    keys: NDArray[np.uint64]  # the keys of the features of an arc
    places: NDArray[np.uint32] | NDArray[np.int32]  # weight positions of one arc, or of many arcs, concatenated


class LabelScores(NamedTuple):
    """Scratch arrays for the scores of L labels in sentences of up to n words."""

    dependents: Array  # (n + 1, 3, L): scores that a dependent has by itself, for each side of its head
    heads: Array  # (n + 1, 3, L): scores that a head has by itself
    row: Array  # (L,): scores of all labels of one arc
    ones: Array  # ones; the length is the largest number of rows of an arc

    @classmethod
    def of(cls, longest: int, n_labels: int, n_rows: int) -> LabelScores:
        """Allocate the arrays; sentences without labels need none."""
        shape = (longest + 1 if n_labels else 1, 3, n_labels)
        return cls(np.empty(shape), np.empty(shape), np.empty(n_labels), np.ones(n_rows))
