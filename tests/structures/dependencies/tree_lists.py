"""All dependency trees of a few words, by enumeration, and sentences to parse."""

from functools import cache
from itertools import product

import numpy as np


def is_tree(heads):
    """Whether every word leads to the root."""
    for m in range(1, len(heads) + 1):
        at = m
        for _ in heads:
            at = heads[at - 1] if at else 0
        if at:
            return False
    return True


def is_projective(heads):
    """Whether every word between the ends of an arc depends on its head: the definition, not by crossings."""

    def below(m, head):
        while m and m != head:
            m = heads[m - 1]
        return m == head

    return all(
        below(k, head) for m, head in enumerate(heads, 1) for k in range(min(m, head) + 1, max(m, head)) if head != k
    )


@cache
def all_heads(n, single_root=True, projective=False):
    return [
        heads
        for heads in product(range(n + 1), repeat=n)
        if is_tree(heads) and (not single_root or heads.count(0) == 1) and (not projective or is_projective(heads))
    ]


def total(scores, heads):
    return sum(scores[head, m] for m, head in enumerate(heads, 1))


FORMS = {"D": ["the", "a"], "N": ["cat", "dog", "fish"], "V": ["sees", "eats", "sleeps"], "A": ["old", "big"]}


def sentences(n, seed=0, labelled=False, longest=4):
    """Small sentences (form, tag) and their trees: the first verb is the root, articles go with nouns."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        tags = ["V", *rng.choice(list("DNAVN"), int(rng.integers(0, longest)))]
        rng.shuffle(tags)
        X.append([(str(rng.choice(FORMS[tag])), str(tag)) for tag in tags])
        root = tags.index("V") + 1
        heads = []
        for m, tag in enumerate(tags, 1):
            after = [k for k in range(m + 1, len(tags) + 1) if tags[k - 1] == "N"]
            heads.append(0 if m == root else after[0] if tag in "DA" and after else root)
        names = {"D": "det", "A": "amod", "N": "arg", "V": "conj"}
        labels = ["root" if head == 0 else names[tag] for head, tag in zip(heads, tags, strict=True)]
        Y.append(list(zip(heads, labels, strict=True)) if labelled else heads)
    return X, Y
