"""
Maximum spanning trees: an output made of parts, with your own decoder
======================================================================

Every word of a sentence depends on another word or on the root, and all together are a tree. The parts are the possible
arcs; the best tree is found by the algorithm of Chu and Liu, and of Edmonds. Nothing else is needed to learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import maxmargin as mm
from maxmargin.plotting import DependencyDisplay

plt.style.use(mm.plotting.STYLE)


def best_heads(table):
    """table[h, d] scores the arc from h to d, 0 is the root: the best head of every word; contract a cycle; repeat."""
    heads = np.append(0, table[:, 1:].argmax(axis=0))
    ends = np.arange(len(heads))
    for _ in heads:
        ends = heads[ends]
    if not ends.any():
        return heads
    cycle = [ends.max()]
    while heads[cycle[-1]] != cycle[0]:
        cycle.append(heads[cycle[-1]])
    rest = np.setdiff1d(np.arange(len(table)), cycle)
    enter = table[np.ix_(rest, cycle)] - table[heads[cycle], cycle]  # what is gained by entering at each of its words
    leave = table[np.ix_(cycle, rest)]
    new = best_heads(np.block([[table[np.ix_(rest, rest)], enter.max(axis=1)[:, None]], [leave.max(axis=0), -np.inf]]))
    for word, head, out in zip(rest[1:], new[1:-1], leave.argmax(axis=0)[1:], strict=True):
        heads[word] = cycle[out] if head == len(rest) else rest[head]
    heads[cycle[enter[new[-1]].argmax()]] = rest[new[-1]]
    return heads


def best_tree(scores, tags):
    n = len(tags)  # the arc from h to d is part h * n + d - 1
    table = np.column_stack([np.full(n + 1, -np.inf), scores.reshape(n + 1, n)])
    np.fill_diagonal(table, -np.inf)
    return best_heads(table)[1:] * n + np.arange(n)


# %%
# A hidden grammar: what depends on a word, before and after it (*), and how often. An arc is known by the tags of its
# ends, its direction and its length.

TAGS = ["ROOT", "VERB", "NOUN", "ART", "ADJ", "ADV", "PREP"]
GRAMMAR = {
    "VERB": [("NOUN", 0.9), ("*", 1), ("NOUN", 0.6), ("PREP", 0.3), ("ADV", 0.3), ("VERB", 0.3)],
    "NOUN": [("ART", 0.6), ("ADJ", 0.4), ("*", 1), ("PREP", 0.2)],
    "PREP": [("*", 1), ("NOUN", 1)],
}
rng = np.random.default_rng(0)


def phrase(tag, parent=None):
    me, words = object(), []
    for below, chance in GRAMMAR.get(tag, [("*", 1)]):
        if rng.random() < chance:
            words += [(tag, me, parent)] if below == "*" else phrase(below, me)
    return words


def sentence():
    tags, words, parents = zip(*phrase("VERB"), strict=True)
    heads = np.array([0 if parent is None else words.index(parent) + 1 for parent in parents])
    return tags, heads * len(tags) + np.arange(len(tags))


def arcs(tags):
    h, d = (each.ravel() for each in np.mgrid[: len(tags) + 1, 1 : len(tags) + 1])
    tag, after = np.array([TAGS.index(tag) for tag in ("ROOT", *tags)]), (h < d).astype(int)
    columns = np.column_stack([(tag[h] * 7 + tag[d]) * 2 + after, 98 + np.minimum(abs(h - d), 9) * 2 + after])
    return sparse.csr_array((np.ones(columns.size), columns.ravel(), 2 * np.arange(len(h) + 1)), shape=(len(h), 118))


(X, Y), (X_test, Y_test) = (zip(*[sentence() for _ in range(n)], strict=True) for n in (100, 200))
model = mm.StructuredSVM(mm.tasks.Parts(best_tree, parts=arcs), C=100).fit(X, Y)
print(model.certificate_)

# %%
# Against frequencies: how often such arcs were in a tree, where they could have been. The decoder is the same.

possible, chosen = sum(arcs(x).sum(axis=0) for x in X), sum(arcs(x)[y].sum(axis=0) for x, y in zip(X, Y, strict=True))
weights, missed = {"frequencies": np.log((chosen + 0.1) / (possible + 1)), "learnt weights": model.w_}, {}
for name, w in weights.items():
    missed[name] = [np.setdiff1d(model.task_.argmax(w, x), y) for x, y in zip(X_test, Y_test, strict=True)]
    wrong, none = sum(map(len, missed[name])) / sum(map(len, X_test)), np.mean([len(z) == 0 for z in missed[name]])
    print(f"{name}: {wrong:.1%} of the heads wrong, {none:.1%} of the trees without mistake")

# %%
# A sentence of which the learnt weights find more arcs. Arrows lead from a head to its dependent.

short = [len(tags) < 11 for tags in X_test]
i = np.argmax([k * (2 * len(a) - 3 * len(b)) for k, a, b in zip(short, *missed.values(), strict=True)])
n = len(X_test[i])
for name, w in weights.items():
    trees = [(parts[np.argsort(parts % n)] // n).tolist() for parts in (model.task_.argmax(w, X_test[i]), Y_test[i])]
    DependencyDisplay(X_test[i], *trees).plot().ax_.set_title(name.capitalize())
plt.show()
