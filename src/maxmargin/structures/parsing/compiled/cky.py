"""CKY: compute the best derivations of a sentence at all spans, and list the scores that a derivation uses.

The words are 0 … n-1. The span of the words i … j-1 has row c = cell(i, j, n) in the arrays over spans. A symbol stands
at a span either *below*, as a tag or by a binary rule, or *above*, after a possibly empty chain of unary rules. The
children of binary rules stand above. Productions are the binary rules, followed by the unary rules.

`table` holds the scores of productions in blocks with one number per production, and the scores of the roots. A
production p has the score Σ_t table[places[c, t] + p] at span c, because several blocks may contribute to a span. A
binary rule p with the split k adds Σ_t table[splits[k, t] + p]. A label at a span adds bonus[c, label].
"""

from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel

NOTHING = -np.inf


class Rules(NamedTuple):
    """A grammar as flat arrays. Binary rules are sorted by their left child."""

    first: np.ndarray  # (symbols + 1,): the binary rules with left child s are first[s]:first[s + 1]
    parent: np.ndarray  # the parent of every binary rule
    left: np.ndarray  # the left child of every binary rule
    right: np.ndarray  # the right child of every binary rule
    label: np.ndarray  # the label of every symbol; -1 for tags and parts
    top: np.ndarray  # the top symbol of every chain of unary rules
    bottom: np.ndarray  # the bottom symbol of every chain
    step: np.ndarray  # (chains + 1,): the rules of chain q are step[q]:step[q + 1] in the next two arrays
    production: np.ndarray  # the number of the rule
    step_label: np.ndarray  # the label of the rule's parent
    productions: int  # the number of binary and unary rules
    roots: np.ndarray  # symbols; root number k has the score table[productions + k]


class Sentence(NamedTuple):
    """The scores of the words of a sentence, and the positions in `table` of the blocks of its spans and splits."""

    leaf: np.ndarray  # (n, symbols): the score of every tag at every word, -inf where it cannot stand
    places: np.ndarray  # (cells, blocks per span): where the blocks of a span begin in `table`
    splits: np.ndarray  # (n, blocks per split): where the blocks of a split begin


class Chart(NamedTuple):
    """The best derivation of every symbol at every span; large enough for the longest sentence."""

    above: np.ndarray  # (cells, symbols) scores
    chain: np.ndarray  # the chain by which each symbol above was derived, -1 for none
    rule: np.ndarray  # the binary rule by which each symbol below was derived
    split: np.ndarray  # the split of that rule
    below: np.ndarray  # (symbols,) scores at the present span
    best: np.ndarray  # (binary rules,) scores at the present span
    best_split: np.ndarray  # (binary rules,) the splits of these best scores


@kernel
def cell(i, j, n):
    """Return the row of a span in the arrays over spans."""
    return i * n - i * (i - 1) // 2 + j - i - 1


@kernel
def chain_score(table, c, q, places, bonus, rules):
    """Return the score of a chain of unary rules at a span."""
    score = 0.0
    for e in range(rules.step[q], rules.step[q + 1]):
        score += bonus[c, rules.step_label[e]]
        for t in range(places.shape[1]):
            score += table[places[c, t] + rules.production[e]]
    return score


@kernel
def climb(table, c, places, bonus, rules, below, above, chain):
    """Compute the scores of the symbols above a span from those below it, by the best chains of unary rules."""
    for s in range(len(below)):
        above[c, s] = below[s]
        chain[c, s] = -1
    for q in range(len(rules.top)):
        under = below[rules.bottom[q]]
        if under == NOTHING:
            continue
        score = under + chain_score(table, c, q, places, bonus, rules)
        if score > above[c, rules.top[q]]:
            above[c, rules.top[q]] = score
            chain[c, rules.top[q]] = q


@kernel
def inside(table, sentence, bonus, rules, chart):
    """Fill the chart. Rules are tried by the symbols that stand at the left span, because these are few."""
    n, n_symbols = sentence.leaf.shape
    above, below, best, best_split = chart.above, chart.below, chart.best, chart.best_split
    places, splits = sentence.places, sentence.splits
    for i in range(n):
        for s in range(n_symbols):
            below[s] = sentence.leaf[i, s]
        climb(table, cell(i, i + 1, n), places, bonus, rules, below, above, chart.chain)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            best[:] = NOTHING
            for k in range(i + 1, j):
                left, right = cell(i, k, n), cell(k, j, n)
                for s in range(n_symbols):
                    score = above[left, s]
                    if score == NOTHING:
                        continue
                    for r in range(rules.first[s], rules.first[s + 1]):
                        both = score + above[right, rules.right[r]]
                        if both > NOTHING:
                            for t in range(splits.shape[1]):
                                both += table[splits[k, t] + r]
                        if both > best[r]:
                            best[r] = both
                            best_split[r] = k
            below[:] = NOTHING
            for r in range(len(best)):
                score = best[r]
                if score == NOTHING:
                    continue
                parent = rules.parent[r]
                for t in range(places.shape[1]):
                    score += table[places[c, t] + r]
                if rules.label[parent] >= 0:
                    score += bonus[c, rules.label[parent]]
                if score > below[parent]:
                    below[parent] = score
                    chart.rule[c, parent] = r
                    chart.split[c, parent] = best_split[r]
            climb(table, c, places, bonus, rules, below, above, chart.chain)


