"""Learning a policy of routes from the routes that follow it (Gärtner and Vembu 2009, Section 7.3).

Travellers have 15 interests x, uniform in [0, 1]; the policy is Σ_j x_j A^(j), with antisymmetric A^(j) uniform in
[-1, 1] over the steps between 10 points; a traveller takes the closed tour that scores best. What is measured is the
cosine of the learnt scores f(x) with the policy at x, the mean over 500 travellers that were not trained on. Tours
enter every point as often as they leave it, so that the part of the policy that is a difference of numbers of points
cannot be learnt: the cosine has a ceiling, ‖P a‖/‖a‖ with the projection P onto circulations.

The paper does not say how its tours were found. Here they are the best ones, or those that one climb from a random tour
ends with, or the best of 25 random ones. λ is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from rich.table import Table

from benchmarks.timing import Report, cpu_seconds
from maxmargin.counting import CyclicPermutations
from maxmargin.counting.predictor import CountingPredictor
from maxmargin.counting.sets.signed_pairs import signed_pairs

PROBLEMS = ("route-policy",)
N_INTERESTS, N_POINTS, N_TEST = 15, 10, 500
SIZES = (10, 50, 100, 200, 300)

Tour = tuple[int, ...]
Search = Callable[[np.ndarray, np.random.Generator], Tour]


def best(f: np.ndarray, rng: np.random.Generator) -> Tour:
    """The best tour."""
    return CyclicPermutations(N_POINTS, method="exact").decode(f).y


def climbed(f: np.ndarray, rng: np.random.Generator) -> Tour:
    """A tour that no single change improves, from a random one."""
    from maxmargin.counting.compiled.cycle_moves import climb_cycle

    W = np.ascontiguousarray(signed_pairs(N_POINTS).matrix(f))
    start = list(CyclicPermutations(N_POINTS).sample(rng))
    tour, inside = np.zeros(N_POINTS, dtype=np.int64), np.zeros(N_POINTS, dtype=np.uint8)
    tour[: len(start)], inside[start] = start, 1
    size = climb_cycle(W, tour, len(start), inside, 3, N_POINTS, 1e-9)
    return tuple(tour[:size].tolist())


def best_of_25(f: np.ndarray, rng: np.random.Generator) -> Tour:
    """The best of 25 random tours."""
    tours = CyclicPermutations(N_POINTS)
    drawn = [tours.sample(rng) for _ in range(25)]
    return drawn[int(np.argmax(tours.feature_rows(drawn) @ f))]


SEARCHES: dict[str, Search] = {"the best tours": best, "one climb": climbed, "best of 25": best_of_25}


def cosines(F: np.ndarray, G: np.ndarray) -> float:
    """The mean cosine of rows."""
    return float(np.mean(np.sum(F * G, axis=1) / (np.linalg.norm(F, axis=1) * np.linalg.norm(G, axis=1))))


def one_way(F: np.ndarray) -> np.ndarray:
    """Scores of steps there less those of steps back, of rows over both."""
    pairs = signed_pairs(N_POINTS)
    square = np.zeros((len(F), N_POINTS, N_POINTS))
    square[:, ~np.eye(N_POINTS, dtype=bool)] = F
    tails, heads = pairs.ends
    return np.asarray(square[:, tails, heads] - square[:, heads, tails])


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Policies drawn anew, as many as there is time for."""
    n_seeds = 2 if quick else 20
    tours, steps = CyclicPermutations(N_POINTS), CyclicPermutations(N_POINTS, signed=False)
    found: dict[str, np.ndarray] = {}
    seconds, ceilings = [], []
    for seed in range(n_seeds):
        report(f"policy {seed + 1} of {n_seeds}")
        rng = np.random.default_rng(seed)
        policy = rng.uniform(-1, 1, (N_INTERESTS, tours.dim))
        X = rng.uniform(0, 1, (max(SIZES), N_INTERESTS))
        X_test = rng.uniform(0, 1, (N_TEST, N_INTERESTS))
        truth = X_test @ policy
        circulations = max(tours.cov_spectrum(), key=lambda space: space.value)
        ceilings.append(cosines(circulations.project(truth), truth))
        for kind, search in SEARCHES.items():
            Y = [search(f, rng) for f in X @ policy]
            for k, m in enumerate(SIZES):
                model = CountingPredictor(tours, alpha=1.0)
                took = cpu_seconds(partial(model.fit, X[:m], Y[:m]))[1]
                if m == max(SIZES):
                    seconds.append(took)
                marks = found.setdefault(kind, np.zeros((len(SIZES), n_seeds)))
                marks[k, seed] = cosines(model.decision_function(X_test), truth)
                if search is best:
                    unsigned = CountingPredictor(steps, alpha=1.0).fit(X[:m], Y[:m])
                    marks = found.setdefault("… and steps not signed", np.zeros((len(SIZES), n_seeds)))
                    marks[k, seed] = cosines(one_way(unsigned.decision_function(X_test)), truth)
    table = Table(
        title=f"{name}: cosine of learnt scores with the policy, {n_seeds} policies",
        caption=f"± the standard deviation. Ceiling {np.mean(ceilings):.3f}. "
        f"CPU seconds of a fit with {max(SIZES)} tours: median {np.median(seconds):.3f}, largest {max(seconds):.3f}.",
    )
    table.add_column("training tours")
    for m in SIZES:
        table.add_column(str(m), justify="right")
    for kind, marks in found.items():
        table.add_row(kind, *(f"{row.mean():.3f} ± {row.std(ddof=1):.3f}" for row in marks))
    return table
