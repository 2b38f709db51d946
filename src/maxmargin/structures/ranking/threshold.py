"""The threshold of scores that were trained for their order alone, so that classes can be predicted from them."""

from __future__ import annotations

import numpy as np

from maxmargin.arrays import Array


def threshold(scores: Array, truth: Array, weights: Array, size: int | None) -> float:
    """Where to cut the scores of a sample, half way between two of them.

    size : how many rows are to lie above it; None for as many as make the fewest balanced errors, with truth 1 for
        positive rows and 0 for others. Rows whose scores are equal up to rounding stay together.
    """
    order = np.argsort(-scores, kind="stable")
    apart = -np.diff(scores[order]) > 1e-9 * np.abs(scores).max()
    apart = np.concatenate([[True], apart, [True]])  # whether there is room for a cut after the first 0, 1, … rows
    if size is None:
        right, wrong = weights * truth, weights * (1 - truth)
        missed = 1 - np.append(0, np.cumsum(right[order])) / right.sum()
        false = np.append(0, np.cumsum(wrong[order])) / wrong.sum()
        errors = np.where(apart, missed + false, np.inf)
        above = int(np.argmax(errors <= errors.min() + 1e-9))  # the first of equal ones, however they were rounded
    else:
        above = size + int(np.argmax(apart[size:]))
    ends = np.concatenate([[scores[order[0]] + 2], scores[order], [scores[order[-1]] - 2]])
    return float(ends[above] + ends[above + 1]) / 2
