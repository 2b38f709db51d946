"""Orders of labels: counting-based training beside pairwise comparison and regression of ranks.

The 16 label ranking sets of up to 2500 rows (calhousing, cpu, elevators, fried and pendigits, with 8,000 to 41,000, are
left out: training with a kernel takes time cubic in their number). Kendall's τ, the share of pairs of labels in the
right order less that of pairs in the wrong one, mean over ten test folds, five where there are more than 1000 rows, the
same for all:

    margins          CountingPredictor of all orders, the paper's margins of 1; linear and with a Gaussian kernel
    similarities     the same with target="similarity"
    pairs            one logistic regression for every pair of labels; labels are ordered by the sum of their
                     probabilities to come first
    ridge            regression of all ranks, linear (scikit-learn's RidgeCV) and with a Gaussian kernel; labels are
                     ordered by predicted rank

λ of counting and of the linear ridge is chosen by leave-one-out on the training rows, by the estimators themselves.
What else there is to choose, widths of kernels too, is chosen in every fold by τ on a third of its training rows, of
which no more than 600 are used for that. Features are standardised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import LABEL_RANKING_SETS, load_label_ranking
from benchmarks.quality import median_best
from benchmarks.timing import Report, cpu_seconds

LARGE = ("calhousing", "cpu", "elevators", "fried", "pendigits")
SMALL = tuple(name for name in LABEL_RANKING_SETS if name not in LARGE)
QUICK = ("iris", "glass")
GAMMAS = (0.01, 0.05, 0.25, 1.0)  # times 10 / number of features, for features of variance 1
Orders = list[tuple[str, ...]]
Prediction = Callable[[np.ndarray], np.ndarray]  # new inputs -> ranks


def ranks(orders: Orders, labels: Sequence[str]) -> np.ndarray:
    """(n, labels): the place of every label, from 0."""
    return np.array([[order.index(label) for label in labels] for order in orders])


def kendall(truth: np.ndarray, found: np.ndarray) -> float:
    """The mean τ of rows; predicted ties count as 0."""
    pairs = np.triu_indices(truth.shape[1], 1)
    agree = [np.sign(R[:, pairs[0]] - R[:, pairs[1]]) for R in (truth, found)]
    return float(np.mean(agree[0] * agree[1]))


# --- solvers: (setting, X, orders, labels) -> Prediction


def counting(kernel: str, target: str) -> Callable[..., list[Prediction]]:
    """CountingPredictor of this kernel, with its own choice of λ."""

    def path(gamma: float, penalties: Sequence[float], X: np.ndarray, R: np.ndarray) -> list[Prediction]:
        from maxmargin import CountingPredictor
        from maxmargin.counting import Permutations

        options: dict[str, Any] = {"fit_intercept": True, "tol": 1e-6, "target": target}
        if kernel == "rbf":
            options["gamma"] = gamma * 10 / X.shape[1]
        model = CountingPredictor(Permutations(R.shape[1]), kernel=kernel, **options).fit(X, np.argsort(R, axis=1))
        return [lambda Z: np.argsort(list(model.predict(Z)), axis=1)]

    return path


def pairs(gamma: float, penalties: Sequence[float], X: np.ndarray, R: np.ndarray) -> list[Prediction]:
    """Logistic regressions."""
    return [_Pairs(c, X, R) for c in penalties]


class _Pairs:
    def __init__(self, c: float, X: np.ndarray, R: np.ndarray):
        from sklearn.linear_model import LogisticRegression

        self.size = R.shape[1]
        self.models: dict[tuple[int, int], Any] = {}
        for u, v in combinations(range(self.size), 2):
            first = R[:, u] < R[:, v]
            one_sided = first.all() or not first.any()
            self.models[u, v] = float(first[0]) if one_sided else LogisticRegression(C=c, max_iter=2000).fit(X, first)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        votes = np.zeros((len(X), self.size))
        for (u, v), model in self.models.items():
            share = np.full(len(X), model) if isinstance(model, float) else model.predict_proba(X)[:, 1]
            votes[:, u] += share
            votes[:, v] += 1 - share
        return -votes


def kernel_ridge(gamma: float, penalties: Sequence[float], X: np.ndarray, R: np.ndarray) -> list[Prediction]:
    """Ranks as numbers, less their means."""
    from sklearn.kernel_ridge import KernelRidge

    mean = R.mean(0)
    options = {"kernel": "rbf", "gamma": gamma * 10 / X.shape[1]}
    models = [KernelRidge(alpha=penalty, **options).fit(X, R - mean) for penalty in penalties]
    return [lambda Z, model=model: model.predict(Z) + mean for model in models]  # type: ignore[misc]


def ridge(gamma: float, penalties: Sequence[float], X: np.ndarray, R: np.ndarray) -> list[Prediction]:
    """Ranks as numbers; the best of all penalties by leave-one-out."""
    from sklearn.linear_model import RidgeCV

    return [RidgeCV(alphas=10.0 ** np.arange(-3, 6.5, 0.5)).fit(X, R).predict]


OWN = (0.0,)  # what is not chosen here
CONTESTANTS: dict[str, tuple[Callable[..., list[Prediction]], tuple[float, ...], tuple[float, ...]]] = {
    "margins,\nlinear": (counting("linear", "margin"), OWN, OWN),
    "similarities,\nlinear": (counting("linear", "similarity"), OWN, OWN),
    "ridge on\nranks": (ridge, OWN, OWN),
    "pairs,\nlinear": (pairs, OWN, (1e-2, 1e-1, 1.0, 10.0, 100.0)),
    "margins,\nrbf": (counting("rbf", "margin"), GAMMAS, OWN),
    "similarities,\nrbf": (counting("rbf", "similarity"), GAMMAS, OWN),
    "kernel ridge\non ranks": (kernel_ridge, GAMMAS, (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)),
}
DUELS = (
    ("margins,\nlinear", "ridge on\nranks"),
    ("similarities,\nlinear", "ridge on\nranks"),
    ("margins,\nrbf", "kernel ridge\non ranks"),
    ("similarities,\nrbf", "kernel ridge\non ranks"),
)
PROBLEMS = ("label-ranking",)


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All sets and contestants; nothing is repeated, because the folds are."""
    from sklearn.model_selection import KFold

    table = Table(title=f"{name}: Kendall's τ on test folds ± its standard error, and CPU seconds of all folds")
    table.add_column("set")
    for heading in ("rows", "labels", "folds", *CONTESTANTS, *(f"s\n{heading}" for heading in CONTESTANTS)):
        table.add_column(heading, justify="right")
    every: list[dict[str, list[float]]] = []
    for data in QUICK if quick else SMALL:
        X, orders = load_label_ranking(data)
        labels = sorted(orders[0])
        R = ranks(orders, labels)
        found: dict[str, list[float]] = {contestant: [] for contestant in CONTESTANTS}
        seconds = dict.fromkeys(CONTESTANTS, 0.0)
        n_folds = 2 if quick else 10 if len(X) <= 1000 else 5
        for fold, (train, test) in enumerate(KFold(n_folds, shuffle=True, random_state=0).split(X)):
            report(f"{data}: fold {fold + 1} of {n_folds}")
            scale = X[train].std(0)
            Z = (X - X[train].mean(0)) / np.where(scale > 0, scale, 1.0)
            for contestant in CONTESTANTS:
                tau, spent = cpu_seconds(lambda who=contestant, a=train, b=test, Z=Z, R=R: _fold(who, Z, R, a, b))  # type: ignore[misc]
                found[contestant].append(tau)
                seconds[contestant] += spent
        every.append(found)
        taus = [f"{np.mean(each):.3f} ± {_error(each):.3f}" for each in found.values()]
        report(f"{data}: τ " + ", ".join(taus))
        table.add_row(data, str(len(X)), str(len(labels)), str(n_folds), *taus, *(f"{s:.0f}" for s in seconds.values()))
    table.add_section()
    best = np.array([[np.mean(taus) for taus in found.values()] for found in every])
    table.add_row("mean", "", "", "", *(f"{tau:.4f}" for tau in best.mean(0)))
    table.add_row("mean place", "", "", "", *(f"{place:.2f}" for place in _places(best).mean(0)))
    table.caption = "\n".join(_duel(first, second, every) for first, second in DUELS)
    return table


