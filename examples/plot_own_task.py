"""
Write your own task: match two sets of points
=============================================

The same points were measured twice, with noise, and in another order. Which point is which? An output is a whole
assignment; the best one is found by scipy. Learning decides how much each measured property counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)
# sphinx_gallery_thumbnail_number = 2


class Matching(mm.Task):
    """x[i, j] are the features of pairing i with j; an output z assigns z[i] to i; every wrong pair costs 1."""

    def setup(self, X, Y):
        self.dim = X[0].shape[2]

    def psi(self, x, z):
        return x[np.arange(len(z)), z].sum(axis=0)

    def loss(self, y, z):
        return float(np.count_nonzero(y != z))

    def argmax(self, w, x, y=None):
        scores = x @ w
        if y is not None:  # a wrong pair costs 1: it is the truth's cell that gets nothing
            scores = scores + 1.0
            scores[np.arange(len(y)), y] -= 1.0
        return linear_sum_assignment(scores, maximize=True)[1]


# %%
# Eight properties per point. The first two are measured well, the others badly.

rng = np.random.default_rng(0)
NOISE = np.array([0.1, 0.1, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0])


def pair_of_sets(n_points=12):
    points = rng.standard_normal((n_points, len(NOISE)))
    order = rng.permutation(n_points)
    again = (points + NOISE * rng.standard_normal(points.shape))[order]
    return points, again, np.argsort(order)  # point i is again[y[i]]


train, test = [pair_of_sets() for _ in range(40)], [pair_of_sets() for _ in range(100)]
X, X_test = [[-((a[:, None] - b[None]) ** 2) for a, b, _ in sets] for sets in (train, test)]
Y, Y_test = [[y for _, _, y in sets] for sets in (train, test)]

model = mm.StructuredSVM(Matching(), C=10).fit(X, Y)
print(model.certificate_)

# %%
# Against the obvious choice, in which all properties count the same.

equal = [model.task_.argmax(np.ones(len(NOISE)), x) for x in X_test]
learnt = model.predict(X_test)
share = {name: np.mean(np.stack(found) != Y_test) for name, found in {"equal": equal, "learnt": learnt}.items()}
print(f"wrong pairs: {share['equal']:.1%} with equal weights, {share['learnt']:.1%} with learnt ones")

fig, ax = plt.subplots(figsize=(7, 3.2))
ax.bar(np.arange(len(NOISE)), model.w_, tick_label=[f"{noise:g}" for noise in NOISE])
ax.set(xlabel="noise of the property", title="Learnt weight of every property")
ax.grid(axis="x", visible=False)

# %%
# One test pair, drawn by its two best properties. Lines join points that were matched, in green where that is right;
# right partners are close to each other, so that the lines that can be seen are mostly wrong ones.

fig, axes = plt.subplots(1, 2, figsize=(7, 4))
for ax, found, title in zip(axes, (equal[0], learnt[0]), ("Equal weights", "Learnt weights"), strict=True):
    points, again, truth = test[0]
    for i, j in enumerate(found):
        ax.plot(*np.array([points[i, :2], again[j, :2]]).T, color="C2" if j == truth[i] else "C1")
    ax.scatter(*points[:, :2].T, zorder=2, color="C0", label="first measurement")
    ax.scatter(*again[:, :2].T, zorder=2, facecolor="white", edgecolor="C0", marker="s", label="second measurement")
    ax.set(
        title=f"{title}: {np.count_nonzero(found != truth)} of {len(truth)} wrong", xticks=[], yticks=[], frame_on=False
    )
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()
