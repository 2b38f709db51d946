"""Visits of the dual of classes with a kernel; see kernel_class_dual.py."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel
from maxmargin.kernels.compiled.row_cache import RowCache
from maxmargin.structures.classes.compiled.class_dual import GAIN, MOVED, PENALTY, block_step, take_step


@kernel
def visit_with_rows(order, begin, end, problem, cache, alpha, w, seen, scratch, labels, least, report):
    """Visit examples as `visit_classes` does, from `begin` to `end`; seen[k, u] is the score of label k at unit u.

    w has a row for every unit. Returns the position of the first example that would change but whose kernel row is not
    in the cache (it is then left as it was), or `end`. `cache` may be a plain tuple.
    """
    cache = RowCache(*cache)
    heights, own, own_heights, new = scratch[0], scratch[1], scratch[2], scratch[3]
    K = len(heights)
    for j in range(begin, end):
        i = order[j]
        u, truth, limit = problem.units[i], problem.truths[i], problem.cap[i]
        for k in range(K):
            heights[k] = seen[k, u]
        gain, slack, m, total = block_step(
            truth, problem.squares[u], limit, problem.cost[truth], alpha[i], heights, own, own_heights, new, labels
        )
        if gain > 0.0:
            place = cache.slot_of[u]
            if place < 0 or not cache.complete[place]:
                return j
            cache.clock[0] += 1
            cache.last_use[place] = cache.clock[0]
            row = cache.store[place]
            for c in range(take_step(truth, m, total, alpha[i], own, new, labels)):
                k, change = labels[c], new[c]
                w[u * K + k] += change
                scores = seen[k]
                for v in range(len(row)):
                    scores[v] += change * row[v]
            report[GAIN] += gain
            if gain > least:
                front = int(report[MOVED])
                order[j], order[front] = order[front], i
                report[MOVED] += 1.0
        report[PENALTY] += limit * slack
    return end
