"""Forest: clusters as the trees of a latent forest of strong links; the data show only the clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_real
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.structures.clustering.forest_batch import Edges, ForestBatch, SpanningForests, best_forests
from maxmargin.structures.clustering.labels import Clusters, cluster_numbers
from maxmargin.structures.clustering.pair_table import PairTable
from maxmargin.structures.clustering.pair_task import PairTask
from maxmargin.structures.clustering.pairs import Pairs, read_all

STARTS = ("chain", "random")


class Linked(NamedTuple):
    """A spanning forest of the items of x: some of its pairs, which close no cycle.

    Attributes
    ----------
    x : Pairs
        The set of items.
    rows : array of shape (m,)
        Indices of the linked pairs in x.pairs.
    pairs : array of shape (m, 2)
        The linked items.

    See Also
    --------
    Forest : The task whose outputs these are.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> x = tasks.Pairs(3, [(0, 1), (0, 2), (1, 2)], [[0.9], [0.1], [0.2]])
    >>> tasks.Linked(x, np.array([0])).pairs.tolist()
    [[0, 1]]
    """

    x: Pairs
    rows: Edges

    @property
    def pairs(self) -> Edges:
        """The linked items, an array of shape (m, 2)."""
        return self.x.pairs[self.rows]


class Forest(PairTask):
    """Clustering by the strongest links, with the links as latent variables.

    x is a set of items with features x_e of pairs e, y a cluster label for each item, and an output z a forest:

        Ψ(x, z) = Σ_{e in z} x_e,      Δ(y, z) = n - k - Σ_{e in z} l_e,

    with l_e = 1 for links inside a true cluster and l_e = -penalty for links between two (Yu and Joachims 2009, Eq. 8;
    penalty is the r of their modified loss). The trees of z are the predicted clusters. The data show only y, so the
    links that hold a true cluster together are latent: training finds the best forest that explains y.

    Kruskal's algorithm finds the best forest on the scores s_e = ⟨w, x_e⟩. Among all forests it uses the edges with a
    positive s_e, with λΔ those with a positive s_e - λ l_e. Among the forests that explain y it uses all edges inside
    clusters, also those with a negative score, because a cluster must be connected.

    If x lists candidate pairs only, these may not connect a true cluster. n - k is then the largest number of links in
    a forest of candidates inside clusters, so that there always is a forest with loss 0.

    Parameters
    ----------
    penalty : float
        The cost of a wrong link in training, if a missing one costs 1. Smaller values link more, for recall (the
        modified loss of the paper has 0.01).
    start : str
        The links before there are weights. "chain" links every item to the next one of its cluster, in the order of the
        items, as far as those pairs are candidates (else to near ones); "random" draws a spanning tree for each
        cluster, so that several starts differ.
    fit_intercept : bool
        Whether pairs have one more feature, the constant 1. Without it, the threshold of a score is 0.

    Notes
    -----
    Slack rescaling and squared slacks are searched with a proved upper bound, see rescaling.py.

    See Also
    --------
    Correlation : Clustering by all pairs of a cluster.
    maxmargin.Clusterer : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> x = tasks.Pairs(3, [(0, 1), (0, 2), (1, 2)], [[0.9], [0.1], [0.2]])
    >>> task = tasks.Forest()
    >>> task.setup([x], [[0, 0, 1]])
    >>> z = task.argmax(np.array([1.0, -0.5]), x)  # scores 0.4, -0.4 and -0.3
    >>> task.label(z).tolist()
    [0, 0, 1]
    """

    latent = True

    def __init__(self, penalty: float = 1.0, start: Literal["chain", "random"] = "chain", fit_intercept: bool = True):
        self.penalty = penalty
        self.start = start
        self.fit_intercept = fit_intercept

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        if not is_real(self.penalty) or not 0 < self.penalty < np.inf:
            raise ValueError(f"penalty must be a positive finite number, got {self.penalty!r}")
        if self.start not in STARTS:
            raise ValueError(f"start must be 'chain' or 'random', got {self.start!r}")
        super().setup(X, Y)

    # --- the plain form: one example at a time

    def psi(self, x: Any, z: Linked) -> Any:
        (x,) = read_all([x])
        return self._psi(x, x.features[z.rows].sum(axis=0), len(z.rows))

    def pieces(self, x: Any, z: Linked) -> Pieces:
        """Return Ψ(x, z) by links."""
        (x,) = read_all([x])
        return self._pair_pieces(x, np.asarray(z.rows), np.ones(len(z.rows)))

    def loss(self, y: Any, z: Linked) -> float:
        inside = z.x.inside(cluster_numbers(y, z.x.n_items, "y"))
        right = np.count_nonzero(inside[z.rows])
        return float(_most_links(z.x, inside) - right + self.penalty * (len(z.rows) - right))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Linked:
        (x,) = read_all([x])
        table = self.table([x])
        prices = None if y is None else [self.prices(x.inside(cluster_numbers(y, x.n_items, "y")))]
        return _outputs([x], table, best_forests(w, table, np.arange(1), prices))[0]

    def complete(self, w: Array, x: Any, y: Any) -> Linked:
        examples = read_all([x])
        return _truths(examples, self.pack(examples, [y]).completed(w))[0]

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Linked:
        examples = read_all([x])
        return _truths(examples, self.pack(examples, [y]).guessed(rng))[0]

    def label(self, z: Linked) -> Clusters:
        """Return the cluster of every item, numbered 0, 1, … in order of appearance."""
        components = _components(z.x.n_items, z.pairs)[1]
        return cluster_numbers(components, z.x.n_items, "z")

    def outputs(self, x: Any) -> Iterator[Linked]:
        (x,) = read_all([x])

        def grow(taken: list[int], row: int) -> Iterator[list[int]]:
            if row == len(x.pairs):
                yield taken
                return
            yield from grow(taken, row + 1)
            more = [*taken, row]
            if _components(x.n_items, x.pairs[more])[0] == x.n_items - len(more):
                yield from grow(more, row + 1)

        return (Linked(x, np.array(rows, dtype=np.int64)) for rows in grow([], 0))

    # --- all examples at a time

    def decode(self, w: Array, X: Sequence[Any]) -> list[Linked]:
        examples = read_all(X)
        table = self.table(examples)
        return _outputs(examples, table, best_forests(w, table, np.arange(len(table))))

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> ForestBatch:
        examples = read_all(X)
        inside, most, steps = [], [], []
        for i, (x, y) in enumerate(zip(examples, Y, strict=True)):
            clusters = cluster_numbers(y, x.n_items, f"example {i}")
            inside.append(x.inside(clusters))
            most.append(_most_links(x, inside[-1]))
            ranks = _ranks_in_cluster(clusters)
            steps.append(np.abs(ranks[x.pairs[:, 0]] - ranks[x.pairs[:, 1]]))
        return ForestBatch(self, self.table(examples), inside, np.array(most, dtype=np.int64), steps)

    def prices(self, inside: NDArray[np.bool_]) -> Array:
        """Return l_e of pairs, given whether they are inside a true cluster."""
        return np.where(inside, 1.0, -float(self.penalty))


def _outputs(examples: list[Pairs], table: PairTable, forests: SpanningForests) -> list[Linked]:
    ends = np.append(0, np.cumsum(forests.counts)).tolist()
    return [Linked(x, np.sort(forests.edges[ends[g] : ends[g + 1]] - table.bounds[g])) for g, x in enumerate(examples)]


def _truths(examples: list[Pairs], batch: ForestBatch) -> list[Linked]:
    return _outputs(examples, batch.table, batch.truths())


def _most_links(x: Pairs, inside: NDArray[np.bool_]) -> int:
    """Count the links of a largest forest inside clusters: n - k if the candidates connect every cluster."""
    return x.n_items - _components(x.n_items, x.pairs[inside])[0]


def _components(n_items: int, pairs: Edges) -> tuple[int, Clusters]:
    links = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))
    count, numbers = connected_components(links, directed=False)
    return int(count), numbers


def _ranks_in_cluster(clusters: Clusters) -> Edges:
    """Count, for every item, the items of its cluster that come before it."""
    order = np.argsort(clusters, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(clusters)))
    ranks = np.empty(len(clusters), dtype=np.int64)
    ranks[order] = np.arange(len(clusters)) - starts[clusters[order]]
    return ranks
