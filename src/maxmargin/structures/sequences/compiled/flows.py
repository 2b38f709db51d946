"""Kernels of the dual of chains, kept as a flow through the lattice of each sequence; see chain_flows.py.

Position p of the sequences in a row has the edges start[p] : start[p] + filled[p] of a lattice: flow[q] goes into label
here[q] from label before[q] of the position before (from nowhere at the first position, where `before` is 0). The first
edge of every position is the truth's, and stays even if it is empty; all others carry flow. What flows into a label
flows out of it, and through every position flows the cap of its sequence.
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled.atoms import label_scores
from maxmargin.compiled.kernel import kernel
from maxmargin.structures.sequences.compiled.chain import forward, trace_back

PENALTY, GAIN, MOVED, WORK, REFUSED = range(5)  # places in a report
EMPTY = 1e-14  # what is left of a flow is nothing if it is less than this share of it
LEVEL = 1e-12  # two scores that differ by less than this share of them are the same
CLOSER = 0.1  # a visit ends when its best and worst paths are that much closer


@kernel
def two_scores(u, j, k, w, indptr, places, values):
    """The scores of labels j and k of unit u, in one sweep."""
    a0, a1, b0, b1 = 0.0, 0.0, 0.0, 0.0
    p, end = indptr[u], indptr[u + np.uint64(1)]
    while p + np.uint64(1) < end:
        x, X, y, Y = values[p], places[p], values[p + np.uint64(1)], places[p + np.uint64(1)]
        a0 += x * w[X + j]
        b0 += x * w[X + k]
        a1 += y * w[Y + j]
        b1 += y * w[Y + k]
        p += np.uint64(2)
    if p < end:
        a0 += values[p] * w[places[p] + j]
        b0 += values[p] * w[places[p] + k]
    return a0 + a1, b0 + b1


@kernel
def all_scores(begin, length, w, K, indptr, places, values, positions, cost, scores):
    """Scores of all labels, with their costs, at the positions of a sequence."""
    for t in range(length):
        p = begin + t
        label_scores(np.uint64(positions.units[p]), w, K, indptr, places, values, scores[t])
        row, price, factor = scores[t], cost[positions.rows[p]], positions.factors[p]
        for k in range(K):
            row[k] += factor * price[k]


@kernel
def known_scores(begin, length, now, w, indptr, places, values, positions, cost, lattice, seen, scores):
    """The same of the labels in the lattice, where there are several; how many products that took."""
    start, filled, here = lattice.start, lattice.filled, lattice.here
    work = 0
    for t in range(length):
        p = begin + t
        first, end = start[p], start[p] + filled[p]
        u, price, factor = np.uint64(positions.units[p]), cost[positions.rows[p]], positions.factors[p]
        waiting, several = here[first], False
        seen[t, waiting] = now
        scores[t, waiting] = 0.0
        paired = False  # whether the waiting label has its score
        for q in range(first + 1, end):
            k = here[q]
            if seen[t, k] == now:
                continue
            seen[t, k] = now
            several = True
            if paired:
                waiting, paired = k, False
                continue
            a, b = two_scores(u, np.uint64(waiting), np.uint64(k), w, indptr, places, values)
            scores[t, waiting], scores[t, k] = a + factor * price[waiting], b + factor * price[k]
            paired = True
            work += 2 * (indptr[u + np.uint64(1)] - indptr[u])
        if several and not paired:
            a, b = two_scores(u, np.uint64(waiting), np.uint64(waiting), w, indptr, places, values)
            scores[t, waiting] = a + factor * price[waiting]
            work += 2 * (indptr[u + np.uint64(1)] - indptr[u])
    return work


@kernel
def know_products(i, begin, s, length, positions, indptr, values, grams, features):
    """⟨x_s, x_t⟩ with all positions t of sequence i."""
    units, columns = positions.units, grams.columns
    u = np.uint64(units[begin + s])
    for p in range(indptr[u], indptr[u + np.uint64(1)]):
        features[columns[p]] = values[p]
    first = grams.first[i] + s * length
    for t in range(length):
        v, total = np.uint64(units[begin + t]), 0.0
        for p in range(indptr[v], indptr[v + np.uint64(1)]):
            total += values[p] * features[columns[p]]
        grams.cells[first + t] = total
    for p in range(indptr[u], indptr[u + np.uint64(1)]):
        features[columns[p]] = 0.0
    grams.known[begin + s] = True


@kernel
def paths_in_lattice(begin, length, search, now, K, links, lattice, scratch):
    """The worst path that carries flow and, with `search`, the best path of the lattice; their scores."""
    start, filled, before, here, flow = lattice
    scores, seen = scratch.scores, scratch.seen
    high, low, high_from, low_from = scratch.high, scratch.low, scratch.high_from, scratch.low_from
    starts, ends = links[K * K : K * K + K], links[K * K + K :]
    for t in range(length):
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
            if t == 0:
                into = starts[k] + scores[0, k]
                if flow[q] > 0.0:
                    low[0, k] = into
                if search:
                    high[0, k] = into
            elif seen[t - 1, j] == now:  # else rounding has left some flow that comes from nowhere
                link = links[j * K + k] + scores[t, k]
                if flow[q] > 0.0 and low[t - 1, j] + link < low[t, k]:
                    low[t, k] = low[t - 1, j] + link
                    low_from[t, k] = j
                if search and high[t - 1, j] + link > high[t, k]:
                    high[t, k] = high[t - 1, j] + link
                    high_from[t, k] = j
    top, bottom, p = -np.inf, np.inf, begin + length - 1
    best, worst = scratch.best, scratch.worst
    for q in range(start[p], start[p] + filled[p]):
        k = here[q]
        if low[length - 1, k] + ends[k] < bottom:
            bottom, worst[length - 1] = low[length - 1, k] + ends[k], k
        if search and high[length - 1, k] + ends[k] > top:
            top, best[length - 1] = high[length - 1, k] + ends[k], k
    if bottom < np.inf:
        for t in range(length - 1, 0, -1):
            worst[t - 1] = low_from[t, worst[t]]
            if search:
                best[t - 1] = high_from[t, best[t]]
    return top, bottom


@kernel
def edge(p, j, k, lattice):
    """The number of an edge at position p, or -1."""
    for q in range(lattice.start[p], lattice.start[p] + lattice.filled[p]):
        if lattice.here[q] == k and lattice.before[q] == j:
            return q
    return -1


@kernel
def add_flow(p, j, k, amount, lattice):
    """To an edge at position p, which is made if there is none."""
    q = edge(p, j, k, lattice)
    if q < 0:
        q = lattice.start[p] + lattice.filled[p]
        lattice.filled[p] += 1
        lattice.before[q], lattice.here[q], lattice.flow[q] = j, k, 0.0
    lattice.flow[q] += amount


@kernel
def forget(p, q, lattice):
    """An edge of position p."""
    before, here, flow = lattice.before, lattice.here, lattice.flow
    last = lattice.start[p] + lattice.filled[p] - 1
    before[q], here[q], flow[q] = before[last], here[last], flow[last]
    lattice.filled[p] -= 1


@kernel
def take_flow(p, j, k, amount, lattice):
    """From an edge at position p, which is forgotten if nothing is left and it is not the truth's."""
    flow = lattice.flow
    q = edge(p, j, k, lattice)
    left = flow[q] - amount
    flow[q] = left if left > EMPTY * flow[q] else 0.0
    if flow[q] == 0.0 and q > lattice.start[p]:
        forget(p, q, lattice)


