"""Packed queries of Diversity, and the loss-augmented search for sets of documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.diversity.subtopics import Subtopics
from maxmargin.structures.diversity.target import target
from maxmargin.structures.diversity.word_coverage import WordCoverage, greedy_order

SWAP_ROUNDS = 10
BOUND_STEPS = 10  # steps of the subgradient method; more hardly lower the bound


class PackedQuery:
    """A packed query: the items that its documents cover (words, then subtopics), and its target."""

    def __init__(self, coverage: WordCoverage, subtopics: Subtopics, k: int):
        self.coverage, self.k = coverage, k
        self.truth = coverage.psi(target(coverage, subtopics, k))
        self.shares: Array = subtopics.weights / subtopics.total
        self.weights, self.total, self.best = subtopics.weights, subtopics.total, subtopics.most(k)
        self.most = self.best / self.total
        lengths = [len(each) for each in subtopics.numbers]
        topics = sparse.csr_array(
            (np.ones(sum(lengths)), np.concatenate(subtopics.numbers), np.append(0, np.cumsum(lengths))),
            shape=(coverage.n, len(self.shares)),
        )
        words = sparse.csr_array(
            (np.ones(len(coverage.items)), coverage.items, coverage.indptr), shape=(coverage.n, coverage.n_items)
        )
        joined = sparse.csr_array(sparse.hstack([words, topics], format="csr"))
        self.indptr, self.items = joined.indptr.astype(np.int64), joined.indices.astype(np.int32)
        self.n_documents = np.bincount(self.items, minlength=joined.shape[1]).astype(np.int64)

    def counts(self, order: NDArray[np.int64]) -> NDArray[np.int32]:
        """Count how many of these documents have each item."""
        items = [self.items[self.indptr[d] : self.indptr[d + 1]] for d in order]
        return np.bincount(np.concatenate(items), minlength=len(self.n_documents)).astype(np.int32)


class DiversityBatch(Batch):
    """Batch of queries whose outputs are sets of k documents."""

    call_cost = 200.0  # several passes through the words of all documents, against one visit of a plane

    def __init__(self, task: Any, queries: list[PackedQuery]):
        super().__init__(task, len(queries))
        self.queries = queries

    @property
    def method(self) -> str:
        return "greedy, improved by swaps"

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        dpsi, loss, upper = np.empty((len(self), self.dim)), np.empty(len(self)), np.empty(len(self))
        for j, (i, rate) in enumerate(zip(self.ids, lam, strict=True)):
            query = self.queries[i]
            found = best_set(w, query, float(rate))
            dpsi[j] = query.truth - found.psi
            loss[j] = found.loss
            height = rate * found.loss - dpsi[j] @ w
            most = found.bound + rate * query.most - query.truth @ w
            upper[j] = max(most, height)
        return Planes(dpsi, loss, upper)


class FoundSet(NamedTuple):
    """Result of a search for one query."""

    order: NDArray[np.int64]  # the numbers of the chosen documents
    psi: Array  # Ψ of the set
    loss: float  # its loss
    bound: float  # upper bound on ⟨w, Ψ⟩ - λ · share of subtopics covered, over all sets


def best_set(w: Array, query: PackedQuery, lam: float) -> FoundSet:
    """Search for the set with the highest ⟨w, Ψ⟩ + λΔ: a covered word has a value, a covered subtopic a cost."""
    from maxmargin.structures.diversity.compiled.coverage import cover_bound, swap_documents

    coverage = query.coverage
    values, base = np.concatenate([coverage.values(w), -lam * query.shares]), coverage.base(w)
    order = greedy_order(query.indptr, query.items, values, base, query.k)
    counts = query.counts(order)
    chosen = np.empty(coverage.n, dtype=np.int8)
    swap_documents(query.indptr, query.items, values, base, counts, chosen, order, SWAP_ROUNDS)
    covered = counts > 0
    kinds = np.bincount(coverage.kinds[covered[: coverage.n_items]], minlength=len(coverage.table)).astype(float)
    psi = np.concatenate([kinds @ coverage.table, coverage.features[order].sum(axis=0)])
    loss = (query.best - int(query.weights[covered[coverage.n_items :]].sum())) / query.total
    worth = float(base[order].sum() + values[covered].sum())
    scratch = np.empty(len(values)), counts, np.empty(query.k), np.empty(query.k, dtype=np.int64)
    bound = cover_bound(query.indptr, query.items, values, base, query.n_documents, worth, BOUND_STEPS, *scratch)
    return FoundSet(order, psi, loss, float(bound))
