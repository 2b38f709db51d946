"""Grammars and charts written out: which trees the rules of a treebank allow, what a derivation scores and counts."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
from structures.parsing.tree_strategies import recursive

from maxmargin.structures.parsing.derivations import all_derivations
from maxmargin.structures.parsing.trees import Tree

# --- trees without binary rules: a symbol is (kind, name, labels above)


class Allowed(NamedTuple):
    """What occurs in the trees of a treebank, constituent by constituent."""

    chains: set  # symbols from the top of a constituent to its lowest node
    steps: set  # (parent, children remembered or None at the first, child, the last child or what is remembered then)
    roots: set


def annotated(tree, vertical, ancestors=()):
    """(symbol, children) of every node."""
    if isinstance(tree.children[0], str):
        return ("tag", tree.label, ()), []
    below = [annotated(child, vertical, (tree.label, *ancestors)) for child in tree.children]
    return ("label", tree.label, ancestors[: vertical - 1]), below


def steps(parent, children, horizontal):
    """The steps by which a list of children grows from left to right, with the memory of a few siblings."""

    def remembered(t):
        names = [(kind, name) for kind, name, _ in children[:t]]
        return tuple(names if horizontal is None else names[max(t - horizontal, 0) :])

    for t, child in enumerate(children[:-1]):
        then = ("last", children[-1]) if t == len(children) - 2 else ("more", remembered(t + 1))
        yield parent, remembered(t) if t else None, child, then


def read(trees, horizontal, vertical):
    """What occurs in these trees."""
    allowed = Allowed(set(), set(), set())

    def visit(node):
        chain = [node[0]]
        while len(node[1]) == 1:
            node = node[1][0]
            chain.append(node[0])
        allowed.chains.add(tuple(chain))
        allowed.steps.update(steps(node[0], [child[0] for child in node[1]], horizontal))
        for child in node[1]:
            visit(child)

    for tree in trees:
        node = annotated(tree, vertical)
        allowed.roots.add(node[0])
        visit(node)
    return allowed


def allowed_trees(allowed, tags):
    """All trees over words with these possible tags that have only what is allowed."""

    @cache
    def over(top, i, j):
        found = []
        for chain in {chain for chain in allowed.chains if chain[0] == top} | {(top,)}:
            kind, name, _ = chain[-1]
            if kind == "tag":
                trees = [Tree(name, [f"w{i}"])] if j == i + 1 and name in tags[i] else []
            else:
                trees = [Tree(name, children) for children in lists(chain[-1], None, i, j)]
            for _, above, _ in chain[-2::-1]:
                trees = [Tree(above, [tree]) for tree in trees]
            found += trees
        return found

    def lists(parent, memory, i, j):
        for owner, before, child, (what, then) in allowed.steps:
            if (owner, before) != (parent, memory):
                continue
            for k in range(i + 1, j):
                rest = [[tree] for tree in over(then, k, j)] if what == "last" else list(lists(parent, then, k, j))
                yield from ([left, *right] for left in over(child, i, k) for right in rest)

    return [tree for root in allowed.roots for tree in over(root, 0, len(tags))]


def trees_of_rules(rules, root, tags):
    """All trees of a context-free grammar of rules (parent, children) without unary cycles, over these tags."""
    labels = {parent for parent, _ in rules}

    @cache
    def over(name, i, j):
        if name not in labels:
            return [Tree(name, [f"w{i}"])] if j == i + 1 and name == tags[i] else []
        own = {tuple(children) for parent, children in rules if parent == name}
        return [Tree(name, trees) for children in own for trees in lists(children, i, j)]

    def lists(children, i, j):
        if len(children) == 1:
            return [[tree] for tree in over(children[0], i, j)]
        return [
            [first, *rest]
            for k in range(i + 1, j)
            for first in over(children[0], i, k)
            for rest in lists(children[1:], k, j)
        ]

    return over(root, 0, len(tags))


def loss(y, z, measure, f1_words):
    """The loss of a tree z if y is the true one."""
    if measure == "zero_one":
        return float(recursive(y)[1] != recursive(z)[1] or y.tags() != z.tags())
    true, found = Counter(recursive(y)[1]), Counter(recursive(z)[1])
    right, g, q = sum(min(true[b], found[b]) for b in true), sum(true.values()), sum(found.values())
    if measure == "hamming":
        return float(g + q - 2 * right)
    if len(y) > f1_words:
        return 0.5 / max(g, 1) * (g + q - 2 * right)
    return 1.0 - 2.0 * right / (g + q) if g + q else 0.0


# --- derivations as rows (chain, rule, begin, split, end)


def cell(i, j, n):
    """The number of a span, in the order of begin and then of end."""
    return [(a, b) for a in range(n) for b in range(a + 1, n + 1)].index((i, j))


def bottom(row, rules):
    """The symbol at the lowest node of a row's span."""
    return int(rules.parent[row[1]]) if row[1] >= 0 else int(row[3])


