"""Kernels of the block dual: every example owns a few cached planes with weights α; see solvers/dual_blocks.py.

Layout. Example i owns the slots base[i] .. base[i] + count[i] - 1 of the slot tables (start, length, offset, alpha,
idle) and a capacity[i]² block of Gram entries from gram_base[i]. A slot's plane is the combination of atoms
indices/values[start : start + length] (see compiled/atoms.py) with offset b. The tables only grow at their end (tops = used entries, slots, Gram entries); what is dropped is garbage until `compact` is called.

Invariants: w = Σ α a over all slots; α >= 0; Σ α of an example <= cap[i] unless cap is infinite or slacks are squared;
gram[s, t] = ⟨a_s, a_t⟩ exactly as the planes are stored; the scratch vector `work` is all zero between calls.
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled.atoms import atom_add, atom_clear, atom_dot
from maxmargin.compiled.kernel import kernel


MEMO = 512  # atom scores remembered within a visit (a power of 2); planes of one example share most of their atoms


@kernel
def plane_dot(indices, values, start, length, w, epoch, tags, epochs, scores, direct, K, U_indptr, U_places, U_values):
    """⟨plane, w⟩, with atom scores taken from a direct-mapped memo that is valid for one epoch (one state of w)."""
    total = 0.0
    for p in range(start, start + length):
        c = indices[p]
        place = c & (MEMO - 1)
        if epochs[place] != epoch or tags[place] != c:
            tags[place], epochs[place] = c, epoch
            scores[place] = atom_dot(c, w, direct, K, U_indptr, U_places, U_values)
        total += values[p] * scores[place]
    return total


@kernel
def scatter(indices, values, start, length, scale, w, direct, K, U_indptr, U_places, U_values):
    """w += scale · plane."""
    for p in range(start, start + length):
        atom_add(indices[p], scale * values[p], w, direct, K, U_indptr, U_places, U_values)


@kernel
def remove(i, s, base, count, capacity, gram_base, start, length, offset, alpha, idle, gram):
    """Forget slot s of example i: the last slot takes its place."""
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
def grow(i, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, gram):
    """Move example i to a range of slots twice as large at the end of the tables."""
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
def fold(i, p, q, keys, places, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram):
    """Replace planes p and q of example i (not both without weight) by their weighted mean: w and D do not change."""
    a, b = base[i] + p, base[i] + q
    total = alpha[a] + alpha[b]
    u, v = alpha[a] / total, alpha[b] / total
    # atoms of both planes are merged through a hash table with open addressing (keys, places: scratch space)
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
    remove(i, q, base, count, capacity, gram_base, start, length, offset, alpha, idle, gram)


@kernel
def lightest(i, base, count, alpha):
    """The two slots of example i with the smallest α."""
    p, q = -1, -1
    for s in range(count[i]):
        if p < 0 or alpha[base[i] + s] < alpha[base[i] + p]:
            q = p
            p = s
        elif q < 0 or alpha[base[i] + s] < alpha[base[i] + q]:
            q = s
    return p, q


@kernel
def make_room(i, keys, places, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram):
    """Free one slot of a full example: forget a plane without weight, else fold the two lightest."""
    p, q = lightest(i, base, count, alpha)
    if alpha[base[i] + p] == 0.0 or q < 0:
        remove(i, p, base, count, capacity, gram_base, start, length, offset, alpha, idle, gram)
    else:
        fold(i, p, q, keys, places, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram)


@kernel
def ascend(i, room, ridge, steps, precision, h, delta, base, count, capacity, gram_base, alpha, gram):
    """Exact pairwise steps among the planes of example i and the truth (a zero plane), in Gram space.

    Weight moves from the lowest plane that has any to the highest; the step is the exact maximiser of the dual on that
    segment, cut to the weight available. h holds the heights and is kept current; delta collects the changes of α.
    With squared slacks the truth has unlimited weight (room = inf) and every plane an extra Gram entry `ridge`.
    Returns what the dual gained, or inf where it has no upper limit.
    """
    c, g, first = capacity[i], gram_base[i], base[i]
    total = 0.0
    for s in range(count[i]):
        total += alpha[first + s]
    gain = 0.0
    for _ in range(steps):
        up, down, high, low = -1, -1, 0.0, np.inf
        if room > 0.0:
            low = 0.0
        for s in range(count[i]):
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
            for s in range(count[i]):
                h[s] += step * gram[g + s * c + down]
        else:
            room -= step
            total += step
        if up >= 0:
            alpha[first + up] += step
            delta[up] += step
            for s in range(count[i]):
                h[s] -= step * gram[g + s * c + up]
        else:
            room += step
            total -= step
    return gain


@kernel
def visit(
    order,
    begin,
    fresh,
    row_indptr,
    row_indices,
    row_values,
    row_offset,
    direct,
    K,
    U_indptr,
    U_places,
    U_values,
    cap,
    squared,
    steps,
    slots,
    patience,
    epsilon,
    w,
    work,
    report,
    h,
    delta,
    tags,
    epochs,
    scores,
    keys,
    places,
    base,
    count,
    capacity,
    gram_base,
    tops,
    start,
    length,
    offset,
    alpha,
    idle,
    indices,
    values,
    gram,
):
    """Visit the examples order[begin:] in turn: add the new plane (if `fresh`, row j belongs to order[j]), then ascend.

    Returns the position of the first example that did not fit into the tables (the caller enlarges them and calls
    again), or len(order). report = [Σ cap·penalty of the heights seen, planes added, dual gain, unbounded example or -1].
    """
    epoch = 0
    for place in range(MEMO):
        epochs[place] = 0
    for j in range(begin, len(order)):
        i = order[j]
        extra = row_indptr[j + 1] - row_indptr[j] if fresh else 0
        need = extra
        if fresh and count[i] == slots:
            p, q = lightest(i, base, count, alpha)
            need += length[base[i] + p] + (length[base[i] + q] if q >= 0 else 0)
        wider = max(2 * capacity[i], 2)
        if (
            tops[0] + need > len(indices)
            or 4 * need > len(keys)
            or tops[1] + wider > len(start)
            or tops[2] + wider * wider > len(gram)
        ):
            return j
        highest, weight = 0.0, 0.0
        epoch += 1
        for s in range(count[i]):
            slot = base[i] + s
            h[s] = offset[slot] - plane_dot(
                indices, values, start[slot], length[slot], w, epoch, tags, epochs, scores,
                direct, K, U_indptr, U_places, U_values,
            )  # fmt: skip
            highest = max(highest, h[s])
            weight += alpha[slot]
        if fresh:
            r0 = row_indptr[j]
            height = row_offset[j] - plane_dot(
                row_indices, row_values, r0, extra, w, epoch, tags, epochs, scores,
                direct, K, U_indptr, U_places, U_values,
            )  # fmt: skip
            # `highest` is what the cached planes already demand: a lower plane is known or stale and adds nothing.
            if height > highest + epsilon + 1e-12 * (abs(height) + abs(row_offset[j])):
                if count[i] == slots:
                    make_room(
                        i, keys, places, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram
                    )  # fmt: skip
                    for s in range(count[i]):
                        slot = base[i] + s
                        h[s] = offset[slot] - plane_dot(
                            indices, values, start[slot], length[slot], w, epoch, tags, epochs, scores,
                            direct, K, U_indptr, U_places, U_values,
                        )  # fmt: skip
                elif count[i] == capacity[i]:
                    grow(i, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, gram)
                new = count[i]
                slot = base[i] + new
                start[slot], length[slot], offset[slot] = tops[0], extra, row_offset[j]
                alpha[slot], idle[slot] = 0.0, 0
                for p in range(extra):
                    indices[tops[0] + p] = row_indices[r0 + p]
                    values[tops[0] + p] = row_values[r0 + p]
                tops[0] += extra
                scatter(indices, values, start[slot], extra, 1.0, work, direct, K, U_indptr, U_places, U_values)
                epoch += 1
                c, g = capacity[i], gram_base[i]
                for s in range(new + 1):
                    entry = plane_dot(
                        indices, values, start[base[i] + s], length[base[i] + s], work, epoch, tags, epochs, scores,
                        direct, K, U_indptr, U_places, U_values,
                    )  # fmt: skip
                    gram[g + s * c + new] = entry
                    gram[g + new * c + s] = entry
                for p in range(start[slot], start[slot] + extra):
                    atom_clear(indices[p], work, direct, K, U_indptr, U_places, U_values)
                count[i] += 1
                h[new] = height
                report[1] += 1
            highest = max(highest, height)
            report[0] += cap[i] * (0.5 * highest * highest if squared else highest)
        if cap[i] == 0.0 or count[i] == 0:
            continue
        for s in range(count[i]):
            delta[s] = 0.0
        room = np.inf if squared else cap[i] - weight
        ridge = 1.0 / cap[i] if squared else 0.0
        gain = ascend(
            i, max(room, 0.0), ridge, steps, 1e-10 * highest, h, delta, base, count, capacity, gram_base, alpha, gram
        )
        if gain == np.inf:
            report[3] = i
            return len(order)
        report[2] += gain
        # w += Σ δ a, merged by atom first: what one plane loses another gains, and most of it cancels
        epoch += 1
        used = 0
        for s in range(count[i]):
            if delta[s] != 0.0:
                slot = base[i] + s
                for p in range(start[slot], start[slot] + length[slot]):
                    c = indices[p]
                    place = c & (MEMO - 1)
                    if epochs[place] != epoch or tags[place] != c:
                        if epochs[place] == epoch:  # another atom has this place: it goes to w at once
                            atom_add(tags[place], scores[place], w, direct, K, U_indptr, U_places, U_values)
                        else:
                            places[used] = place
                            used += 1
                        tags[place], epochs[place], scores[place] = c, epoch, 0.0
                    scores[place] += delta[s] * values[p]
        for p in range(used):
            if scores[places[p]] != 0.0:
                atom_add(tags[places[p]], scores[places[p]], w, direct, K, U_indptr, U_places, U_values)
        s = 0
        while s < count[i]:
            slot = base[i] + s
            idle[slot] = 0 if alpha[slot] > 0.0 else idle[slot] + 1
            if idle[slot] > patience:
                remove(i, s, base, count, capacity, gram_base, start, length, offset, alpha, idle, gram)
            else:
                s += 1
    return len(order)


@kernel
def totals(
    n, cap, squared, base, count, start, length, offset, alpha, indices, values, w, direct, K, U_indptr, U_places, U_values
):
    """Recompute w = Σ α a into `w` (zeroed by the caller) and return the linear part of the dual."""
    linear = 0.0
    for i in range(n):
        weight = 0.0
        for slot in range(base[i], base[i] + count[i]):
            if alpha[slot] > 0.0:
                scatter(
                    indices, values, start[slot], length[slot], alpha[slot], w, direct, K, U_indptr, U_places, U_values
                )
                linear += alpha[slot] * offset[slot]
                weight += alpha[slot]
        if squared and weight > 0.0:
            linear -= 0.5 * weight * weight / cap[i]
    return linear


@kernel
def shrink(n, most, keys, places, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram):
    """Leave every example at most `most` planes (0: only forget planes without weight). Needs room for folding.

    Returns the first example that did not fit, or n.
    """
    for i in range(n):
        s = 0
        while s < count[i]:
            if alpha[base[i] + s] == 0.0:
                remove(i, s, base, count, capacity, gram_base, start, length, offset, alpha, idle, gram)
            else:
                s += 1
        while most > 0 and count[i] > most:
            p, q = lightest(i, base, count, alpha)
            need = length[base[i] + p] + length[base[i] + q]
            if tops[0] + need > len(indices) or 4 * need > len(keys):
                return i
            fold(
                i, p, q, keys, places, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram
            )  # fmt: skip
    return n


@kernel
def compact(
    n, base, count, capacity, gram_base, tops, start, length, offset, alpha, idle, indices, values, gram,
    new_start, new_length, new_offset, new_alpha, new_idle, new_indices, new_values, new_gram,
):  # fmt: skip
    """Copy what is alive to the front of new tables."""
    entries, slots, cells = 0, 0, 0
    for i in range(n):
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
