"""Settings of all tests, and what they import from beside the package.

Tests share twins, strategies and example tasks, which are in this folder; those that need data find it through the
loaders of the benchmarks.
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from maxmargin import interruptions

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

settings.register_profile("maxmargin", deadline=None, max_examples=40, print_blob=True)
settings.load_profile("maxmargin")

interruptions.AGAIN = 0.0  # tests plant Ctrl-C faster than a person presses it; those of the second one set it again


def pytest_runtest_setup(item):
    if item.get_closest_marker("data") and "MAXMARGIN_DATA" not in os.environ:
        pytest.skip("MAXMARGIN_DATA is not set")
