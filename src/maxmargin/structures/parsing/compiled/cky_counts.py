"""CKY with several derivations per symbol and span: the best for every count that a loss needs, or the k best.

The loss of a whole tree is a function of two counts, (m, q). What they count depends on `kind`:

    BRACKETS   q predicted brackets, m of them right (for F1, or any other loss that is a function of the two)
    HAMMING    m = 0, and q missed and wrong brackets within the span
    ZERO_ONE   m = 0, and q = 0 if the derivation of the span is the true one, else 1
    K_BEST     m = q = 0, and a derivation is dropped only if there are k better ones

All these losses rise with q and fall with m. If one of two derivations of the same symbol at the same span has a score
and a q that are no lower and an m that is no higher, it is at least as good in every tree, and the other is dropped.
The remaining entries of a symbol at a span form a *front*: none of them dominates another. An entry is also dropped if
even the best tree around it scores less than `least`. The caller has proved that the tree that it searches for scores
at least as much.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.parsing.compiled.cky import cell, chain_score
from maxmargin.structures.parsing.compiled.kinds import BRACKETS, HAMMING, K_BEST, ZERO_ONE

M, Q, CHAIN, RULE, SPLIT, LEFT, RIGHT = range(7)  # columns of an entry
NOTHING = -np.inf


class TrueSpans(NamedTuple):
    """The brackets, rules, splits and chains of the true derivation at every span."""

    hit: np.ndarray  # (cells, labels): 1 where the true tree has this bracket
    within: np.ndarray  # (cells,): the number of true brackets inside the span, with those over the whole span
    rule: np.ndarray  # (cells,): the true rule; -1 at words, -2 at spans that the true derivation does not have
    split: np.ndarray  # (cells,): the split of the true rule; -1 and -2 as for `rule`
    chain: np.ndarray  # (cells,): the true chain of unary rules; -1 and -2 as for `rule`


class Fronts(NamedTuple):
    """The entries of all symbols above at all spans, and those of the current span while they are made."""

    entry: np.ndarray  # (capacity, 7): the columns M to RIGHT of every entry
    score: np.ndarray  # (capacity,): the score of every entry
    first: np.ndarray  # (cells, symbols): each has the entries first:first + size
    size: np.ndarray  # (cells, symbols): the number of entries
    below: np.ndarray  # (symbols, most, 7): entries of symbols below at the current span; `most` limits them
    below_score: np.ndarray  # (symbols, most): their scores
    below_size: np.ndarray  # (symbols,): their numbers
    above: np.ndarray  # (symbols, most, 7): entries of symbols above at the current span
    above_score: np.ndarray  # (symbols, most): their scores
    above_size: np.ndarray  # (symbols,): their numbers


class Entry(NamedTuple):
    """A derivation that may join a front: its counts, the rules at its top, and the entries below them."""

    m: np.int64  # the count m
    q: np.int64  # the count q
    chain: int  # the chain of unary rules at the top, -1 for none
    rule: int  # the binary rule below it, -1 at a word
    split: int  # the split of the rule
    left: int  # the entry of the left child
    right: int  # the entry of the right child


@kernel
def put(entry, score, s, x, value, new):
    """Write entry x of symbol s."""
    score[s, x] = value
    entry[s, x, M], entry[s, x, Q] = new.m, new.q
    entry[s, x, CHAIN], entry[s, x, RULE], entry[s, x, SPLIT] = new.chain, new.rule, new.split
    entry[s, x, LEFT], entry[s, x, RIGHT] = new.left, new.right


@kernel
def move(entry, score, s, x, to):
    """Copy entry x of symbol s to position `to`."""
    score[s, to] = score[s, x]
    for f in range(7):
        entry[s, to, f] = entry[s, x, f]


@kernel
def offer(kind, entry, score, size, s, value, new):
    """Put an Entry into the front of symbol s unless another one dominates it; return False if the memory is full.

    The k best entries are kept in order, and if the memory is full the last one is dropped.
    """
    if kind == K_BEST:
        x = size[s]
        if x == entry.shape[1]:
            x -= 1
            if value <= score[s, x]:
                return True
        else:
            size[s] += 1
        while x > 0 and score[s, x - 1] < value:
            move(entry, score, s, x - 1, x)
            x -= 1
        put(entry, score, s, x, value, new)
        return True
    for x in range(size[s]):
        if score[s, x] >= value and entry[s, x, M] <= new.m and entry[s, x, Q] >= new.q:
            return True
    count = 0
    for x in range(size[s]):
        if not (value >= score[s, x] and new.m <= entry[s, x, M] and new.q >= entry[s, x, Q]):
            if count < x:
                move(entry, score, s, x, count)
            count += 1
    if count == entry.shape[1]:
        return False
    put(entry, score, s, count, value, new)
    size[s] = count + 1
    return True


@kernel
def full_of_better(fronts, s, value):
    """Return whether symbol s below has k entries, and all of them are at least as good."""
    room = fronts.below.shape[1]
    return fronts.below_size[s] == room and fronts.below_score[s, room - 1] >= value


@kernel
def labelled(kind, hit, m, q):
    """Return the counts (m, q) after one more label."""
    if kind == BRACKETS:
        return m + hit, q + 1
    if kind == HAMMING:
        return m, q + 1 - 2 * hit
    return m, q


@kernel
def climb_fronts(table, c, kind, places, bonus, rules, truth, outer, least, fronts, used):
    """Compute the fronts above a span from those below it, by chains of unary rules, and append them to all entries.

    Return the number of all entries, or -1 if the memory is full.
    """
    fronts.above_size[:] = 0
    for s in range(len(fronts.below_size)):
        for x in range(fronts.below_size[s]):
            e, value = fronts.below[s, x], fronts.below_score[s, x]
            if value + outer[c, s] < least or outer[c, s] == NOTHING:
                continue
            q = 1 if kind == ZERO_ONE and truth.chain[c] != -1 else e[Q]
            new = Entry(np.int64(e[M]), np.int64(q), -1, e[RULE], e[SPLIT], e[LEFT], e[RIGHT])
            if not offer(kind, fronts.above, fronts.above_score, fronts.above_size, s, value, new):
                return -1
    for chain in range(len(rules.top)):
        s, top = rules.bottom[chain], rules.top[chain]
        if fronts.below_size[s] == 0 or outer[c, top] == NOTHING:
            continue
        gain = chain_score(table, c, chain, places, bonus, rules)
        if gain == NOTHING:
            continue
        for x in range(fronts.below_size[s]):
            e, value = fronts.below[s, x], fronts.below_score[s, x] + gain
            if value + outer[c, top] < least:
                continue
            m, q = e[M], e[Q]
            for step in range(rules.step[chain], rules.step[chain + 1]):
                m, q = labelled(kind, truth.hit[c, rules.step_label[step]], m, q)
            if kind == ZERO_ONE and truth.chain[c] != chain:
                q = 1
            climbed = Entry(np.int64(m), np.int64(q), chain, e[RULE], e[SPLIT], e[LEFT], e[RIGHT])
            if not offer(kind, fronts.above, fronts.above_score, fronts.above_size, top, value, climbed):
                return -1
    for s in range(len(fronts.above_size)):
        fronts.first[c, s], fronts.size[c, s] = used, fronts.above_size[s]
        if used + fronts.above_size[s] > len(fronts.score):
            return -1
        for x in range(fronts.above_size[s]):
            fronts.score[used] = fronts.above_score[s, x]
            for f in range(7):
                fronts.entry[used, f] = fronts.above[s, x, f]
            used += 1
    return used


@kernel
def fill_fronts(table, kind, sentence, bonus, rules, truth, above, outer, outer_below, least, scores, fronts):
    """Fill the fronts of all spans, given the inside and outside scores; return False if the memory is full."""
    n, n_symbols = sentence.leaf.shape
    places, splits = sentence.places, sentence.splits
    used = 0
    for i in range(n):
        c = cell(i, i + 1, n)
        fronts.below_size[:] = 0
        for s in range(n_symbols):
            if sentence.leaf[i, s] == NOTHING:
                continue
            q = 0
            if kind == HAMMING:
                q = truth.within[c]
            elif kind == ZERO_ONE and truth.split[c] != s:
                q = 1
            fronts.below_score[s, 0] = sentence.leaf[i, s]
            fronts.below[s, 0, M], fronts.below[s, 0, Q] = 0, q
            fronts.below[s, 0, RULE], fronts.below[s, 0, SPLIT] = -1, s
            fronts.below[s, 0, LEFT], fronts.below[s, 0, RIGHT] = -1, -1
            fronts.below_size[s] = 1
        used = climb_fronts(table, c, kind, places, bonus, rules, truth, outer, least, fronts, used)
        if used < 0:
            return False
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            fronts.below_size[:] = 0
            for r in range(len(scores)):
                scores[r] = NOTHING
                if outer_below[c, rules.parent[r]] > NOTHING:
                    score = 0.0
                    for t in range(places.shape[1]):
                        score += table[places[c, t] + r]
                    if rules.label[rules.parent[r]] >= 0:
                        score += bonus[c, rules.label[rules.parent[r]]]
                    scores[r] = score
            for k in range(i + 1, j):
                left, right = cell(i, k, n), cell(k, j, n)
                apart = 0
                if kind == HAMMING:
                    apart = truth.within[c] - truth.within[left] - truth.within[right]
                for s in range(n_symbols):
                    if fronts.size[left, s] == 0:
                        continue
                    for r in range(rules.first[s], rules.first[s + 1]):
                        other = rules.right[r]
                        if fronts.size[right, other] == 0 or scores[r] == NOTHING:
                            continue
                        score, parent = scores[r], rules.parent[r]
                        for t in range(splits.shape[1]):
                            score += table[splits[k, t] + r]
                        around = outer_below[c, parent]
                        if score == NOTHING or score + above[left, s] + above[right, other] + around < least:
                            continue
                        label = rules.label[parent]
                        false = kind == ZERO_ONE and (truth.rule[c] != r or truth.split[c] != k)
                        for x in range(fronts.first[left, s], fronts.first[left, s] + fronts.size[left, s]):
                            if score + fronts.score[x] + above[right, other] + around < least:
                                continue
                            for y in range(
                                fronts.first[right, other], fronts.first[right, other] + fronts.size[right, other]
                            ):
                                value = fronts.score[x] + fronts.score[y] + score
                                if value + around < least:
                                    continue
                                if kind == K_BEST and full_of_better(fronts, parent, value):
                                    break  # the next ones are no better
                                m = fronts.entry[x, M] + fronts.entry[y, M]
                                q = fronts.entry[x, Q] + fronts.entry[y, Q] + apart
                                if kind == ZERO_ONE:
                                    q = 1 if false else min(q, 1)
                                if label >= 0:
                                    m, q = labelled(kind, truth.hit[c, label], m, q)
                                new = Entry(np.int64(m), np.int64(q), -1, r, k, x, y)
                                front = fronts.below, fronts.below_score, fronts.below_size
                                if not offer(kind, *front, parent, value, new):
                                    return False
            used = climb_fronts(table, c, kind, places, bonus, rules, truth, outer, least, fronts, used)
            if used < 0:
                return False
    return True


@kernel
def trace_entry(x, n, fronts, stack, rows):
    """Write the rows of the derivation that an entry represents, parents first."""
    stack[0, 0], stack[0, 1], stack[0, 2] = x, 0, n
    height, count = 1, 0
    while height > 0:
        height -= 1
        x, i, j = stack[height, 0], stack[height, 1], stack[height, 2]
        e = fronts.entry[x]
        rows[count, 0], rows[count, 1], rows[count, 2] = e[CHAIN], e[RULE], i
        rows[count, 3], rows[count, 4] = e[SPLIT], j
        if e[RULE] >= 0:
            stack[height, 0], stack[height, 1], stack[height, 2] = e[RIGHT], e[SPLIT], j
            stack[height + 1, 0], stack[height + 1, 1], stack[height + 1, 2] = e[LEFT], i, e[SPLIT]
            height += 2
        count += 1
