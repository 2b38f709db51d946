"""The knapsack problem: by dynamic programming over capacities, and by branch and bound."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def fill_by_table(values, weights, capacities, table, chosen):
    """Set chosen[r, i] = 1 for the items i of the best knapsack with values[r], for one or two capacities.

        table[i + 1, a, b] = max(table[i, a, b], values[r, i] + table[i, a - weights[0, i], b - weights[1, i]])      (1)

    is the best value of items 0 … i within the capacities a and b; table[0] and chosen are initially 0. An item is
    taken only if it adds value.
    """
    n_items = values.shape[1]
    first, second = capacities[0], capacities[1]
    for r in range(len(values)):
        for i in range(n_items):
            value, u, v = values[r, i], weights[0, i], weights[1, i]
            for a in range(first + 1):
                untouched = min(v, second + 1) if a >= u and value > 0 else second + 1
                for b in range(untouched):
                    table[i + 1, a, b] = table[i, a, b]
                for b in range(untouched, second + 1):
                    table[i + 1, a, b] = max(table[i, a, b], value + table[i, a - u, b - v])
        a, b = first, second
        for back in range(n_items):
            i = n_items - 1 - back
            if table[i + 1, a, b] > table[i, a, b]:
                chosen[r, i] = 1.0
                a, b = a - weights[0, i], b - weights[1, i]


@kernel
def fill_by_search(values, weights, capacities, prices, priced, order, useful, looks, scratch, chosen, finished):
    """Set chosen[r, i] = 1 for the items i of the best knapsack with values[r], for any number of capacities.

    Items are tried in the order of order[r, : useful[r]], each first taken and then left. A branch is pruned if even
    fractions of items could not make it better than the best knapsack so far:

        Σ_{taken} values[r, i] + max { Σ x_i values[r, i] : Σ x_i priced[i] <= Σ_k prices[k] left[k] },              (2)
        priced[i] = Σ_k prices[k] weights[k, i],

    over 0 <= x <= 1 of the remaining items. This surrogate relaxation adds up all capacities with prices >= 0, so (2)
    is an upper bound; it takes items by value per price, which must be the order of `order`. chosen is initially 0.
    finished[r] says whether the search ended within `looks` steps: otherwise a better knapsack may exist.
    `scratch` is SearchScratch.
    """
    left, stack, sums = scratch
    n_capacities = len(capacities)
    for r in range(len(values)):
        for k in range(n_capacities):
            left[k] = capacities[k]
        best, depth, t, total, remaining = 0.0, 0, 0, 0.0, looks
        while remaining > 0:
            while t < useful[r] and remaining > 0:
                purse = 0.0
                for k in range(n_capacities):
                    purse += prices[k] * left[k]
                bound = total
                for s in range(t, useful[r]):
                    i = order[r, s]
                    remaining -= 1
                    if priced[i] > purse:
                        bound += values[r, i] * (purse / priced[i])
                        break
                    purse -= priced[i]
                    bound += values[r, i]
                if bound <= best:
                    break
                i = order[r, t]
                fits = True
                for k in range(n_capacities):
                    if weights[k, i] > left[k]:
                        fits = False
                if fits:
                    stack[depth], sums[depth] = t, total
                    depth += 1
                    total += values[r, i]
                    for k in range(n_capacities):
                        left[k] -= weights[k, i]
                    if total > best:
                        best = total
                        for j in range(values.shape[1]):
                            chosen[r, j] = 0.0
                        for d in range(depth):
                            chosen[r, order[r, stack[d]]] = 1.0
                t += 1
            if depth == 0:
                break
            depth -= 1
            t, total = stack[depth], sums[depth]  # restored instead of subtracted, to avoid rounding drift
            for k in range(n_capacities):
                left[k] += weights[k, order[r, t]]
            t += 1
        finished[r] = remaining > 0
