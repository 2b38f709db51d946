"""Ask memory for what will be read soon: nothing waits for it, and nothing changes but the time that reading takes."""

from __future__ import annotations

from typing import Any

from maxmargin.base.compiled.accelerated import ACCELERATED
from maxmargin.base.compiled.kernel import kernel

fetch: Any

if ACCELERATED:
    from maxmargin.base.compiled.prefetch_instruction import fetch
else:

    @kernel
    def fetch(array, begin, end):
        """Do nothing: there is no plain instruction for it."""
