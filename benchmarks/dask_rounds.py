"""Rounds on a Dask cluster of this machine: what a round costs beside its work, and how much faster two workers are.

A round sends w to all workers, and one vector as long as w returns, joined on the way. Overhead is the time of a round
in which parts do nothing but make that vector. The other rows are passes over data, one worker against two; the driver
works on one core meanwhile, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks import threads
from benchmarks.timing import Report
from maxmargin.executors import Dask
from maxmargin.oracle import Oracle
from maxmargin.solvers import BCFW

PROBLEMS = ("dask",)
LENGTHS = (10_000, 1_000_000)
ROUNDS = 15
DATA = ("ptb, 15 words", "conll2000", "prefab4, 40 pairs")


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Processes with one thread each."""
    from distributed import LocalCluster

    place = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}
    with LocalCluster(n_workers=n_workers, **place) as local, local.get_client() as client:
        yield client


def idle(part: Any, own: Any, w: np.ndarray) -> np.ndarray:
    """No work: a vector as long as w."""
    return w


def added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of two parts."""
    return one + other


def medians(call: Callable[[], Any], repeat: int) -> float:
    """Seconds on the wall, without the first time."""
    times = []
    for _ in range(repeat + 1):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return float(np.median(times[1:]))


class Grab(BCFW):
    """Gets hold of the problem of a fit."""

    def solve(self, oracle: Any, C: float, *rest: Any, **others: Any) -> Any:
        raise Grabbed(oracle)


class Grabbed(Exception):  # noqa: N818 - it is no error
    """The problem."""


def oracle_of(fit: Any) -> Oracle:
    """The problem that a fit would solve."""
    try:
        fit.model.set_params(solver=Grab()).fit(fit.X, fit.Y)
    except Grabbed as found:
        return found.args[0]
    raise RuntimeError("nothing was to be solved")


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Idle rounds, and passes on one worker and on two."""
    table = Table(title="rounds on a Dask cluster of this machine")
    table.add_column("round")
    for heading in ("one worker, ms", "two workers, ms", "one / two", "MB sent", "MB received"):
        table.add_column(heading, justify="right")
    times: dict[str, dict[int, tuple[float, float, float]]] = {}
    for n_workers in (1, 2):
        report(f"{n_workers} workers")
        with cluster(n_workers) as client:
            executor = Dask(client, parts=n_workers)
            for dim in LENGTHS:
                placed, w = executor.place([np.zeros(k + 1) for k in range(n_workers)]), np.ones(dim)
                sent, received = executor.sent, executor.received
                each = [0] * n_workers
                ms = 1e3 * medians(lambda: executor.reduce(added, idle, placed, each, w), ROUNDS)  # noqa: B023
                crossed = [
                    (now - before) / (ROUNDS + 1) / 1e6
                    for now, before in ((executor.sent, sent), (executor.received, received))
                ]
                times.setdefault(f"idle, {dim:,} weights", {})[n_workers] = (ms, *crossed)
            for data in DATA:
                report(f"{n_workers} workers: {data}")
                whole = oracle_of(threads.FITS[data](quick))
                oracle = Oracle(whole._batch, whole.formulation, executor=executor)
                w = 0.01 * np.random.default_rng(0).standard_normal(whole.dim)
                oracle.mean_plane(w)
                sent, received = executor.sent, executor.received
                ms = 1e3 * medians(lambda: oracle.mean_plane(w), repeat)  # noqa: B023
                crossed = [
                    (now - before) / (repeat + 1) / 1e6
                    for now, before in ((executor.sent, sent), (executor.received, received))
                ]
                times.setdefault(f"{data}: {whole.n:,} examples, {whole.dim:,} weights", {})[n_workers] = (ms, *crossed)
    for what, found in times.items():
        one, two = found[1], found[2]
        table.add_row(
            what, f"{one[0]:.0f}", f"{two[0]:.0f}", f"{one[0] / two[0]:.2f}", f"{two[1]:.2f}", f"{two[2]:.2f}"
        )
    table.caption = "Medians on the wall; bytes are those of the driver, per round, with two workers."
    return table
