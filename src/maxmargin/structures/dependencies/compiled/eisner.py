"""The best projective tree, by spans (Eisner 1996).

A span i … j is *open* while the arc between its ends is made, and *closed* when one end has no more dependents inside.
right means that the head is the left end.

    open[i, j]         = max_k closed_right[i, k] + closed_left[k + 1, j],     i <= k < j                          (1)
    open_right[i, j]   = open[i, j] + scores[i, j],     open_left[i, j] = open[i, j] + scores[j, i]                (2)
    closed_right[i, j] = max_k open_right[i, k] + closed_right[k, j],          i < k <= j                          (3)
    closed_left[i, j]  = max_k closed_left[i, k] + open_left[k, j],            i <= k < j                          (4)

If the root has one child, spans contain only the words 1 … n, and the child c has the highest
closed_left[1, c] + closed_right[c, n] + scores[0, c]. Otherwise the root is a word before all others. O(n³).
"""

from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel

OPEN_RIGHT, OPEN_LEFT, RIGHT, LEFT = 0, 1, 2, 3


class SpanScores(NamedTuple):
    """Scratch arrays for up to n words; row i has the spans that begin at i, or in transposed arrays, end at i."""

    scores: np.ndarray  # (n + 1, n + 1) of arcs
    open_right: np.ndarray  # [i, j]
    closed_right: np.ndarray  # [i, j]
    closed_right_ends: np.ndarray  # [j, i]
    open_left_ends: np.ndarray  # [j, i]
    closed_left: np.ndarray  # [i, j]
    closed_left_ends: np.ndarray  # [j, i]
    splits: np.ndarray  # (3, n + 1, n + 1) k of (1), (3) and (4)
    stack: np.ndarray  # (4n + 8, 3) spans to open, with their kinds


def span_scores(n):
    """Allocate scratch arrays for up to n words."""
    size = n + 1
    tables = [np.empty((size, size)) for _ in range(7)]
    numbers = [np.empty((3, size, size), dtype=np.int32), np.empty((4 * size + 8, 3), dtype=np.int32)]
    return SpanScores(*tables, *numbers)


@kernel
def fill_spans(first, n, of):
    """Fill in all spans of the words first … n."""
    for i in range(first, n + 1):
        of.closed_right[i, i] = of.closed_left[i, i] = 0.0
        of.closed_right_ends[i, i] = of.closed_left_ends[i, i] = 0.0
    for width in range(1, n - first + 1):
        for i in range(first, n - width + 1):
            j = i + width
            best, split = -np.inf, i
            for k in range(i, j):
                value = of.closed_right[i, k] + of.closed_left_ends[j, k + 1]
                if value > best:
                    best, split = value, k
            of.splits[0, i, j] = split
            of.open_right[i, j] = best + of.scores[i, j]
            of.open_left_ends[j, i] = best + of.scores[j, i]
            best, split = -np.inf, j
            for k in range(i + 1, j + 1):
                value = of.open_right[i, k] + of.closed_right_ends[j, k]
                if value > best:
                    best, split = value, k
            of.splits[1, i, j] = split
            of.closed_right[i, j] = of.closed_right_ends[j, i] = best
            best, split = -np.inf, i
            for k in range(i, j):
                value = of.closed_left[i, k] + of.open_left_ends[j, k]
                if value > best:
                    best, split = value, k
            of.splits[2, i, j] = split
            of.closed_left[i, j] = of.closed_left_ends[j, i] = best


@kernel
def push(of, height, kind, i, j):
    """Push a span to open, unless it is a single word; return the height of the stack."""
    if i == j:
        return height
    of.stack[height, 0], of.stack[height, 1], of.stack[height, 2] = kind, i, j
    return height + 1


@kernel
def best_projective(n, single_root, of, heads):
    """Write the heads of the words 1 … n of the best projective tree for of.scores; with single_root, one has 0."""
    fill_spans(1 if single_root else 0, n, of)
    height = 0
    if single_root:
        best, child = -np.inf, 1
        for c in range(1, n + 1):
            value = of.closed_left[1, c] + of.closed_right[c, n] + of.scores[0, c]
            if value > best:
                best, child = value, c
        heads[child - 1] = 0
        height = push(of, height, LEFT, 1, child)
        height = push(of, height, RIGHT, child, n)
    else:
        height = push(of, height, RIGHT, 0, n)
    while height > 0:
        height -= 1
        kind, i, j = of.stack[height, 0], of.stack[height, 1], of.stack[height, 2]
        if kind == RIGHT:
            k = of.splits[1, i, j]
            height = push(of, height, OPEN_RIGHT, i, k)
            height = push(of, height, RIGHT, k, j)
        elif kind == LEFT:
            k = of.splits[2, i, j]
            height = push(of, height, LEFT, i, k)
            height = push(of, height, OPEN_LEFT, k, j)
        else:
            if kind == OPEN_RIGHT:
                heads[j - 1] = i
            else:
                heads[i - 1] = j
            k = of.splits[0, i, j]
            height = push(of, height, RIGHT, i, k)
            height = push(of, height, LEFT, k + 1, j)
