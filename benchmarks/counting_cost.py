"""What counting-based training costs: the closed form and conjugate gradients, by the number of examples.

Inputs have 15 features and outputs are random tours of 10 points. The closed form and conjugate gradients for a kernel
decompose the kernel matrix once, m³; those for linear inputs multiply with the inputs in every iteration, m. λ is the
paper's; the last rows choose it by leave-one-out, for margins and for similarities.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.timing import Report, cpu_seconds
from maxmargin.counting import CyclicPermutations
from maxmargin.counting.predictor import CountingPredictor

PROBLEMS = ("counting-cost",)
N_FEATURES, N_POINTS = 15, 10

WAYS: dict[str, dict[str, Any]] = {
    "closed form": {"solver": "closed", "kernel": "rbf", "alpha": None},
    "conjugate gradients, kernel": {"solver": "cg", "kernel": "rbf", "alpha": None},
    "conjugate gradients, linear": {"solver": "cg", "kernel": "linear", "alpha": None},
    "closed form, λ chosen": {"solver": "closed", "kernel": "rbf"},
    "… for similarities": {"solver": "closed", "kernel": "rbf", "target": "similarity"},
    "conjugate gradients, linear, λ chosen": {"solver": "cg", "kernel": "linear"},
    "…, similarities": {"solver": "cg", "kernel": "linear", "target": "similarity"},
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """The fastest of `repeat` fits for every way and size."""
    sizes = [200, 400, 800] if quick else [250, 500, 1000, 2000, 4000]
    rng = np.random.default_rng(0)
    tours = CyclicPermutations(N_POINTS)
    X = rng.uniform(0, 1, (max(sizes), N_FEATURES))
    Y = [tours.sample(rng) for _ in range(max(sizes))]
    upper = sizes[(len(sizes) - 1) // 2 :]
    table = Table(
        title=f"{name}: CPU seconds of one fit",
        caption="In brackets, of conjugate gradients: milliseconds over iterations, and their slope. Slopes are of "
        f"log seconds over log examples, from {upper[0]} examples on.",
    )
    table.add_column("solver")
    for m in sizes:
        table.add_column(f"{m} examples", justify="right")
    table.add_column("slope", justify="right")
    for way, options in WAYS.items():
        seconds, steps = [], []
        CountingPredictor(tours, **options).fit(X[:50], Y[:50])
        for m in sizes:
            report(f"{way}: {m} examples")
            model = CountingPredictor(tours, **options)
            seconds.append(min(cpu_seconds(partial(model.fit, X[:m], Y[:m]))[1] for _ in range(repeat)))
            steps.append(model.certificate_.iterations)
        each = [f"{s:.3f}" + (f" ({1000 * s / k:.1f})" if k else "") for s, k in zip(seconds, steps, strict=True)]
        slope = f"{exponent(upper, seconds[-len(upper) :]):.2f}"
        if all(steps):
            of_one = [s / k for s, k in zip(seconds, steps, strict=True)]
            slope += f" ({exponent(upper, of_one[-len(upper) :]):.2f})"
        table.add_row(way, *each, slope)
    return table


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """b of seconds = a · size^b, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
