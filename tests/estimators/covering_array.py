"""Covering arrays: few combinations of options in which every pair of values of two options occurs."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


def covering_array(options, sensible=lambda **chosen: True):
    """Return combinations of options, {name: list of values}, that contain every pair of values of a sensible one.

    Each is the one that contains the most pairs that no combination before it contains; the first one of several.
    """
    sizes = [len(values) for values in options.values()]
    chosen = [dict(zip(options, each, strict=True)) for each in product(*options.values())]
    kept = [k for k, each in enumerate(chosen) if sensible(**each)]
    places = np.array(list(np.ndindex(*sizes)))[kept]
    pairs = list(combinations(range(len(sizes)), 2))
    missing = {pair: np.zeros([sizes[i] for i in pair], dtype=bool) for pair in pairs}
    for a, b in pairs:
        missing[a, b][places[:, a], places[:, b]] = True
    found = []
    while any(each.any() for each in missing.values()):
        new = sum(missing[a, b][places[:, a], places[:, b]].astype(int) for a, b in pairs)
        best = int(np.argmax(new))
        for a, b in pairs:
            missing[a, b][places[best, a], places[best, b]] = False
        found.append(chosen[kept[best]])
    return found
