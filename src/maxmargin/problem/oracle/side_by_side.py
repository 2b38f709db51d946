"""Whole trainings of one problem in parallel, as many at once as there are workers.

Order of calls: `side_by_side` starts the runs and yields their results, in order; `stop_runs` cancels those that are
still running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.base.arrays import Array
from maxmargin.executors import Serial
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.placement import Placement


def side_by_side(
    oracle: Oracle, run: Callable[..., Any], each: Sequence[Any], watch: Any, *shared: Any
) -> Iterator[Any]:
    """Yield run(oracle, each[k], watch, *shared) for every k.

    `run` is a function that other processes can import. In other processes, watch is None; their results contain
    references to the data, not copies.
    """
    executor = oracle.placement.executor
    if not at_once(oracle, len(each)):
        return Serial().map(run, [oracle] * len(each), each, watch, *shared)
    if executor.shares_memory:
        # a run must not wait for the pool that it runs in
        own = oracle.with_placement(Placement(oracle.batch, Serial()))
        return executor.map(run, [own] * len(each), each, watch, *shared)
    copies = executor.place([oracle.batch] * min(len(each), executor.workers))
    data = [copies[k % len(copies)] for k in range(len(each))]
    problem = (oracle.formulation, oracle.weights, oracle.geometry)
    return executor.map(run_elsewhere, data, each, run, problem, shared)


def at_once(oracle: Oracle, runs: int) -> bool:
    """Return whether `side_by_side` makes several of these runs at once; with a kernel, no two may use its cache."""
    return runs > 1 and oracle.placement.executor.workers > 1 and not oracle.placement.exclusive


def stop_runs(oracle: Oracle) -> None:
    """Cancel the runs in other processes, and wait for those in threads."""
    oracle.placement.executor.close()


def run_elsewhere(
    batch: Batch,
    each: Any,
    run: Callable[..., Any],
    problem: tuple[Formulation, Array, Geometry | None],
    shared: Sequence[Any],
) -> Any:
    """Run a whole training in another process, on its copy of the data."""
    formulation, weights, geometry = problem
    oracle = Oracle(batch, formulation, geometry=geometry)
    oracle.weights = weights
    return run(oracle, each, None, *shared)
