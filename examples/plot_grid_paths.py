"""
Inverse shortest paths: what terrain costs, learnt from walked paths
====================================================================

Somebody has walked across maps of grass, sand, forest, rock and water, more or less steep, and always took the cheapest
way. What a cell costs was not written down. The parts of a path are its cells, and the decoder is dynamic programming:
from left to right, straight on or diagonally.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patheffects import withStroke
from scipy.ndimage import gaussian_filter

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)


def best_path(scores, x):
    """The path with the highest total score. Cell i of column j is part j * rows + i: parts in the order of walking."""
    by_column = scores.reshape(x.shape[:2])
    columns, rows = by_column.shape
    total, came = by_column[0], []
    for column in by_column[1:]:
        padded = np.pad(total, 1, constant_values=-np.inf)
        ways = np.stack([padded[:-2], padded[1:-1], padded[2:]])  # from above, straight on, from below
        came.append(np.arange(rows) + ways.argmax(axis=0) - 1)
        total = column + ways.max(axis=0)
    path = [total.argmax()]
    for before in came[::-1]:
        path.append(before[path[-1]])
    return np.arange(columns) * rows + path[::-1]


def cells(x):
    return x.reshape(-1, x.shape[2])


# %%
# Maps are smooth noise: five columns that say which terrain it is, and how steep. The walkers misjudge every cell a
# little, so that no costs explain all of their paths.

TERRAIN = {"grass": "#a7d17d", "sand": "#f0dfa0", "forest": "#4f8a4f", "rock": "#9a9a9a", "water": "#6fa8dc"}
COSTS = np.array([1.0, 1.5, 2.5, 4.0, 7.0, 2.0])  # hidden; the last is that of steepness
rng = np.random.default_rng(1)


def walked(shape=(40, 16)):
    fields = gaussian_filter(rng.standard_normal((*shape, 6)), (1.5, 1.5, 0))
    x = np.dstack([np.eye(5)[fields[..., :5].argmax(axis=2)], 5 * np.abs(fields[..., 5])])
    return x, best_path(-cells(x) @ COSTS - 0.1 * rng.standard_normal(shape).ravel(), x)


(X, Y), (X_test, Y_test) = (zip(*[walked() for _ in range(n)], strict=True) for n in (40, 100))
model = mm.StructuredSVM(mm.tasks.Parts(best_path, parts=cells), C=100).fit(X, Y)
print(model.certificate_)

# %%
# Against two guesses: flat land is good land, and a terrain is the better the more often it was walked on, compared
# with how much of it there is.

on_path = np.mean([cells(x)[y].mean(axis=0) for x, y in zip(X, Y, strict=True)], axis=0)
everywhere = np.mean([cells(x).mean(axis=0) for x in X], axis=0)
guesses = {"steepness alone": -np.eye(6)[5], "frequencies": np.log(on_path / everywhere) * (np.arange(6) < 5)}
found = {name: [model.task_.argmax(w, x) for x in X_test] for name, w in {**guesses, "learnt": model.w_}.items()}
found["cheapest"] = [best_path(-cells(x) @ COSTS, x) for x in X_test]
cost = {k: sum((cells(x)[z] @ COSTS).sum() for x, z in zip(X_test, zs, strict=True)) for k, zs in found.items()}
for name, paths in found.items():
    shared = np.mean([np.isin(z, y).mean() for z, y in zip(paths, Y_test, strict=True)])
    print(f"{name}: {shared:.0%} of the cells as walked, {cost[name] / cost['cheapest'] - 1:.1%} dearer than need be")

# %%
# A map that training has not seen; steep cells are darker. The learnt path follows the walked one nearly everywhere.

figure, ax = plt.subplots(figsize=(7, 3.4))
ax.imshow(X_test[0][..., :5].argmax(axis=2).T, cmap=ListedColormap(list(TERRAIN.values())), vmin=0, vmax=4)
ax.imshow(X_test[0][..., 5].T, cmap="Greys", alpha=0.25)
found["walked"] = Y_test
for name, style in {"walked": "k-", "frequencies": "C1:", "learnt": "C0--"}.items():
    halo = [withStroke(linewidth=5, foreground="white")] if name == "walked" else None
    ax.plot(found[name][0] // 16, found[name][0] % 16, style, linewidth=2.8, path_effects=halo, label=name)
ax.set(xticks=[], yticks=[])
figure.legend(loc="outside lower center", ncols=3)

# %%
# Costs of the terrains above that of grass, and of steepness; the learnt ones are scaled so that water agrees.

figure, ax = plt.subplots(figsize=(7, 3.2))
learnt, names = model.w_[0] * (np.arange(6) < 5) - model.w_, [*TERRAIN, "steep"]
ax.bar(np.arange(6) - 0.2, COSTS - (np.arange(6) < 5), 0.38, color="0.75", label="hidden")
ax.bar(np.arange(6) + 0.2, learnt * 6 / learnt[4], 0.38, color=[*TERRAIN.values(), "0.3"], label="learnt, scaled")
ax.set_xticks(np.arange(6), names)
ax.set(title="Costs, above those of grass")
ax.grid(axis="x", visible=False)
ax.legend()
plt.show()
