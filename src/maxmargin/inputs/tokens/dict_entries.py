"""Dicts of names and values as Names and numbers, by way of their pickle: see compiled/pickled_pairs.py."""

from __future__ import annotations

from io import BytesIO
from pickle import Pickler
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.inputs.tokens.vocabulary import Names

# What pickle writes as it is; numbers of numpy are made such first.
PLAIN = {str, float, int, bool}
NUMBERS = {np.float64, np.float32, np.int64, np.int32, np.bool_}


class DictEntries(NamedTuple):
    """Names and their numbers; "name=value", and 1.0, where the value was a string."""

    names: Names
    values: Array

    @classmethod
    def of(cls, dicts: list[dict[Any, Any]], n: int) -> DictEntries | None:
        """All n pairs of some dicts, in order; None where a key or a value is of another type, or has a zero byte."""
        # The first dict shows what most values are: what is none of these would be pickled at length, for nothing.
        kinds = set(map(type, next(filter(None, dicts), {}).values()))
        if not kinds <= PLAIN:
            if not kinds <= PLAIN | NUMBERS:
                return None
            dicts = [{name: v.item() if type(v) in NUMBERS else v for name, v in d.items()} for d in dicts]
        text = _pickled(dicts)
        return None if text is None else cls._split(text, n)

    @classmethod
    def _split(cls, text: BytesIO, n: int) -> DictEntries | None:
        from maxmargin.inputs.tokens.compiled.pickled_pairs import split_pairs

        size = text.tell()
        text.write(bytes(24 - size % 8))
        padded = np.frombuffer(text.getbuffer(), dtype=np.uint64)
        words, begins, values = np.empty(len(padded) + n, np.uint64), np.empty(n + 1, np.int64), np.empty(n)
        whole = split_pairs(padded, words, begins, values, values.view(np.uint64))
        return cls(Names(words[: begins[-1]], begins), values) if whole else None


def _pickled(dicts: list[dict[Any, Any]]) -> BytesIO | None:
    """None where one of them cannot be pickled."""
    text = BytesIO()
    pickler = Pickler(text, protocol=3)
    pickler.fast = True  # without memo: every string is written out
    try:
        pickler.dump(dicts)
    except Exception:  # of any kind: what is no string or number may do what it likes there
        return None
    return text
