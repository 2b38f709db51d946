"""What bounds and a prior cost: default fits with limits of all weights, beside the same fit without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.table import Table
from sklearn.base import clone

from benchmarks.effective_passes import FITS
from benchmarks.timing import Report, cpu_seconds

PROBLEMS = ("bounds",)
SETS = ("mnist-10k", "usps", "20newsgroups", "ocr-one-fold")
LIMITS: dict[str, Callable[[int], dict[str, Any]]] = {  # by how many weights there are
    "none": lambda dim: {},
    "so wide that they do not matter": lambda dim: {"bounds": (-1e6, 1e6)},
    "such, and different for every weight": lambda dim: {"bounds": (-np.linspace(1e6, 2e6, dim), np.full(dim, 1e6))},
    "weights >= 0": lambda dim: {"bounds": (0, None)},
    "a prior of 0.01": lambda dim: {"prior": 0.01},
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Fit every set with every kind of limits, in turn."""
    table = Table(title="default fits with limits of all weights, CPU s (fastest of the rounds)")
    for heading in ("data", *LIMITS, "largest ratio"):
        table.add_column(heading, justify="right" if heading != "data" else "left")
    for data in SETS[: 2 if quick else None]:
        fit = FITS[data](quick)
        best = dict.fromkeys(LIMITS, float("inf"))
        dim = len(clone(fit.model).fit(fit.X, fit.Y).w_)
        for i in range(repeat + 1):  # the first one compiles
            for kind, options in LIMITS.items():
                report(f"{data}: {kind}, round {i} of {repeat}")
                model = clone(fit.model).set_params(**options(dim))
                _, seconds = cpu_seconds(lambda model=model, fit=fit: model.fit(fit.X, fit.Y))
                assert model.certificate_.converged
                if i:
                    best[kind] = min(best[kind], seconds)
        ratio = max(best.values()) / best["none"]
        table.add_row(data, *(f"{seconds:.2f}" for seconds in best.values()), f"{ratio:.1f}")
    return table
