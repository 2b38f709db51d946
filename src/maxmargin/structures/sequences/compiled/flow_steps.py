"""Steps of the dual of chains: find two paths in the lattice of a sequence, and move flow from one to the other."""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import weight
from maxmargin.structures.sequences.compiled.flow_arrays import GAIN, REFUSED
from maxmargin.structures.sequences.compiled.flow_scores import know_products
from maxmargin.structures.sequences.compiled.lattice import add_flow, take_flow


@kernel
def paths_in_lattice(chain, a, b, search, now, links, lattice, scratch):
    """Find the worst path that carries flow and, with `search`, the best path of the lattice; return their scores.

    Both run from position a to b - 1, where every position has several edges; the positions beside these have one
    edge each. scratch.best and scratch.worst become the labels of the paths, best_edge and worst_edge their edges;
    scratch.seen becomes `now` for every label of the lattice. The scores are (best, worst).
    """
    start, filled, before, here, flow = lattice
    begin, K = chain.begin, scratch.scores.shape[1]
    scores, seen, high, low = scratch.scores, scratch.seen, scratch.high, scratch.low
    high_edge, low_edge = scratch.high_edge, scratch.low_edge
    starts, ends = links[K * K : K * K + K], links[K * K + K :]
    for t in range(a, b):
        p = begin + t
        first, end = start[p], start[p] + filled[p]
        for q in range(first, end):
            k = here[q]
            seen[t, k] = now
            low[t, k] = np.inf
            if search:
                high[t, k] = -np.inf
        for q in range(first, end):
            j, k = before[q], here[q]
            below, above, link = 0.0, 0.0, scores[t, k]
            if t == 0:
                link += starts[k]
            else:
                link += links[j * K + k]
                if t > a:
                    if seen[t - 1, j] != now:  # flow without an origin, left by rounding
                        continue
                    below, above = low[t - 1, j], high[t - 1, j]
                elif here[start[p - 1]] != j:
                    continue
            if flow[q] > 0.0 and below + link < low[t, k]:
                low[t, k] = below + link
                low_edge[t, k] = q
            if search and above + link > high[t, k]:
                high[t, k] = above + link
                high_edge[t, k] = q
    top, bottom = -np.inf, np.inf
    best, worst = scratch.best, scratch.worst
    if b < chain.length:
        k = before[start[begin + b]]
        if seen[b - 1, k] == now:
            bottom, worst[b - 1] = low[b - 1, k], k
            if search:
                top, best[b - 1] = high[b - 1, k], k
    else:
        p = begin + b - 1
        for q in range(start[p], start[p] + filled[p]):
            k = here[q]
            if low[b - 1, k] + ends[k] < bottom:
                bottom, worst[b - 1] = low[b - 1, k] + ends[k], k
            if search and high[b - 1, k] + ends[k] > top:
                top, best[b - 1] = high[b - 1, k] + ends[k], k
    if bottom < np.inf:
        for t in range(b - 1, a - 1, -1):
            q = low_edge[t, worst[t]]
            scratch.worst_edge[t] = q
            if t > 0:
                worst[t - 1] = before[q]
            if search:
                q = high_edge[t, best[t]]
                scratch.best_edge[t] = q
                if t > 0:
                    best[t - 1] = before[q]
    return top, bottom


@kernel
def coordinate(path, t, K):
    """Return the coordinate of w that belongs to the link into position t of a path."""
    return K * K + path[0] if t == 0 else path[t - 1] * K + path[t]


@kernel
def add_link(c, change, weights):
    """Add to weight c, a link, and clip the value that is read of it.

    Until scores are read again, they change as if there were no bounds.
    """
    weights.w[c] += change
    if weights.links[c] > -np.inf:
        weights.links[c] = weight(weights.w, weights.limits, np.uint64(c))