@kernel
def coordinate(path, t, K):
    """Of the link into position t of a path."""
    return K * K + path[0] if t == 0 else path[t - 1] * K + path[t]


@kernel
def move_stretch(begin, a, b, length, K, w, links, gram, lattice, scratch, report):
    """Move flow from the worst path to the best one, where they differ: at positions a to b; whether that was possible.

    The step is exact: of g = the difference of their scores and q = ‖difference of their features‖², min(g / q, flow).
    """
    best, worst, scores, change, counts = scratch.best, scratch.worst, scratch.scores, scratch.change, scratch.links
    last = min(b + 1, length - 1)  # the link to b + 1 differs, too
    slope, square, most = 0.0, 0.0, np.inf
    for t in range(a, last + 1):
        p = begin + t
        if t <= b:
            slope += scores[t, best[t]] - scores[t, worst[t]]
        new, old = coordinate(best, t, K), coordinate(worst, t, K)
        slope += links[new] - links[old]
        counts[new] += 1.0
        counts[old] -= 1.0
        from_new, from_old = (best[t - 1], worst[t - 1]) if t > 0 else (0, 0)
        most = min(most, lattice.flow[edge(p, from_old, worst[t], lattice)])
        full = lattice.start[p] + lattice.filled[p] == lattice.start[p + 1]
        if full and edge(p, from_new, best[t], lattice) < 0:
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
            common = (z == best[t]) + (y == worst[t]) - (z == worst[t]) - (y == best[t])
            square += common * gram[row + t]
    step = slope / square if square * most > slope else most
    report[GAIN] += step * (slope - 0.5 * step * square)
    for t in range(a, last + 1):
        from_new, from_old = (best[t - 1], worst[t - 1]) if t > 0 else (0, 0)
        add_flow(begin + t, from_new, best[t], step, lattice)  # first: there was room before anything is forgotten
        take_flow(begin + t, from_old, worst[t], step, lattice)
        new, old = coordinate(best, t, K), coordinate(worst, t, K)
        w[new] -= step
        links[new] -= step
        w[old] += step
        links[old] += step
    if b == length - 1:
        new, old = K * K + K + best[b], K * K + K + worst[b]
        w[new] -= step
        links[new] -= step
        w[old] += step
        links[old] += step
    for s in range(a, b + 1):
        row, z, y = s * length, best[s], worst[s]
        change[s, z] -= step
        change[s, y] += step
        for t in range(length):
            scores[t, z] -= step * gram[row + t]
            scores[t, y] += step * gram[row + t]
    return True


