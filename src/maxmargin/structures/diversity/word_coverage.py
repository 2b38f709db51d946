"""WordCoverage: the words that documents cover at each level, and the features of covering them.

At level l, document d contains word v if v occurs in the field of that level at least a given number of times. With r
the share of candidate documents that contain v at that level, the importance of v has the features

    φ_l(v, x)_j = 1[r >= thresholds_j]                                  (Joachims et al. 2009, section 3.1)

and Ψ of a set of documents is the sum of φ_l(v, x) over all levels and all words that its documents contain there.
Words of the query, if it is known, are left out: candidates contain them because they were searched for.

Words of one level that occur in equally many documents have the same φ and form one *kind*: scores are computed per
kind and looked up per word, and Ψ is a sum over kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Text, Whole
from maxmargin.base.files.objects import declare
from maxmargin.structures.diversity.documents import ANY, WordCounts


class Level(NamedTuple):
    """Condition under which a document contains a word: it occurs in this field at least this many times."""

    field: str = ANY
    times: int = 1

    def __str__(self) -> str:
        return self.field if self.times == 1 else f"{self.field} {self.times}×"


declare(Level, {"field": Text(), "times": Whole(1)})


class WordCoverage:
    """Items (words at a level) that the documents of one query can cover, as flat arrays."""

    def __init__(self, counts: WordCounts, levels: Sequence[Level], thresholds: Sequence[float]):
        n = self.n = len(counts)
        width = len(levels) * len(thresholds)
        blocks, kinds, rows = [], [], [np.zeros((0, width))]
        for number, level in enumerate(levels):
            matrix = counts.counts(level.field)
            # any positive value counts as once, because a vectorizer may return fractions
            contains = sparse.csr_array(matrix > 0 if level.times == 1 else matrix >= level.times)
            n_documents = np.bincount(contains.indices, minlength=contains.shape[1])
            if counts.query is not None:
                n_documents[counts.query] = 0
            own = np.flatnonzero(n_documents)
            blocks.append(contains[:, own])
            numbers, kind = np.unique(n_documents[own], return_inverse=True)
            kinds.append(kind + sum(map(len, rows)))
            block = np.zeros((len(numbers), len(levels), len(thresholds)))
            least = np.asarray(thresholds) * n - 1e-9  # in floating point, 0.15 · 100 may exceed 15
            block[:, number] = numbers[:, None] >= least
            rows.append(block.reshape(len(numbers), width))
        joined = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        joined.sort_indices()
        self.indptr, self.items = joined.indptr.astype(np.int64), joined.indices.astype(np.int32)
        self.n_items = joined.shape[1]
        self.n_documents = np.bincount(self.items, minlength=self.n_items).astype(np.int64)
        self.kinds: NDArray[np.int64] = np.concatenate(kinds).astype(np.int64)
        self.table: Array = np.concatenate(rows)  # (kinds, levels · thresholds)
        self.features = counts.features

    def contents(self, document: int) -> NDArray[np.int32]:
        """Return the items of a document."""
        return self.items[self.indptr[document] : self.indptr[document + 1]]

    def values(self, w: Array) -> Array:
        """Compute ⟨w, φ⟩ of every item."""
        return np.asarray((self.table @ w[: self.table.shape[1]])[self.kinds])

    def base(self, w: Array) -> Array:
        """Compute the score of every document's own features."""
        return np.asarray(self.features @ w[self.table.shape[1] :])

    def psi(self, documents: Any) -> Array:
        """Compute Ψ of a set of documents."""
        covered = np.unique(np.concatenate([self.contents(d) for d in documents]))
        counted = np.bincount(self.kinds[covered], minlength=len(self.table)).astype(float)
        return np.concatenate([counted @ self.table, self.features[list(documents)].sum(axis=0)])


def greedy_order(
    indptr: NDArray[np.int64], items: NDArray[np.int32], values: Array, base: Array, k: int
) -> NDArray[np.int64]:
    """Choose k documents greedily, each the one that adds most to those before it."""
    from maxmargin.structures.diversity.compiled.coverage import greedy_cover

    order = np.empty(k, dtype=np.int64)
    greedy_cover(indptr, items, values, base, np.empty(len(values), dtype=np.int32), np.empty(len(base)), order)
    return order


def entropy(share: Array) -> Array:
    """Compute -r log2 r, the importance of a word in a share r of all documents: low if it is rare, 0 if r = 1."""
    return np.asarray(-share * np.log2(np.where(share > 0, share, 1.0)))
