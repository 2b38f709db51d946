"""What bounds and a prior cost: default fits with limits of all weights, beside the same fit without."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from sklearn.base import clone

from benchmarks.effective_passes import FITS
from benchmarks.timing import Report, cpu_seconds

PROBLEMS = ("bounds",)
SETS = ("mnist-10k", "usps", "20newsgroups", "ocr-one-fold")
LIMITS: dict[str, dict[str, Any]] = {
    "none": {},
    "so wide that they do not matter": {"bounds": (-1e6, 1e6)},
    "weights >= 0": {"bounds": (0, None)},
    "a prior of 0.01": {"prior": 0.01},
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Fit every set with every kind of limits, in turn."""
    table = Table(title="default fits with limits of all weights, CPU s (fastest of the rounds)")
    for heading in ("data", *LIMITS, "largest ratio"):
        table.add_column(heading, justify="right" if heading != "data" else "left")
    for data in SETS[: 2 if quick else None]:
        fit = FITS[data](quick)
        best = dict.fromkeys(LIMITS, float("inf"))
        for i in range(repeat + 1):  # the first one compiles
            for kind, options in LIMITS.items():
                report(f"{data}: {kind}, round {i} of {repeat}")
                model = clone(fit.model).set_params(**options)
                _, seconds = cpu_seconds(lambda model=model, fit=fit: model.fit(fit.X, fit.Y))
                assert model.certificate_.converged
                if i:
                    best[kind] = min(best[kind], seconds)
        ratio = max(best.values()) / best["none"]
        table.add_row(data, *(f"{seconds:.2f}" for seconds in best.values()), f"{ratio:.1f}")
    return table