@kernel
def best_root(table, n, rules, above):
    """Return the number of the best root and its score; the number is -1 if the sentence has no derivation."""
    root, best = -1, NOTHING
    for k in range(len(rules.roots)):
        score = above[cell(0, n, n), rules.roots[k]] + table[rules.productions + k]
        if score > best:
            root, best = k, score
    return root, best


@kernel
def trace(symbol, n, rules, chart, stack, rows):
    """Write the rows (chain, rule, begin, split, end) of the best derivation of this symbol, parents first."""
    stack[0, 0], stack[0, 1], stack[0, 2] = symbol, 0, n
    height, count = 1, 0
    while height > 0:
        height -= 1
        s, i, j = stack[height, 0], stack[height, 1], stack[height, 2]
        c = cell(i, j, n)
        q = chart.chain[c, s]
        if q >= 0:
            s = rules.bottom[q]
        rows[count, 0], rows[count, 2], rows[count, 4] = q, i, j
        if j == i + 1:
            rows[count, 1], rows[count, 3] = -1, s
        else:
            r, k = chart.rule[c, s], chart.split[c, s]
            rows[count, 1], rows[count, 3] = r, k
            stack[height, 0], stack[height, 1], stack[height, 2] = rules.right[r], k, j
            stack[height + 1, 0], stack[height + 1, 1], stack[height + 1, 2] = rules.left[r], i, k
            height += 2
        count += 1


@kernel
def best_of_all(table, sentences, bonus, words, cells, rules, chart, stack, scores, rows):
    """Search several sentences, whose arrays are concatenated. The chart of the last sentence remains.

    Sentence x has the words words[x]:words[x + 1] and the spans cells[x]:cells[x + 1]. The rows of its best derivation
    follow those of the sentences before it. If its score is -inf, it has no derivation, and no rows are written.
    """
    first = 0
    for x in range(len(scores)):
        a, b, c, d = words[x], words[x + 1], cells[x], cells[x + 1]
        n = b - a
        sentence = Sentence(sentences.leaf[a:b], sentences.places[c:d], sentences.splits[a:b])
        inside(table, sentence, bonus[c:d], rules, chart)
        root, scores[x] = best_root(table, n, rules, chart.above)
        if root >= 0:
            trace(rules.roots[root], n, rules, chart, stack, rows[first : first + 2 * n - 1])
        first += 2 * n - 1


@kernel
def outside(table, sentence, bonus, rules, above, outer, outer_below, scores):
    """Compute the best score of all that surrounds a symbol above (outer) or below (outer_below) at a span.

    At the start, outer has the scores of the roots at the whole sentence and -inf elsewhere. `scores` is memory for
    one number per binary rule.
    """
    n, n_symbols = sentence.leaf.shape
    places, splits = sentence.places, sentence.splits
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            for s in range(n_symbols):
                outer_below[c, s] = outer[c, s]
            for q in range(len(rules.top)):
                around = outer[c, rules.top[q]]
                if around == NOTHING:
                    continue
                around += chain_score(table, c, q, places, bonus, rules)
                if around > outer_below[c, rules.bottom[q]]:
                    outer_below[c, rules.bottom[q]] = around
            if length == 1:
                continue
            for r in range(len(scores)):
                score = outer_below[c, rules.parent[r]]
                if score > NOTHING:
                    for t in range(places.shape[1]):
                        score += table[places[c, t] + r]
                    if rules.label[rules.parent[r]] >= 0:
                        score += bonus[c, rules.label[rules.parent[r]]]
                scores[r] = score
            for k in range(i + 1, j):
                left, right = cell(i, k, n), cell(k, j, n)
                for s in range(n_symbols):
                    own = above[left, s]
                    if own == NOTHING:
                        continue
                    for r in range(rules.first[s], rules.first[s + 1]):
                        score, other = scores[r], above[right, rules.right[r]]
                        if score == NOTHING or other == NOTHING:
                            continue
                        for t in range(splits.shape[1]):
                            score += table[splits[k, t] + r]
                        outer[left, s] = max(outer[left, s], score + other)
                        outer[right, rules.right[r]] = max(outer[right, rules.right[r]], score + own)


@kernel
def derivation_atoms(rows, places, splits, rules, tag_number, n_tags, first_atom, atoms):
    """Write the positions in `table` that a derivation uses, then the atoms of its words, and return their number.

    Word i with tag t is the atom first_atom + i n_tags + t. If words have no features, first_atom is -1.
    """
    n, count = (len(rows) + 1) // 2, 0
    for x in range(len(rows)):
        q, r, i, k, j = rows[x]
        c = cell(i, j, n)
        if q >= 0:
            for e in range(rules.step[q], rules.step[q + 1]):
                for t in range(places.shape[1]):
                    atoms[count] = places[c, t] + rules.production[e]
                    count += 1
        if r >= 0:
            for t in range(places.shape[1]):
                atoms[count] = places[c, t] + r
                count += 1
            for t in range(splits.shape[1]):
                atoms[count] = splits[k, t] + r
                count += 1
        elif first_atom >= 0:
            atoms[count] = first_atom + i * n_tags + tag_number[k]
            count += 1
    root = rows[0, 3]  # the tag, if the sentence is a single word
    if rows[0, 0] >= 0:
        root = rules.top[rows[0, 0]]
    elif rows[0, 1] >= 0:
        root = rules.parent[rows[0, 1]]
    for k in range(len(rules.roots)):
        if rules.roots[k] == root:
            atoms[count] = rules.productions + k
            count += 1
    return count
