"""Rounds on a Dask cluster of this machine: what a round costs beside its work, and how much faster two workers are.

A round sends w to all workers, and vectors as long as w return. Overhead (`dask-rounds`) is the time of a round in
which parts do nothing but return such a vector. Passes (`dask-passes`) are over data that are repeated until a pass of
one process takes two seconds; one process is this one, without Dask, and the two take turns.

Other work on the machine disturbs the time on the wall, so the tables also say what CPU time promises where cores are
free: what the driver did, and then what the busiest worker did. That is too much where the two overlap.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks import sequences, threads
from benchmarks.effective_passes import Fit
from benchmarks.timing import Report
from maxmargin import SequenceLabeler, pack
from maxmargin.executors import Dask
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW

PROBLEMS = ("dask-rounds", "dask-passes")
LENGTHS = (10_000, 1_000_000)
DENSITIES = (1.0, 0.07)  # of the vector that returns; that of the mean plane of CoNLL-2000 is 7%
ROUNDS = 30
PASS = 3.0  # seconds of CPU, of a pass in one process


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Processes with one thread each."""
    from distributed import LocalCluster

    place = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}
    with LocalCluster(n_workers=n_workers, **place) as local, local.get_client() as client:
        yield client


class Took(NamedTuple):
    """Seconds."""

    wall: float
    driver: float  # of CPU
    worker: float  # of CPU, of the busiest

    @property
    def undisturbed(self) -> float:
        """On the wall, where every process has a core."""
        return self.driver + self.worker


def timed(call: Callable[[], Any], client: Any = None, repeat: int = 1) -> list[Took]:
    """What calls take; CPU time is the mean of all."""
    before = {} if client is None else client.run(time.process_time)
    driver, walls = time.process_time(), []
    for _ in range(repeat):
        began = time.perf_counter()
        call()
        walls.append(time.perf_counter() - began)
    driver = (time.process_time() - driver) / repeat
    after = {} if client is None else client.run(time.process_time)
    busiest = max((after[each] - before[each] for each in after), default=0.0) / repeat
    return [Took(wall, driver, busiest) for wall in walls]


def medians(call: Callable[[], Any], repeat: int) -> float:
    """Seconds on the wall, without the first time."""
    call()
    return float(np.median([each.wall for each in timed(call, None, repeat)]))


def idle(part: Any, density: float, w: np.ndarray) -> np.ndarray:
    """No work: a vector as long as w, of which so much is not 0."""
    if density < 1:
        w[int(density * len(w)) :] = 0.0
    return w


def added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of two parts."""
    return one + other


class Grab(BCFW):
    """Gets hold of the problem of a fit."""

    def solve(self, oracle: Any, C: float, *rest: Any, **others: Any) -> Any:
        raise Grabbed(oracle)


class Grabbed(Exception):  # noqa: N818 - it is no error
    """The problem."""


def oracle_of(fit: Any) -> Oracle:
    """The problem that a fit would solve."""
    data = (fit.X,) if fit.Y is None else (fit.X, fit.Y)
    try:
        fit.model.set_params(solver=Grab()).fit(*data)
    except Grabbed as found:
        return found.args[0]
    raise RuntimeError("nothing was to be solved")


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Idle rounds, or passes over data."""
    return passes(repeat, report) if name == "dask-passes" else overhead(report)


def overhead(report: Report) -> Table:
    """Rounds without work, on one worker and on two."""
    table = Table(title="rounds without work on a Dask cluster of this machine")
    table.add_column("weights, and how many of those that return are not 0")
    for heading in (
        "one worker\nms",
        "two workers\nms",
        "fastest\nms",
        "CPU of the\ndriver, ms",
        "CPU of a\nworker, ms",
        "MB\nsent",
        "MB\nreceived",
    ):
        table.add_column(heading, justify="right")
    rows: dict[str, list[str]] = {}
    for n_workers in (1, 2):
        with cluster(n_workers) as client:
            executor = Dask(client, parts=n_workers)
            placed = executor.place([np.zeros(k + 1) for k in range(n_workers)])
            for dim in LENGTHS:
                w = np.random.default_rng(0).standard_normal(dim)
                for density in DENSITIES:
                    report(f"{n_workers} workers: {dim:,} weights")
                    each = [density] * n_workers

                    def call(each: list[float] = each, w: np.ndarray = w) -> None:
                        executor.reduce(added, idle, placed, each, w)  # noqa: B023 - within this turn

                    call()
                    crossed = np.array([executor.sent, executor.received])
                    took = timed(call, client, ROUNDS)
                    crossed = (np.array([executor.sent, executor.received]) - crossed) / ROUNDS / 1e6
                    walls, cells = [1e3 * one.wall for one in took], rows.setdefault(f"{dim:,}, {density:.0%}", [])
                    cells.append(f"{np.median(walls):.0f}")
                    if n_workers == 2:
                        cpu = (1e3 * took[0].driver, 1e3 * took[0].worker)
                        cells += [f"{min(walls):.0f}", *(f"{ms:.0f}" for ms in cpu), *(f"{mb:.2f}" for mb in crossed)]
    for what, cells in rows.items():
        table.add_row(what, *cells)
    table.caption = (
        f"Medians of {ROUNDS} rounds, wall-clock time. For two workers: the fastest, CPU time, and bytes that are sent."
    )
    return table


