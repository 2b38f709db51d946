"""
Hierarchical classification: classes in a taxonomy
==================================================

Twenty-seven classes in a tree of three levels. The tree serves twice: classes below one node share that node's weights,
and a mistake costs the height of the first common ancestor of the two classes. Four models use the
tree for neither, one or both of these, like the columns of a table in Tsochantaridis et al. (2004).
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.metrics import tree_loss

plt.style.use(mm.plotting.STYLE)
# sphinx_gallery_thumbnail_number = 2

# %%
# Classes that are close in the tree look alike: every node moves the centres of all classes below it. The names of the
# classes are paths such as "2.0.1", so a separator says all about the taxonomy.

LEAVES = [f"{a}.{b}.{c}" for a in range(3) for b in range(3) for c in range(3)]
rng = np.random.default_rng(0)
moves = {leaf[: 2 * k + 1]: 0.7**k * rng.standard_normal(30) for leaf in LEAVES for k in range(3)}
centres = {leaf: moves[leaf[:1]] + moves[leaf[:3]] + moves[leaf] for leaf in LEAVES}


def draw(per_class):
    y = np.repeat(LEAVES, per_class)
    return np.array([centres[leaf] for leaf in y]) + 1.5 * rng.standard_normal((len(y), 30)), y


MODELS = {
    "flat, 0/1 loss": mm.TaxonomySVC(".", sharing=0, measure="error", tol=1e-2),
    "shared, 0/1 loss": mm.TaxonomySVC(".", measure="error", tol=1e-2),
    "flat, tree loss": mm.TaxonomySVC(".", sharing=0, tol=1e-2),
    "shared, tree loss": mm.TaxonomySVC(".", tol=1e-2),
}

# %%
# Each model with the C that has the lowest tree loss on validation data; means over several training sets.

X_valid, y_valid = draw(20)
X_test, y_test = draw(60)
sizes, repeats = [2, 4, 8, 16], 3
costs = np.array([[tree_loss([a], [b], ".") for b in LEAVES] for a in LEAVES])
losses = {name: np.zeros(len(sizes)) for name in MODELS}
heights = {name: np.zeros(4) for name in MODELS}  # how many classes found from four examples are how far away
for k, size in enumerate(sizes):
    for _ in range(repeats):
        X, y = draw(size)
        for name, model in MODELS.items():
            path = model.fit_path(X, y, [3.0, 10.0, 30.0, 100.0])
            best = min(path, key=lambda step: tree_loss(y_valid, step.predict(X_valid), "."))
            away = costs[np.searchsorted(LEAVES, y_test), np.searchsorted(LEAVES, best.predict(X_test))]
            losses[name][k] += np.mean(away) / repeats
            if size == 4:
                heights[name] += np.bincount(away.astype(int), minlength=4) / len(away) / repeats
for name, found in losses.items():
    print(f"{name:24s}", "  ".join(f"{size} per class: {loss:.2f}" for size, loss in zip(sizes, found, strict=True)))

# %%
# What each model pays: training for the tree loss helps most, and sharing weights helps where examples are few.

fig, ax = plt.subplots(figsize=(7, 3.8))
for (name, found), style in zip(losses.items(), ("o--", "o-", "s--", "s-"), strict=True):
    ax.plot(sizes, found, style, color="C0" if "0/1" in name else "C1", label=name)
ax.set(title="Mean tree loss on test data", xlabel="training examples per class", xscale="log", ylim=(0, None))
ax.set_xticks(sizes, map(str, sizes))
ax.minorticks_off()
ax.legend(loc="lower left", ncols=2)

# %%
# Which mistakes they make. A mistake below a common parent (height 1) costs 1, one across the whole tree costs 3.

fig, ax = plt.subplots(figsize=(7, 3.4))
shares, below = 100 * np.array(list(heights.values())), np.zeros(len(MODELS))
for height, colour in zip((3, 2, 1), ("#08519c", "#6baed6", "#c6dbef"), strict=True):
    ax.barh(list(heights), shares[:, height], left=below, color=colour, label=f"height {height}")
    below += shares[:, height]
ax.set(title="Mistakes with four examples per class", xlabel="% of the test examples, by first common ancestor")
ax.grid(axis="y", visible=False)
ax.invert_yaxis()
fig.legend(loc="outside lower center", ncols=3)
plt.show()
