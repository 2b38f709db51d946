"""Products of planes: with w, and with each other in the Gram matrices of examples; see plane_dual.py.

`atoms` are the AtomArrays with which atoms are read, `images` those with which they are added up for products of
planes: the same, unless a kernel function takes part (kernels/compiled/plane_dual.py).
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.problem.planes.compiled.atoms import atom_add, atom_clear, atom_dot
from maxmargin.problem.planes.compiled.plane_tables import ENTRIES, MEMO


@kernel
def plane_dot(indices, values, start, length, w, epoch, memo, atoms):
    """Compute ⟨plane, w⟩ for the plane indices/values[start : start + length].

    Atom scores are taken from a direct-mapped memo that is valid for one epoch, which is one state of w.
    """
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
    """Add scale · plane to w, for the plane indices/values[start : start + length]."""
    for p in range(start, start + length):
        atom_add(indices[p], scale * values[p], w, atoms)


@kernel
def clear_memo(memo):
    """Reset the memo, so that every epoch from 1 on is new."""
    for place in range(MEMO):
        memo.epochs[place] = 0


@kernel
def gram_row(i, s, epoch, scratch, atoms, images, tables):
    """Compute the entries of the Gram matrix of example i for slot s with itself and the slots before it."""
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
def regram(examples, scratch, atoms, images, tables):
    """Recompute the Gram matrices of these examples after a change of their planes or of the inner product."""
    epoch = 0
    clear_memo(scratch.memo)
    for i in examples:
        for s in range(tables.filled[i]):
            epoch += 1
            gram_row(i, s, epoch, scratch, atoms, images, tables)


@kernel
def add_plane(i, rows, j, epoch, scratch, atoms, images, tables):
    """Store row j as the next plane of example i, which has a free slot, and fill its row of the Gram matrix."""
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
