"""The clock of work stands still while something is compiled, and progress lines say what is compiled."""

import io
import sys

import pytest

from maxmargin.base import compile_clock, progress_line
from maxmargin.base.compile_clock import CompileClock
from maxmargin.base.progress_line import LiveLine


@pytest.fixture
def clock(monkeypatch):
    """A clock whose time passes only when a test says so."""

    class Time:
        now = 100.0

        def perf_counter(self):
            return self.now

        process_time = perf_counter

    time, clock = Time(), CompileClock()
    monkeypatch.setattr(compile_clock, "time", time)
    clock.time, clock.folder = time, "/kept"
    return clock


def test_work_stands_still(clock):
    assert clock.worked() == (100, 100)
    clock.time.now += 1
    clock.begin()
    clock.time.now += 5
    clock.begin()  # a function that the first one calls
    clock.time.now += 5
    assert clock.worked() == (101, 101)
    assert clock.times() == (2, 10, 10, True)
    clock.end()
    assert clock.times().running
    clock.end()
    clock.time.now += 2
    assert clock.worked() == (103, 103)
    assert clock.times() == (2, 10, 10, False)


@pytest.mark.parametrize(("folder", "often"), [("/kept", "once only"), (None, "because NUMBA_CACHE_DIR names no wri")])
def test_a_line_says_what_is_compiled(clock, monkeypatch, folder, often):
    monkeypatch.setattr(progress_line, "COMPILING", clock)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    clock.folder = folder
    clock.begin()
    clock.end()  # earlier, and not told again
    with LiveLine(1, "training") as line:
        assert line.text.startswith("training …")
        clock.begin()
        clock.time.now += 3
        assert line.text.startswith(f"compiling, {often}")
        assert line.text.endswith("…  1 function, 3.0 s")
        clock.end()
        line.show("pass 1")
        assert line.text == "pass 1"
        line.say("objective 1")
    told = sys.stderr.getvalue().splitlines()
    assert told[0].startswith(f"compiled 1 function, 3.0 s, {often}")
    assert told[0].endswith("; they are kept in /kept") == (folder is not None)
    assert told[1:] == ["objective 1"]


def test_silence_unless_asked(clock, monkeypatch):
    monkeypatch.setattr(progress_line, "COMPILING", clock)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with LiveLine(0, "training"):
        clock.begin()
        clock.end()
    assert sys.stderr.getvalue() == ""
