"""The decorator that compiles every kernel of the package.

A kernel is a function over arrays, compiled by `numba.njit(cache=True, nogil=True)` on its first call and kept on disk
(kernel_cache.py). If this version of numba permits it, kernels compile and run faster (accelerated.py), with the same
results.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from maxmargin.base.compiled.accelerated import ACCELERATED
from maxmargin.base.compiled.kernel_cache import cache_folder, caching_in

F = TypeVar("F", bound=Callable[..., Any])


def kernel_of(package_dir: Path) -> Callable[[F], F]:
    """Make the decorator of the kernels of a package.

    Kernels allocate nothing: scratch arrays are arguments. With NUMBA_DISABLE_JIT=1 they stay Python functions. If
    there is no writable folder, or if there are no source files, they are compiled anew in every process.
    """

    def decorate(func: F) -> F:
        settings: Any = numba.config
        if settings.DISABLE_JIT:
            return func
        folder = cache_folder(package_dir)
        if folder is None:
            return _compiled(func, cache=False)
        with caching_in(folder / ("inlined" if ACCELERATED else "plain")):
            return _compiled(func, cache=True)

    return decorate


def _compiled(func: F, cache: bool) -> F:
    if ACCELERATED:
        from maxmargin.base.compiled.inlined_kernels import inlined

        return cast(F, inlined(func, cache=cache))
    return cast(F, numba.njit(cache=cache, nogil=True)(func))


kernel = kernel_of(Path(__file__).resolve().parents[2])  # the package itself
