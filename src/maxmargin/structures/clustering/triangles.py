"""The linear relaxation of correlation clustering, solved by HiGHS, and clusterings near to its solutions.

    maximise Σ gain_ij e_ij   over  0 <= e <= 1,   e_ij + e_jk - e_ik <= 1  for all triangles

(Finley and Joachims, "Supervised clustering with support vector machines", ICML 2005.) Whole-numbered solutions are
clusterings: if i and k are both together with j, they are together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from maxmargin.base.arrays import Array
from maxmargin.structures.clustering.agglomeration import PairGains
from maxmargin.structures.clustering.labels import Clusters

Triangles = NDArray[np.int64]  # (m, 3): rows (i, j, k), i < k, of which j is to be together with both others
VIOLATED = 1e-5  # by more than the tolerance of the solver
WHOLE = 1e-6  # values as near as this to 0 or 1 are
THRESHOLDS = (0.5, 0.3, 0.7)


class Relaxation(NamedTuple):
    """A solution: how far pairs are together, and what it proves."""

    shares: Array  # (n, n) between 0 and 1, symmetric
    listed: Array  # (m,) of the pairs that have a gain
    bound: float  # no point of the relaxation has a higher value, by the dual solution
    triangles: Triangles  # those that hold it down: a good start for similar gains

    @property
    def whole(self) -> bool:
        """Whether the listed pairs are those of a clustering."""
        return bool(np.all((self.listed == 0) | (self.listed == 1)))


def checked_triangles(found: Any, n_items: int) -> Triangles:
    """Triangles of so many items, from a file."""
    if not isinstance(found, np.ndarray) or found.dtype != np.int64 or found.ndim != 2 or found.shape[1] != 3:
        raise ValueError("expected rows of three items")
    if len(found) and (found.min() < 0 or found.max() >= n_items):
        raise ValueError(f"expected items below {n_items}")
    return found


def relaxed(gains: PairGains, known: Triangles | None = None) -> Relaxation:
    """Solve the relaxation with more and more triangles until none is violated.

    Items that no chain of gaining pairs connects are apart in the best solution: every such part is solved alone.
    known : triangles to begin with.
    """
    n = gains.n_items
    known = np.empty((0, 3), dtype=np.int64) if known is None else known
    parts = connected_components(gains.matrix > 0, directed=False)[1]
    shares, bound, binding = np.eye(n), 0.0, [known[:0]]
    for part in range(int(parts.max()) + 1):
        items = np.flatnonzero(parts == part)
        if len(items) == 1:
            continue
        places = np.full(n, -1)
        places[items] = np.arange(len(items))
        own = places[known]
        values, own_bound, held = _solved(gains.matrix[np.ix_(items, items)], own[(own >= 0).all(axis=1)])
        shares[np.ix_(items, items)] = values
        bound += own_bound
        binding.append(items[held])
    return Relaxation(shares, shares[gains.first, gains.second], bound, np.concatenate(binding))


def rounded(gains: PairGains, solution: Relaxation) -> Clusters:
    """A clustering near a solution: the best of those that merges and moves make of balls of several sizes.

    A ball has one item and all others, not yet taken, that are together with it by more than a threshold. The search
    from single items is tried too.
    """
    n = gains.n_items
    if solution.whole:  # pairs without a gain may be anything between: those with one decide
        links = gains.first[solution.listed == 1], gains.second[solution.listed == 1]
        graph = sparse.csr_array((np.ones(len(links[0])), links), shape=(n, n))
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
    starts = [np.arange(n, dtype=np.int64)]
    for threshold in THRESHOLDS:
        labels = np.full(n, -1, dtype=np.int64)
        for item in np.argsort(-solution.shares.sum(axis=1), kind="stable"):
            if labels[item] < 0:
                labels[(labels < 0) & (solution.shares[item] > threshold)] = item
        starts.append(labels)
    return max(map(gains.climbed, starts), key=gains.total)


def _solved(gains: Array, triangles: Triangles) -> tuple[Array, float, Triangles]:
    """Shares, bound and binding triangles of items that gaining pairs connect."""
    from scipy.optimize import linprog

    n = len(gains)
    first, second = np.triu_indices(n, 1)
    values = gains[first, second]
    scale = float(np.abs(values).max())  # the solver has absolute tolerances
    places = np.zeros((n, n), dtype=np.int64)
    places[first, second] = places[second, first] = np.arange(len(first))
    shares = np.where(gains > 0, 1.0, np.eye(n))  # of every pair what is best for it
    found = _violated(shares, gains, 2 * len(first))
    if not len(found):
        return shares, float(np.maximum(values, 0).sum()), found
    triangles = triangles if len(triangles) else found
    while True:
        matrix = _rows(triangles, places, len(first))
        answer = linprog(-values / scale, A_ub=matrix, b_ub=np.ones(len(triangles)), bounds=(0, 1), method="highs")
        if answer.x is None:
            raise RuntimeError(f"HiGHS could not solve the relaxation of {n} items: {answer.message}")
        near = np.abs(answer.x - np.round(answer.x)) < WHOLE
        shares = np.eye(n)
        shares[first, second] = shares[second, first] = np.where(near, np.round(answer.x), answer.x)
        found = _violated(shares, gains, 2 * len(first))
        if not len(found):
            break
        triangles = np.concatenate([triangles, found])
    # weak duality: a bound at any prices, whatever the tolerance of the solver
    prices = np.maximum(-scale * answer.ineqlin.marginals, 0)
    bound = float(prices.sum() + np.maximum(values - matrix.T @ prices, 0).sum())
    return shares, min(bound, float(np.maximum(values, 0).sum())), triangles[prices > 0]


def _rows(triangles: Triangles, places: NDArray[np.int64], n_pairs: int) -> sparse.csr_array:
    """The left sides of the triangles' inequalities, over pairs."""
    i, j, k = triangles.T
    columns = np.column_stack([places[i, j], places[j, k], places[i, k]]).ravel()
    signs = np.tile([1.0, 1.0, -1.0], len(triangles))
    return sparse.csr_array((signs, columns, 3 * np.arange(len(triangles) + 1)), shape=(len(triangles), n_pairs))


def _violated(shares: Array, gains: Array, most: int) -> Triangles:
    """The most violated triangles; of those that are so alike, the ones with the most to lose."""
    n = len(shares)
    found, excesses = [], []
    for j in range(n):
        excess = np.triu(shares[j][:, None] + shares[j][None, :] - shares - 1, 1)
        excess[j] = excess[:, j] = 0
        i, k = np.nonzero(excess > VIOLATED)
        found.append(np.column_stack([i, np.full(len(i), j), k]))
        excesses.append(excess[i, k])
    triangles = np.concatenate(found)
    i, j, k = triangles.T
    least = np.min(np.abs([gains[i, j], gains[j, k], gains[i, k]]), axis=0)
    order = np.lexsort((-least, -np.round(np.concatenate(excesses), 3)))
    return triangles[order[:most]]
