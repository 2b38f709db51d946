"""Kernels of the block dual: every example owns a few cached planes with weights α; see problem/dual/plane_dual.py.

`tables` are PlaneTables (compiled/plane_tables.py, like all that has a name here): planes, their α and their products.
`atoms` are the AtomArrays of atoms as they are read, `images` as they are added up for products of planes: the same,
unless a kernel takes part (kernels/compiled/plane_dual.py).

Invariants: w = Σ α a over all slots; α >= 0; Σ α of an example <= cap[i] unless cap is infinite or slacks are squared;
gram[s, t] = ⟨a_s, a_t⟩ exactly as the planes are stored; the scratch vector `work` is all zero between calls.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays
from maxmargin.problem.planes.compiled.atoms import atom_add, atom_clear, atom_clip, atom_dot
from maxmargin.problem.planes.compiled.plane_tables import (
    ADDED,
    CELLS,
    ENTRIES,
    GAIN,
    MEMO,
    MISSED,
    PENALTY,
    SLOTS,
    UNBOUNDED,
    Hashed,
    Memo,
    PlaneRows,
    PlaneTables,
    Scratch,
    VisitLimits,
)


@kernel
def plane_dot(indices, values, start, length, w, epoch, memo, atoms):
    """⟨plane, w⟩, with atom scores taken from a direct-mapped memo that is valid for one epoch (one state of w)."""
    tags, epochs, scores = memo.tags, memo.epochs, memo.scores
    total = 0.0
    for p in range(np.uint64(start), np.uint64(start + length)):
        c = indices[p]
        place = np.uint64(c & (MEMO - 1))
        if epochs[place] != epoch or tags[place] != c:
            tags[place], epochs[place] = c, epoch
            scores[place] = atom_dot(c, w, atoms)
        total += values[p] * scores[place]
    return total


@kernel
def scatter(indices, values, start, length, scale, w, atoms):
    """w += scale · plane."""
    for p in range(start, start + length):
        atom_add(indices[p], scale * values[p], w, atoms)


@kernel
def copy_slot(b, a, tables):
    """Slot a becomes what slot b is, but for its products."""
    tables.start[a], tables.length[a], tables.offset[a] = tables.start[b], tables.length[b], tables.offset[b]
    tables.alpha[a], tables.idle[a], tables.folds[a] = tables.alpha[b], tables.idle[b], tables.folds[b]


@kernel
def remove(i, s, tables):
    """Forget slot s of example i: the last slot takes its place."""
    gram, last = tables.gram, tables.filled[i] - 1
    if s != last:
        copy_slot(tables.base[i] + last, tables.base[i] + s, tables)
        c, g = tables.capacity[i], tables.gram_base[i]
        for t in range(last + 1):
            gram[g + s * c + t] = gram[g + last * c + t]
        for t in range(last + 1):
            gram[g + t * c + s] = gram[g + t * c + last]
        gram[g + s * c + s] = gram[g + last * c + last]
    tables.filled[i] = last


@kernel
def grow(i, tables):
    """Move example i to a range of slots twice as large at the end of the tables."""
    base, filled, capacity, gram_base = tables.base, tables.filled, tables.capacity, tables.gram_base
    tops, gram = tables.tops, tables.gram
    old, new = capacity[i], max(2 * capacity[i], 2)
    slots, cells = tops[SLOTS], tops[CELLS]
    for s in range(filled[i]):
        copy_slot(base[i] + s, slots + s, tables)
        for t in range(filled[i]):
            gram[cells + s * new + t] = gram[gram_base[i] + s * old + t]
    base[i], gram_base[i], capacity[i] = slots, cells, new
    tops[SLOTS] += new
    tops[CELLS] += new * new


@kernel
def fold(i, p, q, hashed, tables):
    """Replace planes p and q of example i (not both without weight) by their weighted mean: w and D do not change."""
    start, length, offset, alpha = tables.start, tables.length, tables.offset, tables.alpha
    indices, values, gram = tables.indices, tables.values, tables.gram
    keys, places = hashed.keys, hashed.places
    a, b = tables.base[i] + p, tables.base[i] + q
    total = alpha[a] + alpha[b]
    u, v = alpha[a] / total, alpha[b] / total
    # atoms of both planes are merged through a hash table with open addressing
    size = 4
    while size < 2 * (length[a] + length[b]):
        size *= 2
    for place in range(size):
        keys[place] = -1
    first = tables.tops[ENTRIES]
    top = first
    for side in range(2):
        slot, share = (a, u) if side == 0 else (b, v)
        for k in range(start[slot], start[slot] + length[slot]):
            c = indices[k]
            place = c & (size - 1)
            while keys[place] >= 0 and keys[place] != c:
                place = (place + 1) & (size - 1)
            if keys[place] < 0:
                keys[place], places[place] = c, top
                indices[top], values[top] = c, 0.0
                top += 1
            values[places[place]] += share * values[k]
    start[a], length[a] = first, top - first
    tables.tops[ENTRIES] = top
    offset[a] = u * offset[a] + v * offset[b]
    alpha[a], tables.idle[a] = total, 0
    tables.folds[a] = max(tables.folds[a], tables.folds[b]) + 1
    c, g = tables.capacity[i], tables.gram_base[i]
    own = u * u * gram[g + p * c + p] + 2 * u * v * gram[g + p * c + q] + v * v * gram[g + q * c + q]
    for t in range(tables.filled[i]):
        mixed = u * gram[g + p * c + t] + v * gram[g + q * c + t]
        gram[g + p * c + t] = mixed
        gram[g + t * c + p] = mixed
    gram[g + p * c + p] = own
    remove(i, q, tables)


@kernel
def lightest(i, tables):
    """The two slots of example i with the smallest α."""
    base, filled, alpha = tables.base, tables.filled, tables.alpha
    p, q = -1, -1
    for s in range(filled[i]):
        if p < 0 or alpha[base[i] + s] < alpha[base[i] + p]:
            q = p
            p = s
        elif q < 0 or alpha[base[i] + s] < alpha[base[i] + q]:
            q = s
    return p, q


@kernel
def make_room(i, hashed, tables):
    """Free one slot of a full example: forget a plane without weight, else fold the two lightest."""
    p, q = lightest(i, tables)
    if tables.alpha[tables.base[i] + p] == 0.0 or q < 0:
        remove(i, p, tables)
    else:
        fold(i, p, q, hashed, tables)


@kernel
def ascend(i, room, ridge, steps, precision, h, delta, tables):
    """Exact pairwise steps among the planes of example i and the truth (a zero plane), in Gram space.

    Weight moves from the lowest plane that has any to the highest; the step is the exact maximiser of the dual on that
    segment, cut to the weight available. h holds the heights and is kept current; delta collects the changes of α.
    With squared slacks the truth has unlimited weight (room = inf) and every plane an extra Gram entry `ridge`.
    Returns what the dual gained, or inf where it has no upper limit.
    """
    alpha, gram = tables.alpha, tables.gram
    c, g, first, planes = tables.capacity[i], tables.gram_base[i], tables.base[i], tables.filled[i]
    total = 0.0
    for s in range(planes):
        total += alpha[first + s]
    gain = 0.0
    for _ in range(steps):
        up, down, high, low = -1, -1, 0.0, np.inf
        if room > 0.0:
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
        limit = room
        if down >= 0:
            limit = alpha[first + down]
        step = limit
        if curvature > 0.0:
            step = min(limit, difference / curvature)
        if not np.isfinite(step):
            return np.inf
        gain += step * (difference - 0.5 * step * curvature)
        if down >= 0:
            # exactly zero when the whole weight moves, so that a plane can be forgotten
            alpha[first + down] = 0.0 if step == limit else alpha[first + down] - step
            delta[down] -= step
            for s in range(planes):
                h[s] += step * gram[g + s * c + down]
        else:
            room -= step
            total += step
        if up >= 0:
            alpha[first + up] += step
            delta[up] += step
            for s in range(planes):
                h[s] -= step * gram[g + s * c + up]
        else:
            room += step
            total -= step
    return gain


@kernel
def gram_row(i, s, epoch, scratch, atoms, images, tables):
    """Fill the Gram matrix of example i for slot s and those before it."""
    start, length, indices, values = tables.start, tables.length, tables.indices, tables.values
    base, gram, work = tables.base, tables.gram, scratch.work
    slot = base[i] + s
    scatter(indices, values, start[slot], length[slot], 1.0, work, images)
    c, g = tables.capacity[i], tables.gram_base[i]
    for t in range(s + 1):
        other = base[i] + t
        entry = plane_dot(indices, values, start[other], length[other], work, epoch, scratch.memo, atoms)
        gram[g + t * c + s] = entry
        gram[g + s * c + t] = entry
    for p in range(start[slot], start[slot] + length[slot]):
        atom_clear(indices[p], work, images)


@kernel
def forget(memo):
    """Make all epochs from 1 on new ones."""
    for place in range(MEMO):
        memo.epochs[place] = 0


@kernel
def regram(examples, scratch, atoms, images, tables):
    """Recompute the Gram matrices of these examples, whose planes have changed."""
    epoch = 0
    forget(scratch.memo)
    for i in examples:
        for s in range(tables.filled[i]):
            epoch += 1
            gram_row(i, s, epoch, scratch, atoms, images, tables)


@kernel
def add_plane(i, rows, j, epoch, scratch, atoms, images, tables):
    """Store row j as the next plane of example i and fill its row of the Gram matrix; room must have been made."""
    begin, extra = rows.indptr[j], rows.indptr[j + 1] - rows.indptr[j]
    new, top = tables.filled[i], tables.tops[ENTRIES]
    slot = tables.base[i] + new
    tables.start[slot], tables.length[slot], tables.offset[slot] = top, extra, rows.offset[j]
    tables.alpha[slot], tables.idle[slot], tables.folds[slot] = 0.0, 0, 0
    weight = 0.0
    for p in range(extra):
        tables.indices[top + p] = rows.indices[begin + p]
        tables.values[top + p] = rows.values[begin + p]
        weight += abs(rows.values[begin + p])
    tables.tops[ENTRIES] += extra
    gram_row(i, new, epoch, scratch, atoms, images, tables)
    tables.longest[0] = max(tables.longest[0], weight)
    tables.filled[i] += 1


@kernel
def apply_change(c, change, w, seen, bounds, atoms):
    """w += change · atom c, and `seen` follows within the bounds of weights, if there are any."""
    atom_add(c, change, w, atoms)
    if bounds is not None:
        atom_clip(c, w, bounds, seen, atoms)


@kernel
def apply_changes(i, w, seen, bounds, epoch, scratch, atoms, tables):
    """w += Σ δ a, merged by atom first: what one plane loses another gains, and most of it cancels."""
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
                    if epochs[place] == epoch:  # another atom has this place: it goes to w at once
                        apply_change(tags[place], scores[place], w, seen, bounds, atoms)
                    else:
                        places[used] = place
                        used += 1
                    tags[place], epochs[place], scores[place] = c, epoch, 0.0
                scores[place] += delta[s] * values[p]
    for k in range(used):
        if scores[places[k]] != 0.0:
            apply_change(tags[places[k]], scores[places[k]], w, seen, bounds, atoms)


@kernel
def fits(i, extra, slots, hashed, tables):
    """Whether the tables have room for whatever a visit of example i with a new row of this length may need."""
    base, length, tops = tables.base, tables.length, tables.tops
    need = extra
    if tables.filled[i] == slots:
        p, q = lightest(i, tables)
        need += length[base[i] + p] + (length[base[i] + q] if q >= 0 else 0)
    wider = max(2 * tables.capacity[i], 2)
    if tops[ENTRIES] + need > len(tables.indices) or 4 * need > len(hashed.keys):
        return False
    return tops[SLOTS] + wider <= len(tables.start) and tops[CELLS] + wider * wider <= len(tables.gram)


@kernel
def named(scratch):
    """Scratch from plain tuples."""
    work, heights, delta, memo, hashed = scratch
    return Scratch(work, heights, delta, Memo(*memo), Hashed(*hashed))


@kernel
def visit(order, begin, rows, atoms, images, limits, seen, w, bounds, scratch, report, tables):
    """Visit the examples order[begin:] in turn: add the new plane (row j, if there are rows, to order[j]), then ascend.

    Heights are read from `seen` and changes added to `w`: one vector, unless a kernel takes part, or weights have
    `bounds` (limits of label_vectors.py), in which `seen` follows.
    A new plane must be higher than all cached ones by more than epsilon: a lower one is known or stale.
    Returns the position of the first example that did not fit into the tables (the caller enlarges them and calls
    again), or len(order).

    All tuples may come plain, and from Python they should: see compiled/plane_tables.py.
    """
    rows, limits, scratch, tables = PlaneRows(*rows), VisitLimits(*limits), named(scratch), PlaneTables(*tables)
    atoms, images = AtomArrays(*atoms), AtomArrays(*images)
    base, filled, alpha, idle = tables.base, tables.filled, tables.alpha, tables.idle
    start, length, offset, indices, values = tables.start, tables.length, tables.offset, tables.indices, tables.values
    cap, squared, slots, epsilon, patience = limits.cap, limits.squared, limits.slots, limits.epsilon, limits.patience
    memo, hashed, h, delta = scratch.memo, scratch.hashed, scratch.heights, scratch.delta
    row_ptr, row_indices, row_values, row_offset = rows.indptr, rows.indices, rows.values, rows.offset
    fresh = len(row_offset) > 0
    epoch = 0
    forget(memo)
    for j in range(begin, len(order)):
        i = order[j]
        extra = row_ptr[j + 1] - row_ptr[j] if fresh else 0
        if not fits(i, extra, slots, hashed, tables):
            return j
        epoch += 1
        highest, weight = 0.0, 0.0
        for s in range(filled[i]):  # written out: a call that hands on all tables costs as much as this does
            slot = base[i] + s
            h[s] = offset[slot] - plane_dot(indices, values, start[slot], length[slot], seen, epoch, memo, atoms)
            highest = max(highest, h[s])
            weight += alpha[slot]
        if fresh:
            b = row_offset[j]
            height = b - plane_dot(row_indices, row_values, row_ptr[j], extra, seen, epoch, memo, atoms)
            if report[MISSED] < 0.0:  # the first example, where w is what the decoder saw
                report[MISSED] = max(highest - height, 0.0)
            if height > highest + epsilon + 1e-12 * (abs(height) + abs(b)):
                if filled[i] == slots:
                    make_room(i, hashed, tables)
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
        room = np.inf if squared else max(cap[i] - weight, 0.0)
        ridge = 1.0 / cap[i] if squared else 0.0
        gain = ascend(i, room, ridge, limits.steps, 1e-10 * highest, h, delta, tables)
        if gain == np.inf:
            report[UNBOUNDED] = i
            return len(order)
        report[GAIN] += gain
        epoch += 1
        apply_changes(i, w, seen, bounds, epoch, scratch, atoms, tables)
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
    """Recompute w = Σ α a into `w` (zeroed by the caller) and return the linear part of the dual.

    Then what rounding needs to know: Σ α|b|, with all that was subtracted; Σ α Σ|value|‖atom‖, from the lengths of
    units; how many entries were added up; Σ α · folds; the share by which Σ α of an example exceeds its cap.
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


