import functools
import os
import pickle
import threading

import pytest

from maxmargin.executors import Executor, Processes, Serial, Threads
from maxmargin.testing import check_executor


@pytest.mark.parametrize("executor", [Serial(), Threads(1), Threads(2), Threads(5), Threads()], ids=repr)
def test_same_results_in_the_same_order(executor):
    check_executor(executor)


@pytest.mark.parametrize("kind", [Threads, Processes])
def test_one_worker_per_core_by_default(kind):
    assert kind().workers == os.cpu_count()


@pytest.mark.parametrize("kind", [Threads, Processes])
@pytest.mark.parametrize("workers", [0, -2])
def test_workers_that_make_no_sense(kind, workers):
    with pytest.raises(ValueError, match="positive number or -1"):
        kind(workers)


def test_threads_start_on_demand_and_end_with_close():
    executor = Threads(2)
    before = threading.active_count()
    list(executor.map(divmod, [7, 8, 9], [2, 2, 2]))
    assert threading.active_count() > before
    executor.close()
    assert threading.active_count() == before
    assert list(executor.map(divmod, [7, 8], [2, 3])) == [(3, 1), (2, 2)]  # and start again
    executor.close()


def test_open_pool_can_be_pickled():
    executor = Threads(2)
    list(executor.map(divmod, [7, 8, 9], [2, 2, 2]))
    check_executor(pickle.loads(pickle.dumps(executor)))
    executor.close()


class Backwards(Executor):
    """Returns the results in the wrong order."""

    workers = 2

    def map(self, fn, placed, each, *shared):
        return iter([fn(part, own, *shared) for part, own in zip(placed, each, strict=True)][::-1])


class Silent(Executor):
    """Swallows errors."""

    def map(self, fn, placed, each, *shared):
        for part, own in zip(placed, each, strict=True):
            try:
                yield fn(part, own, *shared)
            except ZeroDivisionError:
                yield None


class OneByOne(Executor):
    """Joins whatever comes next, and no tree."""

    def map(self, fn, placed, each, *shared):
        return (fn(part, own, *shared) for part, own in zip(placed, each, strict=True))

    def reduce(self, join, fn, placed, each, *shared):
        return functools.reduce(join, self.map(fn, placed, each, *shared))


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (Backwards(), "map over 2 parts"),
        (Silent(), "was not raised again"),
        (OneByOne(), "the sum over 9 parts was not added up in a tree"),
    ],
    ids=["order", "errors", "sums"],
)
def test_the_check_finds_what_is_wrong(executor, message):
    with pytest.raises(AssertionError, match=message):
        check_executor(executor)
