"""Decisions by predicted costs: CostLearner beside regression, and beside training by gradients.

The synthetic problems of Elmachtoub and Grigas (2022) in the form that PyEPO gives them: five features x, and costs of
every part that are a polynomial of a random combination of these, of degree 1, 2, 4 or 6, times uniform noise of width
0.5. All models are linear in x, so that they are right at degree 1 and wrong elsewhere. The problems: cheapest ways
through a grid of 5 × 5 nodes; knapsacks of 32 things with two kinds of weight; assignments of 6 to 6.

    CostLearner            C chosen of a warm-started path by regret on 250 more examples, all in its seconds
    least squares          costs predicted by linear regression, part by part
    random forest          costs predicted by a forest of 100 trees, which is not linear
    Adam on SPO+           the same loss by stochastic gradients, 20 epochs, in NumPy
    PyEPO …                the same network, nn.Linear, by PyEPO's losses: Adam, 20 epochs, batches of 32, rate 0.01

All of them ask the same compiled optimiser (PyEPO through a model of its kind that calls it), and "PyEPO SPO+ with
OR-Tools" the model that comes with PyEPO. PyEPO is not installed with maxmargin's own tools, because it brings torch
along: `pip install pyepo ortools` to see its rows. The regret of test
decisions is normalised: what they cost above the best ones, as a share of what these cost.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.timing import Report, cpu_seconds

DEGREES = (1, 2, 4, 6)
TRAINING, VALIDATION, TEST = 1000, 250, 1000
SEEDS, FEW_SEEDS = 10, 5
CS = (30.0, 100.0, 300.0)
EPOCHS, BATCH, RATE = 20, 32, 0.01
FEATURES, NOISE = 5, 0.5
PROBLEMS = ("decisions-paths", "decisions-knapsacks", "decisions-assignments")
Costs = Callable[[np.ndarray], np.ndarray]  # features -> predicted costs


class Data(NamedTuple):
    """What is trained on, what is chosen by, what is judged by: (X, costs) each."""

    training: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


class Trained(NamedTuple):
    """Predicted costs, and how often the optimiser was asked."""

    predict: Costs
    calls: float


def optimiser_of(name: str) -> Any:
    """Who decides."""
    from maxmargin.optimisers import Assignment, GridPath, Knapsack

    if name == "decisions-paths":
        return GridPath(5, 5)
    if name == "decisions-assignments":
        return Assignment(6, 6)
    weights = np.random.RandomState(135).choice(range(300, 800), size=(2, 32))
    return Knapsack(weights, [2000, 2000])


def drawn(n_parts: int, degree: int, seed: int, n_test: int = TEST) -> Data:
    """PyEPO's generator."""
    rng, n = np.random.RandomState(seed), TRAINING + VALIDATION + n_test
    B, X = rng.binomial(1, 0.5, (n_parts, FEATURES)), rng.normal(0, 1, (n, FEATURES))
    costs = ((X @ B.T / np.sqrt(FEATURES) + 3) ** degree + 1) / 3.5**degree
    costs *= rng.uniform(1 - NOISE, 1 + NOISE, costs.shape)
    ends = [TRAINING, TRAINING + VALIDATION]
    return Data(*zip(np.split(X, ends), np.split(costs, ends), strict=True))


# --- contestants: (optimiser, data) -> Trained


def cost_learner(optimiser: Any, data: Data) -> Trained:
    """The best of a path."""
    from maxmargin import CostLearner

    path = CostLearner(optimiser).fit_path(*data.training, CS)
    best = max(path, key=lambda model: model.score(*data.validation))
    calls = len(data.training[0]) * (1 + sum(model.certificate_.passes for model in path))
    return Trained(best.predict_costs, calls + len(CS) * len(data.validation[0]))


def least_squares(optimiser: Any, data: Data) -> Trained:
    from sklearn.linear_model import LinearRegression

    return Trained(LinearRegression().fit(*data.training).predict, 0)


def random_forest(optimiser: Any, data: Data) -> Trained:
    from sklearn.ensemble import RandomForestRegressor

    return Trained(RandomForestRegressor(random_state=0).fit(*data.training).predict, 0)