@kernel
def shrink(most, hashed, tables):
    """Leave every example at most `most` planes, and none without weight. Returns the first that did not fit, or n."""
    base, filled, length, alpha = tables.base, tables.filled, tables.length, tables.alpha
    for i in range(len(filled)):
        s = 0
        while s < filled[i]:
            if alpha[base[i] + s] == 0.0:
                remove(i, s, tables)
            else:
                s += 1
        while filled[i] > most:
            p, q = lightest(i, tables)
            need = length[base[i] + p] + length[base[i] + q]
            if tables.tops[ENTRIES] + need > len(tables.indices) or 4 * need > len(hashed.keys):
                return i
            fold(i, p, q, hashed, tables)
    return len(filled)


@kernel
def compact(old, new):
    """Copy what is alive to the front of new tables, which are large enough."""
    entries, slots, cells = 0, 0, 0
    for i in range(len(old.filled)):
        k = old.filled[i]
        room = 0
        while room < k:
            room = max(2 * room, 2)
        for s in range(k):
            a, b = slots + s, old.base[i] + s
            length = old.length[b]
            new.start[a], new.length[a], new.offset[a] = entries, length, old.offset[b]
            new.alpha[a], new.idle[a], new.folds[a] = old.alpha[b], old.idle[b], old.folds[b]
            for p in range(length):
                new.indices[entries + p] = old.indices[old.start[b] + p]
                new.values[entries + p] = old.values[old.start[b] + p]
            entries += length
            for t in range(k):
                new.gram[cells + s * room + t] = old.gram[old.gram_base[i] + s * old.capacity[i] + t]
        new.base[i], new.filled[i], new.capacity[i], new.gram_base[i] = slots, k, room, cells
        slots += room
        cells += room * room
    new.tops[ENTRIES], new.tops[SLOTS], new.tops[CELLS] = entries, slots, cells
    new.longest[0] = old.longest[0]
