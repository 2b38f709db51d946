"""The choice between plain numba and modules that make kernels compile and run faster.

Three modules use parts of numba and llvmlite that are private or may change: inlined_kernels.py, vector_instructions.py
and prefetch_instruction.py, each with a measurement of its benefit. They are used only if a self-check with the
installed versions passes, once for each state of the kernel cache. Otherwise, or with MAXMARGIN_PLAIN_KERNELS=1, all
kernels are plain `numba.njit`, which is meant to give the same results bit for bit.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numba

import maxmargin.base.compiled.compile_events  # noqa: F401 - before anything is compiled
from maxmargin.base.compile_clock import COMPILING
from maxmargin.base.compiled.kernel_cache import cache_folder

PASSED = "self-check passed"  # the name of an empty file in the cache folder


def decide(package_dir: Path) -> bool:
    """Return True if the accelerating modules work with the installed versions and plain kernels were not requested."""
    settings: Any = numba.config
    if settings.DISABLE_JIT or os.environ.get("MAXMARGIN_PLAIN_KERNELS", "0") not in ("", "0"):
        return False
    folder = cache_folder(package_dir)
    if folder is not None and (folder / PASSED).exists():
        return True
    try:
        from maxmargin.base.compiled.self_check import check

        check()
    except Exception:  # another version may fail in any way
        return False
    if folder is not None:
        (folder / PASSED).touch()
    return True


PACKAGE = Path(__file__).resolve().parents[2]
COMPILING.folder = None if (kept := cache_folder(PACKAGE)) is None else str(kept)
ACCELERATED = decide(PACKAGE)
