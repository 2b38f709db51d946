"""Edges of the lattices of sequences: find, add, remove and move them.

Position p has the edges start[p] : start[p] + filled[p] of a Lattice (flow_arrays.py): flow[q] goes into label here[q]
from label before[q] of the position before. The first edge of each position is the truth's and stays even without flow.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.sequences.compiled.flow_scores import factor_of

EMPTY = 1e-14  # a flow counts as zero if less than this share of it is left


@kernel
def edge(p, j, k, lattice):
    """Find the edge of position p from label j to label k; return its number, or -1 if there is none."""
    for q in range(lattice.start[p], lattice.start[p] + lattice.filled[p]):
        if lattice.here[q] == k and lattice.before[q] == j:
            return q
    return -1


@kernel
def add_flow(p, q, j, k, amount, lattice):
    """Add flow to edge q of position p; if q < 0, make a new edge from label j to label k first."""
    if q < 0:
        q = lattice.start[p] + lattice.filled[p]
        lattice.filled[p] += 1
        lattice.before[q], lattice.here[q], lattice.flow[q] = j, k, 0.0
    lattice.flow[q] += amount


@kernel
def remove_edge(p, q, lattice):
    """Remove edge q of position p: the last edge of the position takes its number."""
    before, here, flow = lattice.before, lattice.here, lattice.flow
    last = lattice.start[p] + lattice.filled[p] - 1
    before[q], here[q], flow[q] = before[last], here[last], flow[last]
    lattice.filled[p] -= 1


@kernel
def take_flow(p, q, amount, lattice):
    """Take flow from edge q of position p, and remove the edge if it is empty then and not the truth's."""
    flow = lattice.flow
    left = flow[q] - amount
    flow[q] = left if left > EMPTY * flow[q] else 0.0
    if flow[q] == 0.0 and q > lattice.start[p]:
        remove_edge(p, q, lattice)


@kernel
def wider_starts(lattice, start):
    """Compute where the edges of each position begin if full positions get twice the capacity."""
    top = 0
    for p in range(len(lattice.filled)):
        start[p] = top
        old = lattice.start[p + 1] - lattice.start[p]
        top += 2 * old if lattice.filled[p] == old else old
    start[len(lattice.filled)] = top


@kernel
def move_edges(old, new):
    """Copy the edges of one lattice to another one that has other starts."""
    for p in range(len(old.filled)):
        for q in range(old.filled[p]):
            at, to = old.start[p] + q, new.start[p] + q
            new.before[to], new.here[to], new.flow[to] = old.before[at], old.here[at], old.flow[at]


@kernel
def flow_losses(positions, cost, lattice):
    """Compute Σ α Δ of all flows: the cost of each label times the flow through it."""
    start, filled, _, here, flow = lattice
    total = 0.0
    for p in range(len(filled)):
        price, sum_here = cost[positions.rows[p]], 0.0
        for q in range(start[p], start[p] + filled[p]):
            sum_here += flow[q] * price[here[q]]
        total += factor_of(p, positions) * sum_here
    return total