def top(row, rules):
    """The symbol at the highest node of a row's span."""
    return int(rules.top[row[0]]) if row[0] >= 0 else bottom(row, rules)


def places(row, sentence, rules):
    """(production, places of its weights, label that it adds or -1) for every rule that a row applies."""
    chain, rule, i, k, j = map(int, row)
    n = len(sentence.leaf)
    at = sentence.places[cell(i, j, n)].tolist()
    if rule >= 0:
        yield rule, at + sentence.splits[k].tolist(), int(rules.label[rules.parent[rule]])
    if chain >= 0:
        for e in range(rules.step[chain], rules.step[chain + 1]):
            yield int(rules.production[e]), at, int(rules.step_label[e])


def score(rows, w, sentence, bonus, rules):
    """The score of a derivation without the weight of its root."""
    total = 0.0
    for row in rows:
        if row[1] < 0:
            total += sentence.leaf[row[2], row[3]]
        for production, at, label in places(row, sentence, rules):
            total += sum(w[p + production] for p in at)
            if label >= 0:
                total += bonus[cell(row[2], row[4], len(sentence.leaf)), label]
    return float(total)


def counted(rows, sentence, rules):
    """All places in w that a derivation counts, except those of words."""
    found = [p + production for row in rows for production, at, _ in places(row, sentence, rules) for p in at]
    return [*found, rules.productions + rules.roots.tolist().index(top(rows[0], rules))]


def below(symbol, i, j, tags, rules):
    """All derivations of a symbol over a span."""
    only = rules._replace(roots=np.array([symbol], dtype=np.int32))
    for rows in all_derivations(only, tags[i:j]):
        rows[:, [2, 4]] += i
        rows[rows[:, 1] >= 0, 3] += i
        yield rows


def brackets(rows, rules):
    """(label, begin, end) of all phrases."""
    found = set()
    for chain, rule, i, _, j in rows.tolist():
        if rule >= 0 and rules.label[rules.parent[rule]] >= 0:
            found.add((int(rules.label[rules.parent[rule]]), i, j))
        if chain >= 0:
            found.update((int(label), i, j) for label in rules.step_label[rules.step[chain] : rules.step[chain + 1]])
    return found


def count(kind, rows, truth, rules):
    """(m, q) of a derivation of a span, compared with the true derivation of the same span."""
    i, j = rows[0, 2], rows[0, 4]
    if kind == "zero_one":
        within = truth[(truth[:, 2] >= i) & (truth[:, 4] <= j)]
        return 0, int(not np.array_equal(rows, within))
    found, true = brackets(rows, rules), {b for b in brackets(truth, rules) if b[1] >= i and b[2] <= j}
    return (len(found & true), len(found)) if kind == "brackets" else (0, len(found ^ true))


def front(entries):
    """Those (m, q, score) that no other one dominates by a lower m, a higher q and a higher score."""
    entries = set(entries)
    return {e for e in entries if not any(o != e and o[0] <= e[0] and o[1] >= e[1] and o[2] >= e[2] for o in entries)}


def rule_names(tree, horizontal):
    """The rules of a tree as people write them, for treebanks in which no tag is also a label."""
    found = []
    for node in tree.subtrees():
        if len(node.branches) == 1:
            found.append(f"{node.label} → {node.branches[0].label}")
        elif node.branches:
            names = [child.label for child in node.branches]
            memory = [names[:t] if horizontal is None else names[max(t - horizontal, 0) : t] for t in range(len(names))]
            parts = [node.label, *(f"{node.label}⟨{' '.join(before)}⟩" for before in memory[1:-1])]
            for parent, child, right in zip(parts, names[:-1], [*parts[1:], names[-1]], strict=True):
                found.append(f"{parent} → {child} {right}")
    return found
