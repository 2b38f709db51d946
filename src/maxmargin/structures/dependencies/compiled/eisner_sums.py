"""Sums over all projective trees by the inside-outside algorithm (Eisner 1996, Baker 1979); eisner.py finds the best.

The notation is as in eisner.py, with logarithms of sums instead of maxima; every projective tree has exactly one
derivation by spans, so it is counted once. The count of a span, its probability, is distributed over the spans that it
is made of, in proportion to their shares of its sum. All terms are positive, and all large numbers are logarithms.
"""

import math
from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.log_sums import draw, log_sum
from maxmargin.structures.dependencies.compiled.eisner import LEFT, RIGHT, push

OPEN = 0  # a span whose arc may have either direction


class SpanSums(NamedTuple):
    """Scratch arrays for up to n words."""

    opened: np.ndarray  # [i, j] (1), without the arc
    right: np.ndarray  # [i, j] (3)
    left: np.ndarray  # [i, j] (4)
    counts: np.ndarray  # (2, n + 1, n + 1) counts of right and left
    arcs: np.ndarray  # (n + 1, n + 1) the probability of the arc from i to j
    row: np.ndarray  # (n + 1,) logarithms that are being added up
    stack: np.ndarray  # (4n + 8, 3) spans to open, with their kinds


def span_sums(n):
    """Allocate scratch arrays for up to n words."""
    size = n + 1
    tables = [np.empty((size, size)) for _ in range(3)]
    counts = [np.empty((2, size, size)), np.empty((size, size))]
    rest = [np.empty(size), np.empty((4 * size + 8, 3), dtype=np.int32)]
    return SpanSums(*tables, *counts, *rest)


@kernel
def open_parts(i, j, of):
    """Write the terms of (1), and return their sum."""
    for k in range(i, j):
        of.row[k - i] = of.right[i, k] + of.left[k + 1, j]
    return log_sum(of.row[: j - i])


@kernel
def right_parts(i, j, table, of):
    """Write the terms of (3), and return their sum."""
    for k in range(i + 1, j + 1):
        of.row[k - i - 1] = of.opened[i, k] + table[i, k] + of.right[k, j]
    return log_sum(of.row[: j - i])


@kernel
def left_parts(i, j, table, of):
    """Write the terms of (4), and return their sum."""
    for k in range(i, j):
        of.row[k - i] = of.left[i, k] + of.opened[k, j] + table[j, k]
    return log_sum(of.row[: j - i])


@kernel
def root_parts(n, table, of):
    """Write the terms of trees whose root is word 1, 2, …, and return their sum."""
    for c in range(1, n + 1):
        of.row[c - 1] = of.left[1, c] + of.right[c, n] + table[0, c]
    return log_sum(of.row[:n])


@kernel
def fill_sums(n, single_root, table, of):
    """Compute all spans, and return log Z."""
    first = 1 if single_root else 0
    for i in range(first, n + 1):
        of.right[i, i] = of.left[i, i] = 0.0
    for width in range(1, n - first + 1):
        for i in range(first, n - width + 1):
            j = i + width
            of.opened[i, j] = open_parts(i, j, of)
            of.right[i, j] = right_parts(i, j, table, of)
            of.left[i, j] = left_parts(i, j, table, of) if i > 0 else -np.inf  # the root has no head
    if single_root:
        return root_parts(n, table, of)
    return of.right[0, n]


@kernel
def sum_projective(n, single_root, table, of, heads):
    """Return log Z of the scores table[h, m], and write heads[m - 1, h], the probability that h is the head of m."""
    log_z = fill_sums(n, single_root, table, of)
    first = 1 if single_root else 0
    right, left, arcs = of.counts[0], of.counts[1], of.arcs
    for i in range(n + 1):
        for j in range(n + 1):
            right[i, j] = left[i, j] = arcs[i, j] = 0.0
    if single_root:
        root_parts(n, table, of)
        for c in range(1, n + 1):
            chance = math.exp(of.row[c - 1] - log_z)
            arcs[0, c] = chance
            left[1, c] += chance
            right[c, n] += chance
    else:
        right[0, n] = 1.0
    for width in range(n - first, 0, -1):
        for i in range(first, n - width + 1):
            j = i + width
            if right[i, j] > 0.0:
                right_parts(i, j, table, of)
                for k in range(i + 1, j + 1):
                    count = right[i, j] * math.exp(of.row[k - i - 1] - of.right[i, j])
                    arcs[i, k] += count
                    right[k, j] += count
            if left[i, j] > 0.0:
                left_parts(i, j, table, of)
                for k in range(i, j):
                    count = left[i, j] * math.exp(of.row[k - i] - of.left[i, j])
                    arcs[j, k] += count
                    left[i, k] += count
            opened = arcs[i, j] + arcs[j, i]
            if opened > 0.0:
                open_parts(i, j, of)
                for k in range(i, j):
                    count = opened * math.exp(of.row[k - i] - of.opened[i, j])
                    right[i, k] += count
                    left[k + 1, j] += count
    for m in range(1, n + 1):
        for h in range(n + 1):
            heads[m - 1, h] = arcs[h, m] if h != m else 0.0
    return log_z


@kernel
def draw_projective(n, single_root, table, of, uniforms, heads):
    """Draw rows heads[k, m - 1] from the top down, one for each of `uniforms`, which have 4n + 8 numbers each."""
    fill_sums(n, single_root, table, of)
    for each in range(len(heads)):
        height, at = 0, 0
        if single_root:
            root_parts(n, table, of)
            child = 1 + draw(of.row[:n], uniforms[each, at])
            at += 1
            heads[each, child - 1] = 0
            height = push(of, height, LEFT, 1, child)
            height = push(of, height, RIGHT, child, n)
        else:
            height = push(of, height, RIGHT, 0, n)
        while height > 0:
            height -= 1
            kind, i, j = of.stack[height, 0], of.stack[height, 1], of.stack[height, 2]
            if kind == RIGHT:
                right_parts(i, j, table, of)
                k = i + 1 + draw(of.row[: j - i], uniforms[each, at])
                heads[each, k - 1] = i
                height = push(of, height, OPEN, i, k)
                height = push(of, height, RIGHT, k, j)
            elif kind == LEFT:
                left_parts(i, j, table, of)
                k = i + draw(of.row[: j - i], uniforms[each, at])
                heads[each, k - 1] = j
                height = push(of, height, LEFT, i, k)
                height = push(of, height, OPEN, k, j)
            else:
                open_parts(i, j, of)
                k = i + draw(of.row[: j - i], uniforms[each, at])
                height = push(of, height, RIGHT, i, k)
                height = push(of, height, LEFT, k + 1, j)
            at += 1
