"""
Predict, then optimise: cheap hours for a boiler, learnt from prices
====================================================================

A boiler needs three runs of two hours a day, with pauses between them. Power prices of the next day are not known in
the evening, but forecasts of demand, wind and sun are. Prices rise steeply when little is left of cheap power: a linear
model that has to get the peaks right has little left for telling one cheap hour from another, and nothing else matters
to a boiler. ``CostLearner`` is given the schedules that are possible and learns weights for choosing among them.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

HOURS = np.arange(24)


class Boiler:
    """All schedules are listed: 969 of them, so that the best of many days is one product of matrices."""

    n_parts, same_size = 24, True

    def __init__(self):
        starts = [s for s in combinations(range(23), 3) if min(np.diff(s)) >= 3]
        self.schedules = np.array([np.isin(HOURS, [*s, *np.add(s, 1)]) for s in starts], dtype=float)

    def __call__(self, prices):
        return self.solve_many(prices[None])[0]

    def solve_many(self, prices):
        return self.schedules[np.argmin(prices @ self.schedules.T, axis=1)]


# %%
# Days of made-up weather. Features are those of an hour; all hours share one weight vector.

rng = np.random.default_rng(0)


def days(n):
    level = rng.normal(0, 0.35, (n, 1))
    demand = 1.9 + level + 0.5 * np.sin((HOURS - 8) / 24 * 2 * np.pi) + 0.35 * np.exp(-((HOURS - 18.5) ** 2) / 6)
    wind = np.abs(rng.normal(0.6, 0.3, (n, 1)) + np.cumsum(rng.normal(0, 0.08, (n, 24)), axis=1))
    sun = rng.beta(2, 1.5, (n, 1)) * np.clip(np.sin((HOURS - 6) / 12 * np.pi), 0, None)
    residual = demand - wind - sun
    price = 20 + 12 * np.exp(1.4 * residual) * rng.uniform(0.85, 1.15, residual.shape)
    forecasts = [demand + rng.normal(0, 0.03, demand.shape), wind, sun, demand**2]
    return np.stack(forecasts, axis=2), price


boiler = Boiler()
X_test, price_test = days(1000)

# %%
# From ten days to a year, ten times each: what the schedules cost more than the best ones, in per cent.

sizes, results = [10, 20, 45, 90, 180, 365], []
for n in sizes:
    found = []
    for _ in range(10):
        X, price = days(n)
        learner = mm.CostLearner(boiler, C=1000).fit(X, price)
        squares = LinearRegression().fit(X.reshape(-1, 4), price.ravel())
        by_squares = squares.predict(X_test.reshape(-1, 4)).reshape(price_test.shape)
        predicted = by_squares, learner.predict_costs(X_test)
        found.append([100 * mm.metrics.regret(boiler, prices, price_test) for prices in predicted])
    results.append(np.mean(found, axis=0))
    print(f"{n} days: {results[-1][0]:.2f}% above the best by least squares, {results[-1][1]:.2f}% by CostLearner")
print(learner.certificate_)

# %%
# One of the days on which the learnt schedule saves most: power is dear in the evening, which both models know, and the
# cheap hours differ little, which only one of them gets right.

plans = {"least squares": boiler.solve_many(by_squares), "CostLearner": learner.predict(X_test)}
extra = np.sum((plans["least squares"] - plans["CostLearner"]) * price_test, axis=1)
day = np.argsort(extra)[-50]
figure, ax = plt.subplots(figsize=(7, 4.2))
ax.step(HOURS, price_test[day], where="mid", color="0.4", label="price of the day")
unit = price_test[day].max() / 18
for k, (name, plan) in enumerate({**plans, "best": boiler.solve_many(price_test)}.items()):
    chosen, cost = HOURS[plan[day] > 0], plan[day] @ price_test[day] / 6
    ax.bar(chosen, unit, 1.0, bottom=-1.4 * unit * (k + 1), color=f"C{k}", label=f"{name}: {cost:.1f} per hour")
ax.set(title="Prices, and the hours that were chosen", xlabel="hour", ylabel="price", xticks=HOURS[::3])
ax.set_yticks(range(0, int(price_test[day].max()) + 1, 50))
ax.legend(loc="upper left")

# %%
# What the schedules of 1000 other days cost more than the best ones, over the days of training.

figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(sizes, results, "o-", label=["least squares", "CostLearner"])
ax.set(xscale="log", xlabel="days of training", title="Cost above the best schedule, %", ylim=(0, None))
ax.set_xticks(sizes, map(str, sizes))
ax.minorticks_off()
ax.legend(loc="center right")
plt.show()
