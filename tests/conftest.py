"""Settings of all tests, and what they import from beside the package.

Tests share twins, strategies and example tasks, which are in this folder; those that need data find it through the
loaders of the benchmarks.
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from maxmargin.base import interruptions

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from thorough import THOROUGH  # noqa: E402 - it is beside this file

settings.register_profile("maxmargin", deadline=None, max_examples=40 if THOROUGH else 10, print_blob=True)
settings.load_profile("maxmargin")

interruptions.AGAIN = 0.0  # tests plant Ctrl-C faster than a person presses it; those of the second one set it again


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: draws more examples in make test-slow, which runs it again")
    config.addinivalue_line(
        "markers",
        "every(k): of the product of this test's parameters only those run in make test whose places in their lists "
        "sum to a multiple of k; the others are slow",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks what `every(k)` leaves out as slow, and all property tests as thorough.

    Of two lists of k values this keeps every value, of three lists every pair of values, as a Latin square does.
    """
    for item in items:
        if is_hypothesis_test(getattr(item, "function", None)):
            item.add_marker(pytest.mark.thorough)
        every = item.get_closest_marker("every")
        if every is not None and sum(places(item)) % every.args[0]:
            item.add_marker(pytest.mark.slow)


def places(item):
    """Of every list that a test is parametrised with, the place of this item's value."""
    for mark in item.iter_markers("parametrize"):
        names, values = mark.args
        name, *others = names.replace(",", " ").split() if isinstance(names, str) else names
        for i, value in enumerate(values):
            one = value.values if hasattr(value, "marks") else value if others else [value]
            if one[0] is item.callspec.params[name]:
                yield i
                break


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
