"""
Imbalanced classes: train for F1, balanced error or ROC area
============================================================

One example in twenty is positive. A classifier that is trained for few errors finds too few of them, one that is
trained for few balanced errors raises too many false alarms; one that is trained for F1 weighs the two as F1 does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import precision_recall_curve, precision_recall_fscore_support
from sklearn.model_selection import train_test_split

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

X, y = make_classification(8000, 30, n_informative=8, n_redundant=0, weights=[0.95], flip_y=0.02, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# The same data, another measure each, and every one within 1% of what any weights could reach in what it was trained
# for. With `train_for="measure"` that is the measure, and not single examples where these give the better scores.

models = {
    measure: mm.MeasureSVC(measure, C=100, train_for="measure").fit(X_train, y_train)
    for measure in ("error", "balanced_error", "f1", "roc_auc")
}
print(models["f1"].certificate_)

# %%
# What they find in new data. Each cuts its scores where its measure is best on held-out folds; "roc_auc", which knows
# of no threshold, where there are the fewest balanced errors.

table = {}
for measure, model in models.items():
    precision, recall, f1, _ = precision_recall_fscore_support(y_test, model.predict(X_test), average="binary")
    area = mm.metrics.query_scores(y_test, model.decision_function(X_test), measure="roc_auc")[0]
    table[measure] = {"precision": precision, "recall": recall, "F1": f1, "ROC area": area}
    print(f"{measure:15s}", ", ".join(f"{name} {value:.3f}" for name, value in table[measure].items()))

# %%
# The curves of precision over recall are much the same; where a model cuts its scores (the dots) depends on what it was
# trained for.

fig, ax = plt.subplots(figsize=(7, 4))
for k, (measure, model) in enumerate(models.items()):
    precision, recall, _ = precision_recall_curve(y_test, model.decision_function(X_test))
    ax.plot(recall, precision, color=f"C{k}", linewidth=1.2, label=f"trained for {measure}")
    ax.plot(table[measure]["recall"], table[measure]["precision"], f"C{k}o", markersize=10, markeredgecolor="white")
ax.set(
    xlabel="recall", ylabel="precision", title="Precision and recall; dots: predictions", xlim=(0, 1), ylim=(0, 1.03)
)
ax.legend(loc="lower left")

# %%
# The same models by four measures: the one that was trained for F1 has the highest F1, and the one that was trained for
# few errors the highest precision. In the area under the ROC curve they hardly differ.

fig, ax = plt.subplots(figsize=(7, 3.8))
for k, (measure, row) in enumerate(table.items()):
    bars = ax.bar(np.arange(4) + 0.2 * k - 0.3, list(row.values()), 0.19, label=f"trained for {measure}")
    ax.bar_label(bars, fmt="%.2f", fontsize=7.5, padding=1)
ax.set_xticks(np.arange(4), list(row))
ax.set(title="Test data", ylim=(0, 1))
ax.grid(axis="x", visible=False)
fig.legend(loc="outside lower center", ncols=2)
plt.show()
