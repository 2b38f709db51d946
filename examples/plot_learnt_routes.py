"""
Decision-focused learning: travel times learnt for the way, not for the clock
=============================================================================

A courier crosses a town every day, from the upper left to the lower right. How long every street takes depends on rain,
traffic, markets and the like, which add up until a street is jammed: no linear model gets that right. Two models with
the same features and as many weights choose the ways. One predicts the minutes of every street as well as it can (least
squares). The other, ``CostLearner``, is trained for the ways that come out.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.linear_model import LinearRegression

import maxmargin as mm
from maxmargin.optimisers import GridPath

plt.style.use(mm.plotting.STYLE)

SIZE, FACTORS = 10, 5
rng = np.random.default_rng(3)
town = GridPath(SIZE, SIZE)
ends = np.array(town.arcs)  # (streets, 2, 2): where every street begins and ends, as row and column
row, column = (2 * ends.mean(axis=1)).astype(int).T

# %%
# Quarters suffer differently from every factor: five smooth maps.

maps = gaussian_filter(rng.standard_normal((2 * SIZE, 2 * SIZE, FACTORS)), (3, 3, 0))
sensitivity = (maps / maps.std(axis=(0, 1)))[row, column]


def minutes_of(X):
    return 2 + ((X @ sensitivity.T / np.sqrt(FACTORS) + 3) / 3) ** 6


def days(n):
    X = np.clip(rng.standard_normal((n, FACTORS)), -2, 2)
    means = minutes_of(X)
    return X, means * rng.uniform(0.75, 1.25, means.shape)


(X, minutes), (X_test, minutes_test) = days(500), days(1000)
learner = mm.CostLearner(town, C=1000).fit(X, minutes)
print(learner.certificate_)
predicted = {
    "least squares": LinearRegression().fit(X, minutes).predict(X_test),
    "CostLearner": learner.predict_costs(X_test),
}
best = np.sum(town.solve_many(minutes_test) * minutes_test, axis=1)
ways = {name: town.solve_many(costs) for name, costs in predicted.items()}
lost = {name: np.sum(z * minutes_test, axis=1) - best for name, z in ways.items()}
for name, each in lost.items():
    print(f"{name}: ways take {each.sum() / best.sum():.1%} longer than need be")

# %%
# Two of the days on which the models differ: of all such days in the order of what CostLearner saves, one a tenth from
# the top, and one a tenth from the bottom. (Streets are coloured by what they took on that day.)

saved = lost["least squares"] - lost["CostLearner"]
differing = np.flatnonzero((ways["least squares"] != ways["CostLearner"]).any(axis=1))
order = differing[np.argsort(-saved[differing])]
shown = {"A good day for CostLearner": order[len(order) // 10], "A bad day for it": order[9 * len(order) // 10]}
COLOURS = {"least squares": "C0", "CostLearner": "C2", "best": "black"}

figure, axes = plt.subplots(1, 2, figsize=(7, 4.8))
for ax, (title, day) in zip(axes, shown.items(), strict=True):
    for (begin, end), cost in zip(ends, minutes_test[day], strict=True):
        colour = plt.cm.YlOrBr(0.05 + 0.7 * min(1.0, cost / np.quantile(minutes_test[day], 0.9)))
        ax.plot(*zip(begin[::-1], end[::-1], strict=True), color=colour, linewidth=5, solid_capstyle="round", zorder=1)
    routes = {**{name: z[day] for name, z in ways.items()}, "best": town(minutes_test[day])}
    for (name, z), style, shift in zip(routes.items(), ("--", "-", ":"), (0.12, -0.12, 0.0), strict=True):
        nodes = np.unique(ends[z > 0].reshape(-1, 2), axis=0)
        nodes = nodes[np.argsort(nodes.sum(axis=1))] + shift
        label = f"{name}: {minutes_test[day] @ z:.0f} min"
        ax.plot(nodes[:, 1], nodes[:, 0], style, color=COLOURS[name], linewidth=2.5, label=label)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal", frame_on=False)
    ax.invert_yaxis()
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0))

# %%
# What was lost on all test days, in minutes above the best way, each model's days in its own order. Note the scale: the
# means are made by the worst days, on which streets are jammed.

figure, ax = plt.subplots(figsize=(7, 3.8))
for name, each in lost.items():
    label = f"{name}: {each.mean():.1f} minutes in the mean"
    ax.plot(np.linspace(0, 100, len(each)), np.sort(each), color=COLOURS[name], label=label)
ax.set(xlabel="test days, from good to bad (%)", title="Minutes lost", yscale="symlog", ylim=(0, None))
ax.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
ax.legend(loc="upper left")
plt.show()
