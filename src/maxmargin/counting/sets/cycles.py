"""Sets of cycles: through any three or more items, and through all items.

A cycle is written as the tuple of its items in order, beginning with any of them; the first follows the last. Decoders
and enumerations begin with the smallest item in the order of the set; if direction does not matter, they continue with
the smaller one of its two neighbours.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np
from scipy.special import gammaln, rgamma

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.decoders.cycles import best_cycle
from maxmargin.counting.decoders.methods import SearchMethod, check_method
from maxmargin.counting.sets.complete_digraph import ArcEigenvalues, CompleteDigraph, complete_digraph
from maxmargin.counting.sets.complete_graph import CompleteGraph, EdgeEigenvalues
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.items import ItemsLike
from maxmargin.counting.sets.ordered_items import ordered_numbers
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.pair_set import ItemPairSet
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.counting.sets.signed_pairs import SignedPairs, signed_pairs

LEAST = 3  # the fewest items of a cycle


class CyclicPermutations(ItemPairSet):
    """The set of all directed cycles through three or more of n items (Gärtner and Vembu 2009, Sect. 4.2: routes).

        signed:      φ_uv(y) = +1 if v follows u, -1 if u follows v, 0 otherwise,    u < v                          (1)
        not signed:  φ_uv(y) = 1 if v follows u, 0 otherwise,                        u != v                         (2)

    There are N! Z of them, Z = Σ_{i=3}^N 1/((N-i)! i). A pair is adjacent in a share p2 of all cycles, and three items
    follow each other as u, v, w or as w, v, u in a share p3, where with E_k = Σ_{j<=k} 1/j!

        p3 = 2 E_{N-3} / (N (N-1) (N-2) Z),       p2 = (N-2) p3.                                                    (3)

    A cycle enters every item as often as it leaves it. So the covariance of (1), whose mean is 0, has the eigenvalue
    N p3 on circulations and 0 on gradients. That of (2), whose mean is p2/2, has N p3 / 2 on circulations, 0 on
    gradients; on constants the variance of the length of a cycle over N (N-1), on functions g_u + g_v with Σ g = 0

        2 E_{N-4} / (N (N-1) (N-2) Z),                                                                              (4)

    and p2/2 minus (4) / (N-3) on all other symmetric functions.

    Parameters
    ----------
    items : int or iterable
        The number of items, or their names.
    signed : bool
        Whether features are (1) or (2).
    method : str
        How the best cycle is searched, which is NP-hard (ibid., Sect. 3.3). "exact": over all subsets, at most 20
        items; "local": single changes, from several starts; "milp": an integer program, exact, a matter of seconds for
        20 to 25 items; "auto": "exact" for at most 15 items, "local" beyond.

    Examples
    --------
    >>> from maxmargin.counting import CyclicPermutations
    >>> CyclicPermutations(3, signed=False).decode([1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    DecodedOutput(y=(0, 1, 2), value=3.0, exact=True)

    See Also
    --------
    HamiltonianCycles : cycles through all items.   maxmargin.RoutePredictor : learns routes.
    """

    least = LEAST

    def __init__(self, items: ItemsLike, signed: bool = True, method: SearchMethod = "auto"):
        self.items = items
        self.signed = signed
        self.method = method
        check_method(method, len(self._items))

    @property
    def repeats(self) -> int:  # type: ignore[override]
        """2 for signed features, which have one coordinate for both directions; otherwise 1."""
        return 2 if self.signed else 1

    @property
    def _pairs(self) -> SignedPairs | CompleteDigraph:
        size = len(self._items)
        return signed_pairs(size) if self.signed else complete_digraph(size)

    def log_size(self) -> float:
        n = len(self._items)
        return float(gammaln(n + 1.0) + np.log(_length_weights(n).sum()))

    def shares(self) -> tuple[float, float]:
        """Return p2 and p3 of (3)."""
        n = len(self._items)
        p3 = 2 * _inverse_factorials(n - 3) / (n * (n - 1) * (n - 2) * float(_length_weights(n).sum()))
        return (n - 2) * p3, p3

    def mean_square(self) -> float:
        return float(len(self._items))  # the most arcs of a cycle

    def mean(self) -> Array:
        return np.full(self.dim, 0.0 if self.signed else self.shares()[0] / 2)

    def cov_apply(self, F: Array) -> Array:
        pairs = self._pairs
        if isinstance(pairs, SignedPairs):
            return pairs.cov_apply(F, 0.0, pairs.n * self.shares()[1])
        return pairs.cov_apply(F, self._eigenvalues())

    def cov_spectrum(self) -> list[Eigenspace]:
        pairs = self._pairs
        if isinstance(pairs, SignedPairs):
            return pairs.spectrum(0.0, pairs.n * self.shares()[1])
        return pairs.spectrum(self._eigenvalues())

    def _eigenvalues(self) -> ArcEigenvalues:
        n, (p2, p3) = len(self._items), self.shares()
        lengths, weights = np.arange(LEAST, n + 1), _length_weights(n)
        weights = weights / weights.sum()
        spread = float(weights @ (lengths - weights @ lengths) ** 2) / (n * (n - 1))
        items = p3 * _inverse_factorials(n - 4) / _inverse_factorials(n - 3)
        rest = p2 / 2 - items / max(n - 3, 1)  # for n = 3 this space is empty
        return ArcEigenvalues(EdgeEigenvalues(spread, items, rest), 0.0, n * p3 / 2)

    def features(self, y: Any) -> Array:
        numbers = ordered_numbers(self._items, y, "cycle")
        if len(numbers) < LEAST:
            raise ValueError(f"the cycle has {len(numbers)} items; expected at least {LEAST}")
        return self._pairs.of_arcs(*_steps(numbers))

    def decode(self, f: Array) -> DecodedOutput:
        n, f = len(self._items), finite_scores(f, self.dim)
        found, exact = best_cycle(self._pairs.matrix(f), LEAST, n, self.method)
        y = self._items.named(_from_smallest(found))
        return DecodedOutput(y, float(self.features(y) @ f), exact)

    def outputs(self) -> Iterator[tuple[Hashable, ...]]:
        names = self._items.names
        for size in range(LEAST, len(names) + 1):
            for chosen in combinations(names, size):
                for rest in permutations(chosen[1:]):
                    yield (chosen[0], *rest)

    def sample(self, rng: np.random.Generator) -> tuple[Hashable, ...]:
        """Draw a uniform cycle."""
        items = self._items
        weights = _length_weights(len(items))
        size = int(rng.choice(np.arange(LEAST, len(items) + 1), p=weights / weights.sum()))
        return items.named(_from_smallest(rng.permutation(len(items))[:size].tolist()))


class HamiltonianCycles(ItemPairSet):
    """The set of all cycles through all n items.

        not directed:  φ_uv(y) = 1 if u and v are neighbours, 0 otherwise,           u < v                          (1)
        directed:      φ_uv(y) = 1 if v follows u, 0 otherwise,                      u != v                         (2)
        signed:        φ_uv(y) = +1 if v follows u, -1 if u follows v, 0 otherwise,  u < v                          (3)

    Every item has two neighbours, so the covariance of (1), with mean 2/(n-1), has the eigenvalue 0 on all functions
    g_u + g_v, and 2/(n-1) on those whose sums at all items are 0. For (2), with mean 1/(n-1), the eigenvalues are
    1/(n-1) on the symmetric ones of these, n/((n-1)(n-2)) on circulations, 0 elsewhere; for (3), with mean 0, they are
    2n/((n-1)(n-2)) on circulations, 0 on gradients.

    Parameters
    ----------
    items : int or iterable
        The number of items, or their names.
    directed : bool
        Whether a cycle and its reverse are different outputs.
    signed : bool
        Whether directed cycles have the features (3).
    method : str
        As for CyclicPermutations. The search is a travelling salesman problem.

    Examples
    --------
    >>> from maxmargin.counting import HamiltonianCycles
    >>> HamiltonianCycles(4).decode([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    DecodedOutput(y=(0, 1, 2, 3), value=4.0, exact=True)

    See Also
    --------
    CyclicPermutations : cycles through some of the items.
    """

    least = LEAST

    def __init__(self, items: ItemsLike, directed: bool = False, signed: bool = False, method: SearchMethod = "auto"):
        self.items = items
        self.directed = directed
        self.signed = signed
        self.method = method
        if signed and not directed:
            raise ValueError(
                "signed features depend on the direction of a cycle; expected directed=True with signed=True"
            )
        check_method(method, len(self._items))

    @property
    def repeats(self) -> int:  # type: ignore[override]
        """2 for signed features, which have one coordinate for both directions; otherwise 1."""
        return 2 if self.signed else 1

    @property
    def _pairs(self) -> SignedPairs | CompleteDigraph | CompleteGraph:
        size = len(self._items)
        if self.signed:
            return signed_pairs(size)
        return complete_digraph(size) if self.directed else signed_pairs(size).graph

    def log_size(self) -> float:
        return float(gammaln(len(self._items)) - (0.0 if self.directed else np.log(2.0)))

    def mean_square(self) -> float:
        return float(len(self._items))  # the most arcs of a cycle

    def mean(self) -> Array:
        share = 1 / (len(self._items) - 1)
        return np.full(self.dim, 0.0 if self.signed else share if self.directed else 2 * share)

    def cov_apply(self, F: Array) -> Array:
        pairs, n = self._pairs, len(self._items)
        turning = n / ((n - 1) * (n - 2))
        if isinstance(pairs, SignedPairs):
            return pairs.cov_apply(F, 0.0, 2 * turning)
        if isinstance(pairs, CompleteDigraph):
            return pairs.cov_apply(F, ArcEigenvalues(EdgeEigenvalues(0.0, 0.0, 1 / (n - 1)), 0.0, turning))
        return pairs.cov_apply(F, EdgeEigenvalues(0.0, 0.0, 2 / (n - 1)))

    def cov_spectrum(self) -> list[Eigenspace]:
        pairs, n = self._pairs, len(self._items)
        turning = n / ((n - 1) * (n - 2))
        if isinstance(pairs, SignedPairs):
            return pairs.spectrum(0.0, 2 * turning)
        if isinstance(pairs, CompleteDigraph):
            return pairs.spectrum(ArcEigenvalues(EdgeEigenvalues(0.0, 0.0, 1 / (n - 1)), 0.0, turning))
        return pairs.spectrum(EdgeEigenvalues(0.0, 0.0, 2 / (n - 1)))

    def features(self, y: Any) -> Array:
        numbers = ordered_numbers(self._items, y, "cycle", all_of_them=True)
        pairs, (tails, heads) = self._pairs, _steps(numbers)
        if isinstance(pairs, CompleteGraph):
            return indicator(pairs.number(tails, heads), len(pairs))
        return pairs.of_arcs(tails, heads)

    def decode(self, f: Array) -> DecodedOutput:
        n, f = len(self._items), finite_scores(f, self.dim)
        found, exact = best_cycle(self._pairs.matrix(f), n, n, self.method)
        y = self._items.named(self._canonical(found))
        return DecodedOutput(y, float(self.features(y) @ f), exact)

    def outputs(self) -> Iterator[tuple[Hashable, ...]]:
        n = len(self._items)
        for rest in permutations(range(1, n)):
            if self.directed or rest[0] < rest[-1]:
                yield self._items.named((0, *rest))

    def sample(self, rng: np.random.Generator) -> tuple[Hashable, ...]:
        """Draw a uniform cycle."""
        return self._items.named(self._canonical(rng.permutation(len(self._items)).tolist()))

    def _canonical(self, cycle: list[int]) -> list[int]:
        turned = _from_smallest(cycle)
        return turned if self.directed or turned[1] < turned[-1] else [turned[0], *turned[:0:-1]]


def _length_weights(n: int) -> Array:
    """Return the number of cycles of 3 … n items, divided by n!."""
    lengths = np.arange(LEAST, n + 1)
    return np.asarray(rgamma(n - lengths + 1.0) / lengths)


def _inverse_factorials(k: int) -> float:
    """Return E_k = Σ_{j<=k} 1/j!, 0 for k < 0."""
    return float(rgamma(np.arange(k + 1) + 1.0).sum())


def _steps(numbers: list[int]) -> tuple[Index, Index]:
    """Return the arcs of a cycle as tails and heads."""
    tails = np.array(numbers, dtype=np.intp)
    return tails, np.roll(tails, -1)


def _from_smallest(cycle: list[int]) -> list[int]:
    at = cycle.index(min(cycle))
    return [*cycle[at:], *cycle[:at]]
