"""The best point of the local polytope by primal-dual steps, over few labels of few nodes.

A *residual* is a pairwise model (see messages.py) in which every node may carry mass on some labels only. Nodes with
one label left are removed: the scores of edges to them are added to their neighbours' own. For the others,

    node a       labels label[begin[a] : begin[a + 1]], their scores at the same indices of `scores`
    edge r       the nodes ends[r], the table of scores tables[table_at[r] : table_at[r + 1]], row by row,
                 and the messages to both ends' labels, one after another, from message_at[r] on.

A point of the residual is x, numbers of the nodes' labels, and z, numbers of the edges' tables; y are messages.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.graphs.compiled.messages import send

NOW, MEAN, ANCHOR, BEST = 0, 1, 2, 3  # rows of x, z and y: the iterate, the mean since the anchor, the anchor, the best


@kernel
def fold(residual, messages):
    """Write the scores, tables and messages of a residual."""
    unary, edges, pair = residual.model
    place, begin, label = residual.place, residual.begin, residual.label
    scores, tables, y = residual.scores, residual.tables, residual.messages
    for i in range(len(unary)):
        a = place[i]
        if a >= 0:
            for c in range(begin[a], begin[a + 1]):
                scores[c] = unary[i, label[c]]
    for e in range(len(edges)):
        a = place[edges[e, 0]]
        b = place[edges[e, 1]]
        if a >= 0 and b >= 0:
            r = residual.edge_at[e]
            to_table = residual.table_at[r]
            to_first = residual.message_at[r]
            to_second = to_first + begin[a + 1] - begin[a]
            for c in range(begin[a], begin[a + 1]):
                y[to_first] = messages[e, 0, label[c]]
                to_first += 1
                for d in range(begin[b], begin[b + 1]):
                    tables[to_table] = pair[e, label[c], label[d]]
                    to_table += 1
            for d in range(begin[b], begin[b + 1]):
                y[to_second] = messages[e, 1, label[d]]
                to_second += 1
        elif a >= 0:
            for c in range(begin[a], begin[a + 1]):
                scores[c] += pair[e, label[c], -1 - b]
        elif b >= 0:
            for d in range(begin[b], begin[b + 1]):
                scores[d] += pair[e, -1 - a, label[d]]


@kernel
def project(numbers, begin, end):
    """Project numbers[begin:end] onto the simplex of numbers >= 0 with sum 1 (Michelot 1986)."""
    count = end - begin
    total = 0.0
    for c in range(begin, end):
        total += numbers[c]
    less = (total - 1.0) / count
    while True:
        left = 0
        total = 0.0
        for c in range(begin, end):
            if numbers[c] > less:
                left += 1
                total += numbers[c]
        if left >= count or left == 0:  # rounding can restore a number, or leave none if the numbers are huge
            break
        count = left
        less = (total - 1.0) / count
    total = 0.0
    for c in range(begin, end):
        numbers[c] = max(0.0, numbers[c] - less)
        total += numbers[c]
    for c in range(begin, end):
        numbers[c] = numbers[c] / total if total > 0.0 else 1.0 / (end - begin)


@kernel
def residual_bound(residual, y, beliefs):
    """Return the bound that messages prove of the residual. Scratch: beliefs, like scores."""
    scores, begin, ends, tables = residual.scores, residual.begin, residual.ends, residual.tables
    table_at, message_at = residual.table_at, residual.message_at
    for c in range(len(scores)):
        beliefs[c] = scores[c]
    bound = 0.0
    for r in range(len(ends)):
        first, second = begin[ends[r, 0]], begin[ends[r, 1]]
        rows, columns = begin[ends[r, 0] + 1] - first, begin[ends[r, 1] + 1] - second
        to_first, to_second = message_at[r], message_at[r] + rows
        best = -np.inf
        for k in range(rows):
            beliefs[first + k] += y[to_first + k]
            at = table_at[r] + k * columns
            for m in range(columns):
                score = tables[at + m] - y[to_first + k] - y[to_second + m]
                if score > best:
                    best = score
        for m in range(columns):
            beliefs[second + m] += y[to_second + m]
        bound += best
    for a in range(len(begin) - 1):
        best = beliefs[begin[a]]
        for c in range(begin[a] + 1, begin[a + 1]):
            if beliefs[c] > best:
                best = beliefs[c]
        bound += best
    return bound


@kernel
def repair(residual, x, z, out, lack):
    """Write the edges' tables near z whose margins are the numbers of their nodes; return the value of that point.

    Rows and columns that are too large are scaled down; the missing mass is then spread over rows and columns in
    proportion to their deficits (Altschuler, Weed and Rigollet 2017, Algorithm 2). Scratch: lack, as long as a node
    may have labels.
    """
    scores, begin, ends = residual.scores, residual.begin, residual.ends
    tables, table_at = residual.tables, residual.table_at
    value = 0.0
    for c in range(len(scores)):
        value += scores[c] * x[c]
    for r in range(len(ends)):
        first, second = begin[ends[r, 0]], begin[ends[r, 1]]
        rows, columns = begin[ends[r, 0] + 1] - first, begin[ends[r, 1] + 1] - second
        corner = table_at[r]
        for k in range(rows):
            total = 0.0
            for m in range(columns):
                total += z[corner + k * columns + m]
            scale = x[first + k] / total if total > x[first + k] else 1.0
            for m in range(columns):
                out[corner + k * columns + m] = z[corner + k * columns + m] * scale
        missing = 0.0
        for m in range(columns):
            total = 0.0
            for k in range(rows):
                total += out[corner + k * columns + m]
            scale = x[second + m] / total if total > x[second + m] else 1.0
            for k in range(rows):
                out[corner + k * columns + m] *= scale
            lack[m] = max(0.0, x[second + m] - total)
            missing += lack[m]
        for k in range(rows):
            total = 0.0
            for m in range(columns):
                total += out[corner + k * columns + m]
            share = max(0.0, x[first + k] - total) / missing if missing > 0.0 else 0.0
            for m in range(columns):
                out[corner + k * columns + m] += share * lack[m]
                value += tables[corner + k * columns + m] * out[corner + k * columns + m]
    return value


@kernel
def step(residual, x, z, y, weight, pull, column):
    """Make one step of the primal-dual hybrid gradient method (Chambolle and Pock 2011) for

        max over x, z, min over y   ⟨scores, x⟩ + ⟨tables, z⟩ + Σ y · (numbers of the nodes - margins of the edges),

    x in simplices, z >= 0. The steps have the sizes of Pock and Chambolle (2011): one over the number of constraints of
    a variable, one over the number of variables of a constraint; `weight` moves effort from the first to the second.
    Scratch: pull, like x; column, as long as a node may have labels.
    """
    scores, begin, ends, tables = residual.scores, residual.begin, residual.ends, residual.tables
    table_at, message_at, degree = residual.table_at, residual.message_at, residual.degree
    for c in range(len(x)):
        pull[c] = scores[c]
    for r in range(len(ends)):
        at = message_at[r]
        for side in range(2):
            for c in range(begin[ends[r, side]], begin[ends[r, side] + 1]):
                pull[c] += y[at]
                at += 1
    for a in range(len(begin) - 1):
        size = 1.0 / (weight * max(1, degree[a]))
        for c in range(begin[a], begin[a + 1]):
            pull[c] = x[c] + size * pull[c]
        project(pull, begin[a], begin[a + 1])
        for c in range(begin[a], begin[a + 1]):
            new = pull[c]
            pull[c] = 2.0 * new - x[c]  # extrapolation for the dual step
            x[c] = new
    size = 0.5 / weight
    for r in range(len(ends)):
        first, second = begin[ends[r, 0]], begin[ends[r, 1]]
        rows, columns = begin[ends[r, 0] + 1] - first, begin[ends[r, 1] + 1] - second
        to_first, to_second = message_at[r], message_at[r] + rows
        for m in range(columns):
            column[m] = 0.0
        for k in range(rows):
            at = table_at[r] + k * columns
            given = y[to_first + k]
            total = 0.0
            for m in range(columns):
                old = z[at + m]
                new = max(0.0, old + size * (tables[at + m] - given - y[to_second + m]))
                z[at + m] = new
                total += 2.0 * new - old
                column[m] += 2.0 * new - old
            y[to_first + k] = given - weight / (1 + columns) * (pull[first + k] - total)
        for m in range(columns):
            y[to_second + m] -= weight / (1 + rows) * (pull[second + m] - column[m])


@kernel
def copy_row(table, source, target):
    """Copy one row of a matrix to another."""
    for c in range(table.shape[1]):
        table[target, c] = table[source, c]


@kernel
def move_mean(table, count):
    """Update row MEAN, the mean of count - 1 rows, to the mean of these and row NOW."""
    share = 1.0 / count
    for c in range(table.shape[1]):
        table[MEAN, c] += share * (table[NOW, c] - table[MEAN, c])


@kernel
def moved(table):
    """Return the squared distance of row NOW from row ANCHOR."""
    total = 0.0
    for c in range(table.shape[1]):
        total += (table[NOW, c] - table[ANCHOR, c]) ** 2
    return total


@kernel
def run_steps(residual, x, z, y, pull, column, repaired, weight, known, tol, steps):
    """Make primal-dual steps until the best point is within tol of the best bound; return the number of steps made.

    Rows BEST of x and z are then the best point (feasible: repaired), row BEST of y the messages of the best bound; a
    bound may be `known` from elsewhere. Every 40 steps the iterate and the mean since the last restart are evaluated.
    The method restarts from the better of them when the distance between bound and value has halved, or half of all
    steps were made since the last restart; it then weighs primal and dual steps by how far either went (Applegate et
    al. 2021, PDLP: with restarts the method converges linearly on linear programmes).
    """
    best_bound = np.inf
    best_value = -np.inf
    last = np.inf
    count = 0
    for table in (x, z, y):
        copy_row(table, NOW, ANCHOR)
        copy_row(table, NOW, BEST)
    for s in range(1, steps + 1):
        step(residual, x[NOW], z[NOW], y[NOW], weight, pull, column)
        count += 1
        for table in (x, z, y):
            move_mean(table, count)
        if s % 40 and s < steps:
            continue
        nearest = np.inf
        better = NOW
        for row in (NOW, MEAN):
            bound = residual_bound(residual, y[row], pull)
            value = repair(residual, x[row], z[row], repaired, column)
            if bound < best_bound:
                best_bound = bound
                copy_row(y, row, BEST)
            if value > best_value:
                best_value = value
                copy_row(x, row, BEST)
                for c in range(len(repaired)):
                    z[BEST, c] = repaired[c]
            if bound - value < nearest:
                nearest = bound - value
                better = row
        if min(known, best_bound) - best_value <= tol:
            return s
        if nearest <= 0.5 * last or 2 * count >= s:
            for table in (x, z, y):
                copy_row(table, better, NOW)
            primal = moved(x) + moved(z)
            dual = moved(y)
            if primal > 0.0 and dual > 0.0:
                weight = np.sqrt(weight * np.sqrt(dual / primal))
            for table in (x, z, y):
                copy_row(table, NOW, ANCHOR)
            last = nearest
            count = 0
    return steps


@kernel
def gather(residual, nodes, tables, x, z):
    """Write a point of the model, which has no mass on other labels, as one of the residual: `unfold` backwards."""
    edges, place, begin, label = residual.model.edges, residual.place, residual.begin, residual.label
    edge_at, table_at = residual.edge_at, residual.table_at
    for i in range(len(place)):
        a = place[i]
        if a >= 0:
            for c in range(begin[a], begin[a + 1]):
                x[c] = nodes[i, label[c]]
    for e in range(len(edges)):
        if edge_at[e] >= 0:
            a = place[edges[e, 0]]
            b = place[edges[e, 1]]
            at = table_at[edge_at[e]]
            for c in range(begin[a], begin[a + 1]):
                for d in range(begin[b], begin[b + 1]):
                    z[at] = tables[e, label[c], label[d]]
                    at += 1


@kernel
def unfold(residual, x, z, nodes, tables):
    """Write a point of the residual as one of the model; nodes (N, K) and tables (E, K, K) are initially 0."""
    edges, place, begin, label = residual.model.edges, residual.place, residual.begin, residual.label
    edge_at, table_at = residual.edge_at, residual.table_at
    for i in range(len(place)):
        a = place[i]
        if a < 0:
            nodes[i, -1 - a] = 1.0
        else:
            for c in range(begin[a], begin[a + 1]):
                nodes[i, label[c]] = x[c]
    for e in range(len(edges)):
        a = place[edges[e, 0]]
        b = place[edges[e, 1]]
        if a < 0 and b < 0:
            tables[e, -1 - a, -1 - b] = 1.0
        elif b < 0:
            for c in range(begin[a], begin[a + 1]):
                tables[e, label[c], -1 - b] = x[c]
        elif a < 0:
            for d in range(begin[b], begin[b + 1]):
                tables[e, -1 - a, label[d]] = x[d]
        else:
            at = table_at[edge_at[e]]
            for c in range(begin[a], begin[a + 1]):
                for d in range(begin[b], begin[b + 1]):
                    tables[e, label[c], label[d]] = z[at]
                    at += 1


@kernel
def extend(residual, y, messages):
    """Replace messages of the model by the messages of the residual, for the labels that the residual has.

    Over these labels alone, all edges then have maximum 0, and the bound equals the bound of the residual. Messages to
    other labels stay. They will be compared with those that change, so these must not drift: adding a constant to the
    messages to one end and subtracting it from those to the other changes no score; it is chosen so that the messages
    to both ends change equally on average.
    """
    edges, pair, place = residual.model.edges, residual.model.pair, residual.place
    begin, label, edge_at, message_at = residual.begin, residual.label, residual.edge_at, residual.message_at
    for e in range(len(edges)):
        a = place[edges[e, 0]]
        b = place[edges[e, 1]]
        table = pair[e]
        first = messages[e, 0]
        second = messages[e, 1]
        if a < 0 and b < 0:
            rest = table[-1 - a, -1 - b] - first[-1 - a] - second[-1 - b]
            first[-1 - a] += 0.5 * rest
            second[-1 - b] += 0.5 * rest
        elif b < 0:
            for c in range(begin[a], begin[a + 1]):
                first[label[c]] = table[label[c], -1 - b] - second[-1 - b]
        elif a < 0:
            for d in range(begin[b], begin[b + 1]):
                second[label[d]] = table[-1 - a, label[d]] - first[-1 - a]
        else:
            at = message_at[edge_at[e]]
            first_drift = 0.0
            for c in range(begin[a], begin[a + 1]):
                first_drift += y[at] - first[label[c]]
                first[label[c]] = y[at]
                at += 1
            first_drift /= begin[a + 1] - begin[a]
            second_drift = 0.0
            for d in range(begin[b], begin[b + 1]):
                second_drift += y[at] - second[label[d]]
                second[label[d]] = y[at]
                at += 1
            second_drift /= begin[b + 1] - begin[b]
            top = -np.inf
            for c in range(begin[a], begin[a + 1]):
                for d in range(begin[b], begin[b + 1]):
                    score = table[label[c], label[d]] - first[label[c]] - second[label[d]]
                    if score > top:
                        top = score
            for c in range(begin[a], begin[a + 1]):
                first[label[c]] += 0.5 * (top + second_drift - first_drift)
            for d in range(begin[b], begin[b + 1]):
                second[label[d]] += 0.5 * (top + first_drift - second_drift)


@kernel
def settle(unary, pair, first_link, links, order, forward, kept, messages, belief, sent, excess):
    """Change messages to labels that are not kept so that their beliefs do not exceed those of the kept ones.

    Every node takes from its edges the most that they can give to such a label, and returns equal parts of the excess
    over its best kept label, or of the deficit. Messages to kept labels stay. Write the excess of labels that are not
    kept to excess (N, K), and return the highest. Scratch: belief and sent, both (K,).
    """
    n, n_labels = unary.shape
    worst = -np.inf
    for step in range(n):
        i = order[step] if forward else order[n - 1 - step]
        for k in range(n_labels):
            belief[k] = unary[i, k]
        for t in range(first_link[i], first_link[i + 1]):
            e = links[t] >> 1
            side = links[t] & 1
            own = messages[e, side]
            send(pair, messages, e, side, sent)
            for k in range(n_labels):
                if not kept[i, k]:
                    own[k] = sent[k]
                belief[k] += own[k]
        top = -np.inf
        for k in range(n_labels):
            if kept[i, k] and belief[k] > top:
                top = belief[k]
        for k in range(n_labels):
            excess[i, k] = -np.inf if kept[i, k] else belief[k] - top
            if excess[i, k] > worst:
                worst = excess[i, k]
        share = 1.0 / (1 + first_link[i + 1] - first_link[i])
        for t in range(first_link[i], first_link[i + 1]):
            own = messages[links[t] >> 1, links[t] & 1]
            for k in range(n_labels):
                if not kept[i, k]:
                    own[k] -= share * excess[i, k]
    return worst