def _duel(first: str, second: str, every: list[dict[str, list[float]]]) -> str:
    """The mean difference over sets, and on how many sets it is clear: more than two standard errors over folds."""
    apart = [np.subtract(found[first], found[second]) for found in every]
    means, errors = (np.array([each(taus) for taus in apart]) for each in (np.mean, _error))
    names = [each.replace("\n", " ") for each in (first, second)]
    ahead, behind = (f"{(sign * means > 0).sum()} ({(sign * means > 2 * errors).sum()} clearly)" for sign in (1, -1))
    lead = f"{means.mean():+.4f} ± {_error(means):.4f} over sets"
    return f"{names[0]} less {names[1]}: {lead}; ahead on {ahead}, behind on {behind}"


def _error(values: Any) -> float:
    """The standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _fold(who: str, X: np.ndarray, R: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """τ on the test rows, after choosing on training rows."""
    path, gammas, penalties = CONTESTANTS[who]
    if len(gammas) == len(penalties) == 1:
        (predict,) = path(gammas[0], penalties, X[train], R[train])
        return kendall(R[test], predict(X[test]))
    few = np.random.default_rng(0).permutation(train)[:600]
    kept, held_out = np.split(few, [len(few) * 2 // 3])
    settings, marks = [], []
    for gamma in gammas:
        for penalty, predict in zip(penalties, path(gamma, penalties, X[kept], R[kept]), strict=True):
            settings.append((gamma, penalty))
            marks.append(round(kendall(R[held_out], predict(X[held_out])), 12))
    gamma, penalty = settings[median_best(marks)]
    (predict,) = path(gamma, (penalty,), X[train], R[train])
    return kendall(R[test], predict(X[test]))


def _places(taus: np.ndarray) -> np.ndarray:
    """1 for the highest of every row, means where equal to three digits."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-taus.round(3), axis=1))
