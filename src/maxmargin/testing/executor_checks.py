"""check_executor: the same results as serial execution, in the same order, with small messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import cloudpickle
import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.executors import Executor, Serial
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, CCCP, Solver
from maxmargin.testing.comparisons import check, dense, ready

N = 24  # number of training examples
LIGHT, HEAVY = 10, 10_000  # unused numbers per example, in two problems that are otherwise the same


def check_executor(executor: Executor) -> None:
    """Check that an executor returns the same results as serial execution, in the same order, with short messages.

    Training with it, with and without latent variables and with restarts, must end at the same weights to the last bit;
    sums over shards use the same tree, so that mean planes are equal up to rounding, and always the same. The data are
    placed once: for two problems that differ only in the size of their examples, all calls send and return equally many
    bytes.

    Parameters
    ----------
    executor : Executor
        The Executor to check.

    Raises
    ------
    AssertionError, if a check fails.

    See Also
    --------
    maxmargin.executors : the executors.
    """
    _check_map(executor)
    _check_errors(executor)
    _check_planes(executor)
    _check_sums(executor)
    for solver, task in ((BCFW(), Plain()), (CCCP(), Hidden()), (CCCP(restarts=3), Hidden())):
        here, there = (_trained(solver, task, LIGHT, place) for place in (Serial(), executor))
        what = f"{solver!r} on a task with {type(task).__name__.lower()} labels"
        check(np.array_equal(here, there), f"{what} trained other weights than with Serial")
    if not executor.shares_memory:
        light, heavy = (_longest_call(executor, ballast) for ballast in (LIGHT, HEAVY))
        check(light == heavy, f"a call takes {light} bytes with small examples, but {heavy} with large ones")
    executor.close()
    executor.close()  # closing twice is allowed


def _check_map(executor: Executor) -> None:
    parts: list[Any] = [np.arange(start, start + 3) for start in range(0, 60, 3)]
    for count in (1, 2, len(parts)):
        each = list(range(count))
        placed = executor.place(parts[:count])
        results = list(executor.map(_scaled_sum, placed, each, 2.0))
        expected = [_scaled_sum(part, own, 2.0) for part, own in zip(parts[:count], each, strict=True)]
        check(results == expected, f"map over {count} parts returned {results}; expected {expected}")
        derived = executor.derive(_doubled, placed, 3)
        results = list(executor.map(_scaled_sum, derived, each, 2.0))
        expected = [_scaled_sum(_doubled(part, 3), own, 2.0) for part, own in zip(parts[:count], each, strict=True)]
        check(results == expected, f"map over {count} derived parts returned {results}; expected {expected}")
        results = list(executor.map(_both, placed, derived))
        expected = [_both(part, _doubled(part, 3)) for part in parts[:count]]
        check(results == expected, f"map over {count} pairs of parts returned {results}; expected {expected}")


def _check_errors(executor: Executor) -> None:
    try:
        list(executor.map(_fail, executor.place([np.zeros(3), np.zeros(3)]), [0, 1]))
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("an error inside the mapped function was not raised again")


def _check_planes(executor: Executor) -> None:
    X, Y = _data(70, LIGHT)
    task = ready(Plain(), X, Y)
    rng = np.random.default_rng(0)
    w, index = rng.standard_normal(task.dim), rng.permutation(70)
    here, there = (Oracle(task.pack(X, Y), executor=place) for place in (Serial(), executor))
    for wanted in (index[:1], index[:7], index):
        a, b = here.planes(w, wanted), there.planes(w, wanted)
        same = np.array_equal(a.loss, b.loss) and np.array_equal(dense(a.dpsi), dense(b.dpsi))
        check(same, f"the planes of {len(wanted)} examples are not those that Serial returns")
    check(here.risk(w) == there.risk(w), "the risk is not the one that Serial measures")


def _check_sums(executor: Executor) -> None:
    parts: list[Any] = [np.array([0.1, -0.7, 1.3]) * 3.0**k for k in range(9)]
    for count in (1, 2, 3, len(parts)):
        each = list(range(count))
        found, expected = (
            place.reduce(_added, _times, place.place(parts[:count]), each, 0.3) for place in (executor, Serial())
        )
        check(np.array_equal(found, expected), f"the sum over {count} parts was not added up in a tree of neighbours")
    X, Y = _data(70, LIGHT)
    task = ready(Plain(), X, Y)
    w = np.random.default_rng(1).standard_normal(task.dim)
    for formulation in (Formulation(), Formulation("slack", "l2")):
        here, there, again = (
            Oracle(task.pack(X, Y), formulation, executor=place).mean_plane(w)
            for place in (Serial(), executor, executor)
        )
        for name in ("a", "offset", "risk"):
            one, other = getattr(here, name), getattr(there, name)
            close = np.allclose(one, other, rtol=1e-9, atol=1e-12)
            check(close, f"{name} of the mean plane is {other}; with Serial it is {one}")
            check(
                np.array_equal(other, getattr(again, name)),
                f"{name} of the mean plane differs when it is computed again",
            )


def _trained(solver: Solver, task: Task, ballast: int, executor: Executor) -> Array:
    X, Y = _data(N, ballast)
    task = ready(task, X, Y)
    solution = solver.solve(Oracle(task.pack(X, Y), executor=executor), C=3.0)
    if solution.error is not None:
        raise solution.error
    return solution.w


def _longest_call(executor: Executor, ballast: int) -> int:
    """Return the bytes that the longest call of training sends and returns."""
    metered = _Metered(executor)
    _trained(BCFW(max_passes=3), Plain(), ballast, metered)
    _trained(CCCP(rounds=2, max_passes=5), Hidden(), ballast, metered)
    return metered.longest


class _Metered(Executor):
    """An executor that measures the messages of every call; placing data is not part of a call."""

    def __init__(self, executor: Executor):
        self.executor, self.longest = executor, 0
        self.workers, self.shares_memory = executor.workers, executor.shares_memory
        self.handles: list[Any] = []

    def place(self, parts: Sequence[Any]) -> list[Any]:
        return self._known(self.executor.place(parts))

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        for own, answer in zip(each, self.executor.map(fn, placed, each, *shared), strict=True):
            is_handle = any(own is handle for handle in self.handles)
            self._weigh((fn, shared) if is_handle else (fn, own, shared), answer)
            yield answer

    def derive(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> list[Any]:
        self._weigh((fn, shared), None)
        return self._known(self.executor.derive(fn, placed, *shared))

    def alive(self, placed: Sequence[Any]) -> bool:
        return self.executor.alive(placed)

    def _known(self, handles: list[Any]) -> list[Any]:
        self.handles += handles
        return handles

    def _weigh(self, message: Any, answer: Any) -> None:
        self.longest = max(self.longest, len(cloudpickle.dumps(message)) + len(cloudpickle.dumps(answer)))


class Plain(Task):
    """A task with three classes that depend on the first four numbers of an example; the others are ballast."""

    def setup(self, X: Any, Y: Any) -> None:
        self.dim = 12

    def psi(self, x: Any, z: Any) -> Any:
        return 4 * z + np.arange(4), x[:4]

    def loss(self, y: Any, z: Any) -> float:
        return float(y != z)

    def outputs(self, x: Any) -> Any:
        return range(3)


class Hidden(Plain):
    """The same task with a latent switch: every class has two descriptions, and the label does not show which."""

    latent = True

    def setup(self, X: Any, Y: Any) -> None:
        self.dim = 24

    def psi(self, x: Any, z: Any) -> Any:
        kind, switch = z
        return 8 * kind + 4 * switch + np.arange(4), x[:4]

    def loss(self, y: Any, z: Any) -> float:
        return float(y != z[0])

    def outputs(self, x: Any) -> Any:
        return [(kind, switch) for kind in range(3) for switch in range(2)]

    def label(self, z: Any) -> Any:
        return z[0]


def _data(n: int, ballast: int) -> tuple[list[Array], list[int]]:
    rng = np.random.default_rng(0)
    X: list[Any] = [np.append(rng.integers(-2, 3, 4), np.zeros(ballast)) for _ in range(n)]
    return X, [int(k) for k in rng.integers(0, 3, n)]


def _scaled_sum(part: Array, own: int, factor: float) -> float:
    return float(factor * part.sum()) + own


def _doubled(part: Array, more: int) -> Array:
    return 2 * part + more


def _times(part: Array, own: int, factor: float) -> Array:
    return factor * part + own


def _added(one: Array, other: Array) -> Array:
    return one + other


def _both(part: Array, other: Array) -> float:
    return float(part @ other)


def _fail(part: Array, own: int) -> float:
    return 1 / 0
