"""
Training for the number you report
==================================

One example in twenty is positive. A classifier that is trained for few errors finds too few of them, one that is
trained for few balanced errors raises too many false alarms; one that is trained for F1 weighs the two as F1 does.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import precision_recall_curve, precision_recall_fscore_support
from sklearn.model_selection import train_test_split

import maxmargin as mm
from maxmargin.plotting import GapDisplay

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

print("trained for       precision  recall    F1  ROC area")
table = {}
for measure, model in models.items():
    precision, recall, f1, _ = precision_recall_fscore_support(y_test, model.predict(X_test), average="binary")
    area = mm.metrics.query_scores(y_test, model.decision_function(X_test), measure="roc_auc")[0]
    table[measure] = recall, precision
    print(f"{measure:17s} {precision:9.3f} {recall:7.3f} {f1:5.3f} {area:9.3f}")

# %%
# The curves of precision over recall, and where each model cuts.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for measure, model in models.items():
    precision, recall, _ = precision_recall_curve(y_test, model.decision_function(X_test))
    (line,) = left.plot(recall, precision, label=f"trained for {measure}", linewidth=1)
    left.plot(*table[measure], "o", color=line.get_color())
left.set(xlabel="recall", ylabel="precision", title="dots: where `predict` cuts", xlim=(0, 1), ylim=(0, 1.02))
left.legend(frameon=False, fontsize="small", loc="lower left")
left.grid(alpha=0.25)

GapDisplay.from_estimator(models["f1"]).plot(ax=right)
right.set_title("training for F1: distance to the optimum")
plt.show()
