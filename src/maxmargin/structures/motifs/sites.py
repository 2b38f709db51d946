"""Sites: the positions at which a trained motif is found in strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Real, Text, Whole
from maxmargin.base.files.objects import declare
from maxmargin.structures.motifs.scored_windows import ScoredWindows
from maxmargin.structures.motifs.windows import IntArray, Windows


class Site(NamedTuple):
    """Occurrence of a motif in a sequence."""

    sequence: int  # the number of the sequence
    start: int  # its first letter on the plus strand, counted from 0
    strand: str  # "+", or "-" if the motif is on the other strand
    score: float  # the gain over no motif
    text: str  # its letters as read on that strand


declare(Site, {"sequence": Whole(), "start": Whole(), "strand": Text("+", "-"), "score": Real(), "text": Text()})


def best_sites(task: ScoredWindows, w: Array, data: Windows, ids: IntArray) -> list[Site]:
    """Return the best site in each of these strings, whether or not the motif gains anything there."""
    (starts, strands), gains = task.best_windows(w, data, ids)
    return [
        _site(task, data, int(i), int(starts[e]), int(strands[e]), float(gains[e])) for e, i in enumerate(map(int, ids))
    ]


def separate_sites(task: ScoredWindows, w: Array, X: Sequence[Any], threshold: float) -> list[list[Site]]:
    """Return all sites of every string that gain more than the threshold and do not overlap, from left to right."""
    data = task.windows(X)
    found = []
    for i, (x, begin) in enumerate(zip(X, data.strings.begins[:-1].tolist(), strict=True)):
        gains = task.gains(w, x)
        windows = non_overlapping(gains, task.length, threshold)
        found.append([_site(task, data, i, begin + h, strand, float(gains[strand, h])) for h, strand in windows])
    return found


def non_overlapping(gains: Array, length: int, threshold: float) -> list[tuple[int, int]]:
    """Return (start, strand number) of non-overlapping windows above a threshold, chosen greedily by their gains."""
    strands, starts = np.nonzero(gains > threshold)
    taken: list[tuple[int, int]] = []
    free = np.ones(gains.shape[1] + length, dtype=bool)
    for k in np.argsort(-gains[strands, starts], kind="stable"):
        start = int(starts[k])
        if free[start : start + length].all():
            free[start : start + length] = False
            taken.append((start, int(strands[k])))
    return sorted(taken)


def _site(task: ScoredWindows, data: Windows, i: int, start: int, strand: int, gain: float) -> Site:
    """Return the site of a window that begins at `start` of the flat arrays, in string i."""
    window = data.strings.codes[start : start + task.length]
    text = task.alphabet_.text(task.alphabet_.read(window, strand))
    return Site(i, start - int(data.strings.begins[i]), "+-"[strand], gain, text)
