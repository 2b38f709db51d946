"""Costs of ways through a grid, predicted by a network, beside the linear model with the same loss.

The synthetic problem of decisions.py: five features, and costs that are a polynomial of them of degree 1, 4 or 6, with
noise. The network has one hidden layer of 64 units; Adam, 60 epochs in batches of 32. The linear model is CostLearner.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.timing import Report, cpu_seconds

PROBLEMS = ("neural-paths",)
DEGREES, SEEDS, TRAINING, TEST, SIDE, HIDDEN, EPOCHS, RATE, BATCH = (1, 4, 6), 3, 1000, 2000, 5, 64, 60, 3e-3, 32
LOSSES = ("spo_plus", "perturbed", "mean squared error")


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Train all models, and tabulate the normalised regret of new decisions."""
    import torch

    from benchmarks.neural_encoders import tabulated, with_error
    from maxmargin import CostLearner
    from maxmargin.optimisers import GridPath

    torch.set_num_threads(1)
    grid, rows = GridPath(SIDE, SIDE), []
    for degree in DEGREES[-1:] if quick else DEGREES:
        regrets: dict[str, list[float]] = {}
        seconds: dict[str, list[float]] = {}
        for seed in range(1 if quick else SEEDS):
            report(f"{name}: degree {degree}, seed {seed}")
            X, costs = problem(seed, degree, grid.n_parts)
            train, test = (X[:TRAINING], costs[:TRAINING]), (X[TRAINING:], costs[TRAINING:])
            linear = CostLearner(grid, C=100.0)
            _, took = cpu_seconds(lambda linear=linear, own=train: linear.fit(*own))
            found = {"linear, CostLearner": (linear.predict_costs(test[0]), took)}
            for loss in LOSSES:
                torch.manual_seed(seed)
                network, took = cpu_seconds(
                    lambda loss=loss, train=train: fit(grid, loss, *train, 2 if quick else EPOCHS)
                )
                with torch.no_grad():
                    found[f"network, {loss}"] = (network(torch.tensor(test[0])).numpy(), took)
            for what, (predicted, took) in found.items():
                regrets.setdefault(what, []).append(100 * regret(grid, predicted, test[1]))
                seconds.setdefault(what, []).append(took)
        rows += [(f"{degree}", what, with_error(regrets[what]), with_error(seconds[what], 1)) for what in regrets]
    return tabulated(f"{name}: grids of {SIDE} × {SIDE} nodes", ("degree", "model", "regret %", "CPU s"), rows)


def problem(seed: int, degree: int, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features and costs."""
    rng = np.random.default_rng(seed)
    B, X = rng.binomial(1, 0.5, (n_parts, 5)), rng.standard_normal((TRAINING + TEST, 5))
    costs = ((X @ B.T / np.sqrt(5) + 3) ** degree + 1) / 3.5**degree * rng.uniform(0.5, 1.5, (len(X), n_parts))
    return X, costs


def regret(grid: Any, predicted: np.ndarray, costs: np.ndarray) -> float:
    """Return what the decisions cost above the best ones, as a share of what these cost."""
    found, best = (np.einsum("np,np->n", costs, grid.solve_many(each)) for each in (predicted, costs))
    return float((found - best).sum() / best.sum())


def fit(grid: Any, loss: str, X: np.ndarray, costs: np.ndarray, epochs: int) -> Any:
    """Train a network that predicts costs."""
    import torch
    from torch import nn

    from maxmargin.neural import Perturbed
    from maxmargin.tasks import DecisionSpace
    from maxmargin.torch import StructuredLoss

    size = float(costs.mean())
    network = nn.Sequential(nn.Linear(5, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, costs.shape[1])).double()
    layer = StructuredLoss(Perturbed(scale=0.5 * size, n_samples=5) if loss == "perturbed" else "spo_plus")
    optimiser, order = torch.optim.Adam(network.parameters(), lr=RATE), np.random.default_rng(0)
    given, known = torch.tensor(X), torch.tensor(costs)
    for _ in range(epochs):
        index = order.permutation(len(X))
        for i in range(0, len(index), BATCH):
            some = index[i : i + BATCH]
            optimiser.zero_grad()
            predicted = network(given[some])
            if loss == "mean squared error":
                value = ((predicted - known[some]) ** 2).mean()
            else:
                value = layer(DecisionSpace.of_costs(grid, costs[some]), predicted)
            value.backward()
            optimiser.step()
    return network
