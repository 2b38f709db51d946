"""Storage of planes: slots of examples, their growth, and merging ("folding") two planes; see plane_dual.py.

`tables` are PlaneTables (problem/planes/compiled/plane_tables.py).
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel
from maxmargin.problem.planes.compiled.plane_tables import CELLS, ENTRIES, SLOTS


@kernel
def copy_slot(b, a, tables):
    """Copy slot b to slot a, without its row of the Gram matrix."""
    tables.start[a], tables.length[a], tables.offset[a] = tables.start[b], tables.length[b], tables.offset[b]
    tables.alpha[a], tables.idle[a], tables.folds[a] = tables.alpha[b], tables.idle[b], tables.folds[b]


@kernel
def remove(i, s, tables):
    """Remove slot s of example i: its last slot takes the number s."""
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
    """Replace planes p and q of example i by their weighted mean, which changes neither w nor the dual.

    At least one of the two has weight. hashed: scratch, see `Hashed`.
    """
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
    """Find the two slots of example i with the smallest α; the second is -1 if there is only one."""
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
def free_slot(i, hashed, tables):
    """Free one slot of a full example: remove a plane without weight, or merge the two planes with least weight."""
    p, q = lightest(i, tables)
    if tables.alpha[tables.base[i] + p] == 0.0 or q < 0:
        remove(i, p, tables)
    else:
        fold(i, p, q, hashed, tables)


@kernel
def fits(i, extra, slots, hashed, tables):
    """Return True if the tables can hold all that a visit of example i with a new row of length `extra` may add."""
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
def shrink(most, hashed, tables):
    """Remove planes without weight, and merge others until every example has at most `most`.

    Returns the first example whose merged plane did not fit into the tables, or the number of examples.
    """
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
    """Copy the planes in use to the front of new tables, which are large enough."""
    entries, slots, cells = 0, 0, 0
    for i in range(len(old.filled)):
        k = old.filled[i]
        width = 0
        while width < k:
            width = max(2 * width, 2)
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
                new.gram[cells + s * width + t] = old.gram[old.gram_base[i] + s * old.capacity[i] + t]
        new.base[i], new.filled[i], new.capacity[i], new.gram_base[i] = slots, k, width, cells
        slots += width
        cells += width * width
    new.tops[ENTRIES], new.tops[SLOTS], new.tops[CELLS] = entries, slots, cells
    new.longest[0] = old.longest[0]
