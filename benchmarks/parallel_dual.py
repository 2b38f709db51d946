"""BCFW in one thread against its parts side by side (ParallelBCFW), both to a gap of 1%.

Time on the wall with two threads says what is gained while this machine lets both run; the CPU time of both parts in
one thread says what two free cores promise: half of that, if joining is not counted.
"""

from __future__ import annotations

import time
from typing import Any

from rich.table import Table

from benchmarks import threads
from benchmarks.timing import Report
from maxmargin.executors import Serial, Threads
from maxmargin.solvers import BCFW, ParallelBCFW

PROBLEMS = ("parallel-dual",)
PARTS = 2
DATA = ("ocr-nine-folds", "conll2000", "mnist-60k", "20newsgroups", "ptb, 15 words", "prefab4, 40 pairs")
LONG = ("20newsgroups",)  # which parts side by side need so long for that a part of the data must do


def timed(fit: Any, solver: Any, executor: Any, repeat: int) -> tuple[float, float, Any]:
    """The least seconds on the wall and of CPU, and the certificate."""
    walls, cpus = [], []
    model = fit.model.set_params(solver=solver, executor=executor)
    for _ in range(repeat + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(fit.X, fit.Y)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls[1:]), min(cpus[1:]), model.certificate_


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Every data set in one thread, in parts in one thread, and in parts in two."""
    table = Table(title=f"BCFW, and {PARTS} parts side by side, to a gap of 1%")
    table.add_column("data")
    for heading in (
        "BCFW\nwall s",
        "parts, 2 threads\nwall s",
        "wall, as a multiple\nof half",
        "BCFW\nCPU s",
        "parts\nCPU s",
        "CPU, as a multiple",
        "gaps, %",
    ):
        table.add_column(heading, justify="right")
    for data in DATA:
        report(f"{data}: reading")
        fit = threads.FITS[data](quick or data in LONG)
        report(f"{data}: BCFW")
        wall, cpu, one = timed(fit, BCFW(), Serial(), repeat)
        report(f"{data}: parts in one thread")
        _, parts_cpu, _ = timed(fit, ParallelBCFW(parts=PARTS), Serial(), repeat)
        report(f"{data}: parts in two threads")
        parts_wall, _, two = timed(fit, ParallelBCFW(parts=PARTS), Threads(PARTS), repeat)
        table.add_row(
            f"{data}, a part" if data in LONG and not quick else data,
            f"{wall:.2f}",
            f"{parts_wall:.2f}",
            f"{parts_wall / (wall / 2):.2f}",
            f"{cpu:.2f}",
            f"{parts_cpu:.2f}",
            f"{parts_cpu / cpu:.2f}",
            f"{100 * one.relative_gap:.2f}, {100 * two.relative_gap:.2f}",
        )
    table.caption = f"The fastest of {repeat} fits each. 1.3 or less was hoped for in the multiples."
    return table
