"""Paths: the simple paths from a source to a sink through any other nodes in any order."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, poch

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.decoders.cycles import best_cycle
from maxmargin.counting.decoders.methods import SearchMethod, check_method
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.inner_arcs import InnerArcs
from maxmargin.counting.sets.items import Items, ItemsLike
from maxmargin.counting.sets.ordered_items import ordered_numbers
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.pair_set import PairSet
from maxmargin.counting.sets.scores import finite_scores


class _Chances(NamedTuple):
    """The probabilities of arcs and of pairs of arcs; u, v, x, y are different inner nodes."""

    direct: float  # s->t
    end: float  # s->v, or u->t
    inner: float  # u->v
    short: float  # s->v and v->t
    two: float  # s->v and v->y, or u->v and v->t, or s->v and x->t
    three: float  # u->v and v->y, or s->v and x->y, or u->v and y->t
    four: float  # u->v and x->y


class Paths(PairSet):
    """The set of all simple paths from a source to a sink in the complete digraph; φ has one coordinate per arc.

    With n inner nodes there are Σ_k n!/(n-k)! = n! Σ_j 1/j! paths. Their number k of inner nodes has the distribution
    P(k) ∝ 1/(n-k)!, and given k the path visits any k of the nodes in any order, so all probabilities of one and two
    arcs are expectations over k: E[(k-1)₊]/(n (n-1)) for an arc u -> v, E[(k-2)₊]/(n (n-1)(n-2)) for u -> v -> y, and
    so on.

    Renaming inner nodes changes nothing, so S has few eigenvalues, at most 8 (see inner_arcs.py).

    An output is the tuple of the nodes of a path, including source and sink. Samples are uniform.

    Parameters
    ----------
    nodes : int or iterable
        The number of nodes, or their names; the first is the source, the last the sink. Coordinates are in the order
        (0, 1), (0, 2) …, (1, 2), (1, 3) …, without arcs to the source or from the sink.
    method : str
        How the best path is searched, which is NP-hard. "exact": over all subsets of nodes, at most 19 inner nodes;
        "local": by exchanges, from several starts; "milp": an integer program, exact; "auto": "exact" for at most 14
        inner nodes, "local" beyond.

    Examples
    --------
    >>> from maxmargin.counting import Paths
    >>> Paths(["s", "a", "t"]).decode([1.0, 1.5, 1.0])
    DecodedOutput(y=('s', 'a', 't'), value=2.0, exact=True)

    See Also
    --------
    DagPaths : paths of an acyclic graph, decoded exactly.   maxmargin.RoutePredictor : learns routes.
    """

    def __init__(self, nodes: ItemsLike, method: SearchMethod = "auto"):
        self.nodes = nodes
        self.method = method
        check_method(method, self._n + 1)

    @property
    def dim(self) -> int:
        return self._n**2 + self._n + 1

    def log_size(self) -> float:
        return float(gammaln(self._n + 1) + np.log(_inverse_factorials(self._n).sum()))

    def mean(self) -> Array:
        arcs, chances = self._arcs, self._chances
        mean = np.full(self.dim, chances.end)
        mean[arcs.marked] = chances.direct
        mean[arcs.inner] = chances.inner
        return mean

    def cov_apply(self, F: Array) -> Array:
        F = np.asarray(F, dtype=np.float64)
        arcs, p, mean = self._arcs, self._chances, self.mean()
        from_source, to_sink = arcs.ends
        first, last, U = F[:, from_source], F[:, to_sink], arcs.matrices(F)
        out, into = U.sum(axis=2), U.sum(axis=1)
        total = out.sum(axis=1, keepdims=True)
        away = total - out - into  # arcs that are not incident to a node
        all_first, all_last = first.sum(axis=1, keepdims=True), last.sum(axis=1, keepdims=True)
        result = np.empty_like(F)
        result[:, arcs.marked] = p.direct * F[:, arcs.marked]
        result[:, from_source] = p.end * first + p.short * last + p.two * (all_last - last + out) + p.three * away
        result[:, to_sink] = p.end * last + p.short * first + p.two * (all_first - first + into) + p.three * away
        # u -> v with arcs into u, out of v (except v -> u), arcs that touch neither, s -> u, v -> t, and other ends.
        tails, heads = np.nonzero(~np.eye(self._n, dtype=bool))
        there, back = U[:, tails, heads], U[:, heads, tails]
        result[:, arcs.inner] = (
            p.inner * there
            + p.three * (out[:, heads] + into[:, tails] - 2 * back)
            + p.four * (away[:, tails] + away[:, heads] - total + there + back)
            + p.two * (first[:, tails] + last[:, heads])
            + p.three * (all_first - first[:, tails] - first[:, heads] + all_last - last[:, tails] - last[:, heads])
        )
        return result - np.outer(F @ mean, mean)

    def cov_spectrum(self) -> list[Eigenspace]:
        return self._arcs.spectrum(self.cov_apply)

    def features(self, y: Any) -> Array:
        numbers = ordered_numbers(self._items, y, "path")
        names = self._items.names
        if len(numbers) < 2 or numbers[0] != 0 or numbers[-1] != len(names) - 1:
            raise ValueError(f"{y!r} is not a path from {names[0]!r} to {names[-1]!r}; expected these as its ends")
        return indicator(self._numbers[numbers[:-1], numbers[1:]], self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        arcs, n = self._arcs, self._n
        y, exact = self._items.named([0, n + 1]), True
        if n:
            closed = np.zeros((n + 1, n + 1))  # source and sink become one node, so that paths are cycles through it
            closed[0, 1:], closed[1:, 0] = (f[places] for places in arcs.ends)
            closed[1:, 1:] = arcs.matrices(f[None])[0]
            cycle, exact = best_cycle(closed, 2, n + 1, self.method, front=True)
            if closed[cycle, [*cycle[1:], 0]].sum() > f[arcs.marked].sum():
                y = self._items.named([*cycle, n + 1])
        return DecodedOutput(y, float(self.features(y) @ f), exact)

    def outputs(self) -> Iterator[tuple[Hashable, ...]]:
        source, *inner, sink = self._items.names
        for k in range(self._n + 1):
            for between in permutations(inner, k):
                yield (source, *between, sink)

    def sample(self, rng: np.random.Generator) -> tuple[Hashable, ...]:
        k = int(rng.choice(self._n + 1, p=self._lengths))
        return self._items.named([0, *(1 + rng.permutation(self._n)[:k]), self._n + 1])

    # --- nodes and coordinates

    @cached_property
    def _items(self) -> Items:
        return Items(self.nodes, least=2, called="node")

    @property
    def _n(self) -> int:
        return len(self._items) - 2

    @cached_property
    def _numbers(self) -> Index:
        """An (n + 2, n + 2) array with the coordinate of every arc, -1 if there is none."""
        possible = ~np.eye(self._n + 2, dtype=bool)
        possible[:, 0] = possible[-1] = False
        numbers = np.full(possible.shape, -1, dtype=np.intp)
        numbers[possible] = np.arange(self.dim)
        return numbers

    @property
    def _ends(self) -> tuple[Index, Index]:
        tails, heads = np.nonzero(self._numbers >= 0)
        return tails, heads

    @cached_property
    def _arcs(self) -> InnerArcs:
        numbers, inner = self._numbers, self._numbers[1:-1, 1:-1]
        return InnerArcs(self._n, [int(numbers[0, -1])], [numbers[0, 1:-1], numbers[1:-1, -1]], inner[inner >= 0])

    # --- the law

    @cached_property
    def _lengths(self) -> Array:
        """The probabilities P(k), k = 0 … n."""
        inverse = _inverse_factorials(self._n)
        return inverse[::-1] / inverse.sum()

    @cached_property
    def _chances(self) -> _Chances:
        n, p, k = self._n, self._lengths, np.arange(self._n + 1)

        def chance(ways: Any, nodes: int) -> float:
            """Return E[ways] divided by the number of ordered choices of this many nodes; 0 if there are too few."""
            return float(p @ ways / poch(n - nodes + 1, nodes)) if n >= nodes else 0.0

        return _Chances(
            direct=float(p[0]),
            end=chance(k >= 1, 1),
            inner=chance(np.maximum(k - 1, 0), 2),
            short=chance(k == 1, 1),
            two=chance(k >= 2, 2),
            three=chance(np.maximum(k - 2, 0), 3),
            four=chance(np.maximum(k - 2, 0) * np.maximum(k - 3, 0), 4),
        )


def _inverse_factorials(n: int) -> Array:
    """Return 1/j! for j = 0 … n."""
    return np.exp(-gammaln(np.arange(n + 1) + 1.0))
