"""The options of training: their checks, and their conversion to objects."""

from __future__ import annotations

from math import isfinite
from typing import Any, Literal, TypedDict

import numpy as np

from maxmargin.base.checks import is_real, is_whole
from maxmargin.executors import Executor, Serial, Threads
from maxmargin.solvers import Solver

Rescaling = Literal["margin", "slack"]
Slack = Literal["l1", "l2"]


class Options(TypedDict, total=False):
    """The options of training, which every estimator passes on to Trainer."""

    rescaling: Rescaling
    slack: Slack
    bounds: Any
    prior: Any
    tol: float | None
    max_passes: float | None
    n_jobs: int | None
    executor: Executor | None
    random_state: Any
    warm_start: bool
    callback: Any
    verbose: int
    memory_mb: float | None
    checkpoint: Any
    checkpoint_every: Any


def checked_C(C: Any) -> float:  # noqa: N802 - the parameter's name
    """Return C as a float; raise a ValueError unless it is a positive number or inf."""
    if not _positive(C):
        raise ValueError(f"C must be a positive number (or inf for a hard margin), got {C!r}")
    return float(C)


def checked_solver(solver: Solver) -> Solver:
    """Return the solver; raise a ValueError if its options would never let it stop."""
    if not _positive(solver.tol) or not isfinite(solver.tol):
        raise ValueError(
            f"tol must be a positive finite number, got {solver.tol!r}; rounding keeps every gap from being exactly 0"
        )
    if not _positive(solver.max_passes):
        raise ValueError(f"max_passes must be a positive number (or inf for no limit), got {solver.max_passes!r}")
    return solver


def executor_for(executor: Any, n_jobs: Any) -> Executor:
    """Return the given executor, or one with the given number of threads."""
    if executor is not None:
        if not isinstance(executor, Executor):
            raise TypeError(f"executor must be a maxmargin Executor, got {executor!r}")
        return executor
    n_jobs = 1 if n_jobs is None else n_jobs
    if not is_whole(n_jobs) or n_jobs < -1 or n_jobs == 0:
        raise ValueError(f"n_jobs must be a positive whole number, or -1 for one thread per core, got {n_jobs!r}")
    return Serial() if n_jobs == 1 else Threads(int(n_jobs))


def seed_of(random_state: Any) -> int:
    """Return a seed: the given number, or a random one."""
    if is_whole(random_state):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative, got {random_state}")
        return int(random_state)
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        raise ValueError(f"random_state must be a whole number, a RandomState or None, got {random_state!r}")
    return int((random_state or np.random.RandomState()).randint(2**31 - 1))


def checked_callback(callback: Any) -> Any:
    """Return the callback, or raise a TypeError if it cannot be called."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {callback!r}")
    return callback


def n_examples(data: Any, name: str) -> int:
    """Return the length of a list or an array of examples."""
    if hasattr(data, "shape") and len(data.shape):
        return int(data.shape[0])
    try:
        return len(data)
    except TypeError:
        raise ValueError(f"{name} must be a list or an array of examples, got {type(data).__name__}") from None


def _positive(number: Any) -> bool:
    return is_real(number) and float(number) > 0
