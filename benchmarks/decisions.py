"""Decisions by predicted costs: CostLearner beside regression, and beside training by gradients.

The synthetic problems of Elmachtoub and Grigas (2022) in the form that PyEPO gives them: five features x, and costs of
every part that are a polynomial of a random combination of these, of degree 1, 2, 4 or 6, times uniform noise of width
0.5. All models but the forest are linear in x, so that they are right at degree 1 and wrong elsewhere. The problems:
cheapest ways through a grid of 5 × 5 nodes; knapsacks of 32 things with two kinds of weight; assignments of 6 to 6.

    CostLearner            drawn to least squares, C chosen of a warm-started path
    least squares          costs predicted by linear regression, part by part
    random forest          costs predicted by a forest of 100 trees, which is not linear
    Adam on SPO+           the same loss by stochastic gradients in NumPy: rate 0.01 and 20 epochs, or both chosen
    PyEPO …                the same network, nn.Linear, by PyEPO's losses: Adam, batches of 32, rate 0.01, as in its
                           tutorials: 20 epochs, or as many of 5, 10, 15 or 20 as are chosen. "perturbed"
                           (Fenchel-Young, ten perturbations) and "contrastive" take part from degree 4 on

All train on 1000 examples; what is chosen, is chosen by the regret on the same 250 more, and the time for this is
counted. All ask the same compiled optimiser (PyEPO through a model of its kind that calls it). In "decisions-gurobi",
which is there for the time, PyEPO has the model that comes with it, solved by Gurobi. PyEPO is not installed with
maxmargin's own tools, because it brings torch along: `pip install pyepo gurobipy` to see its rows. The regret of test
decisions is normalised: what they cost above the best ones, as a share of what these cost.

Seeds 100 to 109 were for development: the prior, the tolerance, the grids of C and of rates, and all else that could be
chosen were settled there. The tables have seeds from 1000 on, which were drawn once all was settled.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.timing import Report, cpu_seconds

DEGREES = (1, 2, 4, 6)
TRAINING, VALIDATION, TEST = 1000, 250, 5000
FIRST_SEED, SEEDS, FEW_SEEDS = 1000, 10, 3
GUROBI_SEEDS = 1  # there for the time
STEEP = 4  # the least degree at which PyEPO's other losses are trained
CS, TOL = (30.0, 100.0, 300.0), 3e-3
EPOCHS, LOOKS, BATCH, RATE = 20, (5, 10, 15, 20), 32, 0.01
RATES = (0.003, 0.01, 0.03)  # of Adam in NumPy, where it chooses
FEATURES, NOISE = 5, 0.5
PROBLEMS = ("decisions-paths", "decisions-knapsacks", "decisions-assignments", "decisions-gurobi")
Costs = Callable[[np.ndarray], np.ndarray]  # features -> predicted costs


class Data(NamedTuple):
    """What is trained on, what is chosen by, what is judged by: (X, costs) each."""

    training: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


class Trained(NamedTuple):
    """Predicted costs, how often the optimiser was asked until then, and CPU seconds."""

    predict: Costs
    calls: float
    seconds: float


Train = Callable[[Any, Data], dict[str, Trained]]  # (optimiser, data) -> models by the names of their rows


class Counted:
    """An optimiser that counts what it is asked."""

    def __init__(self, optimiser: Any):
        self.optimiser, self.calls = optimiser, 0

    def __call__(self, costs: np.ndarray) -> np.ndarray:
        self.calls += 1
        return np.asarray(self.optimiser(costs))

    def solve_many(self, costs: np.ndarray) -> np.ndarray:
        self.calls += len(costs)
        return np.asarray(self.optimiser.solve_many(costs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["optimiser"], name)

    def __deepcopy__(self, memo: Any) -> Counted:
        return self  # copies of an estimator are counted with it


class Chosen:
    """The best of several models by their regret on validation data; asking takes time and calls, which are counted."""

    def __init__(self, optimiser: Any, data: Data):
        self.optimiser, self.validation, self.seconds, self.calls = optimiser, data.validation, 0.0, 0
        self.least, self.predict = np.inf, None

    def look(self, predict: Costs) -> None:
        from maxmargin.metrics import regret

        start, asked = time.process_time(), self.optimiser.calls
        X, costs = self.validation
        value = regret(self.optimiser, predict(X), costs)
        if value < self.least:
            self.least, self.predict = value, predict
        self.seconds += time.process_time() - start
        self.calls += self.optimiser.calls - asked


def optimiser_of(name: str) -> Any:
    """Who decides."""
    from maxmargin.optimisers import Assignment, GridPath, Knapsack

    if name in ("decisions-paths", "decisions-gurobi"):
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


def _first_of(data: Data, n: int) -> Data:
    """The same with n examples for training."""
    X, costs = data.training
    return data._replace(training=(X[:n], costs[:n]))


# --- contestants: (optimiser, data) -> models


def cost_learner(optimiser: Any, data: Data) -> dict[str, Trained]:
    """The best of a path."""
    from maxmargin import CostLearner

    def train() -> Costs:
        path = CostLearner(optimiser, prior="least_squares", tol=TOL).fit_path(*data.training, CS)
        chosen = Chosen(optimiser, data)
        for model in path:
            chosen.look(model.predict_costs)
        return chosen.predict  # type: ignore[return-value]

    predict, seconds = cpu_seconds(train)
    return {"CostLearner": Trained(predict, optimiser.calls, seconds)}


def least_squares(optimiser: Any, data: Data) -> dict[str, Trained]:
    from sklearn.linear_model import LinearRegression

    model, seconds = cpu_seconds(lambda: LinearRegression().fit(*data.training))
    return {"least squares": Trained(model.predict, 0, seconds)}


def random_forest(optimiser: Any, data: Data) -> dict[str, Trained]:
    from sklearn.ensemble import RandomForestRegressor

    model, seconds = cpu_seconds(lambda: RandomForestRegressor(random_state=0).fit(*data.training))
    return {"random forest": Trained(model.predict, 0, seconds)}


def adam(optimiser: Any, data: Data) -> dict[str, Trained]:
    """At the rate of PyEPO's tutorials, and at the best of three."""
    chosen = Chosen(optimiser, data)
    plain, seconds = cpu_seconds(lambda: _descended(optimiser, data, RATE, chosen))
    first = Trained(plain, optimiser.calls - chosen.calls, seconds - chosen.seconds)
    for rate in RATES:
        if rate != RATE:
            seconds += cpu_seconds(lambda rate=rate: _descended(optimiser, data, rate, chosen))[1]  # type: ignore[misc]
    last = Trained(chosen.predict, optimiser.calls, seconds)  # type: ignore[arg-type]
    return {f"Adam on SPO+, {EPOCHS} epochs": first, "Adam on SPO+, chosen": last}


