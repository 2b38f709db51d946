"""The matrix-tree theorem: all moments of random rooted spanning trees of a digraph from one inverse matrix."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array, Index

CELLS = 1 << 22  # entries of the (rows, n, n) arrays that are in memory at a time


class TreeLaw:
    """The distribution P(tree) ∝ Π_{a in tree} w_a of spanning trees, whose arcs a = (h, m) lead away from node 0.

    Let e_0 = 0, p_a = e_m - e_h, q_a = e_m and L(w) = Σ_a w_a p_a q_aᵀ, a matrix over the nodes except 0. The weights
    of all trees sum to det L(w) (Tutte), and arcs are a determinantal process with the kernel K_ab = q_aᵀ L(w)⁻¹ p_b
    w_b:

        μ_a = K_aa,     S_ab = [a = b] K_aa - K_ab K_ba,                                                          (1)
        (f S)_b = μ_b f_b - w_b q_bᵀ A p_b,     A = L(w)⁻¹ L(w f) L(w)⁻¹,                                         (2)

    so that a product with S costs two products of (n, n) matrices and K itself is never formed. An undirected graph is
    the digraph with both directions of every edge: each of its spanning trees has one orientation away from node 0.

    Arcs (tails[a], heads[a]) must be different, and all nodes reachable from node 0. Arcs into node 0 are in no tree;
    the formulas give them probability 0, because their q_a is e_0 = 0.
    """

    def __init__(self, n: int, tails: Index, heads: Index, weights: Array | None = None):
        self.n, self.tails, self.heads = n, tails, heads
        self.weights = np.ones(len(tails)) if weights is None else weights
        laplacian = self._laplacians(np.ones((1, len(tails))))[0, 1:, 1:]
        # Log of the sum of the weights of all trees.
        self.log_total = float(np.linalg.slogdet(laplacian)[1]) if n > 1 else 0.0
        self.inverse = np.zeros((n, n))  # row and column 0 stay 0, because e_0 = 0
        self.inverse[1:, 1:] = np.linalg.inv(laplacian)

    def mean(self) -> Array:
        """Return μ of (1)."""
        return self._along_arcs(self.inverse[None])[0]

    def cov_apply(self, F: Array) -> Array:
        """Return F S by (2)."""
        F = np.asarray(F, dtype=np.float64)
        result = F * self.mean()
        step = max(1, CELLS // (self.n * self.n))
        for begin in range(0, len(F), step):
            some = slice(begin, begin + step)
            result[some] -= self._along_arcs(self.inverse @ self._laplacians(F[some]) @ self.inverse)
        return result

    def sample(self, rng: np.random.Generator) -> Index:
        """Draw a tree: return the arc into node m for m = 1 … n-1.

        Arcs are drawn node by node, each given those before. Choosing arc a replaces column m of L by p_a, which is one
        Gauss-Jordan step on its inverse. Random walks (Wilson) are faster on most graphs, but take exponential time on
        some digraphs.
        """
        inverse, top = self.inverse.copy(), np.arange(self.n)  # top[v]: the node reached from v against the chosen arcs
        order = np.argsort(self.heads, kind="stable")
        entering = np.split(order, np.searchsorted(self.heads[order], np.arange(1, self.n)))[1:]
        chosen = np.empty(self.n - 1, dtype=np.intp)
        for m, arcs in enumerate(entering, start=1):
            tails = self.tails[arcs]
            chances = self.weights[arcs] * np.maximum(inverse[m, m] - inverse[m, tails], 0.0)
            chances[top[tails] == m] = 0.0  # these arcs would close a cycle
            a = arcs[rng.choice(len(arcs), p=chances / chances.sum())]
            column = inverse[m:, m] - inverse[m:, self.tails[a]]  # rows of earlier nodes are no longer needed
            inverse[m + 1 :] -= np.outer(column[1:] / column[0], inverse[m])
            top[top == m] = top[self.tails[a]]
            chosen[m - 1] = a
        return chosen

    def _laplacians(self, F: Array) -> Array:
        """Return (k, n, n) matrices L(w f), one for every row; row and column 0 have no meaning."""
        values = F * self.weights
        result = np.zeros((len(F), self.n, self.n))
        result[:, self.tails, self.heads] = -values
        nodes = np.arange(self.n)
        result[:, nodes, nodes] = -result.sum(axis=1)
        return result

    def _along_arcs(self, A: Array) -> Array:
        """Return w_a q_aᵀ A p_a of all arcs, for (k, n, n) matrices."""
        return self.weights * (A[:, self.heads, self.heads] - A[:, self.heads, self.tails])


def unreachable(n: int, tails: Index, heads: Index) -> list[int]:
    """Return the nodes that cannot be reached from node 0."""
    following: list[list[int]] = [[] for _ in range(n)]
    for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
        following[tail].append(head)
    reached, waiting = {0}, [0]
    while waiting:
        new = [head for head in following[waiting.pop()] if head not in reached]
        reached.update(new)
        waiting.extend(new)
    return [node for node in range(n) if node not in reached]
