"""Kernels of the dual of chains, kept as a flow through the lattice of each sequence; see chain_flows.py.

Position p of the sequences in a row has the edges start[p] : start[p] + filled[p] of a lattice: flow[q] goes into label
here[q] from label before[q] of the position before (from nowhere at the first position, where `before` is 0). The first
edge of every position is the truth's, and stays even if it is empty; all others carry flow. What flows into a label
flows out of it, and through every position flows the cap of its sequence.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.fetching import fetch
from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import weight
from maxmargin.problem.planes.compiled.atoms import label_scores, place_of, value_of
from maxmargin.structures.sequences.compiled.chain import forward, trace_back

PENALTY, GAIN, MOVED, WORK, REFUSED = range(5)  # places in a report
EMPTY = 1e-14  # what is left of a flow is nothing if it is less than this share of it
LEVEL = 1e-12  # two scores that differ by less than this share of them are the same
CLOSER = 0.5  # a visit ends when its best and worst paths are that much closer


@kernel
def factor_of(p, positions):
    """How many times as much a mistake costs at position p."""
    return positions.factors[np.uint64(p) & positions.every]


@kernel
def two_scores(u, j, k, w, limits, atoms):
    """The scores of labels j and k of unit u, in one sweep."""
    a0, a1, b0, b1 = 0.0, 0.0, 0.0, 0.0
    p, end = atoms.indptr[u], atoms.indptr[u + np.uint64(1)]
    while p + np.uint64(1) < end:
        x, X = value_of(p, atoms), place_of(p, atoms)
        y, Y = value_of(p + np.uint64(1), atoms), place_of(p + np.uint64(1), atoms)
        a0 += x * weight(w, limits, X + j)
        b0 += x * weight(w, limits, X + k)
        a1 += y * weight(w, limits, Y + j)
        b1 += y * weight(w, limits, Y + k)
        p += np.uint64(2)
    if p < end:
        a0 += value_of(p, atoms) * weight(w, limits, place_of(p, atoms) + j)
        b0 += value_of(p, atoms) * weight(w, limits, place_of(p, atoms) + k)
    return a0 + a1, b0 + b1


@kernel
def all_scores(begin, length, w, limits, atoms, positions, cost, scores):
    """Scores of all labels, with their costs, at the positions of a sequence."""
    for t in range(length):
        p = begin + t
        label_scores(np.uint64(positions.units[p]), w, limits, atoms, scores[t])
        row, price, factor = scores[t], cost[positions.rows[p]], factor_of(p, positions)
        for k in range(atoms.n_labels):
            row[k] += factor * price[k]


@kernel
def known_scores(begin, length, now, w, limits, atoms, positions, cost, lattice, seen, scores):
    """The same of the labels in the lattice, at positions with several edges; how many products that took."""
    start, filled, here, indptr = lattice.start, lattice.filled, lattice.here, atoms.indptr
    work = 0
    for t in range(length):
        p = begin + t
        if filled[p] == 1:
            continue
        first, end = start[p], start[p] + filled[p]
        u, price, factor = np.uint64(positions.units[p]), cost[positions.rows[p]], factor_of(p, positions)
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
            a, b = two_scores(u, np.uint64(waiting), np.uint64(k), w, limits, atoms)
            scores[t, waiting], scores[t, k] = a + factor * price[waiting], b + factor * price[k]
            paired = True
            work += 2 * (indptr[u + np.uint64(1)] - indptr[u])
        if several and not paired:
            a, b = two_scores(u, np.uint64(waiting), np.uint64(waiting), w, limits, atoms)
            scores[t, waiting] = a + factor * price[waiting]
            work += 2 * (indptr[u + np.uint64(1)] - indptr[u])
    return work


@kernel
def know_products(i, begin, s, length, positions, atoms, grams, features):
    """⟨x_s, x_t⟩ of position s with all positions t of sequence i, unless they are known."""
    if grams.known[begin + s]:
        return
    units, columns, indptr = positions.units, atoms.columns, atoms.indptr
    u = np.uint64(units[begin + s])
    for p in range(indptr[u], indptr[u + np.uint64(1)]):
        features[columns[p]] = value_of(p, atoms)
    first = grams.first[i] + s * length
    for t in range(length):
        v, total = np.uint64(units[begin + t]), 0.0
        for p in range(indptr[v], indptr[v + np.uint64(1)]):
            total += value_of(p, atoms) * features[columns[p]]
        grams.cells[first + t] = total
    for p in range(indptr[u], indptr[u + np.uint64(1)]):
        features[columns[p]] = 0.0
    grams.known[begin + s] = True


@kernel
def paths_in_lattice(begin, a, b, length, search, now, K, links, lattice, scratch):
    """The worst path that carries flow and, with `search`, the best path of the lattice; their scores.

    From position a to b - 1, between which there are several edges everywhere; the positions beside them have one.
    """
    start, filled, before, here, flow = lattice
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
                    if seen[t - 1, j] != now:  # rounding has left some flow that comes from nowhere
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
    if b < length:
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
def edge(p, j, k, lattice):
    """The number of an edge at position p, or -1."""
    for q in range(lattice.start[p], lattice.start[p] + lattice.filled[p]):
        if lattice.here[q] == k and lattice.before[q] == j:
            return q
    return -1


@kernel
def add_flow(p, q, j, k, amount, lattice):
    """To edge q of position p, which is made, from label j to k, if q < 0."""
    if q < 0:
        q = lattice.start[p] + lattice.filled[p]
        lattice.filled[p] += 1
        lattice.before[q], lattice.here[q], lattice.flow[q] = j, k, 0.0
    lattice.flow[q] += amount


@kernel
def forget(p, q, lattice):
    """Edge q of position p."""
    before, here, flow = lattice.before, lattice.here, lattice.flow
    last = lattice.start[p] + lattice.filled[p] - 1
    before[q], here[q], flow[q] = before[last], here[last], flow[last]
    lattice.filled[p] -= 1


@kernel
def take_flow(p, q, amount, lattice):
    """From edge q of position p, which is forgotten if nothing is left and it is not the truth's."""
    flow = lattice.flow
    left = flow[q] - amount
    flow[q] = left if left > EMPTY * flow[q] else 0.0
    if flow[q] == 0.0 and q > lattice.start[p]:
        forget(p, q, lattice)


