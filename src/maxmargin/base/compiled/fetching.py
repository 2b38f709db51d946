"""Prefetch memory that will be read soon. Nothing waits for it, and only the time of reading changes."""

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
