"""Sums over all trees (arborescence.py finds the best one), by the matrix-tree theorem without subtractions.

The arc from h to m has the mass q[m, h], and the mass of a tree is the product over its arcs. The masses of all trees
with the root r sum to a determinant of the Laplacian of q (Tutte; Koo et al. 2007). Gaussian elimination needs only
sums, products and quotients of positive numbers if the diagonal is never formed (Grassmann, Taksar and Heyman 1985):
word v is removed by

    S_v = Σ_{j < v} q[v, j],     q[i, j] += q[i, v] q[v, j] / S_v      for i, j < v, i ≠ j                         (1)

for v = n, n-1, …, and the masses of the trees whose root is the first node sum to Π_v S_v. The masses of the trees with
the root v sum to π_v times that number (the Markov chain tree theorem):

    π_first = 1,     π_v = Σ_{i < v} π_i q[i, v] / S_v                                                             (2)

If any number of words may depend on the root of a sentence, 0, the first node is 0. If exactly one word may, the first
node is word 1, and Z = Π_v S_v Σ_r q[r, 0] π_r. All numbers are kept as logarithms, so that no score is too large, and
every step of (1) makes relative errors of a few units of rounding. Z is a sum of products of at most n entries of each
q that (1) makes, so that the errors of all steps add up to at most n² such units for any scores.

Probabilities of arcs are derivatives of log Z, found by going through (1) and (2) backwards: the *count* of a number is
number · ∂log Z / ∂number; the count of a sum is distributed over its terms in proportion to their shares. The only
subtraction is in the count of S_v, 1 - Σ_i count of q[i, v] / S_v.

A tree is drawn by undoing (1). In a tree of the nodes before v, let K be the nodes whose arc leads through v when its
term in (1) is drawn. They become children of v, and the head of v is drawn from the nodes that are not below any node
of K, with probabilities ∝ q[v, j]. (For |K| >= 2 several trees of the smaller graph lead to the same tree: with C_0 the
nodes that are not below K, their masses sum to q[v, C_0] S_v^{|K| - 1}, by Cayley's formula.)
"""

import math
from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.log_sums import draw, log_add, log_sum


class RemovedWords(NamedTuple):
    """Scratch arrays for up to n words."""

    given: np.ndarray  # (n + 1, n + 1) log q[m, h] as given; -inf from a word to itself and for arcs to the root
    logs: np.ndarray  # (n + 1, n + 1) log q[m, h] as (1) left it
    pivots: np.ndarray  # (n + 1,) log S
    roots: np.ndarray  # (n + 1,) log π
    counts: np.ndarray  # (n + 1, n + 1) counts of q
    row: np.ndarray  # (n + 2,) logarithms that are being added up, or chances
    via: np.ndarray  # (n + 1,) the word through which an arc of the drawn tree leads, 0 for none


def removed_words(n):
    """Allocate scratch arrays for up to n words."""
    size = n + 1
    tables = [np.empty((size, size)), np.empty((size, size)), np.empty(size), np.empty(size), np.empty((size, size))]
    rest = [np.empty(size + 1), np.empty(size, dtype=np.int32)]
    return RemovedWords(*tables, *rest)


@kernel
def fill(n, table, of):
    """Read table[h, m], the logarithms of masses, divided by the largest mass of each word; return the log of the
    product of these divisors.
    """
    taken = 0.0
    for h in range(n + 1):
        of.given[0, h] = -np.inf
    for m in range(1, n + 1):
        high = -np.inf
        for h in range(n + 1):
            if h != m:
                high = max(high, table[h, m])
        for h in range(n + 1):
            of.given[m, h] = table[h, m] - high if h != m else -np.inf
        taken += high
    return taken


@kernel
def eliminate(first, n, of):
    """Run (1) in logarithms, and return log Π S."""
    total = 0.0
    logs = of.logs
    for m in range(n + 1):
        for h in range(n + 1):
            logs[m, h] = of.given[m, h]
    for v in range(n, first, -1):
        pivot = log_sum(logs[v, first:v])
        of.pivots[v] = pivot
        total += pivot
        for i in range(max(first, 1), v):
            through = logs[i, v] - pivot
            for j in range(first, v):
                if j != i:
                    logs[i, j] = log_add(logs[i, j], through + logs[v, j])
    return total


@kernel
def weigh_roots(n, of):
    """Run (2) in logarithms, and return log Σ_r q[r, 0] π_r."""
    of.roots[1] = 0.0
    for v in range(2, n + 1):
        for i in range(1, v):
            of.row[i - 1] = of.roots[i] + of.logs[i, v]
        of.roots[v] = log_sum(of.row[: v - 1]) - of.pivots[v]
    for r in range(1, n + 1):
        of.row[r - 1] = of.given[r, 0] + of.roots[r]
    return log_sum(of.row[:n])


