"""The linear relaxation of correlation clustering, solved by HiGHS, and clusterings near to its solutions.

    maximise Σ gain_ij e_ij   over  0 <= e <= 1,   e_ij + e_jk - e_ik <= 1  for all triangles

(Finley and Joachims, "Supervised clustering with support vector machines", ICML 2005). Integral solutions are
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
VIOLATED = 1e-5  # smaller violations are within the tolerance of the LP solver
WHOLE = 1e-6  # values this near to 0 or 1 are rounded
THRESHOLDS = (0.5, 0.3, 0.7)


class Relaxation(NamedTuple):
    """Solution of the relaxation, with the upper bound that it proves."""

    shares: Array  # (n, n) symmetric values e between 0 and 1
    listed: Array  # (m,) values of the pairs that have a gain
    bound: float  # proved by the dual solution: no point of the relaxation has a higher value
    triangles: Triangles  # the binding constraints: a good start for similar gains

    @property
    def whole(self) -> bool:
        """True if the listed pairs are integral, so that they form a clustering."""
        return bool(np.all((self.listed == 0) | (self.listed == 1)))


def checked_triangles(found: Any, n_items: int) -> Triangles:
    """Return triangles read from a file, after checking their type and that they are over n_items items."""
    if not isinstance(found, np.ndarray) or found.dtype != np.int64 or found.ndim != 2 or found.shape[1] != 3:
        raise ValueError(f"the triangles are {type(found).__name__}; expected an (m, 3) array of int64 item numbers")
    if len(found) and (found.min() < 0 or found.max() >= n_items):
        raise ValueError(
            f"the triangles have items {found.min()} to {found.max()}; expected item numbers from 0 to {n_items - 1}"
        )
    return found


def relaxed(gains: PairGains, known: Triangles | None = None) -> Relaxation:
    """Solve the relaxation by adding violated triangles until none is left.

    Items that no path of positive gains connects are separate in the best solution, so that every connected component
    is solved on its own. known : triangles to begin with.
    """
    n = gains.n_items
    known = np.empty((0, 3), dtype=np.int64) if known is None else known
    components = connected_components(gains.matrix > 0, directed=False)[1]
    shares, bound, binding = np.eye(n), 0.0, [known[:0]]
    for component in range(int(components.max()) + 1):
        items = np.flatnonzero(components == component)
        if len(items) == 1:
            continue
        numbers = np.full(n, -1)  # the numbers of items within the component
        numbers[items] = np.arange(len(items))
        own = numbers[known]
        values, own_bound, tight = _solve_component(gains.matrix[np.ix_(items, items)], own[(own >= 0).all(axis=1)])
        shares[np.ix_(items, items)] = values
        bound += own_bound
        binding.append(items[tight])
    return Relaxation(shares, shares[gains.first, gains.second], bound, np.concatenate(binding))


def rounded(gains: PairGains, solution: Relaxation) -> Clusters:
    """Round a solution to a clustering: the best result of local searches that start at balls of several sizes.

    A ball has one item and all items that are not yet assigned and whose share with it exceeds a threshold. The local
    search from single items is tried too.
    """
    n = gains.n_items
    if solution.whole:  # pairs without a gain may still be fractional, but those with one determine the clusters
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


def _solve_component(gains: Array, triangles: Triangles) -> tuple[Array, float, Triangles]:
    """Return the shares, the bound and the binding triangles of one connected component."""
    from scipy.optimize import linprog

    n = len(gains)
    first, second = np.triu_indices(n, 1)
    values = gains[first, second]
    scale = float(np.abs(values).max())  # the solver has absolute tolerances
    columns = np.zeros((n, n), dtype=np.int64)  # the variable of every pair
    columns[first, second] = columns[second, first] = np.arange(len(first))
    shares = np.where(gains > 0, 1.0, np.eye(n))  # the optimum without triangles
    found = _violated(shares, gains, 2 * len(first))
    if not len(found):
        return shares, float(np.maximum(values, 0).sum()), found
    triangles = triangles if len(triangles) else found
    while True:
        matrix = _constraints(triangles, columns, len(first))
        answer = linprog(-values / scale, A_ub=matrix, b_ub=np.ones(len(triangles)), bounds=(0, 1), method="highs")
        if answer.x is None:
            raise RuntimeError(
                f"HiGHS could not solve the relaxation of {n} items: {answer.message}. Use method='greedy'"
            )
        near = np.abs(answer.x - np.round(answer.x)) < WHOLE
        shares = np.eye(n)
        shares[first, second] = shares[second, first] = np.where(near, np.round(answer.x), answer.x)
        found = _violated(shares, gains, 2 * len(first))
        if not len(found):
            break
        triangles = np.concatenate([triangles, found])
    # by weak duality any prices >= 0 give a valid bound, whatever the tolerance of the solver
    prices = np.maximum(-scale * answer.ineqlin.marginals, 0)
    bound = float(prices.sum() + np.maximum(values - matrix.T @ prices, 0).sum())
    return shares, min(bound, float(np.maximum(values, 0).sum())), triangles[prices > 0]


def _constraints(triangles: Triangles, columns: NDArray[np.int64], n_pairs: int) -> sparse.csr_array:
    """Return the left-hand sides of the triangle inequalities, one row per triangle, over pairs."""
    i, j, k = triangles.T
    indices = np.column_stack([columns[i, j], columns[j, k], columns[i, k]]).ravel()
    signs = np.tile([1.0, 1.0, -1.0], len(triangles))
    return sparse.csr_array((signs, indices, 3 * np.arange(len(triangles) + 1)), shape=(len(triangles), n_pairs))


def _violated(shares: Array, gains: Array, most: int) -> Triangles:
    """Return the most violated triangles; ties go to those whose smallest |gain| is largest."""
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
