"""
Constituency parsing: prepositions, where a grammar needs words
===============================================================

A phrase like *with a telescope* belongs to the verb or to the noun before it, and the preposition often decides. A
probabilistic grammar cannot use that: the label PP says nothing about the words below it. Weights of rules at spans
can.
"""

# %%
# Sentences like *the man saw the dog of the boy*, as tags. A phrase with *of* (OF) always belongs to the noun, one with
# *with* (WITH) mostly to the verb.

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.metrics import parseval
from maxmargin.plotting import TreeDisplay

plt.style.use(mm.plotting.STYLE)

rng = np.random.default_rng(0)


def noun_phrase(depth):
    words = [mm.Tree("DT", ["the"])] + [mm.Tree("JJ", ["old"])] * rng.integers(0, 2)
    phrase = mm.Tree("NP", [*words, mm.Tree("NN", [rng.choice(["man", "dog", "boy"])])])
    if rng.random() < 0.4 and depth < 2:
        kind = "WITH" if rng.random() < 0.1 else "OF"
        phrase = mm.Tree("NP", [phrase, preposition_phrase(kind, depth)])
    return phrase


def preposition_phrase(kind, depth):
    return mm.Tree("PP", [mm.Tree(kind, [kind.lower()]), noun_phrase(depth + 1)])


def sentence():
    verb_phrase = [mm.Tree("VBD", ["saw"]), noun_phrase(0)]
    if rng.random() < 0.5:
        verb_phrase.append(preposition_phrase("WITH", 0))
    return mm.Tree("S", [noun_phrase(0), mm.Tree("VP", verb_phrase)])


train, test = [sentence() for _ in range(150)], [sentence() for _ in range(300)]

# %%
# Three ways to weigh the same rules: by their frequency, with a large margin, and with weights that also see the tags
# at the ends of a span and around it.

models = {
    "PCFG": mm.PCFG(horizontal=0),
    "Parser, rules alone": mm.Parser(span_features=(), C=100, random_state=0),
    "Parser, rules at spans": mm.Parser(C=100, random_state=0),
}
X_train, X_test = [tree.tokens() for tree in train], [tree.tokens() for tree in test]
for name, model in models.items():
    score = parseval(test, model.fit(X_train, train).predict(X_test))
    print(f"{name}: F1 {score.f1:.1%}, {score.exact_match:.1%} of the trees right")

# %%
# A sentence that only the last one parses right. Wrong brackets and missing ones are marked.

right = [[found == tree for found, tree in zip(model.predict(X_test), test, strict=True)] for model in models.values()]
i = next(i for i, (a, b, c) in enumerate(zip(*right, strict=True)) if c and not a and not b and len(test[i]) < 12)
for name in ("PCFG", "Parser, rules at spans"):
    TreeDisplay.from_estimator(models[name], X_test[i], test[i]).plot().ax_.set_title(name)
plt.show()
