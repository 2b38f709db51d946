"""Sets of orders: all permutations of items, and all partial tournaments."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
from scipy.special import gammaln

from maxmargin.base.arrays import Array
from maxmargin.counting.decoders.linear_order import best_order
from maxmargin.counting.decoders.methods import SearchMethod, check_method
from maxmargin.counting.sets.items import ItemsLike, collection, is_pair
from maxmargin.counting.sets.ordered_items import ordered_numbers
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.pair_set import ItemPairSet
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.counting.sets.signed_pairs import SignedPairs, signed_pairs


class Permutations(ItemPairSet):
    """The set of all orders of n items; an output is a tuple of all items from first to last.

        φ_uv(y) = +1 if u comes before v, -1 otherwise,        u < v,

    (Gärtner and Vembu 2009, Sect. 5.3, with one coordinate for both (u, v) and (v, u)). The mean is 0. The covariance
    is 1 for equal pairs, ±1/3 for pairs with one item in common, and 0 for others. Its eigenvalues are (n+1)/3 on the
    functions g_u - g_v, and 1/3 on the functions whose sums over v are 0.

    Parameters
    ----------
    items : int or iterable
        The number of items, or their names.
    method : str
        The search for the best order, which is the NP-hard linear ordering problem. "exact" is a dynamic program over
        all sets of first items, for at most 20 items. "local" moves single items, from several starts. "milp" solves an
        integer program exactly; 20 items without a clear order take a second, and more items are slow. "auto" is
        "exact" for at most 15 items and "local" for more.

    Examples
    --------
    >>> from maxmargin.counting import Permutations
    >>> Permutations(["a", "b", "c"]).decode([1.0, -1.0, 1.0])
    DecodedOutput(y=('a', 'b', 'c'), value=1.0, exact=True)

    See Also
    --------
    PartialTournaments : a relaxation that decodes each pair of items separately.
    """

    repeats = 2

    def __init__(self, items: ItemsLike, method: SearchMethod = "auto"):
        self.items = items
        self.method = method
        check_method(method, len(self._items))

    @property
    def _pairs(self) -> SignedPairs:
        return signed_pairs(len(self._items))

    def log_size(self) -> float:
        return float(gammaln(len(self._items) + 1.0))

    def mean_square(self) -> float:
        return float(self.dim)  # features are 1, 0 or -1

    def mean(self) -> Array:
        return np.zeros(self.dim)

    def cov_apply(self, F: Array) -> Array:
        pairs = self._pairs
        return pairs.cov_apply(F, (pairs.n + 1) / 3, 1 / 3)

    def cov_spectrum(self) -> list[Eigenspace]:
        pairs = self._pairs
        return pairs.spectrum((pairs.n + 1) / 3, 1 / 3)

    def features(self, y: Any) -> Array:
        items = self._items
        numbers = ordered_numbers(items, y, "order", all_of_them=True)
        pairs = self._pairs
        place = np.empty(len(items), dtype=np.intp)
        place[numbers] = np.arange(len(items))
        return np.where(place[pairs.graph.tails] < place[pairs.graph.heads], 1.0, -1.0)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        order, exact = best_order(self._pairs.matrix(f), self.method)
        y = self._items.named(order)
        return DecodedOutput(y, float(self.features(y) @ f), exact)

    def outputs(self) -> Iterator[tuple[Hashable, ...]]:
        return permutations(self._items.names)

    def sample(self, rng: np.random.Generator) -> tuple[Hashable, ...]:
        """Draw a uniform order."""
        items = self._items
        return items.named(rng.permutation(len(items)).tolist())


class PartialTournaments(ItemPairSet):
    """The set of all partial tournaments: for every pair of n items, u before v, v before u, or neither.

    An output is a frozenset of pairs (u, v), each of which says that u comes before v; at most one of (u, v) and (v, u)
    is in it.

        φ_uv(y) = +1 if (u, v) in y, -1 if (v, u) in y, 0 otherwise,        u < v

    (Gärtner and Vembu 2009, Sect. 5.4: a relaxation of partial orders). Pairs are independent, so the mean is 0 and
    the covariance is 2/3 times the identity. (For pairs with an item in common, the paper prints other values than 0.)

    Parameters
    ----------
    items : int or iterable
        The number of items, or their names.

    Examples
    --------
    >>> from maxmargin.counting import PartialTournaments
    >>> sorted(PartialTournaments(3).decode([1.0, 0.0, -2.0]).y)
    [(0, 1), (2, 1)]

    See Also
    --------
    Permutations : complete orders.
    """

    repeats = 2

    def __init__(self, items: ItemsLike):
        self.items = items
        _ = self._items  # raises an error if there is no pair of items

    @property
    def _pairs(self) -> SignedPairs:
        return signed_pairs(len(self._items))

    def log_size(self) -> float:
        return float(self.dim * np.log(3.0))

    def mean_square(self) -> float:
        return float(self.dim)  # features are 1, 0 or -1

    def mean(self) -> Array:
        return np.zeros(self.dim)

    def cov_apply(self, F: Array) -> Array:
        return np.asarray(F, dtype=np.float64) * (2 / 3)

    def cov_spectrum(self) -> list[Eigenspace]:
        return [Eigenspace(2 / 3, lambda rows: np.array(rows, dtype=np.float64))]

    def features(self, y: Any) -> Array:
        items, pairs = self._items, self._pairs
        phi = np.zeros(len(pairs))
        for pair in collection(y, "partial tournament", "pair"):
            if isinstance(pair, set | frozenset) or not is_pair(pair):
                raise ValueError(f"{pair!r} is not a pair; expected (u, v), which says that u comes before v")
            u, v = (items.number(each) for each in pair)
            if u == v:
                raise ValueError(f"the pair {tuple(pair)!r} compares an item with itself; expected two different items")
            place = pairs.graph.number(u, v)
            if phi[place]:
                raise ValueError(f"the pair {tuple(pair)!r} is given twice or in both orders; expected every pair once")
            phi[place] = 1.0 if u < v else -1.0
        return phi

    def decode(self, f: Array) -> DecodedOutput:
        """Return the sign of every f_uv; pairs with f_uv = 0 are left out."""
        f = finite_scores(f, self.dim)
        y = self._named(np.sign(f))
        return DecodedOutput(y, float(self.features(y) @ f), True)

    def outputs(self) -> Iterator[frozenset[tuple[Hashable, Hashable]]]:
        return (self._named(np.array(signs)) for signs in product((0, 1, -1), repeat=self.dim))

    def sample(self, rng: np.random.Generator) -> frozenset[tuple[Hashable, Hashable]]:
        """Draw a uniform partial tournament."""
        return self._named(rng.integers(-1, 2, self.dim))

    def _named(self, signs: Any) -> frozenset[tuple[Hashable, Hashable]]:
        names, graph = self._items.names, self._pairs.graph
        directed = ((e, 0) if signs[e] > 0 else (e, 1) for e in np.flatnonzero(signs))
        return frozenset(
            (names[(graph.tails, graph.heads)[turned][e]], names[(graph.heads, graph.tails)[turned][e]])
            for e, turned in directed
        )
