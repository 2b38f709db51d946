"""WordCoverage: which words documents cover at which level, and the features of covering them.

At level l, document d contains word v if v stands in one of its fields at least so many times. With r the share of
candidate documents that contain v at that level, the importance of v has the features

    φ_l(v, x)_j = 1[r >= thresholds_j]                                  (Joachims et al. 2009, section 3.1)

and Ψ of a set of documents is the sum of φ_l(v, x) over all levels and all words that its documents contain there.
Words of the query, where it is known, are left out: candidates contain them because they were searched for.

Words of one level and one number of documents have the same φ, so that they are kept as *kinds*: a score per kind is
looked up per word, and Ψ is counted in kinds.
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
    """When a document is said to contain a word."""

    field: str = ANY  # or all fields together
    times: int = 1  # at least so often

    def __str__(self) -> str:
        return self.field if self.times == 1 else f"{self.field} {self.times}×"


declare(Level, {"field": Text(), "times": Whole(1)})


class WordCoverage:
    """The items that the documents of one query can cover, each a word at a level, as arrays of numbers."""

    def __init__(self, counts: WordCounts, levels: Sequence[Level], thresholds: Sequence[float]):
        n = self.n = len(counts)
        width = len(levels) * len(thresholds)
        parts, kinds, rows = [], [], [np.zeros((0, width))]
        for place, level in enumerate(levels):
            matrix = counts.counts(level.field)
            # once is any weight at all: a vectorizer may count in fractions
            contains = sparse.csr_array(matrix > 0 if level.times == 1 else matrix >= level.times)
            n_documents = np.bincount(contains.indices, minlength=contains.shape[1])
            if counts.query is not None:
                n_documents[counts.query] = 0
            own = np.flatnonzero(n_documents)
            parts.append(contains[:, own])
            numbers, kind = np.unique(n_documents[own], return_inverse=True)
            kinds.append(kind + sum(map(len, rows)))
            block = np.zeros((len(numbers), len(levels), len(thresholds)))
            least = np.asarray(thresholds) * n - 1e-9  # 0.15 of 100 documents are 15
            block[:, place] = numbers[:, None] >= least
            rows.append(block.reshape(len(numbers), width))
        joined = sparse.csr_array(sparse.hstack(parts, format="csr"))
        joined.sort_indices()
        self.indptr, self.items = joined.indptr.astype(np.int64), joined.indices.astype(np.int32)
        self.n_items = joined.shape[1]
        self.n_documents = np.bincount(self.items, minlength=self.n_items).astype(np.int64)
        self.kinds: NDArray[np.int64] = np.concatenate(kinds).astype(np.int64)
        self.table: Array = np.concatenate(rows)  # (kinds, levels · thresholds)
        self.features = counts.features

    def contents(self, document: int) -> NDArray[np.int32]:
        """The items of a document."""
        return self.items[self.indptr[document] : self.indptr[document + 1]]

    def values(self, w: Array) -> Array:
        """⟨w, φ⟩ of every item."""
        return np.asarray((self.table @ w[: self.table.shape[1]])[self.kinds])

    def base(self, w: Array) -> Array:
        """What every document is worth by itself."""
        return np.asarray(self.features @ w[self.table.shape[1] :])

    def psi(self, documents: Any) -> Array:
        """Ψ of a set of documents."""
        covered = np.unique(np.concatenate([self.contents(d) for d in documents]))
        counted = np.bincount(self.kinds[covered], minlength=len(self.table)).astype(float)
        return np.concatenate([counted @ self.table, self.features[list(documents)].sum(axis=0)])


def greedy_order(
    indptr: NDArray[np.int64], items: NDArray[np.int32], values: Array, base: Array, k: int
) -> NDArray[np.int64]:
    """The k documents that each add most to those before them."""
    from maxmargin.structures.diversity.compiled.coverage import greedy_cover

    order = np.empty(k, dtype=np.int64)
    greedy_cover(indptr, items, values, base, np.empty(len(values), dtype=np.int32), np.empty(len(base)), order)
    return order


def entropy(share: Array) -> Array:
    """-r log2 r, the importance of a word in a share r of all documents: little if it is rare, none if all have it."""
    return np.asarray(-share * np.log2(np.where(share > 0, share, 1.0)))
