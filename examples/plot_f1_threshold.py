"""
F1 against the decision threshold, for a rare positive class
============================================================

One example in twenty-five is positive, and the classifier will be judged by its F1. How many examples it calls
positive, its decision threshold, matters as much as its weights. A model that is trained for accuracy, or whose
probabilities are cut at one half, tends to call too few examples positive. ``MeasureSVC`` trains for F1 and chooses the
threshold for F1, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

X, y = make_classification(
    16000,
    20,
    n_informative=6,
    n_redundant=0,
    n_clusters_per_class=1,
    weights=[0.96],
    class_sep=0.65,
    flip_y=0.01,
    random_state=3,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=6000, stratify=y, random_state=0)
models = {
    "logistic regression": LogisticRegression(max_iter=1000).fit(X_train, y_train),
    "SVM for accuracy": mm.MeasureSVC("error", C=100, train_for="measure", cut="trained").fit(X_train, y_train),
    "MeasureSVC for F1": mm.MeasureSVC("f1", C=100).fit(X_train, y_train),
}

# %%
# Every threshold calls some share of the examples positive. Thresholds of different models have different units, but
# these shares can be compared. F1 for all of them, from the test data in the order of decreasing scores:


def f1_by_share(model):
    hits = np.cumsum(y_test[np.argsort(-model.decision_function(X_test), kind="stable")])
    called = np.arange(1, len(y_test) + 1)
    return called / len(y_test), 2 * hits / (called + y_test.sum())


reached = {}
for name, model in models.items():
    found = model.predict(X_test)
    reached[name] = np.mean(found), f1_score(y_test, found)
    share, f1 = f1_by_share(model)
    print(
        f"{name}: calls {np.mean(found):.2%} positive, F1 {reached[name][1]:.3f}; the best threshold has {f1.max():.3f}"
    )
print(f"positive are {np.mean(y_test):.2%}")

# %%
# The curves are those of all thresholds, the dots what ``predict`` does. The ranking of the examples is much the same
# in all models; what differs is where they cut. No model was shown the test data, so that the peak of a curve, which is
# chosen with them, is an optimistic bound on what a threshold can reach.

figure, ax = plt.subplots(figsize=(7, 4.2))
for k, (name, model) in enumerate(models.items()):
    share, f1 = f1_by_share(model)
    shown = share < 0.1
    ax.plot(100 * share[shown], f1[shown], color=f"C{k}", linewidth=1.6, label=f"{name}: F1 {reached[name][1]:.2f}")
    ax.plot(100 * reached[name][0], reached[name][1], "o", markersize=10, color=f"C{k}", markeredgecolor="white")
ax.axvline(100 * np.mean(y_test), color="0.5", linestyle=":", linewidth=1.5)
ax.annotate("truly positive", (100 * np.mean(y_test), 0.24), (4, 0), textcoords="offset points", color="0.4")
ax.set(xlabel="examples called positive, % (the threshold falls to the right)", ylabel="F1 on test data")
ax.set(title="F1 for every threshold; dots: the threshold of the model", xlim=(0, 10), ylim=(0, None))
ax.legend(loc="lower right")
plt.show()
