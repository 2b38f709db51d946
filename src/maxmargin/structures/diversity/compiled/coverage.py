"""Choose k documents that together cover items of the highest value: greedily, by swaps, and what that can miss.

Document d contains the items items[indptr[d] : indptr[d + 1]] (no item twice) and is worth base[d] by itself. A set z
of documents is worth

    f(z) = Σ_{d in z} base[d] + Σ values[v] over the items v that some document of z contains.

Values may be negative: then f is a difference of two coverages, and gains may rise while the set grows.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel


@kernel
def gain_parts(indptr, items, values, base, counts, document):
    """What the document adds to the items with counts > 0: base and positive values, and the size of negative ones."""
    more, less = base[document], 0.0
    for p in range(indptr[document], indptr[document + 1]):
        item = items[p]
        if counts[item] == 0:
            if values[item] > 0:
                more += values[item]
            else:
                less -= values[item]
    return more, less


@kernel
def greedy_cover(indptr, items, values, base, counts, bounds, order):
    """Write into `order` the documents that each add most to those before them; of equal ones the first.

    Returns how often the gain of a document was computed.
    Lazy evaluation (Minoux 1978): base and positive values, as a document had them when it was last looked at, bound
    what it adds now, because items are only ever taken away; documents whose bound is too low are not looked at.
    Negative values do not enter the bound: once their items are covered, they cost nothing more. Sums are added up in
    the same order every time, so that the bound holds for rounded numbers too and the order is that of plain
    evaluation. Ends with the number of chosen documents per item in `counts`. Scratch: bounds, one per document.
    """
    n = len(base)
    counts[:] = 0
    bounds[:] = np.inf
    evaluations = 0
    for step in range(len(order)):
        best = -1
        for document in range(n):  # begin with the most promising one, or many are looked at in vain
            if bounds[document] > -np.inf and (best < 0 or bounds[document] > bounds[best]):
                best = document
        more, less = gain_parts(indptr, items, values, base, counts, best)
        evaluations += 1
        bounds[best] = more
        highest = more - less
        first = best
        for document in range(n):
            bound = bounds[document]
            if document == first or bound < highest or (bound == highest and document > best) or bound == -np.inf:
                continue
            more, less = gain_parts(indptr, items, values, base, counts, document)
            evaluations += 1
            bounds[document] = more
            gain = more - less
            if gain > highest or (gain == highest and document < best):
                best, highest = document, gain
        order[step] = best
        bounds[best] = -np.inf  # chosen
        for p in range(indptr[best], indptr[best + 1]):
            counts[items[p]] += 1
    return evaluations


@kernel
def swap_documents(indptr, items, values, base, counts, chosen, order, rounds):
    """Exchange a document of `order` for the best one outside, as long as that adds something; returns how often.

    `counts` are those of the documents in `order`, and are kept so. At most `rounds` times through the order. Scratch:
    chosen, a flag per document.
    """
    swaps = 0
    chosen[:] = 0
    for place in range(len(order)):
        chosen[order[place]] = 1
    for _ in range(rounds):
        before = swaps
        for place in range(len(order)):
            old = order[place]
            for p in range(indptr[old], indptr[old + 1]):
                counts[items[p]] -= 1
            more, less = gain_parts(indptr, items, values, base, counts, old)
            best, highest = old, more - less + 1e-12 * (abs(more) + less)  # not for the sake of rounding
            for document in range(len(base)):
                if chosen[document] == 0:
                    more, less = gain_parts(indptr, items, values, base, counts, document)
                    if more - less > highest:
                        best, highest = document, more - less
            for p in range(indptr[best], indptr[best + 1]):
                counts[items[p]] += 1
            if best != old:
                chosen[old], chosen[best] = 0, 1
                order[place] = best
                swaps += 1
        if swaps == before:
            break
    return swaps


@kernel
def cover_bound(indptr, items, values, base, n_documents, floor, steps, theta, counts, top, best):
    """An upper bound on f(z) over all sets z of as many documents as `top` has places.

    Let c_v be the number of documents of z with item v, and k the size of z. A covered item of positive value counts
    min(1, c_v) <= 1 - θ_v + θ_v c_v times for any 0 <= θ_v <= 1, and one of negative value at least
    c_v / min(k, n_documents[v]) times, where n_documents[v] is the number of all documents with item v. Hence

        f(z) <= Σ_{values[v] > 0} (1 - θ_v) values[v] + Σ_{d in z} score_θ(d),
        score_θ(d) = base[d] + Σ_{v in d} values[v] · (θ_v if values[v] > 0 else 1 / min(k, n_documents[v])),

    and the k documents with the highest scores bound all sets. From θ = 1 some `steps` of the subgradient method lower
    the bound; their length is that of Polyak for the target `floor`, a worth that is known to be reached. Scratch:
    theta and counts, one per item; top and best, one per place.
    """
    k = len(top)
    theta[:] = 1.0
    lowest = np.inf
    for _ in range(steps):
        filled = 0
        for document in range(len(base)):
            score = base[document]
            for p in range(indptr[document], indptr[document + 1]):
                item = items[p]
                if values[item] > 0:
                    score += values[item] * theta[item]
                else:
                    score += values[item] / min(k, n_documents[item])
            if filled < k:
                place = filled
                filled += 1
            elif score > top[k - 1]:
                place = k - 1
            else:
                continue
            while place > 0 and top[place - 1] < score:
                top[place], best[place] = top[place - 1], best[place - 1]
                place -= 1
            top[place], best[place] = score, document
        counts[:] = 0
        bound = 0.0
        for place in range(k):
            bound += top[place]
            for p in range(indptr[best[place]], indptr[best[place] + 1]):
                counts[items[p]] += 1
        slope = 0.0
        for item in range(len(values)):
            if values[item] > 0:
                bound += (1.0 - theta[item]) * values[item]
                slope += (values[item] * (counts[item] - 1)) ** 2
        lowest = min(lowest, bound)
        if bound <= floor or slope == 0:
            break
        for item in range(len(values)):
            if values[item] > 0:
                moved = theta[item] - (bound - floor) / slope * values[item] * (counts[item] - 1)
                theta[item] = min(max(moved, 0.0), 1.0)
    return lowest
