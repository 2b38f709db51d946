"""Where the time of training on graphs with cycles goes: superpixels of MSRC-21, scores of a classifier for features.

A search for the most violated labelling ends where its proved bound is above what it found by no more than a share of
the news, of what that is above all outputs known before (structures/graphs/searches.py). The rows are such shares: the
less accurate searches are, the cheaper is each and the more of them are needed.
"""

from __future__ import annotations

import cProfile
import time
from collections.abc import Callable
from unittest.mock import patch

from rich.table import Table

from benchmarks.graph_c import Part, _superpixels
from benchmarks.graphs import WARM_UP, classifier
from benchmarks.loaders import load_msrc21
from benchmarks.timing import Report
from maxmargin import GraphLabeler
from maxmargin.structures.graphs import searches

SHARES = (0.1, 1.0)
C = 10.0
PHOTOGRAPHS, QUICK = 30, 6
PARTS = {
    "searches": ("structures/graphs/searches.py", "solved"),
    "of them residuals": ("structures/graphs/inference/residual.py", "solved"),
    "joint solves": ("solvers/interior_point.py", "solve"),
}


def photographs(quick: bool) -> Part:
    """Every fifth of the training part, which is sorted by what is to be seen."""
    part = _superpixels(load_msrc21("train")).taken(slice(None, None, 5))
    return part.taken(slice(0, QUICK if quick else PHOTOGRAPHS))


PROBLEMS: dict[str, Callable[[bool], Part]] = {"msrc21-training": photographs}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Every share once."""
    report("reading the data")
    part = PROBLEMS[name](quick)
    model = GraphLabeler(C=C, stack=classifier(), unlabelled="leave_out", tol=0.01, random_state=0)
    model.set_params(max_passes=3).fit(*part.taken(slice(None, None, max(1, len(part.X) // WARM_UP))))  # compiles
    model.set_params(max_passes=None)
    table = Table(
        title=f"{name}: {len(part.X)} photographs, C = {C:g}",
        caption="CPU s: training to a gap of 1%, with the classifier and the profiler, followed by its parts. Share: "
        "the tolerated error of a search, relative to its improvement over all known outputs; training uses "
        f"{searches.NEWS:g}.",
    )
    for heading in ("share", "CPU s", *PARTS, "passes", "objective", "gap"):
        table.add_column(heading, justify="right")
    for share in SHARES:
        report(f"share {share:g}")
        profile = cProfile.Profile(time.process_time)
        with patch.object(searches, "NEWS", share):
            began = time.process_time()
            profile.runcall(model.fit, *part)
            seconds = time.process_time() - began
        certificate = model.certificate_
        table.add_row(
            f"{share:g}",
            f"{seconds:.1f}",
            *(f"{spent(profile, *part):.1f}" for part in PARTS.values()),
            f"{certificate.passes:.0f}",
            f"{certificate.primal:.2f}",
            f"{100 * certificate.relative_gap:.2g}%",
        )
    return table


def spent(profile: cProfile.Profile, file: str, function: str) -> float:
    """CPU seconds in a function and all that it calls."""
    profile.create_stats()
    return sum(
        float(numbers[3])
        for (path, _, name), numbers in profile.stats.items()  # type: ignore[attr-defined]
        if name == function and path.replace("\\", "/").endswith(file)
    )
