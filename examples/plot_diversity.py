"""
Diversified search results: few documents for many meanings
===========================================================

A query is ambiguous, and a few results should cover as many of its meanings as they can. Nobody knows the meanings of a
new query, but its documents have words, and covering words is a good way to cover meanings if the right words count:
those that some documents share, not those that all have or only one. Which ones they are is learnt from other queries,
whose words are not the same: the value of a word depends only on the share of documents that contain it.
"""

# %%
# Six meanings of different popularity, and documents about none of them, which are long. A document has some of the
# four words of its meaning, words that all documents may have, and words of its own.

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.baselines import essential_pages, unweighted_words
from maxmargin.metrics import subtopic_loss
from maxmargin.plotting import CoverageDisplay

plt.style.use(mm.plotting.STYLE)


def searches(n, seed):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for q in range(n):
        documents, subtopics = [], []
        for d in range(40):
            meaning = int(rng.choice(7, p=[0.25, 0.15, 0.12, 0.08, 0.06, 0.04, 0.3]))
            words = [f"meaning{q}_{meaning}_{j}" for j in range(4) if meaning < 6 and rng.random() < 0.6]
            words += [f"common{j}" for j in range(4) if rng.random() < 0.7]
            words += [f"own{q}_{d}_{j}" for j in range(rng.integers(2, 8) + 6 * (meaning == 6))]
            documents.append(" ".join(words))
            subtopics.append({meaning} if meaning < 6 else set())
        X.append(documents)
        Y.append(subtopics)
    return X, Y


X_train, Y_train = searches(30, seed=0)
X_test, Y_test = searches(30, seed=1)

# %%
# Training finds an approximate optimum: the search for the worst set is greedy. The certificate says what is proved.

model = mm.Diversifier(k=4, C=0.1).fit(X_train, Y_train)
print(model.certificate_)
print(f"share of subtopics covered by 4 documents, by popularity: {model.score(X_test, Y_test):.1%}")
for name, order in (("Essential Pages", essential_pages), ("unweighted words", unweighted_words)):
    loss = subtopic_loss(Y_test, [order(x, 4) for x in X_test]).mean()
    print(f"{name}: {1 - loss:.1%}")

# %%
# How much is covered by how many documents; the grey line marks the four that were trained for.

CoverageDisplay.from_estimator(model, X_test, Y_test, n=15).plot()

# %%
# What covering a word is worth, by the share of documents that contain it. Words of a single document are worth
# nothing; the value grows in steps, because the features of a word are thresholds on its share.

figure, ax = plt.subplots(figsize=(7, 3.2))
shares = np.linspace(0.005, 0.6, 200)
ax.plot(100 * shares, model.word_values(shares))
ax.set(xlabel="documents that contain a word, %", ylabel="value of covering it")
plt.show()
