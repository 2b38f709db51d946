"""
Dependency parsing: one sentence before and after training
==========================================================

A dependency parser finds the head of every word: the subject depends on its verb, an adjective on its noun. The parser
below is a structural SVM over all trees. Before training all trees have the same score, and the decoder returns one of
them. A few example sentences, whose trees are known, are enough for the words of a small grammar.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import DependencyDisplay

plt.style.use(mm.plotting.STYLE)

# %%
# A grammar that writes sentences with their trees, in the labels of Universal Dependencies. Whether *with a telescope*
# belongs to the verb or to the noun before it cannot be known from the grammar; one time in five it is the noun.

NOUNS, VERBS = ["dog", "girl", "park", "star", "teacher", "telescope"], ["saw", "found", "liked", "drew"]
ADJECTIVES, ADVERBS = ["old", "small", "red", "clever"], ["often", "never", "quickly"]
rng = np.random.default_rng(0)


class Word:
    def __init__(self, form, tag, label, head=None):
        self.form, self.tag, self.label, self.head = form, tag, label, head


def noun_phrase(label, head, depth=0):
    noun = Word(str(rng.choice(NOUNS)), "NOUN", label, head)
    words = [Word("the", "DET", "det", noun)]
    words += [Word(str(rng.choice(ADJECTIVES)), "ADJ", "amod", noun)] * (rng.random() < 0.4)
    words.append(noun)
    if depth < 1 and rng.random() < 0.35:
        words += preposition("of", "nmod", noun, depth)
    return words, noun


def preposition(word, label, head, depth):
    words, noun = noun_phrase(label, head, depth + 1)
    return [Word(word, "ADP", "case", noun), *words]


def sentence():
    verb = Word(str(rng.choice(VERBS)), "VERB", "root")
    subject, _ = noun_phrase("nsubj", verb)
    found, noun = noun_phrase("obj", verb)
    words = [*subject, *[Word(str(rng.choice(ADVERBS)), "ADV", "advmod", verb)] * (rng.random() < 0.4), verb, *found]
    if rng.random() < 0.5:
        kind = ("obl", verb) if rng.random() < 0.8 else ("nmod", noun)
        words += preposition("with", *kind, depth=0)
    tree = [(0 if word.head is None else words.index(word.head) + 1, word.label) for word in words]
    return [(word.form, word.tag) for word in words], tree


(X, Y), (X_test, Y_test) = (map(list, zip(*[sentence() for _ in range(n)], strict=True)) for n in (100, 300))

# %%
# Training on 100 sentences, and the share of right heads in 300 others.

parser = mm.DependencyParser(C=100).fit(X, Y)
print(parser.certificate_)
untrained = copy.copy(parser)
untrained.w_ = np.zeros_like(parser.w_)
for name, model in {"untrained": untrained, "trained": parser}.items():
    pairs = [zip(y, z, strict=True) for y, z in zip(Y_test, model.predict(X_test), strict=True)]
    print(f"{name}: {np.mean([a[0] == b[0] for pair in pairs for a, b in pair]):.1%} of the heads right")

i = next(i for i, x in enumerate(X_test) if len(x) == 9 and parser.predict([x])[0] == Y_test[i])

# %%
# A new sentence before training, with all weights 0. Arrows lead from a head to its dependent; dashed ones are those of
# the true tree that were not found.

DependencyDisplay.from_estimator(untrained, X_test[i], Y_test[i]).plot().ax_.set_title("Before training")

# %%
# The same sentence after training. (It is the first one of nine words that the trained parser gets entirely right; the
# share of right heads in all sentences was printed above.)

DependencyDisplay.from_estimator(parser, X_test[i], Y_test[i]).plot().ax_.set_title("After training")
plt.show()
