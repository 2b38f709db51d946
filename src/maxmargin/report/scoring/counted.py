"""CountedMeasure: a measure that is a function of sums of counts over examples, so that resampling it is cheap."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from maxmargin.base.arrays import Array, Index


@runtime_checkable
class CountedMeasure(Protocol):
    """A measure of predictions that counts something in every example."""

    def counts(self, truth: Any, found: Any) -> Array:
        """Return (n, k) counts of the n examples."""

    def of_sums(self, sums: Array) -> Array:
        """Return (m,) values of the measure for (m, k) sums of counts; NaN where it is undefined."""


def in_documents(n: int, documents: Any) -> tuple[Index, int]:
    """Return the number of the document of each of n examples, and the number of documents.

    documents : an identifier for every example; None: every example is a document.
    """
    if documents is None:
        return np.arange(n), n
    numbers: dict[Any, int] = {}
    owners = np.array([numbers.setdefault(name, len(numbers)) for name in documents], dtype=np.intp)
    if len(owners) != n:
        raise ValueError(f"documents has {len(owners)} entries for {n} examples; expected one for every example")
    return owners, len(numbers)


def summed(counts: Array, owners: Index, n_documents: int) -> Array:
    """Return the sums of the counts of the examples of every document."""
    sums = np.zeros((n_documents, *counts.shape[1:]))
    np.add.at(sums, owners, counts)
    return sums