def passes(repeat: int, report: Report) -> Table:
    """Passes that take two seconds, in this process and on two workers, in turn."""
    table = Table(title="passes over data, in one process and on two workers of a Dask cluster of this machine")
    for heading in (
        "data",
        "weights",
        "examples",
        "one process\nwall s",
        "two workers\nwall s",
        "one / two\nwall",
        "one process\nCPU s",
        "driver + busiest\nworker, CPU s",
        "one / two if\ncores are free",
    ):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    with tempfile.TemporaryDirectory() as folder, cluster(2) as client:
        for data, long_enough in DATA.items():
            report(f"{data}: packing")
            whole = long_enough(Path(folder))
            w = 0.01 * np.random.default_rng(0).standard_normal(whole.dim)
            here = Oracle(whole.batch, whole.formulation)
            there = Oracle(whole.batch, whole.formulation, executor=Dask(client, parts=2))
            for oracle in (here, there):
                oracle.mean_plane(w)  # places parts, compiles, and looks at w = 0
            one, two = [], []
            for k in range(repeat):
                report(f"{data}: pass {k + 1} of {repeat}")
                one += timed(lambda oracle=here, w=w: oracle.mean_plane(w))
                two += timed(lambda oracle=there, w=w: oracle.mean_plane(w), client)
            walls = [min(each.wall for each in took) for took in (one, two)]
            alone, shared = (min(took, key=lambda each: each.undisturbed) for took in (one, two))
            table.add_row(
                data,
                f"{whole.dim:,}",
                f"{whole.n:,}",
                *(f"{wall:.2f}" for wall in walls),
                f"{walls[0] / walls[1]:.2f}",
                f"{alone.driver:.2f}",
                f"{shared.driver:.2f} + {shared.worker:.2f}",
                f"{alone.undisturbed / shared.undisturbed:.2f}",
            )
    table.caption = f"Mean planes, the fastest of {repeat} passes each, which took turns."
    return table


def times(fit: Any) -> int:
    """How often the data of a fit are to be repeated."""
    oracle = oracle_of(fit)
    w = 0.01 * np.random.default_rng(0).standard_normal(oracle.dim)
    oracle.mean_plane(w)
    return ceil(PASS / min(timed(lambda: oracle.mean_plane(w))[0].driver for _ in range(3)))


def repeated(name: str) -> Callable[[Path], Oracle]:
    """The data of threads.py, as lists."""

    def made(folder: Path) -> Oracle:
        fit = threads.FITS[name](quick=True)
        k = times(fit)
        return oracle_of(Fit(fit.model, list(fit.X) * k, list(fit.Y) * k))

    return made


def chunks(folder: Path) -> Oracle:
    """500 sentences of CoNLL-2000, packed into a folder, which workers read."""
    problem = sequences.PROBLEMS["conll2000"](True)
    model = SequenceLabeler(C=1.0, forbidden="BIO", random_state=0)
    k = times(Fit(model, problem.train, problem.train_tags))
    every = zip(problem.train * k, problem.train_tags * k, strict=True)
    return oracle_of(Fit(model, pack(every, folder / "chunks", "sequences"), None))


DATA: dict[str, Callable[[Path], Oracle]] = {
    "conll2000, packed": chunks,
    "ptb, 15 words": repeated("ptb, 15 words"),
    "prefab4": repeated("prefab4, 40 pairs"),
}
