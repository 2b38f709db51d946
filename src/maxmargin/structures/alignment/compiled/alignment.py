"""Gotoh's algorithm: the best alignment of two sequences with affine gaps whose costs depend on the position.

An alignment is a list of pairs (i, j), increasing in both. Pair scores are s[i, j] = profile[row_of[i], j]. Residues
skipped between two pairs form at most two gaps: first a gap of residues of a, before the next skipped residue of b,
then a gap of residues of b. With `of_a` and `of_b`, (5, n + 1) and (5, m + 1) arrays of rows

    OPEN, EXTEND          score of a gap's first, and of every further, skipped residue i
    AT_OPEN, AT_EXTEND    added to these for gaps of the other sequence that lie before residue i (n: the end)
    TOTAL                 Σ_{t < i} EXTEND[t]

a gap that skips residues u … v - 1 of a and lies before residue q of b scores                                     (1)

    OPEN_a[u] + AT_OPEN_b[q] + Σ_{u < t < v} (EXTEND_a[t] + AT_EXTEND_b[q]).

The modes differ in the scores of residues before the first pair and after the last one (the ends). In GLOBAL mode, ends
score like any gap; in LOCAL mode, they score 0. In OVERLAP mode, the longer of the two ends scores 0 and the shorter
one scores like any gap; if both are equally long, the end of a scores 0 before the first pair, and the end of b after
the last pair. An alignment without pairs scores 0, or in GLOBAL mode as two gaps.

Best scores that end at (i, j) with a pair (M), with a_i skipped (X), with b_j skipped (Y):                         (2)

    M[i, j] = s[i, j] + max(before[i, j], M[i-1, j-1], X[i-1, j-1], Y[i-1, j-1])
    X[i, j] = max(M[i-1, j] + open,  X[i-1, j] + extend)
    Y[i, j] = max(M[i, j-1] + open,  X[i, j-1] + open,  Y[i, j-1] + extend)

M and X of a row are vector operations, Y is a scan. One byte per cell remembers the decisions.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.alignment.compiled.alignment_arrays import AlignmentScratch, ScoredPair

GLOBAL, OVERLAP, LOCAL = 0, 1, 2
OPEN, EXTEND, AT_OPEN, AT_EXTEND, TOTAL = 0, 1, 2, 3, 4
BEGINS, X_EXTENDS, X_ABOVE_M, Y_EXTENDS, Y_ABOVE = 1, 2, 4, 8, 16  # bits of the trace
ROWS = 10  # scratch rows of m + 1 numbers


@kernel
def gap(skipped, u, v, other, q):
    """Return (1), the score of skipping residues u … v - 1 before residue q of the other sequence; 0 for none."""
    if v <= u:
        return 0.0
    total = skipped[TOTAL, v] - skipped[TOTAL, u + 1]
    return skipped[OPEN, u] + other[AT_OPEN, q] + total + (v - u - 1) * other[AT_EXTEND, q]


@kernel
def score_before(mode, p, q, of_a, of_b):
    """Return the score of the residues before the first pair (p, q)."""
    if mode == LOCAL:
        return 0.0
    if mode == GLOBAL:
        return gap(of_a, 0, p, of_b, 0) + gap(of_b, 0, q, of_a, p)
    if q <= p:
        return gap(of_b, 0, q, of_a, p)
    return gap(of_a, 0, p, of_b, q)


@kernel
def score_after(mode, p, q, of_a, of_b):
    """Return the score of the residues after the last pair (p, q)."""
    n, m = of_a.shape[1] - 1, of_b.shape[1] - 1
    if mode == LOCAL:
        return 0.0
    if mode == GLOBAL:
        return gap(of_a, p + 1, n, of_b, q + 1) + gap(of_b, q + 1, m, of_a, n)
    if n - p <= m - q:
        return gap(of_a, p + 1, n, of_b, q + 1)
    return gap(of_b, q + 1, m, of_a, p + 1)


@kernel
def score_empty(mode, of_a, of_b):
    """Return the score of the alignment without pairs."""
    n, m = of_a.shape[1] - 1, of_b.shape[1] - 1
    if mode == GLOBAL:
        return gap(of_a, 0, n, of_b, 0) + gap(of_b, 0, m, of_a, n)
    return 0.0


@kernel
def fill_before(mode, p, of_a, of_b, row):
    """Set row[q] to score_before(p, q) for all q: both halves are vector operations."""
    m = of_b.shape[1] - 1
    if mode == LOCAL:
        for q in range(m):
            row[q] = 0.0
        return
    first = gap(of_a, 0, p, of_b, 0) if mode == GLOBAL else 0.0
    end = m if mode == GLOBAL else min(p + 1, m)  # up to here the gap of b has a cost
    opened = first + (of_b[OPEN, 0] + of_a[AT_OPEN, p]) - of_b[TOTAL, 1]
    total, more = of_b[TOTAL], of_a[AT_EXTEND, p]
    row[0] = first
    for q in range(1, end):
        row[q] = opened + total[q] + (q - 1) * more
    if p == 0:
        for q in range(end, m):
            row[q] = 0.0
    else:
        opened = of_a[OPEN, 0] + (of_a[TOTAL, p] - of_a[TOTAL, 1])
        at_open, at_extend, longer = of_b[AT_OPEN], of_b[AT_EXTEND], float(p - 1)
        for q in range(end, m):
            row[q] = opened + at_open[q] + longer * at_extend[q]


@kernel
def fill_after(mode, p, of_a, of_b, row):
    """Set row[q] to score_after(p, q) for all q."""
    n, m = of_a.shape[1] - 1, of_b.shape[1] - 1
    if mode == LOCAL:
        for q in range(m):
            row[q] = 0.0
        return
    end = m if mode == GLOBAL else max(0, m - n + p + 1)  # up to here the gap of a has a cost
    if p == n - 1:
        for q in range(end):
            row[q] = 0.0
    else:
        opened = of_a[OPEN, p + 1] + (of_a[TOTAL, n] - of_a[TOTAL, p + 2])
        at_open, at_extend, longer = of_b[AT_OPEN, 1:], of_b[AT_EXTEND, 1:], float(n - p - 2)
        for q in range(end):
            row[q] = opened + at_open[q] + longer * at_extend[q]
    place = n if mode == GLOBAL else p + 1
    opened, more = of_a[AT_OPEN, place] + of_b[TOTAL, m], of_a[AT_EXTEND, place]
    at, total = of_b[OPEN, 1:], of_b[TOTAL, 2:]
    if mode == GLOBAL:
        for q in range(m - 1):
            row[q] += at[q] + (opened - total[q]) + (m - q - 2) * more
    else:
        for q in range(end, m - 1):
            row[q] = at[q] + (opened - total[q]) + (m - q - 2) * more
        if end < m:
            row[m - 1] = 0.0


@kernel
def best_alignment(pair, mode, scratch, pairs):
    """Find the best alignment of a ScoredPair: return its score and the number of its pairs, the last in `pairs`.

    Pairs (i, j) with low[i] <= j < high[i] score `price` less.
    """
    profile, row_of, low, high, price, of_a, of_b = pair
    trace, rows, best, ends = scratch
    n, m = len(row_of), profile.shape[1]
    M, above, X, G = rows[0, :m], rows[1, :m], rows[2, :m], rows[3, :m]  # above: M of the row before; G: max(M, X)
    D, before, after = rows[4], rows[5, :m], rows[6, :m]  # D[j + 1]: max(M, X, Y) of column j in the row before
    opened, Z, extended = rows[7], rows[8, :m], rows[9, :m]  # for Y, see below
    for j in range(m):
        M[j] = X[j] = best[j] = -np.inf
    for j in range(m + 1):
        D[j] = -np.inf
    opened[0] = -np.inf
    b_open, b_total = of_b[OPEN, 1:], of_b[TOTAL, 1:]
    at_open, at_extend = of_b[AT_OPEN, 1:], of_b[AT_EXTEND, 1:]
    for i in range(n):
        s, bits = profile[row_of[i]], trace[i]
        fill_before(mode, i, of_a, of_b, before)
        fill_after(mode, i, of_a, of_b, after)
        for j in range(low[i], high[i]):
            before[j] -= price
            D[j] -= price
        M, above = above, M
        a_open, a_extend = of_a[OPEN, i], of_a[EXTEND, i]
        for j in range(m):
            begins = before[j] >= D[j]
            paired = s[j] + (before[j] if begins else D[j])
            opens, goes_on = above[j] + (a_open + at_open[j]), X[j] + (a_extend + at_extend[j])
            extends = goes_on > opens
            x = goes_on if extends else opens
            higher = x > paired
            M[j], X[j], G[j] = paired, x, x if higher else paired
            bits[j] = (BEGINS if begins else 0) | (X_EXTENDS if extends else 0) | (X_ABOVE_M if higher else 0)
        for j in range(m):
            total = M[j] + after[j]
            higher = total > best[j]
            best[j] = total if higher else best[j]
            ends[j] = i if higher else ends[j]
        # Y[j] - Σ_{t <= j} extend_t is a running maximum, so that everything but this maximum is a vector operation.
        slot_open, slot_extend = of_a[AT_OPEN, i + 1], of_a[AT_EXTEND, i + 1]
        for j in range(m):
            extended[j] = b_total[j] + j * slot_extend
        for j in range(m - 1):
            opened[j + 1] = G[j] + (b_open[j] + slot_open)
        for j in range(m):
            opened[j] -= extended[j]
        running = -np.inf
        for j in range(m):
            running = running if running > opened[j] else opened[j]
            Z[j] = running
        for j in range(m):
            y = Z[j] + extended[j]
            higher = y > G[j]
            D[j + 1] = y if higher else G[j]
            bits[j] |= (Y_ABOVE if higher else 0) | (Y_EXTENDS if Z[j] > opened[j] else 0)
    highest, last = score_empty(mode, of_a, of_b), -1
    for j in range(m):
        if best[j] > highest:
            highest, last = best[j], j
    return highest, 0 if last < 0 else walk_back(trace, ends[last], last, pairs)


@kernel
def best_alignments(flat, mode, scratch, scores, pairs):
    """Find the best alignments of FlatPairs.

    The results of best_alignment are written to `scores` (k, 2), and the pairs to the ends of their ranges in `pairs`,
    min(n, m) for each.
    """
    at = from_a = from_b = of_profile = first = 0
    for k in range(len(flat.sizes)):
        n, m, different = flat.sizes[k, 0], flat.sizes[k, 1], flat.sizes[k, 2]
        last = first + min(n, m)
        pair = ScoredPair(
            flat.profiles[of_profile : of_profile + different * m].reshape(different, m),
            flat.row_of[at : at + n],
            flat.low[at : at + n],
            flat.high[at : at + n],
            flat.prices[k],
            flat.of_a[from_a : from_a + 5 * (n + 1)].reshape(5, n + 1),
            flat.of_b[from_b : from_b + 5 * (m + 1)].reshape(5, m + 1),
        )
        own = AlignmentScratch(
            scratch.trace[: n * m].reshape(n, m),
            scratch.rows[: ROWS * (m + 1)].reshape(ROWS, m + 1),
            scratch.best[:m],
            scratch.ends[:m],
        )
        scores[k, 0], scores[k, 1] = best_alignment(pair, mode, own, pairs[first:last])
        of_profile, at, first = of_profile + different * m, at + n, last
        from_a, from_b = from_a + 5 * (n + 1), from_b + 5 * (m + 1)


@kernel
def walk_back(trace, i, j, pairs):
    """Write the pairs of the alignment that ends with (i, j) to the end of `pairs`; return their number."""
    top = len(pairs)
    while True:
        top -= 1
        pairs[top, 0], pairs[top, 1] = i, j
        if trace[i, j] & BEGINS:
            return len(pairs) - top
        i -= 1
        j -= 1
        in_y, in_x = trace[i, j] & Y_ABOVE, False
        while in_y:
            in_y = trace[i, j] & Y_EXTENDS
            j -= 1
        in_x = trace[i, j] & X_ABOVE_M
        while in_x:
            in_x = trace[i, j] & X_EXTENDS
            i -= 1


@kernel
def paid_gaps(pairs, n, m, mode, paid):
    """List the skipped residues with a score: (sequence, residue, position in the other one, 1 unless the first).

    Return their number. (1) is a sum over this list for the alignment with these pairs.
    """
    if len(pairs) == 0:
        if mode != GLOBAL:
            return 0
        return list_gap(1, 0, m, n, paid, list_gap(0, 0, n, 0, paid, 0))
    p, q = pairs[0]
    top = 0
    if mode == GLOBAL or (mode == OVERLAP and p < q):
        top = list_gap(0, 0, p, 0 if mode == GLOBAL else q, paid, top)
    if mode == GLOBAL or (mode == OVERLAP and q <= p):
        top = list_gap(1, 0, q, p, paid, top)
    for k in range(1, len(pairs)):
        i, j = pairs[k]
        top = list_gap(0, p + 1, i, q + 1, paid, top)
        top = list_gap(1, q + 1, j, i, paid, top)
        p, q = i, j
    if mode == GLOBAL or (mode == OVERLAP and n - p <= m - q):
        top = list_gap(0, p + 1, n, q + 1, paid, top)
    if mode == GLOBAL or (mode == OVERLAP and n - p > m - q):
        top = list_gap(1, q + 1, m, n if mode == GLOBAL else p + 1, paid, top)
    return top


@kernel
def list_gap(sequence, u, v, place, paid, top):
    """Add the residues u … v - 1 of one gap to the list."""
    for t in range(u, v):
        paid[top, 0], paid[top, 1], paid[top, 2], paid[top, 3] = sequence, t, place, 1 if t > u else 0
        top += 1
    return top


@kernel
def best_per_right(profile, row_of, low, high, of_a, of_b, mode, v, best):
    """Set best[c] to the highest score of an alignment with exactly c pairs such that low[i] <= j < high[i].

    v[0], v[1] and v[2], (n, m, most + 1), are M, X and Y of (2) for every number of such pairs so far; trace_right
    reads them. This gives the exact most violated output for every violation that depends on the output only through
    its loss and its score.
    """
    n, m = len(row_of), profile.shape[1]
    most = len(best)
    for c in range(most):
        best[c] = -np.inf
    best[0] = score_empty(mode, of_a, of_b)
    for i in range(n):
        for j in range(m):
            M, X, Y = v[0, i, j], v[1, i, j], v[2, i, j]
            right = 1 if low[i] <= j < high[i] else 0
            s, before = profile[row_of[i], j], score_before(mode, i, j, of_a, of_b)
            for c in range(most):
                M[c] = X[c] = Y[c] = -np.inf
            if right < most:
                M[right] = before
            if i > 0 and j > 0:
                diagonal = v[:, i - 1, j - 1]
                for c in range(right, most):
                    k = c - right
                    M[c] = max(M[c], max(diagonal[0, k], max(diagonal[1, k], diagonal[2, k])))
            after = score_after(mode, i, j, of_a, of_b)
            for c in range(most):
                M[c] += s
                best[c] = max(best[c], M[c] + after)
            if i > 0:
                opened, extended = of_a[OPEN, i] + of_b[AT_OPEN, j + 1], of_a[EXTEND, i] + of_b[AT_EXTEND, j + 1]
                for c in range(most):
                    X[c] = max(v[0, i - 1, j, c] + opened, v[1, i - 1, j, c] + extended)
            if j > 0:
                opened, extended = of_b[OPEN, j] + of_a[AT_OPEN, i + 1], of_b[EXTEND, j] + of_a[AT_EXTEND, i + 1]
                for c in range(most):
                    Y[c] = max(max(v[0, i, j - 1, c], v[1, i, j - 1, c]) + opened, v[2, i, j - 1, c] + extended)


@kernel
def trace_right(low, high, of_a, of_b, mode, v, c, pairs):
    """Write the pairs of best[c] of best_per_right to the end of `pairs`; return their number."""
    n, m = v.shape[1], v.shape[2]
    i, j, high_score = -1, -1, score_empty(mode, of_a, of_b) if c == 0 else -np.inf
    for p in range(n):
        for q in range(m):
            value = v[0, p, q, c] + score_after(mode, p, q, of_a, of_b)
            if value > high_score:
                i, j, high_score = p, q, value
    if i < 0:
        return 0
    top = len(pairs)
    while True:
        top -= 1
        pairs[top, 0], pairs[top, 1] = i, j
        c -= 1 if low[i] <= j < high[i] else 0
        begins = score_before(mode, i, j, of_a, of_b) if c == 0 else -np.inf
        i -= 1
        j -= 1
        if i < 0 or j < 0:
            return len(pairs) - top
        state = 0
        for k in range(1, 3):
            if v[k, i, j, c] > v[state, i, j, c]:
                state = k
        if begins >= v[state, i, j, c]:
            return len(pairs) - top
        while state > 0:
            if state == 2:
                opened, extended = of_b[OPEN, j] + of_a[AT_OPEN, i + 1], of_b[EXTEND, j] + of_a[AT_EXTEND, i + 1]
                j -= 1
                if v[2, i, j, c] + extended <= max(v[0, i, j, c], v[1, i, j, c]) + opened:
                    state = 1 if v[1, i, j, c] > v[0, i, j, c] else 0
            else:
                opened, extended = of_a[OPEN, i] + of_b[AT_OPEN, j + 1], of_a[EXTEND, i] + of_b[AT_EXTEND, j + 1]
                i -= 1
                if v[1, i, j, c] + extended <= v[0, i, j, c] + opened:
                    state = 0
