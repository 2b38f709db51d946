"""Local search for clusterings with a high total gain: merge clusters and move items while that raises the value.

    value(z) = Σ_{i<j in one cluster of z} gains[i, j]  +  rate · MITRE(y, z)

where MITRE is 1 - F1 of the MUC score (measures.py). For n items in R clusters, which cut k true clusters into a total
of M pieces, it is

    MITRE = 1 - 2(n - M) / ((n - R) + (n - k)),      0 if R = k = n.

Merging two clusters reduces R by 1, and M by the number of true clusters that intersect both of them. The change of the
loss therefore follows from counts: cells[a, k] items that cluster a shares with the true cluster k, shared[a, b] true
clusters that intersect both a and b. If rate = 0, neither these counts nor `truth` are read.

The number of a cluster is the number of one of its items. gains are symmetric with a diagonal of zeros.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def mitre(n, pieces, clusters, n_true):
    """Compute the loss from its counts."""
    links = (n - clusters) + (n - n_true)
    return 1.0 - 2.0 * (n - pieces) / links if links > 0 else 0.0


@kernel
def count_cells(labels, truth, cells):
    """Count into `cells` the items that every cluster shares with every true one, and return the nonzero counts, M."""
    n, pieces = len(labels), 0
    cells[:] = 0
    for i in range(n):
        if cells[labels[i], truth[i]] == 0:
            pieces += 1
        cells[labels[i], truth[i]] += 1
    return pieces


@kernel
def count_sizes(labels, sizes):
    """Count the sizes of clusters into `sizes`, and return the number of clusters."""
    clusters = 0
    sizes[:] = 0
    for i in range(len(labels)):
        if sizes[labels[i]] == 0:
            clusters += 1
        sizes[labels[i]] += 1
    return clusters


@kernel
def renumber(labels, first):
    """Number every cluster by its first item. Scratch: first."""
    first[:] = -1
    for i in range(len(labels)):
        if first[labels[i]] < 0:
            first[labels[i]] = i
        labels[i] = first[labels[i]]


@kernel
def nearest_of(row, penalty, scratch):
    """Find the best partner of cluster `row` among the clusters after it, at this price of `shared`."""
    between, shared, sizes = scratch.between, scratch.shared, scratch.sizes
    nearest, heights = scratch.nearest, scratch.heights
    nearest[row], scratch.asked[row] = -1, penalty
    for other in range(row + 1, len(sizes)):
        if sizes[other] > 0:
            height = between[row, other]
            if penalty > 0:
                height -= penalty * shared[row, other]
            if nearest[row] < 0 or height > heights[row]:
                nearest[row], heights[row] = other, height


@kernel
def merge_clusters(gains, labels, truth, n_true, rate, least, scratch):
    """Merge the two clusters that gain most while the gain exceeds `least`, and return the number of merges.

    Every cluster remembers its best partner among the clusters after it, and few must be searched again after a merge:
    mostly O(n²) in total. With the MITRE loss the price of a shared true cluster falls with every merge: a cluster that
    intersects `kinds` true ones gains at most kinds times the fall since its last search, at the price `asked`, and is
    searched again only if that could make it the best. `scratch` is ClimbScratch.
    """
    between, shared, cells, sizes, kinds, nearest, heights, asked = scratch
    n, merges = len(labels), 0
    renumber(labels, nearest)
    clusters, pieces = count_sizes(labels, sizes), 0
    between[:] = 0.0
    for i in range(n):
        for j in range(n):
            if labels[i] != labels[j]:
                between[labels[i], labels[j]] += gains[i, j]
    kinds[:] = 0
    penalty = 0.0
    if rate > 0:
        penalty = rate * 2.0 / ((n - clusters + 1) + (n - n_true))
        pieces = count_cells(labels, truth, cells)
        shared[:] = 0
        for a in range(n):
            for k in range(n_true):
                if cells[a, k] > 0:
                    kinds[a] += 1
                    for b in range(n):
                        if cells[b, k] > 0:
                            shared[a, b] += 1
    for row in range(n):
        if sizes[row] > 0:
            nearest_of(row, penalty, scratch)
    while clusters > 1:
        bonus = 0.0
        if rate > 0:
            penalty = rate * 2.0 / ((n - clusters + 1) + (n - n_true))
            bonus = rate * (mitre(n, pieces, clusters - 1, n_true) - mitre(n, pieces, clusters, n_true))
        a = highest(penalty, scratch)
        while asked[a] != penalty:
            nearest_of(a, penalty, scratch)
            a = highest(penalty, scratch)
        if heights[a] + bonus <= least:
            break
        b = nearest[a]
        if rate > 0:
            pieces -= shared[a, b]
            kinds[a] += kinds[b] - shared[a, b]
            unite_cells(a, b, n_true, scratch)
        clusters -= 1
        merges += 1
        sizes[a] += sizes[b]
        sizes[b] = 0
        for i in range(n):
            if labels[i] == b:
                labels[i] = a
        for other in range(n):
            if sizes[other] > 0 and other != a:
                between[a, other] += between[b, other]
                between[other, a] = between[a, other]
        for row in range(b):
            if sizes[row] > 0:
                if row == a or nearest[row] == b or nearest[row] == a:
                    nearest_of(row, penalty, scratch)
                elif row < a:
                    height = between[row, a]
                    if rate > 0:
                        height -= asked[row] * shared[row, a]
                    if height > heights[row] or (height == heights[row] and a < nearest[row]):
                        nearest[row], heights[row] = a, height
    return merges


@kernel
def highest(penalty, scratch):
    """Return the cluster with the highest bound on the gain of a merge with a cluster after it."""
    best, most = -1, 0.0
    for row in range(len(scratch.sizes)):
        if scratch.sizes[row] > 0 and scratch.nearest[row] >= 0:
            height = scratch.heights[row] + (scratch.asked[row] - penalty) * scratch.kinds[row]
            if best < 0 or height > most:
                best, most = row, height
    return best


@kernel
def unite_cells(a, b, n_true, scratch):
    """Add the items of cluster b to those of a."""
    shared, cells, sizes = scratch.shared, scratch.cells, scratch.sizes
    for other in range(len(sizes)):
        if sizes[other] > 0 and other != a and other != b:
            shared[a, other] += shared[b, other]
    for k in range(n_true):
        if cells[a, k] > 0 and cells[b, k] > 0:  # counted twice
            for other in range(len(sizes)):
                if sizes[other] > 0 and other != a and other != b and cells[other, k] > 0:
                    shared[a, other] -= 1
        cells[a, k] += cells[b, k]
        cells[b, k] = 0
    for other in range(len(sizes)):
        shared[other, a] = shared[a, other]


@kernel
def move_items(gains, labels, truth, n_true, rate, least, scratch):
    """Move single items to their best cluster, possibly a new one, until no move gains more than `least`.

    Returns the number of moves. The scratch array `between` holds the total gain of every item with every cluster.
    """
    held, cells, sizes = scratch.between, scratch.cells, scratch.sizes
    n, moves = len(labels), 0
    clusters, pieces = count_sizes(labels, sizes), 0
    if rate > 0:
        pieces = count_cells(labels, truth, cells)
    held[:] = 0.0
    for j in range(n):
        for i in range(n):
            held[i, labels[j]] += gains[j, i]
    rested = 0  # consecutive items that did not move
    item = 0
    while rested < n:
        own, best, most, tried_empty = labels[item], -1, least, False
        for other in range(n):
            if other == own or (sizes[other] == 0 and (tried_empty or sizes[own] == 1)):
                continue
            tried_empty = tried_empty or sizes[other] == 0
            gain = held[item, other] - held[item, own]
            if rate > 0:
                k = truth[item]
                after = pieces - (cells[own, k] == 1) + (cells[other, k] == 0)
                left = clusters - (sizes[own] == 1) + (sizes[other] == 0)
                gain += rate * (mitre(n, after, left, n_true) - mitre(n, pieces, clusters, n_true))
            if gain > most:
                best, most = other, gain
        rested += 1
        if best >= 0:
            rested = 0
            moves += 1
            clusters += int(sizes[best] == 0) - int(sizes[own] == 1)
            sizes[own] -= 1
            sizes[best] += 1
            if rate > 0:
                k = truth[item]
                pieces += int(cells[best, k] == 0) - int(cells[own, k] == 1)
                cells[own, k] -= 1
                cells[best, k] += 1
            labels[item] = best
            for i in range(n):
                held[i, own] -= gains[item, i]
                held[i, best] += gains[item, i]
        item = (item + 1) % n
    return moves


@kernel
def climb(gains, labels, truth, n_true, rate, least, scratch):
    """Alternate merges and moves from the clustering `labels`, in place, until neither gains anything."""
    first = True
    while (merge_clusters(gains, labels, truth, n_true, rate, least, scratch) or first) and move_items(
        gains, labels, truth, n_true, rate, least, scratch
    ):
        first = False


@kernel
def pack_triangles(residual, budget):
    """Bound from below how far every clustering stays below Σ max(0, gain).

    If i-j and j-k gain and i-k loses, transitivity makes one of the three wrong, which costs at least the smallest of
    the three: (1 - e_ij) + (1 - e_jk) + e_ik >= 1. Each triangle uses up the gains of its pairs in `residual`, which
    holds all gains at first. `budget` limits the number of triangles examined; the bound holds wherever it stops.
    """
    n, total = len(residual), 0.0
    for i in range(n):
        for k in range(i):
            if residual[i, k] < 0:
                budget -= n
                if budget < 0:
                    return total
                for j in range(n):
                    least = min(residual[i, j], residual[k, j])
                    if least > 0:
                        least = min(least, -residual[i, k])
                        total += least
                        residual[i, j] -= least
                        residual[j, i] = residual[i, j]
                        residual[k, j] -= least
                        residual[j, k] = residual[k, j]
                        residual[i, k] += least
                        residual[k, i] = residual[i, k]
                        if residual[i, k] >= 0:
                            break
    return total
