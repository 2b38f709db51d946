"""Rows of columns in order."""

from __future__ import annotations

from maxmargin.compiled.kernel import kernel


@kernel
def tidy_rows(once, longest, ends, columns, values, ranks, places, sums):
    """Sort each row by its columns, leave out -1, and make one entry of equal ones: their sum or, with `once`, any.

    Row t is what stands from ends[t] to ends[t + 1]; all is written to the front, and `ends` corrected. A column's
    place is the number of smaller ones in its row, counted by vector operations: no sort is faster for some tens of
    columns. Rows above `longest` are in order already. ranks, places and sums are scratch of that length.
    """
    top = begin = 0
    for t in range(len(ends) - 1):
        n = ends[t + 1] - begin
        row, weights = columns[begin : begin + n], values[begin : begin + n]
        if n <= longest:
            for i in range(n):
                ranks[i], places[i], sums[i] = 0, -1, 0.0
            for i in range(n):
                for j in range(n):
                    ranks[j] += row[j] > row[i]
            for i in range(n):
                places[ranks[i]] = row[i]
                sums[ranks[i]] = weights[i] if once else sums[ranks[i]] + weights[i]
            row, weights = places[:n], sums[:n]
        for i in range(n):
            if row[i] >= 0:
                columns[top], values[top] = row[i], weights[i]
                top += 1
        begin += n
        ends[t + 1] = top