@kernel
def move_stretch(chain, a, b, needed, weights, gram, lattice, scratch, report):
    """Move flow from the worst path to the best one from position a to b, where all labels differ.

    With g the difference of their scores and q = ‖difference of their features‖², the step min(g / q, flow) is exact.
    gram: the products of the sequence. Scores are kept up to date from position `needed` on.
    Returns True if flow moved.
    """
    length, K, links = chain.length, scratch.scores.shape[1], weights.links
    best, worst, scores, change, counts = scratch.best, scratch.worst, scratch.scores, scratch.change, scratch.links
    best_edge, worst_edge = scratch.best_edge, scratch.worst_edge
    last = min(b + 1, length - 1)  # the link to b + 1 differs as well
    slope, square, most = 0.0, 0.0, np.inf
    for t in range(a, last + 1):
        p = chain.begin + t
        if t <= b:
            slope += scores[t, best[t]] - scores[t, worst[t]]
        new, old = coordinate(best, t, K), coordinate(worst, t, K)
        slope += links[new] - links[old]
        counts[new] += 1.0
        counts[old] -= 1.0
        most = min(most, lattice.flow[worst_edge[t]])
        if best_edge[t] < 0 and lattice.start[p] + lattice.filled[p] == lattice.start[p + 1]:
            most = -1.0
    if b == length - 1:
        new, old = K * K + K + best[b], K * K + K + worst[b]
        slope += links[new] - links[old]
        square += 2.0
    for t in range(a, last + 1):
        new, old = coordinate(best, t, K), coordinate(worst, t, K)
        square += counts[new] * counts[new]
        counts[new] = 0.0
        square += counts[old] * counts[old]
        counts[old] = 0.0
    if not slope > 0.0 or most == 0.0:
        return False
    if most < 0.0:
        report[REFUSED] += 1.0
        return False
    for s in range(a, b + 1):
        row, z, y = s * length, best[s], worst[s]
        for t in range(a, b + 1):
            # int: without compilation, NumPy's booleans cannot be subtracted
            common = int(z == best[t]) + int(y == worst[t]) - int(z == worst[t]) - int(y == best[t])
            square += common * gram[row + t]
    step = slope / square if square * most > slope else most
    report[GAIN] += step * (slope - 0.5 * step * square)
    for t in range(a, last + 1):
        from_new = best[t - 1] if t > 0 else 0
        # Add before taking, because removing an edge renumbers others.
        add_flow(chain.begin + t, best_edge[t], from_new, best[t], step, lattice)
        take_flow(chain.begin + t, worst_edge[t], step, lattice)
        new, old = coordinate(best, t, K), coordinate(worst, t, K)
        add_link(new, -step, weights)
        add_link(old, step, weights)
    if b == length - 1:
        new, old = K * K + K + best[b], K * K + K + worst[b]
        add_link(new, -step, weights)
        add_link(old, step, weights)
    for s in range(a, b + 1):
        row, z, y = s * length, best[s], worst[s]
        change[s, z] -= step
        change[s, y] += step
        for t in range(needed, length):
            scores[t, z] -= step * gram[row + t]
            scores[t, y] += step * gram[row + t]
    return True


@kernel
def move_stretches(chain, a, b, again, problem, weights, grams, lattice, scratch, report):
    """Move flow from the worst path to the best one wherever they differ from position a to b - 1.

    Scores are kept up to date at later positions and, with `again`, at these. Returns True if flow moved.
    """
    best, worst, moved, whole = scratch.best, scratch.worst, False, a
    first_cell = grams.first[chain.number]
    cells = grams.cells[first_cell : first_cell + chain.length * chain.length]
    while a < b:
        first, t = a, a
        while t < b and best[t] != worst[t]:
            know_products(chain, t, problem, grams, scratch.features)
            t += 1
        if t > first:
            needed = whole if again else t
            if move_stretch(chain, first, t - 1, needed, weights, cells, lattice, scratch, report):
                moved = True
        a = t + 1
    return moved
