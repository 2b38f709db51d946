"""Kernels of the block dual: every example owns a few cached planes with weights α; see dual_blocks.py.

`state` = (base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram). Example i
owns the slots base[i] .. base[i] + count[i] - 1 of the slot tables (start, length, offset, alpha, idle) and a block of
capacity[i]² Gram entries from gram_base[i]. A slot's plane is the combination of atoms
indices/values[start : start + length] (compiled/atoms.py) with offset b. The tables only grow at their end (tops = used
entries, slots, Gram entries); what is dropped is garbage until `compact` is called.

`atoms` are the five arguments that describe atoms as they are read, `images` as they are added up for products of
planes: the same, unless a kernel takes part (compiled/kernel_blocks.py). `memo` = (tags, epochs, scores) remembers
atom scores, `hashed` = (keys, places) is scratch space for folding.

Invariants: w = Σ α a over all slots; α >= 0; Σ α of an example <= cap[i] unless cap is infinite or slacks are squared;
gram[s, t] = ⟨a_s, a_t⟩ exactly as the planes are stored; the scratch vector `work` is all zero between calls.
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled.atoms import atom_add, atom_clear, atom_dot
from maxmargin.compiled.kernel import kernel

MEMO = 512  # atom scores remembered within a visit (a power of 2); planes of one example share most of their atoms


@kernel
def plane_dot(indices, values, start, length, w, epoch, memo, atoms):
    """⟨plane, w⟩, with atom scores taken from a direct-mapped memo that is valid for one epoch (one state of w)."""
    tags, epochs, scores = memo
    direct, K, U_indptr, U_places, U_values = atoms
    total = 0.0
    for p in range(np.uint64(start), np.uint64(start + length)):
        c = indices[p]
        place = np.uint64(c & (MEMO - 1))
        if epochs[place] != epoch or tags[place] != c:
            tags[place], epochs[place] = c, epoch
            scores[place] = atom_dot(c, w, direct, K, U_indptr, U_places, U_values)
        total += values[p] * scores[place]
    return total


@kernel
def scatter(indices, values, start, length, scale, w, atoms):
    """w += scale · plane."""
    direct, K, U_indptr, U_places, U_values = atoms
    for p in range(start, start + length):
        atom_add(indices[p], scale * values[p], w, direct, K, U_indptr, U_places, U_values)


@kernel
def remove(i, s, state):
    """Forget slot s of example i: the last slot takes its place."""
    base, count, capacity, gram_base, _, start, length, offset, alpha, idle, _, _, gram = state
    last = count[i] - 1
    if s != last:
        a, b = base[i] + s, base[i] + last
        start[a], length[a], offset[a], alpha[a], idle[a] = start[b], length[b], offset[b], alpha[b], idle[b]
        c, g = capacity[i], gram_base[i]
        for t in range(last + 1):
            gram[g + s * c + t] = gram[g + last * c + t]
        for t in range(last + 1):
            gram[g + t * c + s] = gram[g + t * c + last]
        gram[g + s * c + s] = gram[g + last * c + last]
    count[i] = last


@kernel
def grow(i, state):
    """Move example i to a range of slots twice as large at the end of the tables."""
    base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, _, _, gram = state
    old, new = capacity[i], max(2 * capacity[i], 2)
    slots, entries = tops[1], tops[2]
    for s in range(count[i]):
        a, b = slots + s, base[i] + s
        start[a], length[a], offset[a], alpha[a], idle[a] = start[b], length[b], offset[b], alpha[b], idle[b]
        for t in range(count[i]):
            gram[entries + s * new + t] = gram[gram_base[i] + s * old + t]
    base[i], gram_base[i], capacity[i] = slots, entries, new
    tops[1] += new
    tops[2] += new * new


@kernel
def fold(i, p, q, hashed, state):
    """Replace planes p and q of example i (not both without weight) by their weighted mean: w and D do not change."""
    base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram = state
    keys, places = hashed
    a, b = base[i] + p, base[i] + q
    total = alpha[a] + alpha[b]
    u, v = alpha[a] / total, alpha[b] / total
    # atoms of both planes are merged through a hash table with open addressing
    size = 4
    while size < 2 * (length[a] + length[b]):
        size *= 2
    for place in range(size):
        keys[place] = -1
    first = tops[0]
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
    tops[0] = top
    offset[a] = u * offset[a] + v * offset[b]
    alpha[a], idle[a] = total, 0
    c, g = capacity[i], gram_base[i]
    own = u * u * gram[g + p * c + p] + 2 * u * v * gram[g + p * c + q] + v * v * gram[g + q * c + q]
    for t in range(count[i]):
        mixed = u * gram[g + p * c + t] + v * gram[g + q * c + t]
        gram[g + p * c + t] = mixed
        gram[g + t * c + p] = mixed
    gram[g + p * c + p] = own
    remove(i, q, state)


@kernel
def lightest(i, state):
    """The two slots of example i with the smallest α."""
    base, count, alpha = state[0], state[1], state[8]
    p, q = -1, -1
    for s in range(count[i]):
        if p < 0 or alpha[base[i] + s] < alpha[base[i] + p]:
            q = p
            p = s
        elif q < 0 or alpha[base[i] + s] < alpha[base[i] + q]:
            q = s
    return p, q


@kernel
def make_room(i, hashed, state):
    """Free one slot of a full example: forget a plane without weight, else fold the two lightest."""
    base, alpha = state[0], state[8]
    p, q = lightest(i, state)
    if alpha[base[i] + p] == 0.0 or q < 0:
        remove(i, p, state)
    else:
        fold(i, p, q, hashed, state)


@kernel
def ascend(i, room, ridge, steps, precision, h, delta, state):
    """Exact pairwise steps among the planes of example i and the truth (a zero plane), in Gram space.

    Weight moves from the lowest plane that has any to the highest; the step is the exact maximiser of the dual on that
    segment, cut to the weight available. h holds the heights and is kept current; delta collects the changes of α.
    With squared slacks the truth has unlimited weight (room = inf) and every plane an extra Gram entry `ridge`.
    Returns what the dual gained, or inf where it has no upper limit.
    """
    base, count, capacity, gram_base, _, _, _, _, alpha, _, _, _, gram = state
    c, g, first, planes = capacity[i], gram_base[i], base[i], count[i]
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
def gram_row(i, s, work, epoch, memo, atoms, images, state):
    """Fill the Gram matrix of example i for slot s and those before it."""
    base, _, capacity, gram_base, _, start, length, _, _, _, indices, values, gram = state
    direct, K, U_indptr, U_places, U_values = images
    slot = base[i] + s
    scatter(indices, values, start[slot], length[slot], 1.0, work, images)
    c, g = capacity[i], gram_base[i]
    for t in range(s + 1):
        other = base[i] + t
        entry = plane_dot(indices, values, start[other], length[other], work, epoch, memo, atoms)
        gram[g + t * c + s] = entry
        gram[g + s * c + t] = entry
    for p in range(start[slot], start[slot] + length[slot]):
        atom_clear(indices[p], work, direct, K, U_indptr, U_places, U_values)


@kernel
def regram(examples, work, memo, atoms, images, state):
    """Recompute the Gram matrices of these examples, whose planes have changed."""
    count, epochs = state[1], memo[1]
    epoch = 0
    for place in range(MEMO):
        epochs[place] = 0
    for i in examples:
        for s in range(count[i]):
            epoch += 1
            gram_row(i, s, work, epoch, memo, atoms, images, state)


@kernel
def add_plane(i, row, begin, extra, work, epoch, memo, atoms, images, state):
    """Store a row as the next plane of example i and fill its row of the Gram matrix; room must have been made."""
    base, count, _, _, tops, start, length, offset, alpha, idle, indices, values, _ = state
    row_indices, row_values, row_offset = row
    new = count[i]
    slot = base[i] + new
    start[slot], length[slot], offset[slot], alpha[slot], idle[slot] = tops[0], extra, row_offset, 0.0, 0
    for p in range(extra):
        indices[tops[0] + p] = row_indices[begin + p]
        values[tops[0] + p] = row_values[begin + p]
    tops[0] += extra
    gram_row(i, new, work, epoch, memo, atoms, images, state)
    count[i] += 1


@kernel
def apply_changes(i, delta, w, epoch, memo, places, atoms, state):
    """w += Σ δ a, merged by atom first: what one plane loses another gains, and most of it cancels."""
    base, count, _, _, _, start, length, _, _, _, indices, values, _ = state
    tags, epochs, scores = memo
    direct, K, U_indptr, U_places, U_values = atoms
    used = 0
    for s in range(count[i]):
        if delta[s] != 0.0:
            slot = base[i] + s
            for p in range(np.uint64(start[slot]), np.uint64(start[slot] + length[slot])):
                c = indices[p]
                place = np.uint64(c & (MEMO - 1))
                if epochs[place] != epoch or tags[place] != c:
                    if epochs[place] == epoch:  # another atom has this place: it goes to w at once
                        atom_add(tags[place], scores[place], w, direct, K, U_indptr, U_places, U_values)
                    else:
                        places[used] = place
                        used += 1
                    tags[place], epochs[place], scores[place] = c, epoch, 0.0
                scores[place] += delta[s] * values[p]
    for k in range(used):
        if scores[places[k]] != 0.0:
            atom_add(tags[places[k]], scores[places[k]], w, direct, K, U_indptr, U_places, U_values)


@kernel
def fits(i, extra, slots, hashed, state):
    """Whether the tables have room for whatever a visit of example i with a new row of this length may need."""
    base, count, capacity, _, tops, start, length, _, _, _, indices, _, gram = state
    need = extra
    if count[i] == slots:
        p, q = lightest(i, state)
        need += length[base[i] + p] + (length[base[i] + q] if q >= 0 else 0)
    wider = max(2 * capacity[i], 2)
    if tops[0] + need > len(indices) or 4 * need > len(hashed[0]):
        return False
    return tops[1] + wider <= len(start) and tops[2] + wider * wider <= len(gram)


@kernel
def visit(
    order,
    begin,
    fresh,
    rows,
    atoms,
    images,
    cap,
    squared,
    steps,
    slots,
    patience,
    epsilon,
    seen,
    w,
    scratch,
    report,
    state,
):
    """Visit the examples order[begin:] in turn: add the new plane (if `fresh`, row j belongs to order[j]), then ascend.

    Heights are read from `seen` and changes added to `w`: one vector, unless a kernel takes part.
    A new plane must be higher than all cached ones by more than epsilon: a lower one is known or stale.
    Returns the position of the first example that did not fit into the tables (the caller enlarges them and calls
    again), or len(order).
    report = [Σ cap·penalty of the heights seen, planes added, dual gain, unbounded example or -1].
    """
    base, count, capacity, _, _, start, length, offset, alpha, idle, indices, values, _ = state
    row_indptr, row_indices, row_values, row_offset = rows
    work, h, delta, tags, epochs, scores, keys, places = scratch
    memo, hashed = (tags, epochs, scores), (keys, places)
    epoch = 0
    for place in range(MEMO):
        epochs[place] = 0
    for j in range(begin, len(order)):
        i = order[j]
        extra = row_indptr[j + 1] - row_indptr[j] if fresh else 0
        if not fits(i, extra, slots, hashed, state):
            return j
        epoch += 1
        highest, weight = 0.0, 0.0
        for s in range(count[i]):
            slot = base[i] + s
            h[s] = offset[slot] - plane_dot(indices, values, start[slot], length[slot], seen, epoch, memo, atoms)
            highest = max(highest, h[s])
            weight += alpha[slot]
        if fresh:
            height = row_offset[j] - plane_dot(row_indices, row_values, row_indptr[j], extra, seen, epoch, memo, atoms)
            if height > highest + epsilon + 1e-12 * (abs(height) + abs(row_offset[j])):
                if count[i] == slots:
                    make_room(i, hashed, state)
                    for s in range(count[i]):
                        slot = base[i] + s
                        h[s] = offset[slot] - plane_dot(
                            indices, values, start[slot], length[slot], seen, epoch, memo, atoms
                        )
                elif count[i] == capacity[i]:
                    grow(i, state)
                h[count[i]] = height
                epoch += 1
                row = (row_indices, row_values, row_offset[j])
                add_plane(i, row, row_indptr[j], extra, work, epoch, memo, atoms, images, state)
                report[1] += 1
            highest = max(highest, height)
            report[0] += cap[i] * (0.5 * highest * highest if squared else highest)
        if cap[i] == 0.0 or count[i] == 0:
            continue
        for s in range(count[i]):
            delta[s] = 0.0
        room = np.inf if squared else max(cap[i] - weight, 0.0)
        ridge = 1.0 / cap[i] if squared else 0.0
        gain = ascend(i, room, ridge, steps, 1e-10 * highest, h, delta, state)
        if gain == np.inf:
            report[3] = i
            return len(order)
        report[2] += gain
        epoch += 1
        apply_changes(i, delta, w, epoch, memo, places, atoms, state)
        s = 0
        while s < count[i]:
            slot = base[i] + s
            idle[slot] = 0 if alpha[slot] > 0.0 else idle[slot] + 1
            if idle[slot] > patience:
                remove(i, s, state)
            else:
                s += 1
    return len(order)


@kernel
def totals(cap, squared, w, atoms, state):
    """Recompute w = Σ α a into `w` (zeroed by the caller) and return the linear part of the dual."""
    base, count, _, _, _, start, length, offset, alpha, _, indices, values, _ = state
    linear = 0.0
    for i in range(len(count)):
        weight = 0.0
        for slot in range(base[i], base[i] + count[i]):
            if alpha[slot] > 0.0:
                scatter(indices, values, start[slot], length[slot], alpha[slot], w, atoms)
                linear += alpha[slot] * offset[slot]
                weight += alpha[slot]
        if squared and weight > 0.0:
            linear -= 0.5 * weight * weight / cap[i]
    return linear


@kernel
def shrink(most, hashed, state):
    """Leave every example at most `most` planes, and none without weight. Returns the first that did not fit, or n."""
    base, count, _, _, tops, _, length, _, alpha, _, indices, _, _ = state
    for i in range(len(count)):
        s = 0
        while s < count[i]:
            if alpha[base[i] + s] == 0.0:
                remove(i, s, state)
            else:
                s += 1
        while count[i] > most:
            p, q = lightest(i, state)
            need = length[base[i] + p] + length[base[i] + q]
            if tops[0] + need > len(indices) or 4 * need > len(hashed[0]):
                return i
            fold(i, p, q, hashed, state)
    return len(count)


@kernel
def compact(state, tables):
    """Copy what is alive to the front of new tables (start, length, offset, alpha, idle, indices, values, gram)."""
    base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram = state
    new_start, new_length, new_offset, new_alpha, new_idle, new_indices, new_values, new_gram = tables
    entries, slots, cells = 0, 0, 0
    for i in range(len(count)):
        k = count[i]
        room = 0
        while room < k:
            room = max(2 * room, 2)
        for s in range(k):
            a, b = slots + s, base[i] + s
            new_start[a], new_length[a], new_offset[a] = entries, length[b], offset[b]
            new_alpha[a], new_idle[a] = alpha[b], idle[b]
            for p in range(length[b]):
                new_indices[entries + p] = indices[start[b] + p]
                new_values[entries + p] = values[start[b] + p]
            entries += length[b]
            for t in range(k):
                new_gram[cells + s * room + t] = gram[gram_base[i] + s * capacity[i] + t]
        base[i], gram_base[i], capacity[i] = slots, cells, room
        slots += room
        cells += room * room
    tops[0], tops[1], tops[2] = entries, slots, cells