@kernel
def coordinate(path, t, K):
    """Of the link into position t of a path."""
    return K * K + path[0] if t == 0 else path[t - 1] * K + path[t]


@kernel
def add_link(c, change, w, limits, links):
    """Change link c, which is clipped at once; until they are read again, scores change as if there were no limits."""
    w[c] += change
    if links[c] > -np.inf:
        links[c] = weight(w, limits, np.uint64(c))


@kernel
def move_stretch(begin, a, b, needed, length, K, w, limits, links, gram, lattice, scratch, report):
    """Move flow from the worst path to the best one, where they differ: at positions a to b; whether that was possible.

    The step is exact: of g = the difference of their scores and q = ‖difference of their features‖², min(g / q, flow).
    Scores are kept up to date from position `needed` on.
    """
    best, worst, scores, change, counts = scratch.best, scratch.worst, scratch.scores, scratch.change, scratch.links
    best_edge, worst_edge = scratch.best_edge, scratch.worst_edge
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
            common = int(z == best[t]) + int(y == worst[t]) - int(z == worst[t]) - int(y == best[t])
            square += common * gram[row + t]
    step = slope / square if square * most > slope else most
    report[GAIN] += step * (slope - 0.5 * step * square)
    for t in range(a, last + 1):
        from_new = best[t - 1] if t > 0 else 0
        add_flow(begin + t, best_edge[t], from_new, best[t], step, lattice)  # first: there was room before
        take_flow(begin + t, worst_edge[t], step, lattice)
        new, old = coordinate(best, t, K), coordinate(worst, t, K)
        add_link(new, -step, w, limits, links)
        add_link(old, step, w, limits, links)
    if b == length - 1:
        new, old = K * K + K + best[b], K * K + K + worst[b]
        add_link(new, -step, w, limits, links)
        add_link(old, step, w, limits, links)
    for s in range(a, b + 1):
        row, z, y = s * length, best[s], worst[s]
        change[s, z] -= step
        change[s, y] += step
        for t in range(needed, length):
            scores[t, z] -= step * gram[row + t]
            scores[t, y] += step * gram[row + t]
    return True


