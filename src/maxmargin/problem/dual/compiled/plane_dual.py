"""Kernels of the block dual: every example owns a few cached planes with weights α; see problem/dual/plane_dual.py.

The named tuples are defined in problem/planes/compiled: `tables` are PlaneTables, with planes, their α and their
products; `atoms` and `images` are AtomArrays, as in plane_products.py.

Invariants: w = Σ α a over all slots; α >= 0; Σ α of an example <= cap[i] unless cap is infinite or slacks are squared;
gram[s, t] = ⟨a_s, a_t⟩ exactly as the planes are stored; the scratch vector `work` is all zero between calls.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.problem.dual.compiled.plane_products import add_plane, clear_memo, plane_dot, scatter
from maxmargin.problem.dual.compiled.plane_slots import fits, free_slot, grow, remove
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays
from maxmargin.problem.planes.compiled.atoms import atom_add, atom_clip
from maxmargin.problem.planes.compiled.plane_tables import (
    ADDED,
    GAIN,
    MEMO,
    MISSED,
    PENALTY,
    UNBOUNDED,
    Hashed,
    Memo,
    PlaneRows,
    PlaneTables,
    Scratch,
    VisitLimits,
    VisitWeights,
)


@kernel
def ascend(i, spare, ridge, steps, precision, h, delta, tables):
    """Take exact pairwise steps among the planes of example i and the truth (a zero plane), in Gram space.

    Weight moves from the lowest plane that has any to the highest; the step is the exact maximiser of the dual on that
    segment, cut to the weight available. h holds the heights and is kept current; delta collects the changes of α.
    spare: the weight of the truth. With squared slacks it is infinite, and `ridge` is added to every Gram entry.
    Returns the gain of the dual, or inf if the dual is unbounded.
    """
    alpha, gram = tables.alpha, tables.gram
    c, g, first, planes = tables.capacity[i], tables.gram_base[i], tables.base[i], tables.filled[i]
    total = 0.0
    for s in range(planes):
        total += alpha[first + s]
    gain = 0.0
    for _ in range(steps):
        up, down, high, low = -1, -1, 0.0, np.inf
        if spare > 0.0:
            low = 0.0
        for s in range(planes):
            height = h[s] - ridge * total
            if height > high:
                up, high = s, height
            if alpha[first + s] > 0.0 and height < low:
                down, low = s, height
        difference = high - low
        if difference <= precision:
            break
        curvature = 0.0
        if up >= 0:
            curvature += gram[g + up * c + up]
        if down >= 0:
            curvature += gram[g + down * c + down]
        if up >= 0 and down >= 0:
            curvature -= 2.0 * gram[g + up * c + down]
        else:
            curvature += ridge
        limit = spare
        if down >= 0:
            limit = alpha[first + down]
        step = limit
        if curvature > 0.0:
            step = min(limit, difference / curvature)
        if not np.isfinite(step):
            return np.inf
        gain += step * (difference - 0.5 * step * curvature)
        if down >= 0:
            # exactly zero if the whole weight moves, so that the plane can be dropped
            alpha[first + down] = 0.0 if step == limit else alpha[first + down] - step
            delta[down] -= step
            for s in range(planes):
                h[s] += step * gram[g + s * c + down]
        else:
            spare -= step
            total += step
        if up >= 0:
            alpha[first + up] += step
            delta[up] += step
            for s in range(planes):
                h[s] -= step * gram[g + s * c + up]
        else:
            spare += step
            total -= step
    return gain


@kernel
def apply_change(c, change, weights, atoms):
    """Add change · atom c to w; if there are weight bounds, `seen` becomes the clipped w at its entries."""
    atom_add(c, change, weights.w, atoms)
    if weights.bounds is not None:
        atom_clip(c, weights.w, weights.bounds, weights.seen, atoms)


@kernel
def apply_changes(i, weights, epoch, scratch, atoms, tables):
    """Add Σ δ a over the planes of example i to w, merged by atom first, since most of the changes cancel."""
    start, length, indices, values = tables.start, tables.length, tables.indices, tables.values
    delta, places = scratch.delta, scratch.hashed.places
    tags, epochs, scores = scratch.memo.tags, scratch.memo.epochs, scratch.memo.scores
    used = 0
    for s in range(tables.filled[i]):
        if delta[s] != 0.0:
            slot = tables.base[i] + s
            for p in range(np.uint64(start[slot]), np.uint64(start[slot] + length[slot])):
                c = indices[p]
                place = np.uint64(c & (MEMO - 1))
                if epochs[place] != epoch or tags[place] != c:
                    if epochs[place] == epoch:  # another atom has this slot, so its change goes to w now
                        apply_change(tags[place], scores[place], weights, atoms)
                    else:
                        places[used] = place
                        used += 1
                    tags[place], epochs[place], scores[place] = c, epoch, 0.0
                scores[place] += delta[s] * values[p]
    for k in range(used):
        if scores[places[k]] != 0.0:
            apply_change(tags[places[k]], scores[places[k]], weights, atoms)


@kernel
def named(scratch):
    """Make a Scratch of plain tuples."""
    work, heights, delta, memo, hashed = scratch
    return Scratch(work, heights, delta, Memo(*memo), Hashed(*hashed))


@kernel
def visit(order, begin, rows, atoms, images, limits, weights, scratch, report, tables):
    """Visit the examples order[begin:] in turn: add the new plane (row j, if there are rows, to order[j]), then ascend.

    Heights are read from weights.seen and changes added to weights.w.
    A new plane must be higher than all cached ones by more than epsilon: a lower one is known or stale.
    Returns the position of the first example that did not fit into the tables (the caller enlarges them and calls
    again), or len(order).

    All tuples may come plain, and from Python they should: see plane_tables.py.
    """
    rows, limits, scratch, tables = PlaneRows(*rows), VisitLimits(*limits), named(scratch), PlaneTables(*tables)
    atoms, images, weights = AtomArrays(*atoms), AtomArrays(*images), VisitWeights(*weights)
    seen = weights.seen
    base, filled, alpha, idle = tables.base, tables.filled, tables.alpha, tables.idle
    start, length, offset, indices, values = tables.start, tables.length, tables.offset, tables.indices, tables.values
    cap, squared, slots, epsilon, patience = limits.cap, limits.squared, limits.slots, limits.epsilon, limits.patience
    memo, hashed, h, delta = scratch.memo, scratch.hashed, scratch.heights, scratch.delta
    row_ptr, row_indices, row_values, row_offset = rows.indptr, rows.indices, rows.values, rows.offset
    fresh = len(row_offset) > 0
    epoch = 0
    clear_memo(memo)
    for j in range(begin, len(order)):
        i = order[j]
        extra = row_ptr[j + 1] - row_ptr[j] if fresh else 0
        if not fits(i, extra, slots, hashed, tables):
            return j
        epoch += 1
        highest, weight = 0.0, 0.0
        for s in range(filled[i]):  # inlined by hand: a call that passes all tables costs as much as the loop
            slot = base[i] + s
            h[s] = offset[slot] - plane_dot(indices, values, start[slot], length[slot], seen, epoch, memo, atoms)
            highest = max(highest, h[s])
            weight += alpha[slot]
        if fresh:
            b = row_offset[j]
            height = b - plane_dot(row_indices, row_values, row_ptr[j], extra, seen, epoch, memo, atoms)
            if report[MISSED] < 0.0:  # the first example, for which w has not changed since the decoder call
                report[MISSED] = max(highest - height, 0.0)
            if height > highest + epsilon + 1e-12 * (abs(height) + abs(b)):
                if filled[i] == slots:
                    free_slot(i, hashed, tables)
                    for s in range(filled[i]):
                        slot = base[i] + s
                        h[s] = offset[slot] - plane_dot(
                            indices, values, start[slot], length[slot], seen, epoch, memo, atoms
                        )
                elif filled[i] == tables.capacity[i]:
                    grow(i, tables)
                h[filled[i]] = height
                epoch += 1
                add_plane(i, rows, j, epoch, scratch, atoms, images, tables)
                report[ADDED] += 1
            highest = max(highest, height)
            report[PENALTY] += cap[i] * (0.5 * highest * highest if squared else highest)
        if cap[i] == 0.0 or filled[i] == 0:
            continue
        for s in range(filled[i]):
            delta[s] = 0.0
        spare = np.inf if squared else max(cap[i] - weight, 0.0)
        ridge = 1.0 / cap[i] if squared else 0.0
        gain = ascend(i, spare, ridge, limits.steps, 1e-10 * highest, h, delta, tables)
        if gain == np.inf:
            report[UNBOUNDED] = i
            return len(order)
        report[GAIN] += gain
        epoch += 1
        apply_changes(i, weights, epoch, scratch, atoms, tables)
        s = 0
        while s < filled[i]:
            slot = base[i] + s
            idle[slot] = 0 if alpha[slot] > 0.0 else idle[slot] + 1
            if idle[slot] > patience:
                remove(i, s, tables)
            else:
                s += 1
    return len(order)


@kernel
def totals(cap, squared, w, atoms, lengths, tables):
    """Recompute w = Σ α a into `w`, which is zero before, and return six sums over all planes.

    These are the linear part of the dual, and five that bound its rounding error: Σ α|b| with everything that was
    subtracted from it; Σ α Σ|value|‖atom‖, from the lengths of the units; the number of entries that were added up;
    Σ α · folds; and the largest share by which Σ α of an example exceeds its cap.
    """
    base, filled, alpha, offset = tables.base, tables.filled, tables.alpha, tables.offset
    linear, losses, mass, entries, folded, excess = 0.0, 0.0, 0.0, 0, 0.0, 0.0
    for i in range(len(filled)):
        weight = 0.0
        for s in range(filled[i]):
            slot = base[i] + s
            if alpha[slot] > 0.0:
                start, length = tables.start[slot], tables.length[slot]
                scatter(tables.indices, tables.values, start, length, alpha[slot], w, atoms)
                linear += alpha[slot] * offset[slot]
                losses += alpha[slot] * abs(offset[slot])
                size = 0.0
                for p in range(start, start + length):
                    c = tables.indices[p] - atoms.direct
                    size += abs(tables.values[p]) * (1.0 if c < 0 else lengths[c // atoms.n_labels])
                mass += alpha[slot] * size
                weight += alpha[slot]
                entries += length + 1
                folded += alpha[slot] * tables.folds[slot]
        if squared and weight > 0.0:
            linear -= 0.5 * weight * weight / cap[i]
            losses += 0.5 * weight * weight / cap[i]
        elif weight > cap[i]:
            excess = max(excess, (weight - cap[i]) / cap[i])
    return linear, losses, mass, entries, folded, excess
