"""Search for the most violated labelling of a sample if the loss depends only on the contingency table.

Scores come sorted: the P positive examples from high to low, then the Q negative ones from high to low. With a true
and b false positives the best prediction takes the first a and the first b, so that only (a, b) is searched:

    h(a, b) = -Σ_{i >= a} s⁺_i + Σ_{j < b} s⁻_j   (the score of the prediction minus that of the truth),

and the violation H is λΔ + h, √Δ + h, Δ(1 + h) or √Δ(1 + h), see objective.py.
"""

from __future__ import annotations

from math import sqrt

from maxmargin.base.compiled.kernel import kernel


@kernel
def violation(loss, h, lam, slack, squared):
    """Compute H from a loss Δ and h = -⟨w, δΨ⟩."""
    scale = sqrt(loss) if squared else lam * loss
    return scale * (1.0 + h) if slack else scale + h


@kernel
def cumulate(scores, P, lost, won):
    """Fill lost[a] = -Σ_{i >= a} s⁺_i for a = 0 … P and won[b] = Σ_{j < b} s⁻_j for b = 0 … Q."""
    lost[P] = 0.0
    for a in range(P - 1, -1, -1):
        lost[a] = lost[a + 1] - scores[a]
    won[0] = 0.0
    for b in range(len(scores) - P):
        won[b + 1] = won[b] + scores[P + b]


@kernel
def rising(a, m, top, alpha, beta, lost, won, lam, slack, squared):
    """Return whether H grows from a to a + 1 true positives among m predicted ones, of which at most `top` are true.

    Under slack rescaling nothing is violated if 1 + h <= 0; h itself then leads to where something is.
    """
    h, next_h = lost[a] + won[m - a], lost[a + 1] + won[m - a - 1]
    if slack and (h <= -1.0 or next_h <= -1.0):
        return next_h > h
    before = violation(alpha + beta * (top - a), h, lam, slack, squared)
    return violation(alpha + beta * (top - a - 1), next_h, lam, slack, squared) > before


@kernel
def top_of_line(low, high, guess, m, alpha, beta, lost, won, lam, slack, squared):
    """Return the a in low … high with the highest H(a, m - a).

    Along the line Δ falls linearly and h is concave, because scores are sorted. Hence λΔ + h and √Δ + h are concave,
    and the products are log-concave where they are positive: H is unimodal. Its maximum is bracketed by growing steps
    from the guess (the maximum of the neighbouring line), then found by bisection.
    """
    a, top = min(max(guess, low), high), high
    step = 1
    if a < high and rising(a, m, top, alpha, beta, lost, won, lam, slack, squared):
        low = a + 1
        while low + step <= high and rising(low + step - 1, m, top, alpha, beta, lost, won, lam, slack, squared):
            low += step
            step *= 2
        high = min(high, low + step - 1)
    else:
        high = a
        while high - step >= low and not rising(high - step, m, top, alpha, beta, lost, won, lam, slack, squared):
            high -= step
            step *= 2
        low = max(low, high - step + 1)
    while low < high:
        middle = (low + high) // 2
        if rising(middle, m, top, alpha, beta, lost, won, lam, slack, squared):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def worst_on_lines(scores, bounds, positives, lines, lam, slack, squared, lost, won, tp, fp, loss):
    """Find the table of the most violated prediction of every group, on lines a + b = m with linear Δ (SampleLines).

    On each line Δ = alpha + beta·(min(m, P) - a). The truth, which violates nothing, is one of the candidates. Omitted
    rows are negative and not predicted positive: lines that need more rows than are given are skipped.
    """
    for g in range(len(bounds) - 1):
        P, n = positives[g], bounds[g + 1] - bounds[g]
        cumulate(scores[bounds[g] : bounds[g + 1]], P, lost, won)
        tp[g], fp[g], loss[g] = P, 0, 0.0
        best, a = 0.0, 0
        for line in range(lines.bounds[g], lines.bounds[g + 1]):
            m, alpha, beta = lines.sizes[line], lines.alpha[line], lines.beta[line]
            if m > n:
                break
            a = top_of_line(max(0, m - (n - P)), min(m, P), a, m, alpha, beta, lost, won, lam[g], slack, squared)
            delta = alpha + beta * (min(m, P) - a)
            value = violation(delta, lost[a] + won[m - a], lam[g], slack, squared)
            if value > best:
                best = value
                tp[g], fp[g], loss[g] = a, m - a, delta


@kernel
def worst_in_rows(table, first, lam, slack, squared, lost, won, best, at):
    """Find the most violated (a, b) for a = first, first + 1, … with losses table[a - first, b] above best[0]."""
    for row in range(table.shape[0]):
        for b in range(table.shape[1]):
            value = violation(table[row, b], lost[first + row] + won[b], lam, slack, squared)
            if value > best[0]:
                best[0] = value
                at[0], at[1] = first + row, b


@kernel
def table_differences(rows, bounds, positives, tp, fp, unit, indptr, indices, values):
    """Write Ψ(truth) - Ψ(found) of every group over atoms: `unit` per false negative, -`unit` per false positive."""
    top = 0
    for g in range(len(bounds) - 1):
        begin, negatives = bounds[g], bounds[g] + positives[g]
        for i in range(begin + tp[g], negatives):
            indices[top], values[top] = rows[i], unit
            top += 1
        for j in range(negatives, negatives + fp[g]):
            indices[top], values[top] = rows[j], -unit
            top += 1
        indptr[g + 1] = top
