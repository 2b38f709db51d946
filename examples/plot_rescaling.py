"""
Slack rescaling against margin rescaling: two ways to use a loss
================================================================

Some mistakes are worse than others. A structural SVM can use such a loss Δ in two ways. With margin rescaling, a wrong
output has to score lower than the right one by Δ: the worse, the further. With slack rescaling every wrong output has
to score lower by 1, and failing to do so costs Δ times the shortfall. Both objectives are upper bounds on the loss.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

# %%
# The bounds over the margin, the score of the right output less that of the wrong one, for a small loss and a large
# one. Both lie above the loss. Once the margin is 1, slack rescaling asks for nothing more, while margin rescaling pays
# until the margin is as large as the loss.

margin = np.linspace(-1, 6, 200)
figure, axes = plt.subplots(1, 2, figsize=(7, 3.7))
for ax, loss in zip(axes, (2, 5), strict=True):
    ax.plot(margin, np.maximum(0, loss - margin), color="C0", label="margin rescaling: max(0, Δ − margin)")
    ax.plot(margin, loss * np.maximum(0, 1 - margin), "--", color="C1", label="slack rescaling: Δ · max(0, 1 − margin)")
    ax.step([-1, 0, 6], [loss, loss, 0], where="pre", color="0.4", linewidth=1.2, label="loss Δ")
    ax.set(title=f"A mistake that costs {loss}", xlabel="margin")
axes[0].set_ylabel("what training pays")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center")

# %%
# Handwritten digits as numbers: to read a 9 as an 8 costs 1, to read it as a 0 costs 9. Models for a range of C, with
# few training examples.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=400, stratify=y, random_state=0)
costs = np.abs(np.subtract.outer(np.arange(10), np.arange(10))).astype(float)
Cs = np.logspace(-0.5, 3.5, 9)
paths = {
    how: [mm.MulticlassSVC(C=C, costs=costs, rescaling=how).fit(X_train, y_train) for C in Cs]
    for how in ("margin", "slack")
}
lost = {how: [np.mean(np.abs(model.predict(X_test) - y_test)) for model in path] for how, path in paths.items()}
best = {how: paths[how][int(np.argmin(values))] for how, values in lost.items()}
for how, model in best.items():
    wrong = np.mean(model.predict(X_test) != y_test)
    print(f"{how} rescaling at its best C = {model.C:.3g}: mean cost {min(lost[how]):.3f}, {wrong:.1%} wrong digits")

# %%
# On the left, the mean cost of new digits: with margin rescaling a small C does not pay for margins of up to 9, and the
# model answers with numbers from the middle. At their best C the two differ little; it is chosen on the test digits
# here, which flatters both. On the right, the margins that these best models have on the training digits, by the cost
# of the wrong answer: with slack rescaling they are the same for all costs; with margin rescaling they are larger, and
# most so for the highest costs.

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.9))
for how, style in zip(paths, ("o-", "s--"), strict=True):
    left.plot(Cs, lost[how], style, label=f"{how} rescaling")
    scores = best[how].decision_function(X_train)
    gaps = scores[np.arange(len(y_train)), y_train][:, None] - scores
    means = [gaps[costs[y_train] == cost].mean() for cost in range(1, 10)]
    right.plot(range(1, 10), means, style)
left.set(title="Mean cost of a new digit", xlabel="C", xscale="log", ylim=(0, None))
right.set(title="Mean margin in training", xlabel="cost of the wrong answer", xticks=range(1, 10), ylim=(0, None))
figure.legend(loc="outside lower center", ncols=2)
plt.show()
