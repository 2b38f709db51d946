"""
Route recommendation: learn where travellers go
===============================================

A city has twelve sights. Travellers like some kinds of sights more than others, and do not like to walk far. What a
traveller likes is known; how tastes and distances lead to a route has to be learnt from the routes of others. There are
a billion possible routes. Training compares the known ones with all of them at once, by counting, and never searches
for one.
"""

# %%
# Travellers with three tastes (old things, green places, food), each of whom takes the best route of some length.

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.counting.decoders.routes import best_route
from maxmargin.plotting import RouteDisplay

plt.style.use(mm.plotting.STYLE)

rng = np.random.default_rng(4)
names = ["castle", "abbey", "museum", "ruin", "park", "lake", "garden", "hill", "market", "harbour", "brewery", "café"]
grid = np.array([(x, y) for x in range(4) for y in range(3)]) / 3
places = dict(zip(names, grid[rng.permutation(12)] + rng.uniform(-0.1, 0.1, (12, 2)), strict=True))
xy = np.array(list(places.values()))
distance = np.linalg.norm(xy[:, None] - xy[None], axis=2)
kinds = np.repeat(np.eye(3), 4, axis=0)  # four sights of each kind


def travellers(n):
    tastes, routes = rng.dirichlet([0.5, 0.5, 0.5], n), []
    for taste in tastes:
        pleasure = kinds @ taste + 0.1 * rng.normal(size=12)
        found = best_route(-distance, pleasure, length=int(rng.integers(3, 6)))
        routes.append([names[k] for k in found.path])
    return tastes, routes


X, routes = travellers(300)
X_new, truth = travellers(100)

# %%
# A route is asked for by its start and its length. Without tastes there is one answer for all travellers.

starts, lengths = [route[0] for route in truth], [len(route) for route in truth]
for what, kernel, rows, new in (("no features", "linear", None, None), ("tastes", "rbf", X, X_new)):
    model = mm.RoutePredictor(places, kernel=kernel, gamma=2.0, alpha=1.0).fit(rows, routes)
    found = model.predict(new, start=starts, length=lengths)
    points, pairs = mm.metrics.point_f1(truth, found), mm.metrics.pair_f1(truth, found)
    print(f"{what}: F1 of points {points:.2f}, of ordered pairs {pairs:.2f}")
print(model.certificate_)

# %%
# Two travellers: what they did, and what the model expects of them. Popular sights are large. This is one of the worst
# predictions.

order = np.argsort([mm.metrics.pair_f1([y], [z]) for y, z in zip(truth, found, strict=True)])


def draw(i):
    display = RouteDisplay.from_estimator(model, X_new[i], truth[i], start=starts[i], length=lengths[i]).plot()
    likes = ", ".join(f"{share:.0%} {kind}" for share, kind in zip(X_new[i], ("old", "green", "food"), strict=True))
    display.ax_.set_title(f"A traveller who likes: {likes}")


draw(order[2])

# %%
# And one that is nearly right.

draw(order[15])
plt.show()