@kernel
def move_stretches(
    i, begin, a, b, again, length, K, w, limits, links, atoms, positions, grams, lattice, scratch, report
):
    """The same wherever the two paths differ, from position a to b - 1; whether anything moved.

    Scores are needed at later positions and, with `again`, at these.
    """
    best, worst, moved, whole = scratch.best, scratch.worst, False, a
    cells = grams.cells[grams.first[i] : grams.first[i] + length * length]
    while a < b:
        first, t = a, a
        while t < b and best[t] != worst[t]:
            know_products(i, begin, t, length, positions, atoms, grams, scratch.features)
            t += 1
        if t > first:
            needed = whole if again else t
            if move_stretch(begin, first, t - 1, needed, length, K, w, limits, links, cells, lattice, scratch, report):
                moved = True
        a = t + 1
    return moved


@kernel
def spread(begin, length, w, atoms, positions, change):
    """Add the features of all positions to w, times the change at each label, and forget the change."""
    for t in range(length):
        row, u = change[t], np.uint64(positions.units[begin + t])
        for k in range(atoms.n_labels):
            amount = row[k]
            if amount != 0.0:
                row[k] = 0.0
                label = np.uint64(k)
                for p in range(atoms.indptr[u], atoms.indptr[u + np.uint64(1)]):
                    w[place_of(p, atoms) + label] += amount * value_of(p, atoms)


@kernel
def path_score(length, K, links, path, scores):
    """Of the labels of a path."""
    total = links[K * K + path[0]] + links[K * K + K + path[length - 1]] + scores[0, path[0]]
    for t in range(1, length):
        total += links[path[t - 1] * K + path[t]] + scores[t, path[t]]
    return total


@kernel
def visit_with_search(
    i, begin, length, limit, atoms, positions, cost, lattice, grams, w, limits, links, T, s, f, scratch, clock, report
):
    """Move flow from the worst path of the lattice to the best of all paths; whether anything moved."""
    K = atoms.n_labels
    scores, best, worst = scratch.scores, scratch.best, scratch.worst
    all_scores(begin, length, w, limits, atoms, positions, cost, scores)
    truth = path_score(length, K, links, positions.truths[begin : begin + length], scores)
    forward(scores[:length], T, s, scratch.high)
    high = trace_back(length, T, f, scratch.high, best)
    report[PENALTY] += limit * max(high - truth, 0.0)
    if limit == 0.0:
        return False
    report[WORK] += 10.0 * length
    t = 0
    while t < length:
        a = t
        while t < length and lattice.filled[begin + t] > 1:
            t += 1
        if t > a:
            _, low = paths_in_lattice(begin, a, t, length, False, clock, K, links, lattice, scratch)
            if low == np.inf:
                return False
        if t < length:
            q = lattice.start[begin + t]
            worst[t], scratch.worst_edge[t] = lattice.here[q], q
            t += 1
    low = path_score(length, K, links, worst, scores)
    if not high - low > LEVEL * (abs(high) + abs(low)):
        return False
    for t in range(length):
        if best[t] != worst[t] or (t > 0 and best[t - 1] != worst[t - 1]):
            scratch.best_edge[t] = edge(begin + t, best[t - 1] if t > 0 else 0, best[t], lattice)
    return move_stretches(
        i, begin, 0, length, False, length, K, w, limits, links, atoms, positions, grams, lattice, scratch, report
    )


@kernel
def visit_lattice(
    i, begin, length, rounds, atoms, positions, cost, lattice, grams, w, limits, links, scratch, clock, report
):
    """Move flow among the paths of the lattice; whether anything moved.

    Where a position has one edge only, all paths meet: what lies between two such positions is visited by itself.
    """
    K = atoms.n_labels
    work = known_scores(begin, length, clock, w, limits, atoms, positions, cost, lattice, scratch.seen, scratch.scores)
    report[WORK] += work + 5.0 * length
    if work == 0:
        return False
    moved, t = False, 0
    while t < length:
        a = t
        while t < length and lattice.filled[begin + t] > 1:
            t += 1
        if t == a:
            t += 1
            continue
        if a > 0:  # where both paths come from
            scratch.best[a - 1] = scratch.worst[a - 1] = lattice.here[lattice.start[begin + a - 1]]
        span = 0.0
        for again in range(rounds):
            high, low = paths_in_lattice(begin, a, t, length, True, clock + 1 + again, K, links, lattice, scratch)
            report[WORK] += 10.0 * (t - a)
            if not high - low > max(LEVEL * (abs(high) + abs(low)), CLOSER * span):
                break
            if again == 0:
                span = high - low
            more = again + 1 < rounds
            if not move_stretches(
                i, begin, a, t, more, length, K, w, limits, links, atoms, positions, grams, lattice, scratch, report
            ):
                break
            moved = True
    return moved


