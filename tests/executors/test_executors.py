import os
import pickle
import threading

import pytest

from maxmargin.executors import Executor, Serial, Threads
from maxmargin.testing import check_executor


@pytest.mark.parametrize("executor", [Serial(), Threads(1), Threads(2), Threads(5), Threads()], ids=repr)
def test_same_results_in_the_same_order(executor):
    check_executor(executor)


def test_one_thread_per_core_by_default():
    assert Threads().workers == os.cpu_count()


@pytest.mark.parametrize("workers", [0, -2])
def test_workers_that_make_no_sense(workers):
    with pytest.raises(ValueError, match="positive number or -1"):
        Threads(workers)


def test_threads_start_on_demand_and_end_with_close():
    executor = Threads(2)
    before = threading.active_count()
    list(executor.map(abs, [1, -2, 3]))
    assert threading.active_count() > before
    executor.close()
    assert threading.active_count() == before
    assert list(executor.map(abs, [1, -2, 3])) == [1, 2, 3]  # and start again
    executor.close()


def test_open_pool_can_be_pickled():
    executor = Threads(2)
    list(executor.map(abs, [1, -2, 3]))
    check_executor(pickle.loads(pickle.dumps(executor)))
    executor.close()


class Backwards(Executor):
    """Returns the results in the wrong order."""

    workers = 2

    def map(self, fn, placed, *shared):
        return iter([fn(part, *shared) for part in placed][::-1])


class Silent(Executor):
    """Swallows errors."""

    def map(self, fn, placed, *shared):
        for part in placed:
            try:
                yield fn(part, *shared)
            except ZeroDivisionError:
                yield None


@pytest.mark.parametrize(
    ("executor", "message"),
    [(Backwards(), "map over 2 parts"), (Silent(), "did not come back")],
    ids=["order", "errors"],
)
def test_the_check_finds_what_is_wrong(executor, message):
    with pytest.raises(AssertionError, match=message):
        check_executor(executor)
