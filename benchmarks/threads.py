"""Default fits in one thread and in two: time on the wall, and whether the weights are the same.

Threads search for outputs. Classes and sequences are improved visit by visit in the calling thread, and only their
objective is measured in two; graphs, trees and alignments are searched in blocks, which threads share.

The two take turns, so that a slow spell of the machine meets both. Other work on the machine disturbs the time on the
wall all the same, that of two threads more; so the table also says what CPU time promises where both cores are free:
what the calling thread did itself, and half of what the others did.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks import effective_passes, graphs
from benchmarks.effective_passes import Fit
from benchmarks.loaders import load_prefab4, load_ptb_sample, prefab4_split
from benchmarks.timing import Report
from maxmargin import Aligner, GraphLabeler, Parser
from maxmargin.executors import Threads
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW

PROBLEMS = ("threads", "thread-passes")
WORKERS = 2


def trees(quick: bool) -> Fit:
    """Sentences of at most 15 words of the Penn Treebank sample."""
    part = load_ptb_sample(max_words=15)[: 100 if quick else None]
    model = Parser(C=100.0, horizontal=1, span_features=(), random_state=0)
    return Fit(model, [tree.tokens() for tree in part], part)


def alignments(quick: bool, most: int = 40) -> Fit:
    """The first pairs of proteins that PREFAB 4 trains on."""
    pairs, train = load_prefab4(), prefab4_split()[0][: 10 if quick else most]
    model = Aligner(alphabet="ACDEFGHIKLMNPQRSTVWY", unknown="ignore", C=1.0, random_state=0)
    return Fit(model, [(pairs[i].a, pairs[i].b) for i in train], [pairs[i].alignment for i in train])


def drawings(quick: bool) -> Fit:
    """The first drawings of snakes."""
    problem, few = graphs.snakes(quick), slice(10 if quick else 40)
    X = problem.inputs("colours at edges").train[few]
    return Fit(GraphLabeler(C=0.5 * len(X), random_state=0), X, problem.Y[few])


FITS: dict[str, Callable[[bool], Fit]] = {
    **{name: effective_passes.FITS[name] for name in ("ocr-nine-folds", "conll2000", "mnist-60k", "20newsgroups")},
    "snakes, 40 drawings": drawings,
    "ptb, 15 words": trees,
    "prefab4, 40 pairs": alignments,
}
# Of passes, each should take a while: threads that have just been woken often share a core for some milliseconds.
PASSES: dict[str, Callable[[bool], Fit]] = {
    "conll2000": FITS["conll2000"],
    "ptb, 15 words": trees,
    "prefab4, 400 pairs": lambda quick: alignments(quick, 400),
}


@dataclass
class Times:
    """Seconds of a fit."""

    wall: float
    calling: float  # CPU, of the calling thread
    others: float  # CPU, of all other threads

    @property
    def undisturbed(self) -> float:
        """On the wall, where every thread has a core."""
        return self.calling + self.others / WORKERS


def timed(call: Callable[[], Any]) -> Times:
    """What a call takes."""
    gc.collect()
    wall, thread, process = time.perf_counter(), time.thread_time(), time.process_time()
    call()
    wall, calling = time.perf_counter() - wall, time.thread_time() - thread
    return Times(wall, calling, max(time.process_time() - process - calling, 0.0))


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Fit every data set in one thread and in two, in turn; or only search it, in one pass."""
    if name == "thread-passes":
        return passes(repeat, quick, report)
    table = Table(title="default fits in one thread and in two")
    table.add_column("data")
    table.add_column("estimator")
    for heading in (
        "n_jobs=1\nwall s",
        "n_jobs=2\nwall s",
        "one / two\nwall",
        "n_jobs=1\nCPU s",
        "n_jobs=2, CPU s:\ncalling + others",
        "one / two if\ncores are free",
        "same w",
    ):
        table.add_column(heading, justify="right")
    for data, make in FITS.items():
        report(f"{data}: reading")
        table.add_row(data, *_cells(make(quick), repeat, lambda step, data=data: report(f"{data}: {step}")))
    table.caption = (
        f"The fastest of {repeat} fits each, which took turns. If cores are free: by CPU time, of which two threads "
        "do side by side what the calling thread does not do itself."
    )
    return table


def passes(repeat: int, quick: bool, report: Report) -> Table:
    """A pass of the oracle over all examples, by threads that take turns."""
    table = Table(title="a pass of the oracle in one thread and in two")
    for heading in (
        "data",
        "one thread\nwall ms",
        "two threads\nwall ms",
        "one / two\nwall",
        "one / two if\ncores are free",
    ):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    for data, make in PASSES.items():
        report(data)
        batch, w = searched(make(quick))
        oracles = {k: Oracle(batch, executor=Threads(k)) for k in (1, WORKERS)}
        times: dict[int, list[Times]] = {1: [], WORKERS: []}
        for _ in range(repeat + 1):
            for k, oracle in oracles.items():
                times[k].append(timed(lambda oracle=oracle, w=w: oracle.slacks(w)))
        one, two = (min(each.wall for each in times[k][1:]) for k in (1, WORKERS))
        free = [min(each.undisturbed for each in times[k][1:]) for k in (1, WORKERS)]
        table.add_row(data, f"{1e3 * one:.0f}", f"{1e3 * two:.0f}", f"{one / two:.2f}", f"{free[0] / free[1]:.2f}")
    table.caption = f"The fastest of {repeat} passes each, which took turns, at trained weights."
    return table


def searched(fit: Fit) -> tuple[Any, Any]:
    """The packed data of a fit, and its weights after a few passes."""
    held: list[Any] = []

    class Held(BCFW):
        def solve(self, oracle: Any, *rest: Any, **options: Any) -> Any:
            held.append(oracle.batch)
            return super().solve(oracle, *rest, **options)

    model = fit.model.set_params(solver=Held(max_passes=3)).fit(fit.X, fit.Y)
    return held[0], model.w_


def _cells(fit: Fit, repeat: int, report: Report) -> list[str]:
    times: dict[int, list[Times]] = {1: [], WORKERS: []}
    weights = {}
    for i in range(repeat + 1):  # the first one compiles
        for n_jobs, taken in times.items():
            report(f"n_jobs={n_jobs}, fit {i} of {repeat}")
            model = fit.model.set_params(n_jobs=n_jobs)
            taken.append(timed(lambda model=model: model.fit(fit.X, fit.Y)))
            weights[n_jobs] = model.w_
    one, two = (taken[1:] for taken in times.values())
    alone, both = (min(each.wall for each in taken) for taken in (one, two))
    cpu = min(one, key=lambda each: each.undisturbed)
    shared = min(two, key=lambda each: each.undisturbed)
    return [
        type(fit.model).__name__,
        f"{alone:.2f}",
        f"{both:.2f}",
        f"{alone / both:.2f}",
        f"{cpu.calling + cpu.others:.2f}",
        f"{shared.calling:.2f} + {shared.others:.2f}",
        f"{cpu.undisturbed / shared.undisturbed:.2f}",
        "yes" if np.array_equal(weights[1], weights[WORKERS]) else "no",
    ]