def _descended(optimiser: Any, data: Data, rate: float, chosen: Chosen) -> Costs:
    """∇ = 2 (z* - z(2ĉ - c)) x', averaged over a batch (of a maximum, the opposite)."""
    X, costs = data.training
    X, sign = np.hstack([X, np.ones((len(X), 1))]), 1 if optimiser.sense == "min" else -1
    best, rng = optimiser.solve_many(costs), np.random.default_rng(0)
    W, m, v, step = np.zeros((costs.shape[1], X.shape[1])), 0.0, 0.0, 0
    for epoch in range(1, EPOCHS + 1):
        for batch in np.array_split(rng.permutation(len(X)), len(X) // BATCH):
            step += 1
            found = optimiser.solve_many(2 * X[batch] @ W.T - costs[batch])
            gradient = sign * 2 * (best[batch] - found).T @ X[batch] / len(batch)
            m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
            W = W - rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        if epoch in LOOKS:
            chosen.look(_linear(W))
    return _linear(W)


def _linear(W: np.ndarray) -> Costs:
    return lambda X: np.hstack([X, np.ones((len(X), 1))]) @ W.T


def pyepo(kind: str, own_model: bool = False) -> Train:
    """One of PyEPO's losses, with the same optimiser or with PyEPO's own model."""

    def train(optimiser: Any, data: Data) -> dict[str, Trained]:
        chosen = Chosen(optimiser, data)
        last, seconds = cpu_seconds(lambda: _trained_by_pyepo(kind, optimiser, data, chosen, own_model))
        if own_model:
            return {f"PyEPO {kind}, {EPOCHS} epochs, with Gurobi": Trained(last, np.nan, seconds - chosen.seconds)}
        plain = Trained(last, optimiser.calls - chosen.calls, seconds - chosen.seconds)
        best = Trained(chosen.predict, optimiser.calls, seconds)  # type: ignore[arg-type]
        return {f"PyEPO {kind}, {EPOCHS} epochs": plain, f"PyEPO {kind}, chosen": best}

    return train


def _trained_by_pyepo(kind: str, optimiser: Any, data: Data, chosen: Chosen, own_model: bool) -> Costs:
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
    for epoch in range(1, EPOCHS + 1):
        for x, c, w, z in torch.utils.data.DataLoader(known, batch_size=BATCH, shuffle=True):
            value = loss(net(x), c, w, z) if kind == "SPO+" else loss(net(x), w)
            descent.zero_grad()
            value.backward()
            descent.step()
        weights = [each.detach().numpy().astype(float) for each in (net.weight, net.bias)]  # copies
        if epoch in LOOKS:
            chosen.look(_linear(np.column_stack(weights)))
    return _linear(np.column_stack(weights))


def _model_of(optimiser: Any) -> Any:
    """The optimiser as a model of PyEPO's."""
    from pyepo import EPO
    from pyepo.model.opt import optModel

    class Model(optModel):
        def __init__(self) -> None:
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
            z = optimiser(self.costs)
            return z, float(self.costs @ z)

    return Model()


def _own_model_of(optimiser: Any) -> Any:
    """PyEPO's model of the same ways."""
    from pyepo.model.grb import shortestPathModel

    return shortestPathModel((optimiser.rows, optimiser.columns))


def contestants(name: str, degree: int) -> list[Train]:
    """All that are installed."""
    if name == "decisions-gurobi":
        there = find_spec("pyepo") is not None and find_spec("gurobipy") is not None
        return [cost_learner, pyepo("SPO+"), pyepo("SPO+", own_model=True)] if there else [cost_learner]
    own: list[Train] = [cost_learner, least_squares, random_forest, adam]
    if find_spec("pyepo") is None:
        return own
    return own + [pyepo(kind) for kind in ("SPO+", "perturbed", "contrastive") if kind == "SPO+" or degree >= STEEP]


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All degrees and seeds; nothing is repeated, because the seeds are."""
    from maxmargin.metrics import regret

    optimiser, seeds = optimiser_of(name), FEW_SEEDS if quick else SEEDS
    if name == "decisions-gurobi":
        seeds = GUROBI_SEEDS
    for train in contestants(name, STEEP):  # what is compiled or loaded, is before the clock runs
        train(Counted(optimiser), _first_of(drawn(optimiser.n_parts, 1, 0, n_test=1), 2 * BATCH))
    regrets: dict[str, list[list[float]]] = {}
    seconds: dict[str, list[float]] = {}
    calls: dict[str, list[float]] = {}
    for k, degree in enumerate(DEGREES):
        for j in range(seeds):
            report(f"degree {degree}, seed {j + 1} of {seeds}")
            data = drawn(optimiser.n_parts, degree, FIRST_SEED + j)
            X, costs = data.test
            for train in contestants(name, degree):
                for who, trained in train(Counted(optimiser), data).items():
                    value = 100 * regret(optimiser, trained.predict(X), costs)
                    regrets.setdefault(who, [[] for _ in DEGREES])[k].append(value)
                    seconds.setdefault(who, []).append(trained.seconds)
                    calls.setdefault(who, []).append(trained.calls)
    table = Table(
        title=f"{name}: normalised regret % of test decisions by degree, means of {seeds} seed{'s' * (seeds > 1)}",
        caption="± is the standard error of the mean difference to CostLearner, seed by seed." if seeds > 1 else None,
    )
    table.add_column("trained by")
    for heading in (*(f"degree {d}" for d in DEGREES), "CPU s", "optimiser calls", "time / CostLearner's"):
        table.add_column(heading, justify="right")
    ours = regrets["CostLearner"]
    for who, by_degree in regrets.items():
        spent, ratio = (float(np.mean(each)) for each in (seconds[who], _ratios(seconds, who)))
        table.add_row(
            who,
            *(_cell(each, own) for each, own in zip(by_degree, ours, strict=True)),
            f"{spent:.2f}",
            "" if np.isnan(calls[who]).any() else f"{np.mean(calls[who]):,.0f}",
            f"{ratio:.2f}",
        )
    return table


def _ratios(seconds: dict[str, list[float]], who: str) -> float:
    """Time by time of CostLearner, in all."""
    return sum(seconds[who]) / sum(seconds["CostLearner"])


def _cell(regrets: list[float], ours: list[float]) -> str:
    """A mean, and how well its difference to ours is known."""
    if not regrets:
        return ""
    away = np.subtract(regrets, ours)
    if not away.any() or len(away) < 2:
        return f"{np.mean(regrets):.2f}"
    return f"{np.mean(regrets):.2f} ± {np.std(away, ddof=1) / np.sqrt(len(away)):.2f}"
