"""Scores of classes from scores of their attributes, and planes as sparse rows over atoms.

Row k of the table, a tuple (indptr, indices, values) with rising indices, holds the attributes of class k. Attribute
c < direct is coordinate c of w; attribute direct + v is the example's feature row at label v.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel

END = 2**31 - 1  # larger than all attributes


@kernel
def class_scores(w, direct, own, table, scores):
    """Compute scores[j, k] = Σ_c L[k, c] · score of attribute c, which is w[c], or own[j, c - direct]."""
    indptr, indices, values = table
    for j in range(len(scores)):
        for k in range(scores.shape[1]):
            total = 0.0
            for p in range(indptr[k], indptr[k + 1]):
                c = indices[p]
                total += values[p] * (w[c] if c < direct else own[j, c - direct])
            scores[j, k] = total


@kernel
def attribute_differences(direct, n_own, units, truth, found, cost, table, rows):
    """Write Ψ(x, truth) - Ψ(x, found) of every example as PlaneRows over atoms; each merges two rows of the table."""
    L_indptr, L_indices, L_values = table
    top = 0
    for j in range(len(truth)):
        a, a_end = L_indptr[truth[j]], L_indptr[truth[j] + 1]
        b, b_end = L_indptr[found[j]], L_indptr[found[j] + 1]
        while truth[j] != found[j] and (a < a_end or b < b_end):
            left = L_indices[a] if a < a_end else END
            right = L_indices[b] if b < b_end else END
            c, difference = min(left, right), 0.0
            if left == c:
                difference += L_values[a]
                a += 1
            if right == c:
                difference -= L_values[b]
                b += 1
            if difference != 0.0:
                rows.indices[top] = c if c < direct else direct + units[j] * n_own + c - direct
                rows.values[top] = difference
                top += 1
        rows.indptr[j + 1] = top
        rows.offset[j] = cost[truth[j], found[j]]
