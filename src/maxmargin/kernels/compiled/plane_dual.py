"""Visits of the block dual if w is given by coefficients and inner products by a kernel; see kernels/plane_dual.py.

Every atom is a coefficient here: `atoms` have one entry each, `images` the kernel values of a unit with the units of
its own example. `seen` has the scores of atoms at w: the coordinates of w itself below `direct`, then G B, where G is
the kernel matrix of units and B their coefficients. A visit reads heights from `seen` and writes its changes of the
coefficients to `delta`; `spread` adds them to w, and to `seen` through the kernel rows of the units that have changed,
if the RowCache has them.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.kernels.compiled.row_cache import NO_ROOM, NOTHING, RowCache
from maxmargin.problem.dual.compiled.plane_dual import named, visit
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays
from maxmargin.problem.planes.compiled.plane_tables import AWAITED, UNBOUNDED, PlaneRows, PlaneTables, VisitWeights


@kernel
def spread(i, atoms, delta, w, seen, cache, tables):
    """Apply the changes of example i's atoms in the order of its planes.

    Returns the unit whose kernel row is missing (its changes and those after it stay in delta), or NOTHING when
    all is done.
    """
    direct, K = atoms.direct, atoms.n_labels
    for slot in range(tables.base[i], tables.base[i] + tables.filled[i]):
        for p in range(tables.start[slot], tables.start[slot] + tables.length[slot]):
            c = tables.indices[p]
            change = delta[c]
            if change == 0.0:
                continue
            if c < direct:
                seen[c] += change
            else:
                u = (c - direct) // K
                place = cache.slot_of[u]
                if place < 0 or not cache.complete[place]:
                    return u
                cache.clock[0] += 1
                cache.last_use[place] = cache.clock[0]
                row = cache.store[place]
                at = np.uint64(direct + (c - direct) % K)
                for v in range(len(row)):
                    seen[at] += change * row[v]
                    at += np.uint64(K)
            w[c] += change
            delta[c] = 0.0
    return NOTHING


@kernel
def visit_with_kernel(order, begin, rows, atoms, images, limits, weights, w, scratch, report, cache, tables):
    """Visit order[begin:] one by one, spreading the changes of each before the next.

    Returns the position of an example that is not finished. report[AWAITED] says why: NO_ROOM if the tables cannot hold
    it, or the unit whose kernel row is missing, so that `spread` must be called for it before the next visit.
    weights: seen, delta and None, since weights of a kernel have no bounds. All tuples may come plain, as in `visit`.
    """
    rows, scratch, tables, cache = PlaneRows(*rows), named(scratch), PlaneTables(*tables), RowCache(*cache)
    atoms, weights = AtomArrays(*atoms), VisitWeights(*weights)
    report[AWAITED] = NOTHING
    for j in range(begin, len(order)):
        own = PlaneRows(rows.indptr[j : j + 2], rows.indices, rows.values, rows.offset[j : j + 1])
        done = visit(order[j : j + 1], 0, own, atoms, images, limits, weights, scratch, report, tables)
        if report[UNBOUNDED] >= 0.0:
            return len(order)
        if done == 0:
            report[AWAITED] = NO_ROOM
            return j
        missing = spread(order[j], atoms, weights.w, w, weights.seen, cache, tables)
        if missing != NOTHING:
            report[AWAITED] = missing
            return j
    return len(order)
