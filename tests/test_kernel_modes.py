"""Every estimator learns the same whether kernels are accelerated, plain numba.njit, or Python functions."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numba
import numpy as np
import pytest
from small_models import small_models

TESTS = Path(__file__).parent
QUICK = ("MulticlassSVC", "SequenceLabeler")  # the two ways of a fit take a few seconds without a compiler


@cache
def in_mode(*ways, **setting):
    """Fit small models in a fresh interpreter, in which all kernels are compiled as this variable says."""
    env = {name: value for name, value in os.environ.items() if name != "MAXMARGIN_PLAIN_KERNELS"}
    env |= {"PYTHONPATH": str(TESTS), "NUMBA_DISABLE_JIT": "0", **setting}
    command = [sys.executable, str(TESTS / "small_models.py"), *ways]
    result = subprocess.run(command, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def assert_close(found, expected, why):
    """Numbers agree to nine digits; texts are equal."""
    if isinstance(expected, str):
        assert found == expected, why
    else:
        size = np.max(np.abs(expected), initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * size, err_msg=why)


def assert_like_python(*ways):
    """Python rounds as kernels do, except for functions of the C library: results agree to nine digits."""
    found, usual = in_mode(*ways, NUMBA_DISABLE_JIT="1"), small_models(ways)
    assert found.keys() == usual.keys()
    for way, expected in usual.items():
        for what in ("weights", "predictions"):
            assert_close(found[way][what], expected[what], f"{what} of {way}")


def test_kernels_as_python_functions():
    assert_like_python(*QUICK)


@pytest.mark.slow
def test_all_kernels_as_python_functions():
    assert_like_python()


@pytest.mark.slow
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_plain_kernels():
    """The fallback learns the same bits as the accelerated kernels."""
    assert in_mode(MAXMARGIN_PLAIN_KERNELS="1") == in_mode()
