"""Arrays that the kernels of arcs share, by name. Without numba, so that Python can name them before it is loaded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


class CodedSentences(NamedTuple):
    """Sentences one after the other; each begins with the root, whose form and tag have codes of their own."""

    forms: NDArray[np.int64]  # codes of all forms
    tags: NDArray[np.int64]
    fine: NDArray[np.int64]  # codes of the second tags; empty if words have one
    starts: NDArray[np.int64]  # where the root of each sentence is
    lengths: NDArray[np.int64]  # the number of words of each sentence, without the root
    heads: NDArray[np.int64]  # the head of every word, like forms; -1 if the truth is not known
    labels: NDArray[np.int64]  # labels of the true arcs; -1 without labels


class KeyTable(NamedTuple):
    """A hash table of keys; see key_places.py."""

    slots: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    bits: int


class ArcLayout(NamedTuple):
    """The places of the weights of arcs in w: those of arcs themselves, then rows with a weight for every label."""

    table: KeyTable  # places of the features of arcs
    first: int  # where the rows of labels begin
    n_labels: int  # 0: arcs have no labels
    label_table: KeyTable  # rows of the features of labelled arcs


class KnownPlaces(NamedTuple):
    """The places of all arcs of all sentences, those of arc a at begins[a] : begins[a + 1]; all empty if not kept."""

    places: NDArray[np.uint32]
    begins: NDArray[np.uint32]
    n_rows: NDArray[np.uint8]  # the number of places of each arc, the last ones, that begin a row of labels
    first_arcs: NDArray[np.int64]  # the number of the first arc of every sentence


class ArcScratch(NamedTuple):
    """Scratch arrays for the features of one arc, and the places that are found."""

    between: NDArray[np.int64]  # tags between the two words
    keys: NDArray[np.uint64]
    places: NDArray[np.uint32] | NDArray[np.int32]  # places of one arc, or of many one after the other


class LabelScores(NamedTuple):
    """Scratch arrays for the scores of L labels in sentences of up to n words."""

    dependents: Array  # (n + 1, 3, L): scores that a dependent has by itself, for each side of its head
    heads: Array  # (n + 1, 3, L): scores that a head has by itself
    row: Array  # (L,)
    ones: Array  # as many ones as an arc has rows at most

    @classmethod
    def of(cls, longest: int, n_labels: int, n_rows: int) -> LabelScores:
        """Allocate the arrays; sentences without labels need none."""
        shape = (longest + 1 if n_labels else 1, 3, n_labels)
        return cls(np.empty(shape), np.empty(shape), np.empty(n_labels), np.ones(n_rows))
