"""Knapsack: the most valuable items within one capacity or several."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.structures.parts.optimisers.base import Optimiser
from maxmargin.structures.parts.optimisers.linear_program import LinearProgram

TABLE = 2**15  # entries of a table up to which dynamic programming is faster than search
LARGEST = 2**23  # entries of the largest table (of 8 bytes each) that replaces an unfinished search
LOOKS = 2**25  # steps of a search without such a table; an integer program takes about as long


class SearchScratch(NamedTuple):
    """Scratch arrays of the search, see compiled/knapsack.py."""

    left: np.ndarray  # the rest of each capacity
    stack: Index  # the things that are taken
    sums: Array  # the total value before each of them


class Knapsack(Optimiser):
    """0/1 knapsack with one capacity or several, solved exactly.

    Parts are items with a value c_i and one or several weights:

        max Σ_i c_i z_i      with  Σ_i weights[k, i] z_i <= capacity[k] for all k,  z_i in {0, 1}                    (1)

    Items of a value <= 0 are never taken. The algorithm depends on the sizes, see `method`.

    Parameters
    ----------
    weights : array of shape (items,) or (kinds, items)
        Whole numbers >= 0, one per item, or a row of them for every kind of weight.
    capacity : int or array of shape (kinds,)
        A whole number >= 0, or one for every kind of weight.

    See Also
    --------
    LinearProgram : Other constraints.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> optimisers.Knapsack([2, 3, 4], capacity=5)([3.0, 4.0, 5.0])
    array([1., 1., 0.])
    """

    n_parts: int
    sense = "max"

    def __init__(self, weights: Any, capacity: Any):
        self.weights = weights
        self.capacity = capacity
        self._weights = np.atleast_2d(_whole("weights", weights))
        self._capacities = np.atleast_1d(_whole("capacity", capacity))
        if self._weights.ndim != 2 or self._weights.shape[1] == 0:
            raise ValueError(
                f"weights have shape {np.shape(weights)}; expected one weight per item, or several rows of weights"
            )
        kinds, self.n_parts = self._weights.shape
        if self._capacities.shape != (kinds,):
            raise ValueError(
                f"capacity has shape {np.shape(capacity)}, but weights have shape {np.shape(weights)}; expected "
                f"{'a number' if kinds == 1 else f'{kinds} numbers, one for every row of weights'}"
            )

    @property
    def method(self) -> str:
        """The algorithm for (1).

        "table": dynamic programming over all capacities, if there are one or two of them and the table of items ×
        capacities is small. "search": depth-first branch and bound with a linear relaxation. Most searches are short;
        one that takes as long as a table would is replaced by that or, if the table is too large, by an integer program
        for HiGHS.
        """
        return "table" if self._cells <= TABLE else "search"

    @property
    def _cells(self) -> float:
        """The number of entries of a table; inf if there is none."""
        return float(self.n_parts * np.prod(self._capacities + 1.0)) if len(self._capacities) <= 2 else np.inf

    def solve(self, costs: Array) -> Array:
        return self.solve_rows(costs[None])[0]

    def solve_rows(self, costs: Array) -> Array:
        return self._by_table(costs) if self.method == "table" else self._by_search(costs)

    def check(self, z: Any) -> None:
        used = self._weights[:, self._chosen(z)].sum(axis=1)
        for k in np.flatnonzero(used > self._capacities):
            of = f" {k}" if len(used) > 1 else ""
            raise ValueError(f"z weighs {used[k]}, which is over the capacity{of} of {self._capacities[k]}; take less")

    def _by_table(self, costs: Array) -> Array:
        from maxmargin.structures.parts.optimisers.compiled.knapsack import fill_by_table

        one = len(self._capacities) == 1  # add a second capacity that no item uses
        weights = np.vstack([np.zeros_like(self._weights), self._weights]) if one else self._weights
        capacities = np.append(0, self._capacities) if one else self._capacities
        chosen = np.zeros(costs.shape)
        table = np.zeros((costs.shape[1] + 1, capacities[0] + 1, capacities[1] + 1))
        fill_by_table(costs, weights, capacities, table, chosen)
        return chosen

    def _by_search(self, costs: Array) -> Array:
        from maxmargin.structures.parts.optimisers.compiled.knapsack import fill_by_search

        tabled = self._cells <= LARGEST
        looks = int(self._cells) if tabled else LOOKS
        prices = 1 / np.maximum(self._capacities, 1)
        priced = prices @ self._weights
        useful = (self._weights <= self._capacities[:, None]).all(axis=0) & (costs > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(useful, costs / priced, -1.0)  # useless items come last
        order = np.argsort(-rates, axis=1, kind="stable")
        chosen, finished = np.zeros(costs.shape), np.empty(len(costs), dtype=np.bool_)
        n = costs.shape[1]
        scratch = SearchScratch(np.empty_like(self._capacities), np.empty(n, dtype=np.intp), np.empty(n))
        limits, counts = (self._weights, self._capacities, prices, priced), useful.sum(axis=1)
        fill_by_search(costs, *limits, order, counts, looks, scratch, chosen, finished)
        if not finished.all():
            rest = costs[~finished]
            chosen[~finished] = self._by_table(rest) if tabled else self._by_program(rest)
        return chosen

    def _by_program(self, costs: Array) -> Array:
        program = LinearProgram(self._weights, self._capacities, bounds=(0, 1), integrality=1, sense="max")
        chosen = program.solve_rows(costs)
        for z in chosen:
            self.check(z)  # large weights may exceed the tolerances of HiGHS
        return chosen


def _whole(name: str, given: Any) -> np.ndarray:
    """Return an array of whole numbers >= 0 after checking it."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be whole numbers >= 0, got {given!r}") from None
    good = np.isfinite(array) & (array >= 0) & (array == np.rint(array)) & (array < 2**53)
    if not good.all():
        found = array[~good][0]
        advice = ""
        if np.isfinite(found) and found > 0:
            advice = " (weights and capacities with decimals: multiply all by the same power of ten, and round)"
        raise ValueError(f"{name} must be whole numbers >= 0, but there is {found}{advice}")
    return array.astype(np.int64)
