"""Threads that short calls share: one pool per number of threads, which stays until the process ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="maxmargin-shared")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def on_threads(fn: Callable[..., None], shares: Sequence[Sequence[Any]]) -> None:
    """Call fn(*share) for every share, each on a thread of its own, the first on this one; raise the first error."""
    if len(shares) > 1:
        pool = _pool(len(shares) - 1)
        others = [pool.submit(fn, *share) for share in shares[1:]]
    else:
        others = []
    try:
        fn(*shares[0])
    finally:
        for other in others:
            other.result()
