"""Measures of predictions with 95% intervals, which show how much they would vary with other examples.

A share of examples (right or wrong, one after the other) has an exact interval (Clopper and Pearson 1934): it contains
the true share with a probability of at least 95%, for any number of examples. For all other measures, whole examples
are drawn again with replacement (bootstrap, Efron 1979), because parts of one example are not independent; the interval
contains the middle 95% of the values. With few examples, or with few mistakes, the bootstrap promises too much, so that
no interval is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array, Index

DRAWS = 1000
DRAWS_OF_FUNCTIONS = 200  # for slow measures that are not functions of sums
LEVEL = 0.95
FEWEST = 20  # with fewer examples there is no bootstrap interval
AT_ONCE = 2_000_000  # indices that are drawn at once
FEW_EXAMPLES, FEW_MISTAKES = "too few examples", "too few mistakes"


class Interval(NamedTuple):
    """A value and its 95% interval; NaN where something is unknown."""

    value: float  # the value of all examples
    low: float  # the lower end of the interval
    high: float  # the upper end of the interval
    draws: int  # the number of resampled values; 0 for an exact interval, and for none
    why_not: str = ""  # why there is no interval


class ReportedMeasure(NamedTuple):
    """A measure of n examples: a function of the sums of their counts, or of any selection of examples."""

    name: str
    n: int
    of_sums: Callable[[Array], Array] | None = None  # converts (draws, k) sums to (draws,) values
    counts: Array | None = None  # (n, k) counts of the examples
    of_choice: Callable[[Index], float] | None = None  # computes the value of the selected examples
    best: float = 1.0  # the value of perfect predictions
    worst: float | None = 0.0  # the worst value, for the axis; None if there is none
    note: str = ""  # an explanation for the reader of the page

    def interval(self, seed: int = 0) -> Interval:
        """Return the value and its interval; the same seed gives the same numbers."""
        if self.n == 0:
            return Interval(np.nan, np.nan, np.nan, 0, "no examples")
        if self.is_proportion:
            assert self.counts is not None
            hits, trials = self.counts.sum(axis=0)
            if trials == 0:
                return Interval(np.nan, np.nan, np.nan, 0, "no examples")
            return Interval(float(hits / trials), *exact_interval(int(hits), int(trials)), 0)
        rng = np.random.default_rng(seed)
        if self.of_sums is not None and self.counts is not None:
            value = float(self.of_sums(self.counts.sum(axis=0)[None])[0])
            drawn = self.of_sums(drawn_sums(self.counts, rng))
        else:
            assert self.of_choice is not None
            value = self.of_choice(np.arange(self.n))
            choices = (rng.integers(self.n, size=self.n) for _ in range(DRAWS_OF_FUNCTIONS))
            drawn = np.array([self.of_choice(choice) for choice in choices])
        return interval_of(value, drawn, self.n)

    @property
    def is_proportion(self) -> bool:
        """True if this is a share of examples, each of which counts fully or not at all."""
        if self.of_sums is not _ratio or self.counts is None:
            return False
        hits, trials = self.counts.T
        return bool(np.isin(trials, (0.0, 1.0)).all() and np.isin(hits, (0.0, 1.0)).all() and (hits <= trials).all())


def interval_of(value: float, drawn: Array, n: int) -> Interval:
    """Return the interval of resampled values of n examples; samples without a value (NaN) are left out."""
    drawn = drawn[np.isfinite(drawn)]
    if n < FEWEST or not len(drawn):
        return Interval(value, np.nan, np.nan, 0, FEW_EXAMPLES)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if low == high:  # all examples are alike, so that drawing them again shows nothing
        return Interval(value, np.nan, np.nan, 0, FEW_MISTAKES)
    return Interval(value, float(low), float(high), len(drawn))


def exact_interval(hits: int, trials: int) -> tuple[float, float]:
    """Return the exact 95% interval of a share, by Clopper and Pearson."""
    from scipy.special import betaincinv

    tail = (1 - LEVEL) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def mean_of(name: str, values: Any, **more: Any) -> ReportedMeasure:
    """Return the mean of one number per example as a measure."""
    return share_of(name, values, np.ones(len(values)), **more)


def share_of(name: str, parts: Any, wholes: Any, **more: Any) -> ReportedMeasure:
    """Return Σ parts / Σ wholes over examples as a measure."""
    counts = np.column_stack([np.asarray(parts, dtype=float), np.asarray(wholes, dtype=float)])
    return ReportedMeasure(name, len(counts), _ratio, counts, **more)


def agreement(names: Sequence[str], right: Any, found: Any, true: Any) -> list[ReportedMeasure]:
    """Return precision, recall and F1 as measures, from counts per example: correct, predicted and true ones."""
    right, found, true = (np.asarray(each, dtype=float) for each in (right, found, true))
    precision, recall, f1 = names
    return [
        share_of(f1, 2 * right, found + true),
        share_of(precision, right, found),
        share_of(recall, right, true),
    ]


def _ratio(sums: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sums[:, 1] > 0, sums[:, 0] / sums[:, 1], np.nan)


def drawn_sums(counts: Array, rng: np.random.Generator) -> Array:
    """Return (draws, k) sums over n examples drawn with replacement."""
    n, some = len(counts), max(1, AT_ONCE // len(counts))
    sums = []
    for begin in range(0, DRAWS, some):
        draws = min(some, DRAWS - begin)
        places = rng.integers(n, size=(draws, n)) + n * np.arange(draws)[:, None]
        times = np.bincount(places.ravel(), minlength=draws * n).reshape(draws, n)
        sums.append(times @ counts)
    return np.concatenate(sums)
