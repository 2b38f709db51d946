"""Visits of exponentiated gradient: distributions of label sequences that move towards the distribution at w.

Every sequence i keeps scores θ of its own, of labels at positions and of links, which make a distribution of label
sequences α_i(z) ∝ exp θ(z), its marginals, and the entropy H of it. With the scores u(w) of tangents.py, a visit sets

    θ <- (1 - η) θ + η b u(w),    w <- w + cap_i (E_old Ψ - E_new Ψ)                                            (1)

and, if the dual has fallen by that, takes it back and halves η (Collins, Globerson, Koo, Carreras, Bartlett 2008).
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.base.compiled.exponentials import exponentials
from maxmargin.base.compiled.kernel import kernel
from maxmargin.problem.planes.compiled.atoms import label_scores, place_of, value_of
from maxmargin.structures.sequences.compiled.chain_sums import (
    log_backward,
    log_forward,
    log_pairs,
    masses_backward,
    masses_fit,
    masses_forward,
)

FASTER, SLOWER = 1.05, 0.5  # factors of η after a visit that was kept, and after one that was undone
MOST_TRIES = 30


@kernel
def link_masses(links, K, masses):
    """Write the scores of links T (K, K), s and f, one after the other, as masses; return how far they are apart.

    This is the largest difference of finite scores of one kind, or inf if all of a kind are forbidden.
    """
    M, shifts = masses.links, masses.shifts
    widest = 0.0
    for part in range(3):
        begin = 0 if part == 0 else K * K + (part - 1) * K
        end = K * K if part == 0 else begin + K
        low, high = np.inf, -np.inf
        for i in range(begin, end):
            if links[i] > -np.inf:
                low, high = min(low, links[i]), max(high, links[i])
        if high == -np.inf:
            return np.inf
        widest = max(widest, high - low)
        shifts[part] = high
    for j in range(K):
        for k in range(K):
            M[j, k] = links[j * K + k] - shifts[0]
        exponentials(M[j])
        for k in range(K):
            masses.turned[k, j] = M[j, k]
        masses.start[j] = links[K * K + j] - shifts[1]
        masses.end[j] = links[K * K + K + j] - shifts[2]
    exponentials(masses.start)
    exponentials(masses.end)
    return widest


@kernel
def distribution(e, links, steps, masses, scratch, p, pairs):
    """Compute marginals of labels and expected numbers of links, for scores e of labels and of links; return log Z."""
    n, K = e.shape
    row, highs, c = scratch.rows[0, :K], scratch.rows[1], scratch.rows[2]
    a, b, ahead = scratch.space[0, :n], scratch.space[1, :n], scratch.space[2, :n]
    E, M = scratch.flat[: n * K].reshape((n, K)), masses.links
    pairs[:] = 0.0
    spread = link_masses(links, K, masses)
    if K > 1 and spread < np.inf and masses_fit(e, spread, steps, E, highs):
        exponentials(scratch.flat[: n * K])
        log_z = masses_forward(E, highs, masses, a, c)
        masses_backward(masses, E, c, b, ahead)
        for t in range(n):
            for k in range(K):
                p[t, k] = a[t, k] * b[t, k]
        for t in range(1, n):
            for i in range(K):
                share = a[t - 1, i]
                for k in range(K):
                    pairs[i, k] += share * ahead[t, k]
        for i in range(K):
            for k in range(K):
                pairs[i, k] *= M[i, k]
    else:
        T = links[: K * K].reshape((K, K))
        s, f = links[K * K : K * K + K], links[K * K + K :]
        log_z = log_forward(e, T, s, f, a, row)
        log_backward(e, T, f, b, row)
        for t in range(n):
            for k in range(K):
                p[t, k] = math.exp(a[t, k] + b[t, k] - log_z)
        for t in range(n - 1):
            log_pairs(t, e, T, a, b, log_z, 1.0, pairs)
    return log_z


@kernel
def expected(e, links, p, pairs):
    """Return the expectation of the scores; impossible terms count 0."""
    n, K = e.shape
    total = 0.0
    for t in range(n):
        for k in range(K):
            if p[t, k] > 0.0:
                total += p[t, k] * e[t, k]
    for j in range(K):
        for k in range(K):
            if pairs[j, k] > 0.0:
                total += pairs[j, k] * links[j * K + k]
        if p[0, j] > 0.0:
            total += p[0, j] * links[K * K + j]
        if p[n - 1, j] > 0.0:
            total += p[n - 1, j] * links[K * K + K + j]
    return total


@kernel
def move_weights(w, begin, units, old, new, old_pairs, new_pairs, cap, atoms):
    """Set w += cap (E_old Ψ - E_new Ψ), and return the change of ‖w‖²."""
    n, K, gain = old.shape[0], atoms.n_labels, 0.0
    for j in range(K):
        for k in range(K):
            d = cap * (old_pairs[j, k] - new_pairs[j, k])
            at = j * K + k
            gain += d * (2.0 * w[at] + d)
            w[at] += d
        d = cap * (old[0, j] - new[0, j])
        gain += d * (2.0 * w[K * K + j] + d)
        w[K * K + j] += d
        d = cap * (old[n - 1, j] - new[n - 1, j])
        gain += d * (2.0 * w[K * K + K + j] + d)
        w[K * K + K + j] += d
    for t in range(n):
        u = np.uint64(units[begin + t])
        for p in range(atoms.indptr[u], atoms.indptr[u + np.uint64(1)]):
            first, scale = place_of(p, atoms), cap * value_of(p, atoms)
            for k in range(K):
                d = scale * (old[t, k] - new[t, k])
                weight = w[first + np.uint64(k)]
                gain += d * (2.0 * weight + d)
                w[first + np.uint64(k)] = weight + d
    return gain


@kernel
def visit_all(order, problem, caps, w, point, masses, scratch, trial):
    """Visit these sequences in turn; return the gain of the dual. sum_arrays.py defines the tuples."""
    bounds, factors, cost, atoms = problem.bounds, problem.factors, problem.cost, problem.atoms
    b, margin, truth_rows, theta = problem.sharpness, problem.margin, problem.rows, point.theta
    total, K = 0.0, atoms.n_labels
    size = K * K + 2 * K
    for i in order:
        begin, end = bounds[i], bounds[i + 1]
        n, cap = end - begin, caps[i]
        if n == 0 or cap == 0.0:
            continue
        goal, e, links, fresh = trial.goal[:n], trial.theta[:n], trial.links, trial.p[:n]
        for t in range(n):
            label_scores(np.uint64(problem.units[begin + t]), w, None, atoms, goal[t])
            for k in range(K):
                raised = margin * factors[begin + t] * cost[truth_rows[begin + t], k]
                goal[t, k] = b * (goal[t, k] + raised)
        old, old_pairs, old_links = point.p[begin:end], point.pairs[i], point.links[i]
        for _ in range(MOST_TRIES):
            eta = point.rate[i]
            for t in range(n):
                for k in range(K):
                    e[t, k] = theta[begin + t, k] + eta * (goal[t, k] - theta[begin + t, k])
            for c in range(size):
                links[c] = -np.inf
                if problem.allowed[c] > -np.inf:
                    links[c] = old_links[c] + eta * (b * w[c] - old_links[c])
            log_z = distribution(e, links, problem.steps, masses, scratch, fresh, trial.pairs)
            value = (log_z - expected(e, links, fresh, trial.pairs)) / b
            for t in range(n):
                if margin > 0.0 and factors[begin + t] > 0.0:
                    for k in range(K):
                        value += margin * factors[begin + t] * cost[truth_rows[begin + t], k] * fresh[t, k]
            change = move_weights(w, begin, problem.units, old, fresh, old_pairs, trial.pairs, cap, atoms)
            gain = cap * (value - point.worth[i]) - 0.5 * change
            if gain >= 0.0:
                for t in range(n):
                    for k in range(K):
                        theta[begin + t, k], old[t, k] = e[t, k], fresh[t, k]
                for c in range(size):
                    old_links[c] = links[c]
                for j in range(K):
                    for k in range(K):
                        old_pairs[j, k] = trial.pairs[j, k]
                point.worth[i] = value
                total += gain
                point.rate[i] = min(FASTER * eta, 1.0)
                break
            move_weights(w, begin, problem.units, fresh, old, trial.pairs, old_pairs, cap, atoms)
            point.rate[i] = SLOWER * eta
    return total


@kernel
def all_distributions(problem, point, masses, scratch):
    """Compute the probabilities and the worth of every sequence from its scores θ."""
    bounds, factors, b = problem.bounds, problem.factors, problem.sharpness
    worth, sizes = point.worth, point.sizes
    for i in range(len(bounds) - 1):
        begin, end = bounds[i], bounds[i + 1]
        worth[i], sizes[i] = 0.0, 0.0
        if begin == end:
            continue
        e, links, own = point.theta[begin:end], point.links[i], point.p[begin:end]
        log_z = distribution(e, links, problem.steps, masses, scratch, own, point.pairs[i])
        mean = expected(e, links, own, point.pairs[i])
        worth[i], sizes[i] = (log_z - mean) / b, (abs(log_z) + abs(mean)) / b
        for t in range(end - begin):
            for k in range(problem.atoms.n_labels):
                cost = problem.cost[problem.rows[begin + t], k]
                price = problem.margin * factors[begin + t] * cost * own[t, k]
                worth[i] += price
                sizes[i] += price
