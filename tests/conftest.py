"""Settings of all tests, and what they import from beside the package.

Tests share twins, strategies and example tasks, which are in this folder; those that need data find it through the
loaders of the benchmarks.
"""

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from maxmargin.base import interruptions

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from campaigns import COUNTS as CAMPAIGNS  # noqa: E402 - it is beside this file
from sampling import sampled  # noqa: E402 - so is this
from thorough import FEW, THOROUGH  # noqa: E402 - and this

# The same examples in every run, unless new ones are asked for: what is red is red again, on every machine.
settings.register_profile(
    "maxmargin",
    deadline=None,
    max_examples=40 if THOROUGH else FEW,
    print_blob=True,
    derandomize="MAXMARGIN_RANDOM" not in os.environ,
    database=None,
)
settings.load_profile("maxmargin")

interruptions.AGAIN = 0.0  # tests plant Ctrl-C faster than a person presses it; those of the second one set it again

# Files of tests need not survive a power failure, and waiting for the disk takes most of the time of many checkpoints.
os.fsync = lambda descriptor: None

# Background jobs of a shell ignore Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is collected stays until the end. The garbage collector need not look at hundreds of thousands of such objects
# again and again, while tests are collected or later.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "thorough: make proofs runs it again, with more examples or as part of a campaign"
    )
    config.addinivalue_line("markers", "every(k): only every k-th value of this test's list runs in make test")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave a sample of every product in make test, and mark as thorough what make proofs runs again."""
    for item in items:
        campaign = item.path.is_relative_to(TESTS) and item.path.relative_to(TESTS).as_posix() in CAMPAIGNS
        if campaign or is_hypothesis_test(getattr(item, "function", None)):
            item.add_marker(pytest.mark.thorough)
        if not sampled(item):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from scheduling import FolderScheduling

    return FolderScheduling(config, log)


def pytest_runtest_setup(item):
    if item.get_closest_marker("data") and "MAXMARGIN_DATA" not in os.environ:
        pytest.skip("MAXMARGIN_DATA is not set")


@pytest.fixture(scope="session")
def pool():
    """Two processes that many tests may use: to start them takes longer than most tests."""
    from maxmargin.executors import Processes

    executor = Processes(2)
    yield executor
    executor.close()
