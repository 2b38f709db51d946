"""DagPaths: the paths from a source to a sink in a graph without cycles."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu
from scipy.special import logsumexp

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.items import Items, is_pair
from maxmargin.counting.sets.ordered_items import ordered_numbers
from maxmargin.counting.sets.output_set import DecodedOutput
from maxmargin.counting.sets.pair_set import PairSet
from maxmargin.counting.sets.scores import finite_scores

Arc = tuple[Hashable, Hashable]


class _Graph(NamedTuple):
    """A graph whose nodes are in topological order: every arc leads from a smaller to a larger number."""

    nodes: Items
    tails: Index  # (d,) the node where each arc begins
    heads: Index  # (d,) the node where each arc ends
    numbers: dict[tuple[int, int], int]  # the coordinate of every arc
    source: int  # the number of the node at which paths begin
    sink: int  # the number of the node at which paths end


class _Chain(NamedTuple):
    """Uniform paths as a Markov chain, which steps from u to v with probability B_v / B_u."""

    log_size: float  # the logarithm of the number of paths
    going: NDArray[np.bool_]  # (d,) whether a path to the sink continues along the arc
    steps: Array  # (d,) the probability T of stepping along every arc; 0 if no path to the sink uses it
    visits: Array  # (n,) P(u is on the path)
    onward: sparse.csc_array  # I - T


class DagPaths(PairSet):
    """The set of all paths from a source to a sink along the arcs of an acyclic graph; φ has one coordinate per arc.

    With B_v the number of paths from v to the sink, a uniform path is a Markov chain that steps from u to v with
    probability T_uv = B_v/B_u. Let V = (I - T)⁻¹, so that V_su is the probability of a visit of u. Then

        μ_uv = V_su T_uv,     E[φ_uv φ_xy] = V_su T_uv V_vx T_xy  if v is before x (or is x).                        (1)

    A product with S makes one forward and one backward pass over the arcs: f_uv T_uv is combined with the expected sums
    of f before u and after v. Numbers of paths are kept as logarithms.

    An output is the tuple of the nodes of a path, including source and sink. Decoding is exact (longest path), samples
    are uniform.

    Parameters
    ----------
    edges : sequence of pairs
        Pairs (u, v) of nodes, which are any hashable values, in the order of the coordinates. Arcs that are on no path
        from source to sink have coordinates, which are always 0.
    source, sink : hashable
        Two different nodes.

    Examples
    --------
    >>> from maxmargin.counting import DagPaths
    >>> DagPaths([("s", "a"), ("a", "t"), ("s", "t")], "s", "t").decode([1.0, 1.0, 1.5])
    DecodedOutput(y=('s', 'a', 't'), value=2.0, exact=True)

    See Also
    --------
    Paths : simple paths of a complete graph.
    """

    def __init__(self, edges: Sequence[Arc], source: Hashable, sink: Hashable):
        self.edges = edges
        self.source = source
        self.sink = sink
        _ = self._chain  # raises an error now if the arcs are invalid

    def log_size(self) -> float:
        return self._chain.log_size

    def mean(self) -> Array:
        return self._chain.visits[self._graph.tails] * self._chain.steps

    def cov_apply(self, F: Array) -> Array:
        F, mean = np.asarray(F, dtype=np.float64), self.mean()
        tails, heads, steps, onward = (
            self._graph.tails,
            self._graph.heads,
            self._chain.steps,
            _factored(self._chain.onward),
        )
        # Expected Σ f over the arcs before u, given a visit of u, and after v, given a visit of v: (n, k) each.
        before = onward.solve(self._at(heads) @ (mean[:, None] * F.T), trans="T")
        after = onward.solve(self._at(tails) @ (steps[:, None] * F.T))
        joined = F * mean + steps * before[tails].T + mean * after[heads].T
        return joined - np.outer(F @ mean, mean)

    def features(self, y: Any) -> Array:
        graph = self._graph
        numbers = ordered_numbers(graph.nodes, y, "path")
        if len(numbers) < 2 or numbers[0] != graph.source or numbers[-1] != graph.sink:
            raise ValueError(f"{y!r} is not a path from {self.source!r} to {self.sink!r}; expected these as its ends")
        phi = np.zeros(self.dim)
        for u, v in pairwise(numbers):
            if (u, v) not in graph.numbers:
                names = graph.nodes.names
                raise ValueError(f"there is no arc from {names[u]!r} to {names[v]!r}; expected a path along arcs")
            phi[graph.numbers[u, v]] = 1.0
        return phi

    def decode(self, f: Array) -> DecodedOutput:
        from maxmargin.structures.parts.optimisers.compiled.dag_path import cheapest_paths

        graph, f = self._graph, finite_scores(f, self.dim)
        arcs = np.argsort(-graph.tails, kind="stable")  # last arcs first, because tails are in topological order
        arcs = arcs[self._chain.going[arcs]]
        tails, heads, chosen = graph.tails[arcs], graph.heads[arcs], np.zeros((1, self.dim))
        ahead, onward = np.empty(len(graph.nodes)), np.empty(len(graph.nodes), dtype=np.intp)
        cheapest_paths(-f[None], arcs, tails, heads, graph.source, graph.sink, ahead, onward, chosen)
        on_path = np.flatnonzero(chosen[0])
        numbers = [*np.sort(graph.tails[on_path]), graph.sink]
        return DecodedOutput(graph.nodes.named(map(int, numbers)), float(chosen[0] @ f), True)

    def outputs(self) -> Iterator[tuple[Hashable, ...]]:
        graph, steps = self._graph, self._chain.steps

        def walk(path: list[int]) -> Iterator[list[int]]:
            if path[-1] == graph.sink:
                yield path
                return
            for arc in np.flatnonzero((graph.tails == path[-1]) & (steps > 0)):
                yield from walk([*path, int(graph.heads[arc])])

        return map(graph.nodes.named, walk([graph.source]))

    def sample(self, rng: np.random.Generator) -> tuple[Hashable, ...]:
        graph, steps = self._graph, self._chain.steps
        path = [graph.source]
        while path[-1] != graph.sink:
            leaving = np.flatnonzero(graph.tails == path[-1])
            chances = steps[leaving]
            path.append(int(graph.heads[rng.choice(leaving, p=chances / chances.sum())]))
        return graph.nodes.named(path)

    # --- the graph and the chain

    @property
    def _items(self) -> Items:
        return self._graph.nodes

    @property
    def _ends(self) -> tuple[Index, Index]:
        return self._graph.tails, self._graph.heads

    @cached_property
    def _graph(self) -> _Graph:
        sorter: TopologicalSorter = TopologicalSorter()
        arcs = []
        for arc in self.edges:
            if not is_pair(arc):
                raise ValueError(f"{arc!r} is not an arc; expected a pair of nodes (u, v)")
            u, v = arc
            try:
                sorter.add(v, u)
            except TypeError as error:
                raise ValueError(f"a node of the arc {arc!r} cannot be used: {error}") from None
            arcs.append((u, v))
        try:
            order = list(sorter.static_order())
        except CycleError as error:
            raise ValueError(f"the arcs have a cycle, {' -> '.join(map(repr, error.args[1]))}; expected none") from None
        if self.source == self.sink:
            raise ValueError(f"source and sink are both {self.source!r}; expected two different nodes")
        nodes = Items(order, called="node")
        numbers: dict[tuple[int, int], int] = {}
        for u, v in arcs:
            key = nodes.number(u), nodes.number(v)
            if key in numbers:
                raise ValueError(f"the arc {(u, v)!r} is given twice; expected every arc once")
            numbers[key] = len(numbers)
        tails, heads = np.array(list(numbers), dtype=np.intp).reshape(-1, 2).T.copy()
        return _Graph(nodes, tails, heads, numbers, nodes.number(self.source), nodes.number(self.sink))

    @cached_property
    def _chain(self) -> _Chain:
        graph, n = self._graph, len(self._graph.nodes)
        log_paths = np.full(n, -np.inf)  # log B
        log_paths[graph.sink] = 0.0
        order = np.argsort(graph.tails, kind="stable")
        leaving = np.split(order, np.searchsorted(graph.tails[order], np.arange(1, n)))
        for u in reversed(range(graph.sink)):
            ahead = log_paths[graph.heads[leaving[u]]]
            if (ahead > -np.inf).any():
                log_paths[u] = logsumexp(ahead)
        if log_paths[graph.source] == -np.inf:
            raise ValueError(f"no path leads from {self.source!r} to {self.sink!r}; expected at least one")
        going = (log_paths[graph.tails] > -np.inf) & (log_paths[graph.heads] > -np.inf)
        steps = np.zeros(self.dim)
        steps[going] = np.exp(log_paths[graph.heads[going]] - log_paths[graph.tails[going]])
        matrix = sparse.eye_array(n) - sparse.coo_array((steps, (graph.tails, graph.heads)), shape=(n, n))
        onward = matrix.tocsc()
        start = np.zeros(n)
        start[graph.source] = 1.0
        return _Chain(float(log_paths[graph.source]), going, steps, _factored(onward).solve(start, trans="T"), onward)

    def _at(self, nodes: Index) -> sparse.csr_array:
        """Return an (n, d) matrix that sums arcs at one of their ends."""
        return sparse.csr_array(
            (np.ones(self.dim), (nodes, np.arange(self.dim))), shape=(len(self._graph.nodes), self.dim)
        )


def _factored(matrix: sparse.csc_array) -> Any:
    """Factorise a triangular matrix; in the given order there is no fill-in."""
    return splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0)