@kernel
def count_roots(n, chances, of):
    """Add the counts of q[i, v] from (2); chances[r], the probability of the root r, becomes the count of π."""
    for v in range(n, 1, -1):
        for i in range(1, v):
            count = chances[v] * math.exp(of.roots[i] + of.logs[i, v] - of.pivots[v] - of.roots[v])
            of.counts[i, v] = count
            chances[i] += count


@kernel
def count_arcs(first, n, of):
    """Compute the counts of q from (1), after those from (2)."""
    logs, counts = of.logs, of.counts
    for v in range(first + 1, n + 1):
        for j in range(first, v):
            counts[v, j] = 0.0
        used = 0.0
        for i in range(max(first, 1), v):
            through = logs[i, v] - of.pivots[v]
            count = counts[i, v]
            for j in range(first, v):
                if j != i and counts[i, j] != 0.0:
                    part = counts[i, j] * math.exp(through + logs[v, j] - logs[i, j])
                    counts[v, j] += part
                    count += part
            counts[i, v] = count
            used += count
        for j in range(first, v):
            counts[v, j] += (1.0 - used) * math.exp(logs[v, j] - of.pivots[v])


@kernel
def sum_arborescences(n, single_root, table, of, heads):
    """Return log Z of the scores table[h, m], and write heads[m - 1, h], the probability that h is the head of m."""
    taken = fill(n, table, of)
    first = 1 if single_root else 0
    total = eliminate(first, n, of)
    counts = of.counts
    for m in range(n + 1):
        for h in range(n + 1):
            counts[m, h] = 0.0
    if single_root:
        among = weigh_roots(n, of)
        total += among
        chances = of.row
        for r in range(1, n + 1):
            heads[r - 1, 0] = math.exp(of.given[r, 0] + of.roots[r] - among)
            chances[r] = heads[r - 1, 0]
        count_roots(n, chances, of)
    count_arcs(first, n, of)
    for m in range(1, n + 1):
        for h in range(first, n + 1):
            count = 0.0
            if h != m and counts[m, h] > 0.0:
                count = counts[m, h] * math.exp(of.given[m, h] - of.logs[m, h])
            heads[m - 1, h] = count
        whole = 0.0
        for h in range(n + 1):
            whole += heads[m - 1, h]
        for h in range(n + 1):
            heads[m - 1, h] /= whole
    return taken + total


@kernel
def draw_way(n, i, j, stage, of, uniform):
    """Draw the word after `stage` through which the arc from j to i leads, by its shares in (1); 0 for none."""
    of.row[0] = of.given[i, j]
    for v in range(stage + 1, n + 1):
        of.row[v - stage] = of.logs[i, v] - of.pivots[v] + of.logs[v, j]
    ways = of.row[: n - stage + 1]
    way = draw(ways, uniform)
    return 0 if way == 0 else stage + way


@kernel
def draw_arborescence(first, n, of, uniforms, heads):
    """Draw heads[m] of a tree with the root `first`, by undoing (1); uniforms: at least n (n + 3) / 2 numbers."""
    at = 0
    for v in range(first + 1, n + 1):
        for j in range(first, v):
            top = j
            while top != first and of.via[top] != v:
                top = heads[top]
            of.row[j - first] = of.logs[v, j] if top == first else -np.inf
        chances = of.row[: v - first]
        head = first + draw(chances, uniforms[at])
        at += 1
        for i in range(first + 1, v):
            if of.via[i] == v:
                heads[i] = v
                of.via[i] = draw_way(n, i, v, v, of, uniforms[at])
                at += 1
        heads[v] = head
        of.via[v] = draw_way(n, v, head, v, of, uniforms[at])
        at += 1


@kernel
def draw_arborescences(n, single_root, table, root, of, uniforms, swapped, heads):
    """Draw rows heads[k, m - 1], one for each of `uniforms`; with single_root, `root` is the only child of 0."""
    if not single_root:
        fill(n, table, of)
        eliminate(0, n, of)
        for k in range(len(heads)):
            draw_arborescence(0, n, of, uniforms[k], swapped)
            for m in range(1, n + 1):
                heads[k, m - 1] = swapped[m]
        return
    for h in range(n + 1):  # swap words 1 and `root`
        for m in range(1, n + 1):
            a = root if h == 1 else 1 if h == root else h
            b = root if m == 1 else 1 if m == root else m
            of.counts[a, b] = table[h, m]
    fill(n, of.counts, of)
    eliminate(1, n, of)
    for k in range(len(heads)):
        draw_arborescence(1, n, of, uniforms[k], swapped)
        heads[k, root - 1] = 0
        for m in range(2, n + 1):
            a = root if swapped[m] == 1 else 1 if swapped[m] == root else swapped[m]
            heads[k, (1 if m == root else m) - 1] = a