@kernel
def fetch_soon(n, order, atoms, positions, lattice, grams):
    """Ask for what the next visits will read, which is scattered over memory: first for where it is, then for it."""
    bounds = positions.bounds
    if n + 4 < len(order):
        i = order[n + 4]
        fetch(bounds, i, i + 1)
        fetch(grams.first, i, i + 1)
    if n + 2 < len(order):
        i = order[n + 2]
        begin, end = bounds[i], bounds[i + 1]
        fetch(lattice.start, begin, end)
        fetch(lattice.filled, begin, end)
        fetch(positions.units, begin, end)
        fetch(positions.rows, begin, end)
        every = np.int64(positions.every)
        fetch(positions.factors, begin & every, end & every)
        fetch(grams.known, begin, end)
    if n + 1 < len(order):
        i = order[n + 1]
        begin, end = bounds[i], bounds[i + 1]
        first, last = lattice.start[begin], lattice.start[end]
        fetch(lattice.before, first, last)
        fetch(lattice.here, first, last)
        fetch(lattice.flow, first, last)
        u = positions.units[begin]
        fetch(atoms.indptr, u, u + end - begin)


@kernel
def visit_chains(
    order,
    search,
    rounds,
    atoms,
    positions,
    cost,
    cap,
    lattice,
    grams,
    w,
    limits,
    links,
    T,
    s,
    f,
    scratch,
    clock,
    report,
):
    """Improve the flows of these sequences in turn; those that gained move to the front of `order`.

    With `search` flow is moved to the best of all paths, once, else up to `rounds` times to the best of the lattice.
    limits: of weights, as they are read (compiled/label_vectors.py); what is added to w is not clipped.
    links: w's links, -inf where forbidden; T, s and f are views of it. clock: how often labels were met.
    report: Σ cap · slack as it was seen, what the dual gained, how many moved, multiplications, and how often there was
    no room.
    """
    bounds = positions.bounds
    for n in range(len(order)):
        i = order[n]
        begin, length = bounds[i], bounds[i + 1] - bounds[i]
        clock[0] += rounds + 1
        now = clock[0]
        if not grams.kept:
            for p in range(begin, begin + length):
                grams.known[p] = False
        fetch_soon(n, order, atoms, positions, lattice, grams)
        if search:
            moved = visit_with_search(
                i,
                begin,
                length,
                cap[i],
                atoms,
                positions,
                cost,
                lattice,
                grams,
                w,
                limits,
                links,
                T,
                s,
                f,
                scratch,
                now,
                report,
            )
        else:
            moved = visit_lattice(
                i,
                begin,
                length,
                rounds,
                atoms,
                positions,
                cost,
                lattice,
                grams,
                w,
                limits,
                links,
                scratch,
                now,
                report,
            )
        if moved:
            spread(begin, length, w, atoms, positions, scratch.change)
            front = int(report[MOVED])
            order[n], order[front] = order[front], i
            report[MOVED] += 1.0


@kernel
def wider_starts(lattice, start):
    """Where positions begin if those that have no room left get twice as much."""
    top = 0
    for p in range(len(lattice.filled)):
        start[p] = top
        old = lattice.start[p + 1] - lattice.start[p]
        top += 2 * old if lattice.filled[p] == old else old
    start[len(lattice.filled)] = top


@kernel
def move_edges(old, new):
    """The edges of one lattice in the room of another."""
    for p in range(len(old.filled)):
        for q in range(old.filled[p]):
            at, to = old.start[p] + q, new.start[p] + q
            new.before[to], new.here[to], new.flow[to] = old.before[at], old.here[at], old.flow[at]


@kernel
def flow_losses(positions, cost, lattice):
    """Σ α Δ of all flows: the costs of labels, times what flows through them."""
    start, filled, _, here, flow = lattice
    total = 0.0
    for p in range(len(filled)):
        price, sum_here = cost[positions.rows[p]], 0.0
        for q in range(start[p], start[p] + filled[p]):
            sum_here += flow[q] * price[here[q]]
        total += factor_of(p, positions) * sum_here
    return total


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
