"""Sorting of the columns of sparse rows."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel

# columns that are compared at once, or a multiple of them, because single comparisons would take most of the time
LANES = 16


@kernel
def tidy_rows(once, longest, ends, columns, values, row, ranks, places, sums):
    """Sort each row by its columns, drop -1, and merge equal columns by adding their values.

    With `once` there are no values. Row t is ends[t] : ends[t + 1]; results are written to the front, and `ends` is
    updated. The rank of a column is the number of smaller ones in its row, counted by vector operations: no sort is
    faster for some tens of columns. Rows longer than `longest`, a multiple of LANES, are sorted already. row, ranks,
    places and sums are scratch arrays of that length.
    """
    top = begin = 0
    for t in range(len(ends) - 1):
        n = ends[t + 1] - begin
        if n <= longest:
            for i in range((n + LANES - 1) // LANES * LANES):
                row[i], ranks[i], places[i] = -1, 0, -1
            for i in range(n):
                row[i] = columns[begin + i]
            for i in range(n):
                for j in range((n + LANES - 1) // LANES * LANES):
                    ranks[j] += row[j] > row[i]
            for i in range(n):
                places[ranks[i]] = row[i]
            if not once:
                for i in range(n):
                    sums[i] = 0.0
                for i in range(n):
                    sums[ranks[i]] += values[begin + i]
                for i in range(n):
                    values[begin + i] = sums[i]
            for i in range(n):
                columns[begin + i] = places[i]
        for i in range(begin, begin + n):
            if columns[i] >= 0:
                columns[top] = columns[i]
                if not once:
                    values[top] = values[i]
                top += 1
        begin += n
        ends[t + 1] = top