@kernel
def spread(begin, length, K, w, indptr, places, values, positions, change):
    """Add the features of all positions to w, times the change at each label, and forget the change."""
    for t in range(length):
        row, u = change[t], np.uint64(positions.units[begin + t])
        for k in range(K):
            amount = row[k]
            if amount != 0.0:
                row[k] = 0.0
                label = np.uint64(k)
                for p in range(indptr[u], indptr[u + np.uint64(1)]):
                    w[places[p] + label] += amount * values[p]


@kernel
def truth_score(begin, length, K, links, positions, scores):
    """Of the true labels."""
    truths = positions.truths
    total = links[K * K + truths[begin]] + links[K * K + K + truths[begin + length - 1]] + scores[0, truths[begin]]
    for t in range(1, length):
        k = truths[begin + t]
        total += links[truths[begin + t - 1] * K + k] + scores[t, k]
    return total


@kernel
def visit_chains(
    order, search, rounds, atoms, positions, cost, cap, lattice, grams, w, links, T, s, f, scratch, clock, report
):
    """Improve the flows of these sequences in turn; those that gained move to the front of `order`.

    With `search` the first path that flow is moved to is the best of all, else it is the best one of the lattice.
    links: w's links, -inf where forbidden; T, s and f are views of it. clock: how often labels were met.
    report: Σ cap · slack as it was seen, what the dual gained, how many moved, multiplications, and how often there was
    no room.
    """
    _, K, indptr, places, values = atoms
    bounds, scores, best, worst = positions.bounds, scratch.scores, scratch.best, scratch.worst
    for n in range(len(order)):
        i = order[n]
        begin, length, limit = bounds[i], bounds[i + 1] - bounds[i], cap[i]
        clock[0] += 1
        top = 0.0
        if search:
            all_scores(begin, length, w, K, indptr, places, values, positions, cost, scores)
            forward(scores[:length], T, s, scratch.high)
            top = trace_back(length, T, f, scratch.high, best)
            report[PENALTY] += limit * max(top - truth_score(begin, length, K, links, positions, scores), 0.0)
            if limit == 0.0:
                continue
        else:
            now = clock[0]
            work = known_scores(
                begin, length, now, w, indptr, places, values, positions, cost, lattice, scratch.seen, scores
            )
            report[WORK] += work + 5.0 * length
            if work == 0:
                continue
        moved, span = False, 0.0
        for again in range(rounds):
            clock[0] += 1
            within = again > 0 or not search
            found, low = paths_in_lattice(begin, length, within, clock[0], K, links, lattice, scratch)
            high = found if within else top
            report[WORK] += 10.0 * length
            if not high - low > max(LEVEL * (abs(high) + abs(low)), CLOSER * span):
                break
            if again == 0:
                span = high - low
            for t in range(length):
                if best[t] != worst[t] and not grams.known[begin + t]:
                    know_products(i, begin, t, length, positions, indptr, values, grams, scratch.features)
            cells = grams.cells[grams.first[i] : grams.first[i] + length * length]
            stepped = False
            a = np.int64(0)  # a plain 0 would be another type, and compile what follows twice
            while a < length:
                b = a
                while b < length and best[b] != worst[b]:
                    b += 1
                if b > a and move_stretch(begin, a, b - 1, length, K, w, links, cells, lattice, scratch, report):
                    stepped = True
                a = b + 1
            if not stepped:
                break
            moved = True
        if moved:
            spread(begin, length, K, w, indptr, places, values, positions, scratch.change)
            front = int(report[MOVED])
            order[n], order[front] = order[front], i
            report[MOVED] += 1.0


