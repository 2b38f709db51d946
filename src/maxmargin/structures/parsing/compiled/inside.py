"""Inside sums: add up over all derivations of a sentence, where cky.py takes maxima.

The notation is as in cky.py; score(…) is the score of a chain, or of a rule with its split. `below` and `above` are
logarithms of the total mass of the derivations of a symbol that stands below or above at a span:

    below[c, s] = leaf at words, else log Σ_{r: s → u v, k} exp(score(c, r, k) + above[left, u] + above[right, v])   (1)
    above[c, s] = log (exp below[c, s] + Σ_{chains q to s} exp(score(c, q) + below[c, bottom(q)]))                   (2)
    log Z       = log Σ_roots exp(score(root) + above[all, root])                                                   (3)

A derivation is a sequence of choices from the root downwards: of a root, of a chain (or none) for a symbol above, of a
rule and a split for a symbol below. The probability of a choice is its term's share of the sum. The probabilities at a
span therefore follow from those of larger spans, by products and sums of positive numbers, and no outside masses are
needed. The entropy is the sum, over all symbols at all spans, of their probability times the entropy of the choice. (4)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.log_sums import add_log, log_of
from maxmargin.structures.parsing.compiled.cky import NOTHING, cell, chain_score


class Masses(NamedTuple):
    """Memory for (1) and (2), large enough for the longest sentence."""

    below: np.ndarray  # (cells, symbols): (1)
    above: np.ndarray  # (cells, symbols): (2)
    high: np.ndarray  # (symbols and rules): sums in the making, see add_log
    total: np.ndarray  # (symbols and rules): the sums relative to `high`


class Shares(NamedTuple):
    """Probabilities of symbols and brackets at spans."""

    below: np.ndarray  # (cells, symbols): the probability of a symbol below
    above: np.ndarray  # (cells, symbols): the probability of a symbol above
    labels: np.ndarray  # (cells, labels): the probability of a bracket
    least: np.ndarray  # (rules,): scratch
    each: np.ndarray  # (rules,): scratch


@kernel
def rule_score(table, c, r, places, bonus, rules):
    """Return the score of a binary rule at a span, without its split."""
    score = 0.0
    for t in range(places.shape[1]):
        score += table[places[c, t] + r]
    label = rules.label[rules.parent[r]]
    return score + bonus[c, label] if label >= 0 else score


@kernel
def climb_masses(table, c, places, bonus, rules, masses):
    """Compute (2) for one span."""
    below, high, total = masses.below[c], masses.high, masses.total
    for s in range(len(below)):
        high[s], total[s] = below[s], 1.0 if below[s] > NOTHING else 0.0
    for q in range(len(rules.top)):
        under, top = below[rules.bottom[q]], rules.top[q]
        if under > NOTHING:
            score = under + chain_score(table, c, q, places, bonus, rules)
            high[top], total[top] = add_log(high[top], total[top], score)
    for s in range(len(below)):
        masses.above[c, s] = log_of(high[s], total[s])


@kernel
def fill_masses(table, sentence, bonus, rules, masses):
    """Fill the masses of all spans and return log Z (3), which is -inf if the sentence has no derivation."""
    n, n_symbols = sentence.leaf.shape
    places, splits = sentence.places, sentence.splits
    below, above, high, total = masses.below, masses.above, masses.high, masses.total
    n_rules = len(rules.parent)
    for i in range(n):
        c = cell(i, i + 1, n)
        for s in range(n_symbols):
            below[c, s] = sentence.leaf[i, s]
        climb_masses(table, c, places, bonus, rules, masses)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            for r in range(n_rules):
                high[r], total[r] = NOTHING, 0.0
            for k in range(i + 1, j):
                left, right = cell(i, k, n), cell(k, j, n)
                for s in range(n_symbols):
                    mass = above[left, s]
                    if mass == NOTHING:
                        continue
                    for r in range(rules.first[s], rules.first[s + 1]):
                        both = mass + above[right, rules.right[r]]
                        if both > NOTHING:
                            for t in range(splits.shape[1]):
                                both += table[splits[k, t] + r]
                            high[r], total[r] = add_log(high[r], total[r], both)
            # From here on, high and total of symbols are stored after the entries of the rules.
            for s in range(n_symbols):
                high[n_rules + s], total[n_rules + s] = NOTHING, 0.0
            for r in range(n_rules):
                if total[r] > 0.0:
                    at = n_rules + rules.parent[r]
                    score = log_of(high[r], total[r]) + rule_score(table, c, r, places, bonus, rules)
                    high[at], total[at] = add_log(high[at], total[at], score)
            for s in range(n_symbols):
                below[c, s] = log_of(high[n_rules + s], total[n_rules + s])
            climb_masses(table, c, places, bonus, rules, masses)
    highest, sum_of_all = NOTHING, 0.0
    for k in range(len(rules.roots)):
        mass = above[n - 1, rules.roots[k]]
        if mass > NOTHING:
            highest, sum_of_all = add_log(highest, sum_of_all, mass + table[rules.productions + k])
    return log_of(highest, sum_of_all)


@kernel
def spread_shares(table, sentence, bonus, rules, masses, log_z, factor, shares, total):
    """Compute the probabilities at all spans, from the whole sentence down to words, and return the entropy (4).

    Unless `total` is empty, add to it `factor` times the expected number of uses of every number of `table`.
    """
    n, n_symbols = sentence.leaf.shape
    places, splits = sentence.places, sentence.splits
    below, above, least, each = masses.below, masses.above, shares.least, shares.each
    counts = len(total) > 0
    n_cells = n * (n + 1) // 2
    shares.below[:n_cells] = 0.0
    shares.above[:n_cells] = 0.0
    shares.labels[:n_cells] = 0.0
    entropy = 0.0
    for k in range(len(rules.roots)):
        s = rules.roots[k]
        choice = above[n - 1, s] + table[rules.productions + k] - log_z
        p = math.exp(choice)
        if p > 0.0:
            entropy -= p * choice
            shares.above[n - 1, s] += p
            if counts:
                total[rules.productions + k] += factor * p
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            for s in range(n_symbols):
                if shares.above[c, s] > 0.0:
                    choice = below[c, s] - above[c, s]
                    p = shares.above[c, s] * math.exp(choice)
                    if p > 0.0:
                        entropy -= p * choice
                        shares.below[c, s] += p
            for q in range(len(rules.top)):
                share, under = shares.above[c, rules.top[q]], below[c, rules.bottom[q]]
                if share == 0.0 or under == NOTHING:
                    continue
                choice = under + chain_score(table, c, q, places, bonus, rules) - above[c, rules.top[q]]
                p = share * math.exp(choice)
                if p == 0.0:
                    continue
                entropy -= p * choice
                shares.below[c, rules.bottom[q]] += p
                for e in range(rules.step[q], rules.step[q + 1]):
                    shares.labels[c, rules.step_label[e]] += p
                    if counts:
                        for t in range(places.shape[1]):
                            total[places[c, t] + rules.production[e]] += factor * p
            if length == 1:
                continue
            for r in range(len(rules.parent)):
                least[r], each[r] = NOTHING, 0.0
                if shares.below[c, rules.parent[r]] > 0.0:
                    least[r] = rule_score(table, c, r, places, bonus, rules) - below[c, rules.parent[r]]
            for k in range(i + 1, j):
                left, right = cell(i, k, n), cell(k, j, n)
                for s in range(n_symbols):
                    mass = above[left, s]
                    if mass == NOTHING:
                        continue
                    for r in range(rules.first[s], rules.first[s + 1]):
                        other = above[right, rules.right[r]]
                        if least[r] == NOTHING or other == NOTHING:
                            continue
                        choice = mass + other
                        for t in range(splits.shape[1]):
                            choice += table[splits[k, t] + r]
                        choice += least[r]
                        p = shares.below[c, rules.parent[r]] * math.exp(choice)
                        if p == 0.0:
                            continue
                        entropy -= p * choice
                        shares.above[left, s] += p
                        shares.above[right, rules.right[r]] += p
                        each[r] += p
                        if counts:
                            for t in range(splits.shape[1]):
                                total[splits[k, t] + r] += factor * p
            for r in range(len(rules.parent)):
                if each[r] > 0.0:
                    if rules.label[rules.parent[r]] >= 0:
                        shares.labels[c, rules.label[rules.parent[r]]] += each[r]
                    if counts:
                        for t in range(places.shape[1]):
                            total[places[c, t] + r] += factor * each[r]
    return max(entropy, 0.0)


@kernel
def draw_derivation(table, sentence, bonus, rules, masses, log_z, uniforms, stack, rows):
    """Draw a derivation with its probability, and write its rows as cky.trace does, parents first.

    `uniforms` has one number between 0 and 1 for every choice: 1 for the root, and 2 for every row.
    """
    n = len(sentence.leaf)
    places, splits, below, above = sentence.places, sentence.splits, masses.below, masses.above
    left_over, root = uniforms[0], -1
    for k in range(len(rules.roots)):
        p = math.exp(above[n - 1, rules.roots[k]] + table[rules.productions + k] - log_z)
        if p > 0.0 and left_over >= 0.0:  # the last one that is possible, if rounding leaves something over
            root = rules.roots[k]
            left_over -= p
    stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, n
    height, count = 1, 0
    while height > 0:
        height -= 1
        s, i, j = stack[height, 0], stack[height, 1], stack[height, 2]
        c = cell(i, j, n)
        left_over, chain = uniforms[1 + 2 * count], -2
        p = math.exp(below[c, s] - above[c, s])
        if p > 0.0:
            chain = -1
            left_over -= p
        for q in range(len(rules.top)):
            if left_over < 0.0:
                break
            if rules.top[q] == s and below[c, rules.bottom[q]] > NOTHING:
                score = below[c, rules.bottom[q]] + chain_score(table, c, q, places, bonus, rules)
                p = math.exp(score - above[c, s])
                if p > 0.0:
                    chain = q
                    left_over -= p
        if chain >= 0:
            s = rules.bottom[chain]
        rows[count, 0], rows[count, 2], rows[count, 4] = chain, i, j
        if j == i + 1:
            rows[count, 1], rows[count, 3] = -1, s
        else:
            left_over, rule, split = uniforms[2 + 2 * count], -1, -1
            for r in range(len(rules.parent)):
                if rules.parent[r] != s or left_over < 0.0:
                    continue
                score = rule_score(table, c, r, places, bonus, rules) - below[c, s]
                for k in range(i + 1, j):
                    both = above[cell(i, k, n), rules.left[r]] + above[cell(k, j, n), rules.right[r]]
                    if both == NOTHING or left_over < 0.0:
                        continue
                    for t in range(splits.shape[1]):
                        both += table[splits[k, t] + r]
                    p = math.exp(both + score)
                    if p > 0.0:
                        rule, split = r, k
                        left_over -= p
            rows[count, 1], rows[count, 3] = rule, split
            stack[height, 0], stack[height, 1], stack[height, 2] = rules.right[rule], split, j
            stack[height + 1, 0], stack[height + 1, 1], stack[height + 1, 2] = rules.left[rule], i, split
            height += 2
        count += 1
