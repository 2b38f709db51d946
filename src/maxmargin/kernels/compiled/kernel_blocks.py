"""Visits of the block dual where w is known by coefficients and inner products by a kernel: kernels/dual_blocks.py.

Every atom is a coefficient here: `atoms` have one entry each, `images` the kernel values of a unit with the units of
its own example. `seen` holds what atoms score at w: the coordinates of w itself below `direct`, then G B. A visit reads
heights from `seen` and leaves its changes of the coefficients in `delta`; `spread` adds them to w, and to `seen`
through the kernel rows of the units that have changed.

`cache` = (store, slot_of, complete, last_use, clock) of kernels/rows.py: row u is store[slot_of[u]].
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled.dual_blocks import visit
from maxmargin.compiled.kernel import kernel


@kernel
def spread(i, direct, K, delta, w, seen, cache, state):
    """Apply the changes of example i's atoms in the order of its planes.

    Returns the unit whose kernel row is missing (its changes and those after it stay in delta), or -1 when all is done.
    """
    base, count, start, length, indices = state[0], state[1], state[5], state[6], state[10]
    store, slot_of, complete, last_use, clock = cache
    for slot in range(base[i], base[i] + count[i]):
        for p in range(start[slot], start[slot] + length[slot]):
            c = indices[p]
            change = delta[c]
            if change == 0.0:
                continue
            if c < direct:
                seen[c] += change
            else:
                u = (c - direct) // K
                place = slot_of[u]
                if place < 0 or not complete[place]:
                    return u
                clock[0] += 1
                last_use[place] = clock[0]
                row = store[place]
                at = np.uint64(direct + (c - direct) % K)
                for v in range(len(row)):
                    seen[at] += change * row[v]
                    at += np.uint64(K)
            w[c] += change
            delta[c] = 0.0
    return -1


@kernel
def visit_with_kernel(order, begin, fresh, rows, atoms, images, fixed, seen, delta, w, scratch, report, cache, state):
    """Visit order[begin:] one by one, spreading the changes of each before the next.

    Returns the position of an example that is not finished. report[4] says why: -2: the tables have no room for it;
    >= 0: the kernel row of this unit is missing, and `spread` must be called for it before going on with the next one.
    """
    row_indptr, row_indices, row_values, row_offset = rows
    cap, squared, steps, slots, patience, epsilon = fixed
    direct, K = atoms[0], atoms[1]
    report[4] = -1.0
    for j in range(begin, len(order)):
        own = (row_indptr[j : j + 2], row_indices, row_values, row_offset[j : j + 1])
        done = visit(
            order[j : j + 1],
            0,
            fresh,
            own,
            atoms,
            images,
            cap,
            squared,
            steps,
            slots,
            patience,
            epsilon,
            seen,
            delta,
            scratch,
            report,
            state,
        )
        if report[3] >= 0.0:
            return len(order)
        if done == 0:
            report[4] = -2.0
            return j
        missing = spread(order[j], direct, K, delta, w, seen, cache, state)
        if missing >= 0:
            report[4] = missing
            return j
    return len(order)
