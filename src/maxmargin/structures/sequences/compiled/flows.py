"""Visits of the dual of chains, kept as a flow through the lattice of each sequence; see chain_flows.py.

Each position has a few edges from labels of the position before to its own labels (lattice.py); the flow begins at the
first position. The flow into a label equals the flow out of it, and the flow through every position is the cap of its
sequence. A visit finds two paths and moves flow from the worse to the better one (flow_steps.py).
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.fetching import fetch
from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.sequences.compiled.chain import forward, trace_back
from maxmargin.structures.sequences.compiled.flow_arrays import MOVED, PENALTY, WORK, VisitedChain
from maxmargin.structures.sequences.compiled.flow_scores import all_scores, known_scores, path_score, spread
from maxmargin.structures.sequences.compiled.flow_steps import move_stretches, paths_in_lattice
from maxmargin.structures.sequences.compiled.lattice import edge

LEVEL = 1e-12  # two scores are equal if they differ by less than this share of them
CLOSER = 0.5  # a visit ends when the difference of its best and worst paths has shrunk to this share


@kernel
def visit_with_search(chain, problem, lattice, grams, weights, scratch, clock, report):
    """Move flow from the worst path of the lattice to the best of all paths; return True if flow moved."""
    begin, length, limit = chain.begin, chain.length, problem.cap[chain.number]
    scores, best, worst, links = scratch.scores, scratch.best, scratch.worst, weights.links
    all_scores(chain, problem, weights, scores)
    truth = path_score(length, links, problem.positions.truths[begin : begin + length], scores)
    forward(scores[:length], weights.T, weights.s, scratch.high)
    high = trace_back(length, weights.T, weights.f, scratch.high, best)
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
            _, low = paths_in_lattice(chain, a, t, False, clock, links, lattice, scratch)
            if low == np.inf:
                return False
        if t < length:
            q = lattice.start[begin + t]
            worst[t], scratch.worst_edge[t] = lattice.here[q], q
            t += 1
    low = path_score(length, links, worst, scores)
    if not high - low > LEVEL * (abs(high) + abs(low)):
        return False
    for t in range(length):
        if best[t] != worst[t] or (t > 0 and best[t - 1] != worst[t - 1]):
            scratch.best_edge[t] = edge(begin + t, best[t - 1] if t > 0 else 0, best[t], lattice)
    return move_stretches(chain, 0, length, False, problem, weights, grams, lattice, scratch, report)


@kernel
def visit_lattice(chain, rounds, problem, lattice, grams, weights, scratch, clock, report):
    """Move flow among the paths of the lattice, up to `rounds` times; return True if flow moved.

    All paths meet where a position has one edge only: the stretch between two such positions is visited by itself.
    """
    begin, length, links = chain.begin, chain.length, weights.links
    work = known_scores(chain, clock, problem, weights, lattice, scratch.seen, scratch.scores)
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
            high, low = paths_in_lattice(chain, a, t, True, clock + 1 + again, links, lattice, scratch)
            report[WORK] += 10.0 * (t - a)
            if not high - low > max(LEVEL * (abs(high) + abs(low)), CLOSER * span):
                break
            if again == 0:
                span = high - low
            more = again + 1 < rounds
            if not move_stretches(chain, a, t, more, problem, weights, grams, lattice, scratch, report):
                break
            moved = True
    return moved


@kernel
def fetch_soon(n, order, problem, lattice, grams):
    """Prefetch the data of the next visits, which are scattered over memory: first their addresses, then the data."""
    positions = problem.positions
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
        fetch(problem.atoms.indptr, u, u + end - begin)


@kernel
def visit_chains(order, search, rounds, problem, lattice, grams, weights, scratch, report):
    """Improve the flows of these sequences in turn; those that gained move to the front of `order`.

    With `search`, flow moves to the best of all paths, once; otherwise up to `rounds` times to the best path of the
    lattice. flow_arrays.py defines the tuples and the entries of the report.
    """
    bounds, clock = problem.positions.bounds, scratch.clock
    for n in range(len(order)):
        i = order[n]
        chain = VisitedChain(i, bounds[i], bounds[i + 1] - bounds[i])
        clock[0] += rounds + 1
        now = clock[0]
        if not grams.kept:
            for p in range(chain.begin, chain.begin + chain.length):
                grams.known[p] = False
        fetch_soon(n, order, problem, lattice, grams)
        if search:
            moved = visit_with_search(chain, problem, lattice, grams, weights, scratch, now, report)
        else:
            moved = visit_lattice(chain, rounds, problem, lattice, grams, weights, scratch, now, report)
        if moved:
            spread(chain, problem, weights.w, scratch.change)
            front = int(report[MOVED])
            order[n], order[front] = order[front], i
            report[MOVED] += 1.0
