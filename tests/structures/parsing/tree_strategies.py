"""Trees and grammars for hypothesis to draw, and the parts of a tree by recursion."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.structures.parsing.chart_rules import flat_rules
from maxmargin.structures.parsing.compiled.cky import Rules, Sentence
from maxmargin.structures.parsing.derivations import all_derivations
from maxmargin.structures.parsing.productions import Productions
from maxmargin.structures.parsing.trees import Tree
from maxmargin.tasks import Grammar

LABELS = ("S", "NP", "VP", "ADVP", "PRT", "TOP", "NP-SBJ-1", "S=2", "-LRB-")
TAGS = ("NN", "VB", ",", ".", "-NONE-", "ADVP", "PRT")
WORDS = st.text(st.characters(exclude_characters=" \t\n\r\f\v()", exclude_categories=("Cs",)), min_size=1, max_size=4)


@st.composite
def trees(draw, labels=LABELS, tags=TAGS, words=WORDS, most=7, cycles=True):
    """A tree over up to `most` words, with unary chains; with `cycles` a label may stand twice in a chain."""
    tokens = draw(st.lists(st.tuples(words, st.sampled_from(tags)), min_size=1, max_size=most))
    return draw(trees_over(tokens, labels, cycles))


@st.composite
def trees_over(draw, tokens, labels=LABELS, cycles=True):
    """A tree over these (word, tag) pairs."""
    if len(tokens) == 1:
        tree = Tree(tokens[0][1], [tokens[0][0]])
    else:
        cuts = sorted(draw(st.sets(st.integers(1, len(tokens) - 1), min_size=1, max_size=3)))
        parts = [tokens[a:b] for a, b in zip([0, *cuts], [*cuts, len(tokens)], strict=True)]
        tree = Tree(draw(st.sampled_from(labels)), [draw(trees_over(part, labels, cycles)) for part in parts])
    for label in draw(st.lists(st.sampled_from(labels), max_size=2 if draw(st.booleans()) else 0)):
        if cycles or label not in _chain(tree):
            tree = Tree(label, [tree])
    return tree


def _chain(tree):
    """The labels of the phrases from here down to the first node that branches, or to a tag."""
    labels = []
    while not tree.is_preterminal:
        labels.append(tree.label)
        if len(tree.children) > 1:
            break
        tree = tree.children[0]
    return labels


@st.composite
def treebanks(draw, most_trees=6, most=4):
    """Some trees without unary cycles over few labels, so that a sentence has several trees; roots may be tags.

    The trees are grown by a random generator, and long ones are as likely as short ones. Hypothesis itself mostly draws
    trees that are too small for a sentence to have two of them.
    """
    n, unary = most_trees - draw(st.integers(0, most_trees - 1)), draw(st.sampled_from([0.0, 0.2, 0.4]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = [most - draw(st.integers(0, most - 1)), *rng.integers(1, most + 1, n - 1)]
    return [_grown(rng, ["aAb"[k] for k in rng.choice(3, size, p=[0.65, 0.3, 0.05])], unary) for size in sizes]


def _grown(rng, tags, unary):
    """A tree over these tags; A is both a label and a tag."""
    if len(tags) == 1:
        tree = Tree(tags[0], ["w"])
    else:
        n_cuts = 1 if rng.random() < 0.7 else rng.integers(1, len(tags))
        cuts = sorted(rng.choice(np.arange(1, len(tags)), n_cuts, replace=False).tolist())
        parts = [tags[a:b] for a, b in zip([0, *cuts], [*cuts, len(tags)], strict=True)]
        tree = Tree("SA"[int(rng.random() < 0.4)], [_grown(rng, part, unary) for part in parts])
    while rng.random() < unary:
        label = "SAB"[rng.choice(3, p=[0.45, 0.45, 0.1])]
        if label not in _chain(tree):
            tree = Tree(label, [tree])
    return tree


@st.composite
def written_rules(draw):
    """Rules (parent, children) without unary cycles, the first with the root S; what is never on the left is a tag."""
    labels, tags = ["S", "A", "B"], ["a", "b"]
    rules = []
    for parent in ["S", *draw(st.lists(st.sampled_from(labels), max_size=5))]:
        if draw(st.integers(0, 2)) == 0:
            children = [draw(st.sampled_from(labels[labels.index(parent) + 1 :] + tags))]
        else:
            children = draw(st.lists(st.sampled_from(labels + tags), min_size=2, max_size=4))
        rules.append((parent, children))
    return rules


def weights(size, forbidden=0.0):
    """Small whole numbers that differ (arrays of hypothesis mostly repeat one); a share `forbidden` of them is -inf."""

    def drawn(seed):
        rng = np.random.default_rng(seed)
        w = rng.integers(-3, 4, size).astype(float)
        w[rng.random(size) < forbidden] = -np.inf
        return w

    return st.integers(0, 2**32 - 1).map(drawn)


class Parsing(NamedTuple):
    """A small grammar, a sentence with scores of any kind, and weights: what the kernels of charts read."""

    productions: Productions
    rules: Rules
    sentence: Sentence
    tags: list[list[int]]  # the symbols that may stand at every word
    truth: np.ndarray  # rows of a derivation
    bonus: np.ndarray
    w: np.ndarray


@st.composite
def parsings(draw, forbidden=0.0):
    """The sentence is one of a treebank; the places of its weights are drawn at random, not those of real features."""
    bank = draw(treebanks())
    productions = Productions(draw(st.sampled_from([0, 1, None])), draw(st.integers(1, 2))).read(bank).sort()
    rules = flat_rules(productions)
    truth = productions.derivation(bank[0], "tree 0")
    n, n_symbols, symbols = len(bank[0]), len(rules.label), list(productions.tags.values())
    n_cells, block = n * (n + 1) // 2, rules.productions
    n_blocks = draw(st.integers(0, 2))
    begins = np.array([0, *(block * (b + 1) + len(rules.roots) for b in range(n_blocks))])

    def places(shape):
        return begins[draw(hnp.arrays(np.int64, shape, elements=st.integers(0, n_blocks)))]

    leaf, tags = np.full((n, n_symbols), -np.inf), []
    some = draw(st.booleans())  # or all tags, as where sentences are words
    for t, symbol in truth[truth[:, 1] < 0][:, [2, 3]]:
        tags.append(sorted({int(symbol), *draw(st.sets(st.sampled_from(symbols)))}) if some else symbols)
        leaf[t, tags[t]] = draw(weights(len(tags[t])))
    sentence = Sentence(leaf, places((n_cells, draw(st.integers(1, 2)))), places((n, draw(st.integers(0, 1)))))
    w = draw(weights(block * (n_blocks + 1) + len(rules.roots), forbidden))
    bonus = draw(weights((n_cells, int(rules.label.max(initial=-1)) + 1)))
    assume(sum(1 for _ in islice(all_derivations(rules, tags), 301)) <= 300)
    return Parsing(productions, rules, sentence, tags, truth, bonus, w)


def set_up(task, X, Y):
    """The task after its setup with these sentences and trees."""
    task.setup(X, Y)
    return task


@st.composite
def grammars(draw, most=4, most_outputs=300):
    """A grammar with any options after its setup, its sentences, and their trees."""
    bank = [tree.with_words([f"w{t}" for t in range(len(tree))]) for tree in draw(treebanks(most=most))]
    inputs = draw(st.sampled_from(["tags", "tags", "words", "features"]))
    X = [tree.tags() if inputs == "tags" else tree.words() for tree in bank]
    if inputs == "features":
        X = [[[word] for word in x] for x in X]
    spans = () if inputs == "features" else draw(st.sampled_from([(), ("first", "length"), "auto"]))
    options = {
        "horizontal": draw(st.sampled_from([0, 1, None])),
        "vertical": draw(st.integers(1, 2)),
        "span_features": spans,
        "f1_words": draw(st.sampled_from([2, 20])),
    }
    task = set_up(Grammar(inputs, draw(st.sampled_from(["hamming", "f1", "zero_one"])), **options), X, bank)
    assume(all(sum(1 for _ in islice(task.outputs(x), most_outputs + 1)) <= most_outputs for x in X))
    return task, X, bank


@st.composite
def corpora(draw):
    """Pairs of trees over the same words, with the same punctuation, but each with its own traces."""
    pairs = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(1, 6))
        words = [(f"w{t}", draw(st.sampled_from(("NN", ",", ".")))) for t in range(n)]
        pair = []
        for _ in range(2):
            tags = [tag if tag in ",." else draw(st.sampled_from(("NN", "ADVP", "PRT"))) for _, tag in words]
            tokens = [(word, tag) for (word, _), tag in zip(words, tags, strict=True)]
            for _ in range(draw(st.integers(0, 2))):
                tokens.insert(draw(st.integers(0, len(tokens))), ("*", "-NONE-"))
            pair.append(draw(trees_over(tokens, ("S", "NP", "NP-SBJ", "ADVP", "PRT", "TOP"))))
        pairs.append(pair)
    return pairs


def recursive(tree, begin=0):
    """(tokens, brackets, height) of a tree, by their definitions."""
    if isinstance(tree.children[0], str):
        return [(tree.children[0], tree.label)], [], 1
    tokens, brackets, height = [], [], 0
    for child in tree.children:
        below = recursive(child, begin + len(tokens))
        tokens, brackets, height = tokens + below[0], brackets + below[1], max(height, below[2])
    return tokens, [(tree.label, begin, begin + len(tokens)), *brackets], height + 1
