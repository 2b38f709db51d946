"""Subsets of items: all of them, or those of one size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from math import log
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.item_set import ItemSet
from maxmargin.counting.sets.items import Items, ItemsLike, whole_number
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace, OutputSet
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.counting.sets.spectra import Subspace, averaged, centred, distinct


class AllIndicators(OutputSet):
    """An output set in which every 0/1 vector is φ of one output, so that coordinates are independent."""

    indicators = True

    def log_size(self) -> float:
        return self.dim * log(2.0)

    def mean(self) -> Array:
        return np.full(self.dim, 0.5)

    def cov_apply(self, F: Array) -> Array:
        return F / 4

    def cov_spectrum(self) -> list[Eigenspace]:
        return [Eigenspace(0.25, lambda rows: rows)]


class SubsetOutputs(ItemSet):
    """An output set whose outputs are all subsets of items, as frozensets."""

    def log_size(self) -> float:
        return len(self._items) * log(2.0)

    def outputs(self) -> Iterator[frozenset]:
        for size in range(len(self._items) + 1):
            yield from map(frozenset, combinations(self._items.names, size))

    def sample(self, rng: np.random.Generator) -> frozenset:
        return frozenset(self._items.named(np.flatnonzero(rng.random(len(self._items)) < 0.5)))


class SizedSubsetOutputs(ItemSet):
    """An output set whose outputs are all subsets of `size` items, as frozensets."""

    size: int

    def _check_size(self, items: Items, least: int, called: str) -> None:
        whole_number(self.size, "size", least, len(items), f"the number of {called} is {len(items)}")

    def log_size(self) -> float:
        return log_choose(len(self._items), self.size)

    def outputs(self) -> Iterator[frozenset]:
        return map(frozenset, combinations(self._items.names, self.size))

    def sample(self, rng: np.random.Generator) -> frozenset:
        return frozenset(self._items.named(rng.choice(len(self._items), self.size, replace=False)))


class AllSubsets(SubsetOutputs, AllIndicators):
    """The set of all 2^d subsets of d items, φ their indicators (Gärtner and Vembu 2009, section 5.1).

        μ = 1/2,     S = I/4.

    Parameters
    ----------
    items : int or iterable
        The number of items or their names. Outputs are frozensets of items.

    Examples
    --------
    >>> from maxmargin.counting import AllSubsets
    >>> AllSubsets(["a", "b"]).decode([1.0, -1.0])
    DecodedOutput(y=frozenset({'a'}), value=1.0, exact=True)

    See Also
    --------
    Subsets : subsets of one size.   maxmargin.CountingMultilabel : learns subsets of labels.
    """

    def __init__(self, items: ItemsLike):
        self.items = items
        _ = self._items

    @cached_property
    def _items(self) -> Items:
        return Items(self.items, least=1)

    def features(self, y: Any) -> Array:
        return indicator(self._items.numbers(y, "subset"), self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        chosen = np.flatnonzero(np.asarray(f) > 0)
        return DecodedOutput(frozenset(self._items.named(chosen)), float(np.sum(f[chosen])), True)


class Subsets(SizedSubsetOutputs):
    """The set of all subsets of l of d items, φ their indicators (Gärtner and Vembu 2009, section 5.1).

        μ = l/d,     S = a (I - 11ᵀ/d),  a = l (d-l) / (d (d-1)).

    C(d-1, l-1) outputs contain a given item and C(d-2, l-2) two given ones, so |Y| M = C(d-2, l-2) 11ᵀ + C(d-2, l-1) I;
    the last binomial is printed as C(d-1, l-1) in the paper, which is correct for l = 1 only.

    Parameters
    ----------
    items : int or iterable
        The number of items or their names. Outputs are frozensets of items.
    size : int
        L, the number of items of an output.

    Examples
    --------
    >>> from maxmargin.counting import Subsets
    >>> sorted(Subsets(3, 2).decode([1.0, -1.0, 2.0]).y)
    [0, 2]

    See Also
    --------
    AllSubsets : subsets of any size.
    """

    def __init__(self, items: ItemsLike, size: int):
        self.items = items
        self.size = size
        _ = self._items

    @cached_property
    def _items(self) -> Items:
        items = Items(self.items, least=1)
        self._check_size(items, 0, "items")
        return items

    def mean(self) -> Array:
        return np.full(self.dim, self.size / self.dim)

    @property
    def _variance(self) -> float:
        d, size = self.dim, self.size
        return size * (d - size) / (d * (d - 1)) if d > 1 else 0.0

    def cov_apply(self, F: Array) -> Array:
        return self._variance * centred(F)

    def cov_spectrum(self) -> list[Eigenspace]:
        return distinct([Subspace(self._variance, self.dim - 1, centred), Subspace(0.0, 1, averaged)])

    def features(self, y: Any) -> Array:
        chosen = self._items.numbers(y, "subset")
        if len(chosen) != self.size:
            raise ValueError(f"the subset has {len(chosen)} items; expected {self.size}")
        return indicator(chosen, self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        chosen = np.sort(np.argsort(-np.asarray(f), kind="stable")[: self.size])
        return DecodedOutput(frozenset(self._items.named(chosen)), float(np.sum(f[chosen])), True)


def log_choose(n: int, k: int) -> float:
    """Return the log of the number of k-subsets of n items."""
    k = min(k, n - k)
    return float(np.log(np.arange(n - k + 1, n + 1) / np.arange(1, k + 1)).sum())
