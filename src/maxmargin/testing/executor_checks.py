"""check_executor: the same results as doing the work here."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.arrays import Array
from maxmargin.executors import Executor, Serial
from maxmargin.oracle import Oracle
from maxmargin.tasks import Multiclass
from maxmargin.testing.comparisons import check, dense, ready


def check_executor(executor: Executor) -> None:
    """Prove that an executor returns the same results as doing the work here, in the same order."""
    parts: list[Any] = [np.arange(start, start + 3) for start in range(0, 60, 3)]
    for count in (1, 2, len(parts)):
        results = list(executor.map(_scaled_sum, executor.place(parts[:count]), 2.0))
        expected = [_scaled_sum(part, 2.0) for part in parts[:count]]
        check(results == expected, f"map over {count} parts returned {results}; expected {expected}")
    try:
        list(executor.map(_fail, executor.place(parts), 2.0))
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("an error inside the mapped function did not come back")
    rng = np.random.default_rng(0)
    X: Any
    Y: Any
    X, Y = rng.integers(-2, 3, (70, 4)).astype(float), rng.integers(0, 3, 70)
    task = ready(Multiclass(), X, Y)
    w, index = rng.standard_normal(task.dim), rng.permutation(70)
    here, there = (Oracle(task, task.pack(X, Y), executor=place) for place in (Serial(), executor))
    for wanted in (index[:1], index[:7], index):
        a, b = here.planes(w, wanted), there.planes(w, wanted)
        same = np.array_equal(a.loss, b.loss) and np.array_equal(dense(a.dpsi), dense(b.dpsi))
        check(same, f"the planes of {len(wanted)} examples are not those that Serial returns")
    check(here.risk(w) == there.risk(w), "the risk is not the one that Serial measures")
    executor.close()
    executor.close()  # twice does no harm


def _scaled_sum(part: Array, factor: float) -> float:
    return float(factor * part.sum())


def _fail(part: Array, factor: float) -> float:
    return 1 / 0
