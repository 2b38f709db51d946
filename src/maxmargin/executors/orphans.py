"""Worker processes end when the process that started them has ended for any reason.

A killed process (SIGKILL, out of memory) cannot stop its workers, which would wait for work forever and keep their
share of the data in memory. Therefore every worker has a thread that watches its parent process.
"""

from __future__ import annotations

import os
import sys
import threading
import time

INTERVAL = 1.0  # seconds between two looks
SYNCHRONIZE, FOR_EVER = 0x00100000, 0xFFFFFFFF  # constants of Windows


def end_with_parent(parent: int) -> None:
    """Let this process end soon after its parent, whose number is given, has ended."""
    threading.Thread(target=_watch, args=(parent,), name="maxmargin-parent", daemon=True).start()


def _watch(parent: int) -> None:
    """Wait for the end of the parent, then end this process without cleaning up: all that it has is memory."""
    if sys.platform == "win32":
        _wait_on_windows(parent)
    else:
        while os.getppid() == parent:  # orphans get another parent
            time.sleep(INTERVAL)
    os._exit(1)


def _wait_on_windows(parent: int) -> None:
    """Wait for the end of the parent by its handle, because the number of a parent stays the same there."""
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined, unused-ignore]
    handle = kernel.OpenProcess(SYNCHRONIZE, False, parent)
    if handle:
        kernel.WaitForSingleObject(handle, FOR_EVER)
