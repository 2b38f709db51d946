"""Search for the most violated ranking: by swapped pairs, for average precision, and for NDCG.

Scores come in segments of equal level, the highest level first, sorted from high to low within each segment. A pair is
a row i of a higher and a row j of a lower level; it is swapped if j is ranked first. With N pairs

    Ψ = (1/N) Σ_{pairs not swapped} (x_i - x_j),     δΨ = (1/N) Σ_{swapped} (x_i - x_j),                         (1)

and every search writes the coefficients of δΨ, one per row. Rows of one level are ranked by score, which is optimal
because no loss depends on their order.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def swap_segments(threshold, ties, factor, scores, weights, upper, lower, end, coefficients, marks):
    """Swap the pairs of two segments with s_i - s_j < threshold, and the first `ties` with s_i - s_j = threshold.

    `upper` is the begin and the end of the segment of higher level; the other one has the rows lower … end - 1. A pair
    weighs `factor` times the weights of its rows. Returns the weight of all swapped pairs, their weighted
    Σ (s_i - s_j), and the ties that are left to swap.
    """
    begin_upper, end_upper = upper
    m = end - lower
    total, margin = 0.0, 0.0
    # the number of lower rows that row i is swapped with, which never decreases with i
    j, passed, passed_scores = 0, 0.0, 0.0
    for t in range(m):
        marks[t] = 0.0
    for i in range(begin_upper, end_upper):
        weight = factor * weights[i]
        while j < m and scores[i] - scores[lower + j] < threshold:
            passed += weights[lower + j]
            passed_scores += weights[lower + j] * scores[lower + j]
            j += 1
        if j > 0:
            coefficients[i] += weight * passed
            marks[j - 1] += weight
            total += weight * passed
            margin += weight * (scores[i] * passed - passed_scores)
        t = j
        while ties > 0 and t < m and scores[i] - scores[lower + t] == threshold:
            coefficients[i] += weight * weights[lower + t]
            coefficients[lower + t] -= weight * weights[lower + t]
            total += weight * weights[lower + t]
            margin += weight * weights[lower + t] * threshold
            ties -= 1
            t += 1
    carried = 0.0  # a mark at row t is the weight of upper rows that are swapped with t and all rows before it
    for t in range(m - 1, -1, -1):
        carried += marks[t]
        coefficients[lower + t] -= weights[lower + t] * carried
    return total, margin, ties


@kernel
def swap_pairs(
    thresholds, ties, scores, weights, gains, segments, segment_bounds, pairs, coefficients, marks, losses, margins
):
    """Swap in every group g the pairs with s_i - s_j < thresholds[g] · m_ij, and the first ties[g] with equality.

    If every pair counts the same, `gains` is empty and m_ij = 1: the loss is the share of swapped pairs. Otherwise a
    pair weighs v_ij = gains[i's segment] - gains[j's] times the weights of its rows and has the margin m_ij = v_ij. The
    loss is a sum over pairs in both cases, so thresholds λ give the most violated decisions of margin rescaling: a swap
    gains λ v_ij m_ij and costs v_ij (s_i - s_j), both divided by pairs[g]. With two levels, those swaps form a ranking.
    Writes the losses and ⟨w, δΨ⟩.
    """
    for g in range(len(thresholds)):
        loss, margin, left = 0.0, 0.0, ties[g]
        first, last = segments[g], segments[g + 1]
        for a in range(first, last):
            for b in range(a + 1, last):
                required = gains[a] - gains[b] if len(gains) > 0 else 1.0  # v_ij = m_ij
                weight, score, left = swap_segments(
                    thresholds[g] * required,
                    left,
                    required,
                    scores,
                    weights,
                    (segment_bounds[a], segment_bounds[a + 1]),
                    segment_bounds[b],
                    segment_bounds[b + 1],
                    coefficients,
                    marks,
                )
                loss += weight * required
                margin += score
        losses[g], margins[g] = 0.0, 0.0
        if pairs[g] > 0:
            for i in range(segment_bounds[first], segment_bounds[last]):
                coefficients[i] /= pairs[g]
            losses[g], margins[g] = loss / pairs[g], margin / pairs[g]


@kernel
def insertion_gain(j, k, R, N, lam, score, suffix, harmonic):
    """Compute the gain of ranking the j-th irrelevant row just above the k-th relevant one instead of last.

    It is Σ_{i=k}^{R} (λ/R) (i/(i+j-1) - i/(i+j)) - (s_i - s_j)/(RN), where suffix[k] = Σ_{i >= k} s_i and harmonic[t]
    is the t-th harmonic number. Summation by parts avoids a factor j that would magnify rounding errors.
    """
    lost = k / (k + j - 1) - R / (R + j) + (harmonic[R + j - 1] - harmonic[k + j - 1])
    return lam * lost / R - (suffix[k] - (R - k + 1) * score) / (R * N)


@kernel
def swap_for_average_precision(lam, scores, segments, segment_bounds, harmonic, suffix, above, coefficients, losses):
    """Find the most violated ranking of every group with two segments if the loss is 1 - average precision.

    Irrelevant row j goes just above relevant row above[j], each on its own (Yue et al., "A support vector method for
    optimizing average precision", SIGIR 2007). above[j] never falls with j, so the middle j is placed first and halves
    the range of the others: O((R + N) log N) instead of their O(RN).
    """
    for g in range(len(losses)):
        losses[g] = 0.0
        if segments[g + 1] - segments[g] == 2:
            first = segments[g]
            begin, middle, end = segment_bounds[first], segment_bounds[first + 1], segment_bounds[first + 2]
            R, N = middle - begin, end - middle
            suffix[R + 1] = 0.0
            for k in range(R, 0, -1):
                suffix[k] = suffix[k + 1] + scores[begin + k - 1]
            stride = 1
            while stride <= N:
                stride *= 2
            above[0] = 1
            while stride >= 1:
                for j in range(stride, N + 1, 2 * stride):
                    low = above[j - stride]
                    high = above[j + stride] if j + stride <= N else R + 1
                    best, most = low, insertion_gain(j, low, R, N, lam[g], scores[middle + j - 1], suffix, harmonic)
                    for k in range(low + 1, high + 1):
                        gain = insertion_gain(j, k, R, N, lam[g], scores[middle + j - 1], suffix, harmonic)
                        if gain > most:
                            best, most = k, gain
                    above[j] = best
                stride //= 2
            precision, before = 0.0, 0  # sum over relevant rows so far, and the irrelevant ones above the current row
            for i in range(1, R + 1):
                while before < N and above[before + 1] <= i:
                    before += 1
                precision += i / (i + before)
                coefficients[begin + i - 1] = before / (R * N)
            for j in range(1, N + 1):
                coefficients[middle + j - 1] = -(R + 1 - above[j]) / (R * N)
            losses[g] = 1.0 - precision / R


@kernel
def swap_for_gains(lam, scores, segments, segment_bounds, pairs, gains, discounts, scratch, coefficients, losses):
    """Find the most violated ranking of every group if the loss is 1 - Σ gains[level] · discounts[position].

    A state of the dynamic program is the number of ranked rows of each level; the next row of a level takes the next
    position and, by (1), is paired with all unranked rows of lower levels. gains[segment] is divided by the ideal DCG
    of the group.
    """
    prefix, counts, strides, best, choice = scratch
    for g in range(len(losses)):
        first, last = segments[g], segments[g + 1]
        losses[g] = 0.0
        if last - first > 1:
            states = 1
            for a in range(last - 1, first - 1, -1):
                strides[a - first] = states
                counts[a - first] = 0
                states *= segment_bounds[a + 1] - segment_bounds[a] + 1
                prefix[segment_bounds[a]] = 0.0
                for i in range(segment_bounds[a] + 1, segment_bounds[a + 1]):
                    prefix[i] = prefix[i - 1] + scores[i - 1]
            best[0] = 0.0
            for state in range(1, states):
                a = last - 1
                while counts[a - first] == segment_bounds[a + 1] - segment_bounds[a]:  # count up, last level fastest
                    counts[a - first] = 0
                    a -= 1
                counts[a - first] += 1
                position = 0
                for a in range(first, last):
                    position += counts[a - first]
                found = False
                for a in range(first, last):
                    taken = counts[a - first]
                    if taken > 0:
                        i = segment_bounds[a] + taken - 1
                        value = best[state - strides[a - first]] - lam[g] * gains[a] * discounts[position - 1]
                        for b in range(a + 1, last):
                            start = segment_bounds[b]
                            size, ranked = segment_bounds[b + 1] - start, counts[b - first]
                            total = prefix[start + size - 1] + scores[start + size - 1]
                            so_far = total if ranked == size else prefix[start + ranked]
                            value += ((size - ranked) * scores[i] - (total - so_far)) / pairs[g]
                        if not found or value > best[state]:
                            best[state], choice[state], found = value, a - first, True
            state, position = states - 1, segment_bounds[last] - segment_bounds[first]
            ideal = last - 1  # segment of the truth at this position, so that equal gains differ by exactly 0
            for a in range(first, last):
                counts[a - first] = segment_bounds[a + 1] - segment_bounds[a]
            while state > 0:
                chosen = choice[state]
                i = segment_bounds[first + chosen] + counts[chosen] - 1
                while position <= segment_bounds[ideal] - segment_bounds[first]:
                    ideal -= 1
                losses[g] += (gains[ideal] - gains[first + chosen]) * discounts[position - 1]
                swaps = 0
                for b in range(first, last):
                    if b - first > chosen:
                        swaps += counts[b - first]  # lower rows that are already ranked
                    elif b - first < chosen:
                        swaps -= segment_bounds[b + 1] - segment_bounds[b] - counts[b - first]  # higher rows to come
                coefficients[i] = swaps / pairs[g]
                counts[chosen] -= 1
                state -= strides[chosen]
                position -= 1
            losses[g] = max(losses[g], 0.0)
