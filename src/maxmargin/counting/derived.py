"""Derived: output sets that keep what they have derived from their parameters."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from maxmargin.counting.output_set import OutputSet


class Derived(OutputSet):
    """An output set whose cached properties are forgotten as soon as a parameter changes."""

    def __setattr__(self, name: str, value: Any) -> None:
        for key in list(vars(self)):
            if isinstance(getattr(type(self), key, None), cached_property):
                del self.__dict__[key]
        super().__setattr__(name, value)
