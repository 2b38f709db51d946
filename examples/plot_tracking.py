"""
Object tracking as assignment: which dot is which in the next frame
===================================================================

Dots move between two frames; some leave, others appear. A dot of the first frame is paired with one of the second or
ends, and a dot of the second that has no partner is new. The parts are all pairs, ends and beginnings; scipy finds the
best assignment. The structural SVM learns how far dots move, in which direction they drift, how much their sizes vary,
and when it is better to end one track and begin another.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)


def best_assignment(scores, frames):
    """Pair (i, j) is part i * m + j; then come n ends and m beginnings."""
    n, m = map(len, frames)
    pairs, ends, starts = np.split(scores, [n * m, n * m + n])
    table = np.zeros((n + m, m + n))
    table[:n, :m] = pairs.reshape(n, m)
    table[:n, m:], table[n:, :m] = ends[:, None], starts[None]
    rows, columns = linear_sum_assignment(table, maximize=True)
    parts = np.where(columns < m, rows * m + columns, n * m + rows)
    parts[rows >= n] = n * m + n + columns[rows >= n]
    return parts[(rows < n) | (columns < m)]


def parts(frames):
    """Of a pair: 1, minus its squared steps in x, y and size, its step in x. Of an end: 1. Of a beginning: 1."""
    n, m = map(len, frames)
    step = (frames[1][None] - frames[0][:, None]).reshape(-1, 3)
    rows = np.zeros((n * m + n + m, 7))
    rows[: n * m, :5] = np.column_stack([np.ones(n * m), -(step**2), step[:, 0]])
    rows[n * m : n * m + n, 5], rows[n * m + n :, 6] = 1, 1
    return rows


# %%
# Dots drift to the right, more or less, and keep their sizes, nearly. One in five is lost, and as many are new.

rng = np.random.default_rng(0)


def scene(n=14):
    dots = rng.uniform(0, [10, 6, 2], (n, 3))
    moved = dots + rng.normal([1.5, 0, 0], [0.8, 0.3, 0.15], (n, 3))
    kept = np.flatnonzero(rng.random(n) < 0.8)
    new = rng.uniform(0, [10, 6, 2], (rng.integers(0, 6), 3))
    order = rng.permutation(m := len(kept) + len(new))
    place = np.argsort(order)  # of each dot of the second frame
    lost = n * m + np.setdiff1d(np.arange(n), kept)
    y = np.concatenate([kept * m + place[: len(kept)], lost, n * m + n + place[len(kept) :]])
    return (dots, np.concatenate([moved[kept], new])[order]), y


(X, Y), (X_test, Y_test) = (zip(*[scene() for _ in range(n)], strict=True) for n in (60, 100))
model = mm.StructuredSVM(mm.tasks.Parts(best_assignment, parts), C=100).fit(X, Y)
print(model.certificate_)

# %%
# Against nearest places: the smallest sum of squared distances, no pair further apart than the best limit.


def mistakes(w):
    found = [model.task_.argmax(np.asarray(w, dtype=float), x) for x in X_test]
    return found, np.mean([len(np.setdiff1d(y, z)) / len(y) for y, z in zip(Y_test, found, strict=True)])


near, naive = min((mistakes([0, 1, 1, 0, 0, -limit, -limit]) for limit in (0.5, 1, 2, 4)), key=lambda each: each[1])
learnt, share = mistakes(model.w_)
print(f"wrong pairs, ends and beginnings: {naive:.1%} by distance alone, {share:.1%} learnt")

# %%
# The scene in which learning helps most. Arrows join a dot to its place in the second frame; dots without an arrow are
# lost or new.

figure, axes = plt.subplots(2, 1, figsize=(7, 7))
i = int(np.argmax([np.isin(a, y).sum() - np.isin(b, y).sum() for a, b, y in zip(learnt, near, Y_test, strict=True)]))
(first, second), (n, m) = X_test[i], map(len, X_test[i])
for ax, z, title in ((axes[0], near[i], "Distance alone"), (axes[1], learnt[i], "Learnt")):
    ax.scatter(*first[:, :2].T, 60 * first[:, 2] + 10, color="0.7", label="first frame")
    ax.scatter(*second[:, :2].T, 60 * second[:, 2] + 10, facecolor="none", edgecolor="k", label="second frame")
    for colour, is_right in (("C2", True), ("C1", False)):
        ax.plot([], [], color=colour, label="right pair" if is_right else "wrong pair")
        for part in z[(z < n * m) & (np.isin(z, Y_test[i]) == is_right)]:
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6}
            ax.annotate("", second[part % m, :2], first[part // m, :2], arrowprops=arrow)
    ax.set(title=f"{title}: {np.isin(z, Y_test[i], invert=True).sum()} of {len(z)} parts wrong", xticks=[], yticks=[])
    ax.set_frame_on(False)
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()
