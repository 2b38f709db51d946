"""Choose k documents that cover items of the highest total value, greedily and by swaps, with an upper bound.

Document d contains the items items[indptr[d] : indptr[d + 1]] (no item twice) and is worth base[d] by itself. A set z
of documents is worth

    f(z) = Σ_{d in z} base[d] + Σ values[v] over the items v that some document of z contains.

If some values are negative, f is a difference of two coverages, and gains may rise while the set grows.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel


@kernel
def gain_terms(indptr, items, values, base, counts, document):
    """Return the two terms of a document's gain, over its items that are not covered yet (counts = 0).

    The first term is the base value plus the positive values of items, the second the sum of the absolute values of the
    negative ones; the gain is their difference.
    """
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
    """Choose documents greedily, each of highest gain given the documents before it, and write them into `order`.

    Returns the number of evaluated gains, and leaves the number of chosen documents per item in `counts`. Of equal
    gains, the first is chosen. Evaluation is lazy (Minoux 1978): the first term of a document's gain at its last
    evaluation bounds its gain now, because covered items stay covered, and documents whose bound is too low are not
    evaluated. The second term does not enter the bound, because it shrinks when items of negative value are covered.
    Sums are always added in the same order, so that the bound also holds for rounded numbers, and the result equals
    an evaluation of all gains. `bounds` is a scratch array with one number per document.
    """
    n = len(base)
    counts[:] = 0
    bounds[:] = np.inf
    evaluations = 0
    for step in range(len(order)):
        best = -1
        for document in range(n):  # begin with the highest bound, to evaluate few documents
            if bounds[document] > -np.inf and (best < 0 or bounds[document] > bounds[best]):
                best = document
        more, less = gain_terms(indptr, items, values, base, counts, best)
        evaluations += 1
        bounds[best] = more
        highest = more - less
        first = best
        for document in range(n):
            bound = bounds[document]
            if document == first or bound < highest or (bound == highest and document > best) or bound == -np.inf:
                continue
            more, less = gain_terms(indptr, items, values, base, counts, document)
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
    """Exchange documents of `order` for the best other document while this adds value; return the number of swaps.

    `counts` belong to the documents in `order` and are updated. At most `rounds` passes through the order are made.
    `chosen` is a scratch array with one flag per document.
    """
    swaps = 0
    chosen[:] = 0
    for slot in range(len(order)):
        chosen[order[slot]] = 1
    for _ in range(rounds):
        before = swaps
        for slot in range(len(order)):
            old = order[slot]
            for p in range(indptr[old], indptr[old + 1]):
                counts[items[p]] -= 1
            more, less = gain_terms(indptr, items, values, base, counts, old)
            best, highest = old, more - less + 1e-12 * (abs(more) + less)  # no swaps because of rounding errors
            for document in range(len(base)):
                if chosen[document] == 0:
                    more, less = gain_terms(indptr, items, values, base, counts, document)
                    if more - less > highest:
                        best, highest = document, more - less
            for p in range(indptr[best], indptr[best + 1]):
                counts[items[p]] += 1
            if best != old:
                chosen[old], chosen[best] = 0, 1
                order[slot] = best
                swaps += 1
        if swaps == before:
            break
    return swaps


@kernel
def cover_bound(indptr, items, values, base, n_documents, floor, steps, theta, counts, top, best):
    """Bound f(z) from above over all sets z of len(top) documents.

    Let c_v be the number of documents of z with item v, and k the size of z. An item counts min(1, c_v) times. For an
    item of positive value this is at most 1 - θ_v + θ_v c_v for any 0 <= θ_v <= 1; for an item of negative value it is
    at least c_v / min(k, n_documents[v]), where n_documents[v] is the number of all documents with item v. Hence

        f(z) <= Σ_{values[v] > 0} (1 - θ_v) values[v] + Σ_{d in z} score_θ(d),
        score_θ(d) = base[d] + Σ_{v in d} values[v] · (θ_v if values[v] > 0 else 1 / min(k, n_documents[v])),

    and the k documents with the highest scores bound all sets. From θ = 1, `steps` steps of the subgradient method
    lower the bound, with Polyak's step length for the target `floor`, the value of a known set. The scratch arrays
    theta and counts have one number per item, top and best have k numbers.
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
                slot = filled
                filled += 1
            elif score > top[k - 1]:
                slot = k - 1
            else:
                continue
            while slot > 0 and top[slot - 1] < score:
                top[slot], best[slot] = top[slot - 1], best[slot - 1]
                slot -= 1
            top[slot], best[slot] = score, document
        counts[:] = 0
        bound = 0.0
        for slot in range(k):
            bound += top[slot]
            for p in range(indptr[best[slot]], indptr[best[slot] + 1]):
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
