"""Threads that short calls share: every share is worked on once, errors arrive, and children start their own."""

import os
import threading

import pytest

from maxmargin.executors.shared_threads import on_threads


@pytest.mark.parametrize("n", [1, 2, 7])
def test_every_share_is_worked_on_once(n):
    seen, threads = [], set()

    def work(k):
        seen.append(k)
        threads.add(threading.get_ident())

    on_threads(work, [(k,) for k in range(n)])
    assert sorted(seen) == list(range(n))
    assert threading.get_ident() in threads


@pytest.mark.parametrize("bad", [0, 1])
def test_errors_of_any_thread_arrive(bad):
    def work(k):
        if k == bad:
            raise ValueError(f"share {k}")

    with pytest.raises(ValueError, match=f"share {bad}"):
        on_threads(work, [(0,), (1,)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_starts_its_own_threads():
    on_threads(lambda k: None, [(0,), (1,)])
    child = os.fork()
    if child == 0:
        seen = []
        on_threads(seen.append, [(0,), (1,)])
        os._exit(0 if sorted(seen) == [0, 1] else 1)
    assert os.waitpid(child, 0)[1] == 0
