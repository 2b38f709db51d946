"""
Supervised clustering: learn which links hold a cluster together
================================================================

Some sets of items come with their clusters; how to cluster new sets? All that is known of items are features of pairs.
The points below lie on winding walks, one walk a cluster: its two ends are far apart and nearer to other walks, so that
most pairs of a cluster look as if they did not belong together. What holds a walk together are links from point to
point, and which ones they are is found in training.
"""

# %%
# Features of a pair: the distance of two points, whether their colours differ (one colour in ten is wrong), and noise.

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import ClusterDisplay

plt.style.use(mm.plotting.STYLE)


def walks(n, seed):
    rng = np.random.default_rng(seed)
    places, X, Y = [], [], []
    for _ in range(n):
        points, labels, colours = [], [], []
        for k in range(5):
            at, direction = rng.random(2) * 4, rng.random() * 2 * np.pi
            for _ in range(rng.integers(5, 20)):
                points.append(at)
                labels.append(k)
                colours.append(k if rng.random() < 0.9 else rng.integers(5))
                direction += 0.4 * rng.normal()
                at = at + 0.25 * np.array([np.cos(direction), np.sin(direction)])
        points, colours = np.array(points), np.array(colours)
        distance = np.linalg.norm(points[:, None] - points[None, :], axis=2)
        differ, noise = colours[:, None] != colours[None, :], np.triu(rng.normal(size=distance.shape), 1)
        X.append(np.stack([distance, differ, noise + noise.T], axis=2))
        Y.append(labels)
        places.append(points)
    return places, X, Y


_, X_train, Y_train = walks(20, seed=0)
places, X_test, Y_test = walks(20, seed=1)

# %%
# A small penalty of wrong links makes the model link more, a large one less.

for penalty in (0.1, 1, 3):
    model = mm.Clusterer(C=10, penalty=penalty).fit(X_train, Y_train)
    found = model.predict(X_test)
    muc = mm.metrics.muc(Y_test, found)
    print(
        f"penalty {penalty}: B³ F1 {model.score(X_test, Y_test):.1%}, "
        f"of the links {muc.recall:.1%} found and {muc.precision:.1%} right; {model.certificate_.rounds} rounds"
    )
print(f"weights: distance {model.coef_[0]:.2f}, colour {model.coef_[1]:.2f}, noise {model.coef_[2]:.2f}")

# %%
# One set of five walks, each in a colour of its own. Points that are joined by links are a predicted cluster: those of
# the last model are pieces of walks, while distances alone join walks where they meet.

alone = mm.Clusterer(C=10, penalty=3).fit([x[:, :, :1] for x in X_train], Y_train)
figure, axes = plt.subplots(1, 2, figsize=(7, 4.4))
SHOWN = 2
for ax, each, x, name in (
    (axes[0], model, X_test[SHOWN], "All features"),
    (axes[1], alone, X_test[SHOWN][:, :, :1], "Distances alone"),
):
    display = ClusterDisplay.from_estimator(each, x, Y_test[SHOWN], points=places[SHOWN]).plot(ax)
    ax.set_title(f"{name}: {display.wrong.sum()} of {len(display.links)} links wrong", fontsize=10)
    legend = ax.get_legend()
    legend.remove()
figure.legend(
    legend.legend_handles, [text.get_text() for text in legend.get_texts()], loc="outside lower center", ncols=3
)
plt.show()