@kernel
def split_flow(write, positions, cap, lattice, rest, path, labels, owners, weights):
    """The flows as paths with weights; how many paths, and how many labels they have together.

    `rest` is a copy of the flow. Paths take the widest edges that are not the truth's, wherever there are any: beside
    the truth's, their flow may be very small. What rounding has left of flow that leads nowhere is dropped. The truth
    itself, with what is left, is no path. With `write` the paths are written down.
    """
    start, filled, before, here, flow = lattice
    bounds = positions.bounds
    paths, size = 0, 0
    for i in range(len(bounds) - 1):
        begin, length = bounds[i], bounds[i + 1] - bounds[i]
        while cap[i] > 0.0:
            amount, true, steps = np.inf, True, 0
            while steps < length:
                first, widest = start[begin + steps], -1
                for q in range(first, first + filled[begin + steps]):
                    follows = steps == 0 or before[q] == here[path[steps - 1]]
                    wider = widest <= first or rest[q] > rest[widest]  # the truth's edge, the first, counts least
                    if follows and wider and rest[q] > EMPTY * flow[q]:
                        widest = q
                if widest < 0:
                    break
                path[steps] = widest
                amount = min(amount, rest[widest])
                true = true and widest == first
                steps += 1
            if steps == 0 or (steps == length and true):
                break
            if steps < length:  # its last edge leads nowhere
                rest[path[steps - 1]] = 0.0
                continue
            for t in range(length):
                rest[path[t]] -= amount
            if write:
                owners[paths], weights[paths] = i, amount
                for t in range(length):
                    labels[size + t] = here[path[t]]
            paths += 1
            size += length
    return paths, size


@kernel
def join_paths(positions, cap, lattice, labels, owners, weights):
    """Replace all flows by those of these paths, and what is left of the caps by the truth's."""
    start, filled, flow, bounds = lattice.start, lattice.filled, lattice.flow, positions.bounds
    for i in range(len(bounds) - 1):
        for p in range(bounds[i], bounds[i + 1]):
            for q in range(start[p], start[p] + filled[p]):
                flow[q] = 0.0
            flow[start[p]] = cap[i]
    top = 0
    for n in range(len(owners)):
        begin, length = bounds[owners[n]], bounds[owners[n] + 1] - bounds[owners[n]]
        for t in range(length):
            p, j = begin + t, labels[top + t - 1] if t > 0 else 0
            flow[start[p]] -= weights[n]
            flow[edge(p, j, labels[top + t], lattice)] += weights[n]
        top += length
    for p in range(bounds[len(bounds) - 1]):
        flow[start[p]] = max(flow[start[p]], 0.0)
        for q in range(start[p] + filled[p] - 1, start[p], -1):
            if flow[q] == 0.0:
                forget(p, q, lattice)