def adam(optimiser: Any, data: Data) -> Trained:
    """∇ = 2 (z* - z(2ĉ - c)) x', averaged over a batch (of a maximum, the opposite)."""
    X, costs = data.training
    X, sign = np.hstack([X, np.ones((len(X), 1))]), 1 if optimiser.sense == "min" else -1
    best, rng = optimiser.solve_many(costs), np.random.default_rng(0)
    W, m, v, step = np.zeros((costs.shape[1], X.shape[1])), 0.0, 0.0, 0
    for _ in range(EPOCHS):
        for batch in np.array_split(rng.permutation(len(X)), len(X) // BATCH):
            step += 1
            found = optimiser.solve_many(2 * X[batch] @ W.T - costs[batch])
            gradient = sign * 2 * (best[batch] - found).T @ X[batch] / len(batch)
            m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
            W = W - RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return Trained(lambda new: np.hstack([new, np.ones((len(new), 1))]) @ W.T, len(X) * (1 + EPOCHS))


def pyepo(kind: str, own_model: bool = False) -> Callable[[Any, Data], Trained]:
    """One of PyEPO's losses, with the same optimiser or with PyEPO's own model."""

    def train(optimiser: Any, data: Data) -> Trained:
        import torch
        from pyepo import func
        from pyepo.data.dataset import optDataset

        torch.manual_seed(0)
        torch.set_num_threads(1)
        model = _own_model_of(optimiser) if own_model else _model_of(optimiser)
        known = optDataset(model, *data.training)
        loss: Any = {
            "SPO+": lambda: func.SPOPlus(model),
            "perturbed": lambda: func.perturbedFenchelYoung(model, n_samples=10, sigma=1.0),
            "contrastive": lambda: func.noiseContrastiveEstimation(model, solve_ratio=0.05, dataset=known),
        }[kind]()
        net = torch.nn.Linear(FEATURES, data.training[1].shape[1])
        descent = torch.optim.Adam(net.parameters(), lr=RATE)
        for _ in range(EPOCHS):
            for x, c, w, z in torch.utils.data.DataLoader(known, batch_size=BATCH, shuffle=True):
                value = loss(net(x), c, w, z) if kind == "SPO+" else loss(net(x), w)
                descent.zero_grad()
                value.backward()
                descent.step()

        def predict(X: np.ndarray) -> np.ndarray:
            with torch.no_grad():
                return net(torch.as_tensor(X, dtype=torch.float32)).numpy().astype(float)

        return Trained(predict, getattr(model, "calls", np.nan))

    return train


def _model_of(optimiser: Any) -> Any:
    """The optimiser as a model of PyEPO's."""
    from pyepo import EPO
    from pyepo.model.opt import optModel

    class Model(optModel):
        def __init__(self) -> None:
            self.calls = 0
            super().__init__()
            self.modelSense = EPO.MINIMIZE if optimiser.sense == "min" else EPO.MAXIMIZE

        def _getModel(self) -> tuple[None, list[int]]:  # noqa: N802 - PyEPO's name
            return None, list(range(optimiser.n_parts))

        @property
        def num_cost(self) -> int:
            return int(optimiser.n_parts)

        def setObj(self, c: Any) -> None:  # noqa: N802 - PyEPO's name
            self.costs = np.asarray(c, dtype=float)

        def solve(self) -> tuple[np.ndarray, float]:
            self.calls += 1
            z = optimiser(self.costs)
            return z, float(self.costs @ z)

    return Model()


def _own_model_of(optimiser: Any) -> Any:
    """PyEPO's model of the same problem."""
    from pyepo.model import ort

    if hasattr(optimiser, "capacity"):
        return ort.knapsackModel(weights=np.asarray(optimiser.weights), capacity=np.asarray(optimiser.capacity))
    return ort.shortestPathModel(grid=(optimiser.rows, optimiser.columns))


def contestants(name: str) -> dict[str, Callable[[Any, Data], Trained]]:
    """All that are installed."""
    own: dict[str, Callable[[Any, Data], Trained]] = {
        "CostLearner": cost_learner,
        "least squares": least_squares,
        "random forest": random_forest,
        "Adam on SPO+": adam,
    }
    if find_spec("pyepo") is None:
        return own
    peers = own | {f"PyEPO {kind}": pyepo(kind) for kind in ("SPO+", "perturbed", "contrastive")}
    if find_spec("ortools") is None or name != "decisions-paths":  # of the others, one has no model, one takes minutes
        return peers
    return peers | {"PyEPO SPO+ with OR-Tools": pyepo("SPO+", own_model=True)}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All degrees and seeds; nothing is repeated, because the seeds are."""
    from maxmargin.metrics import regret

    optimiser, seeds = optimiser_of(name), FEW_SEEDS if quick else SEEDS
    cost_learner(optimiser, drawn(optimiser.n_parts, 1, 0))  # compiles
    regrets: dict[str, list[list[float]]] = {who: [[] for _ in DEGREES] for who in contestants(name)}
    seconds: dict[str, list[float]] = {who: [] for who in regrets}
    calls: dict[str, list[float]] = {who: [] for who in regrets}
    for k, degree in enumerate(DEGREES):
        for seed in range(seeds):
            report(f"degree {degree}, seed {seed + 1} of {seeds}")
            data = drawn(optimiser.n_parts, degree, seed)
            for who, train in contestants(name).items():
                trained, spent = cpu_seconds(lambda train=train, data=data: train(optimiser, data))  # type: ignore[misc]
                X, costs = data.test
                regrets[who][k].append(regret(optimiser, trained.predict(X), costs))
                seconds[who].append(spent)
                calls[who].append(trained.calls)
    table = Table(title=f"{name}: normalised regret % of test decisions by degree, means of {seeds} seeds")
    table.add_column("trained by")
    for heading in (*(f"degree {d}" for d in DEGREES), "CPU s", "optimiser calls", "time / CostLearner's"):
        table.add_column(heading, justify="right")
    for who, by_degree in regrets.items():
        row = [f"{100 * np.mean(each):.2f}" for each in by_degree]
        spent = float(np.mean(seconds[who]))
        ratio = spent / float(np.mean(seconds["CostLearner"]))
        table.add_row(
            who,
            *row,
            f"{spent:.2f}",
            "" if np.isnan(calls[who]).any() else f"{np.mean(calls[who]):,.0f}",
            f"{ratio:.2f}",
        )
    return table
