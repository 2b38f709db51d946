"""Processes that outlive the one that started them: workers end soon after a parent that was killed."""

import os
import signal
import subprocess
import sys
import time

import pytest
from shell import ENVIRONMENT

PARENT = """
import os, sys, time
import numpy as np
from maxmargin.executors import Processes


class Share:
    def __init__(self, k):
        self.k, self.numbers = k, np.zeros(100_000)


def number(share, own):
    return os.getpid()


def work(share, own):
    end = time.monotonic() + 600
    while time.monotonic() < end:
        pass


def rest(share, own):
    time.sleep(600)


executor = Processes({workers})
placed = executor.place([Share(k) for k in range({workers})])
pids = list(executor.map(number, placed, [()] * len(placed)))
print(*pids, flush=True)
what = {what!r}
if what != "idle":
    list(executor.map({{"work": work, "rest": rest}}[what], placed, [()] * len(placed)))
time.sleep(600)
"""
CASES = [(what, workers, wait) for wait in (0.0, 0.5) for workers in (1, 2, 3) for what in ("idle", "work", "rest")]


def is_alive(pid):
    """Return whether a process runs; one that has ended and waits for its parent's attention does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the system does not list its processes in /proc")
@pytest.mark.every(9)
@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, each)) for each in CASES])
def test_workers_end_with_a_killed_parent(case, tmp_path):
    what, workers, wait = case
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(what=what, workers=workers))
    with subprocess.Popen([sys.executable, str(script)], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as parent:
        pids = list(map(int, parent.stdout.readline().split()))
        assert len(pids) == workers
        assert all(map(is_alive, pids))
        time.sleep(wait)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 100
    while (left := list(filter(is_alive, pids))) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
