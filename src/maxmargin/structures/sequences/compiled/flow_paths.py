"""Flows as weighted paths: split the flows of all sequences into labellings, and join labellings to flows."""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.sequences.compiled.lattice import EMPTY, edge, remove_edge


@kernel
def split_flow(write, positions, cap, lattice, rest, path, labels, owners, weights):
    """Split the flows into paths with weights; return the number of paths and of all their labels.

    rest: a copy of the flow, which is used up. path: scratch for the edges of one path. With `write`, path n gets
    owners[n], its sequence, and weights[n], and its labels follow those of the path before.
    Paths take the widest edges other than the truth's, if there are any: beside the truth's, their flow may be very
    small. Flow that rounding has left on edges without a continuation is dropped. The truth itself, which carries
    the rest of each cap, is not a path.
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
            if steps < length:  # its last edge has no continuation
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
    """Replace all flows by these weighted paths (as split_flow writes them); the truths carry the rest of the caps."""
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
                remove_edge(p, q, lattice)
