"""Compare two models on the same examples: approximate randomisation, and a paired bootstrap interval.

If both models were equally good, the outputs of a document could be exchanged between them. Approximate randomisation
(Noreen 1989; Yeh 2000) exchanges them for a random half of the documents, many times, and counts how often the two
measures then differ at least as much as they really do. The interval of the difference is that of a paired bootstrap
(Efron and Tibshirani 1993): documents are drawn with replacement, the same ones for both models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import check_whole
from maxmargin.report.intervals import AT_ONCE, DRAWS_OF_FUNCTIONS, LEVEL, Interval, drawn_sums, interval_of
from maxmargin.report.scoring.counted import CountedMeasure, in_documents, summed
from maxmargin.report.scoring.scorer import Scorer

RANDOMISATIONS = 10_000  # of measures that are functions of sums
RANDOMISATIONS_OF_FUNCTIONS = 1000
ROUNDING = 1e-12  # differences that are equal except for rounding


@dataclass(frozen=True)
class PairedTest:
    """The result of `paired_test`.

    Attributes
    ----------
    first, second : float
        The measures of the two models.
    difference : Interval
        The second minus the first (`value`), and the ends of a 95% bootstrap interval of it (`low`, `high`).
    p_value : float
        The two-sided p-value of the hypothesis that the models are equally good.
    draws : int
        The number of randomisations.
    documents : int
        The number of documents.
    """

    first: float
    second: float
    difference: Interval
    p_value: float
    draws: int
    documents: int

    def __str__(self) -> str:
        gap = self.difference
        ends = f"{LEVEL:.0%} interval [{gap.low:+.4f}, {gap.high:+.4f}]"
        return (
            f"{self.first:.4f} and {self.second:.4f}: difference {gap.value:+.4f}, "
            f"{f'no interval ({gap.why_not})' if gap.why_not else ends}, p = {self.p_value:.4f} "
            f"({self.draws} randomisations of {self.documents} documents)"
        )


def paired_test(
    truth: Any,
    first: Any,
    second: Any,
    *,
    measure: Callable[..., Any],
    documents: Any = None,
    draws: int | None = None,
    seed: int = 0,
) -> PairedTest:
    """Test whether two models differ, from their predictions for the same examples.

    Parameters
    ----------
    truth, first, second : sequence
        The true outputs, and the predictions of the two models, one per example.
    measure : callable
        A function of (truth, predictions) that returns a number, such as `metrics.EntityF1()` or `metrics.exact_match`,
        or a scorer, such as `metrics.chunk_f1_scorer`. Measures with the methods `counts` and `of_sums`, such as
        `EntityF1`, are fast, because every example is scored once.
    documents : sequence or None
        The document of every example, if examples such as sentences are not independent; whole documents are then
        exchanged and drawn. None: every example is a document.
    draws : int or None
        The number of randomisations; None: 10,000 for measures with `counts`, 1,000 for others.
    seed : int
        The same seed gives the same numbers.

    Returns
    -------
    PairedTest, with both measures, their difference with an interval, and the p-value.

    Notes
    -----
    The smallest possible p-value is 1 / (draws + 1). A test says nothing about another training run or other data of
    the same models.

    Examples
    --------
    >>> from maxmargin.metrics import EntityF1, paired_test
    >>> truth = [["B-PER", "O"], ["O", "B-LOC"]] * 20
    >>> worse = [["B-PER", "O"], ["O", "O"]] * 20
    >>> result = paired_test(truth, worse, truth, measure=EntityF1())
    >>> result.p_value < 0.01, round(result.difference.value, 3)
    (True, 0.333)

    See Also
    --------
    entity_report : scores of one model, with intervals.
    """
    n = len(truth)
    for name, found in (("first", first), ("second", second)):
        if len(found) != n:
            raise ValueError(f"{name} has {len(found)} predictions for {n} true outputs")
    if n == 0:
        raise ValueError("no examples given: there is nothing to compare")
    owners, m = in_documents(n, documents)
    rng = np.random.default_rng(seed)
    inner = measure.measure if isinstance(measure, Scorer) else measure
    counted = isinstance(inner, CountedMeasure)
    many = RANDOMISATIONS if counted else RANDOMISATIONS_OF_FUNCTIONS
    draws = many if draws is None else check_whole("draws", draws, least=1)
    if isinstance(inner, CountedMeasure):
        a, b = (summed(inner.counts(truth, found), owners, m) for found in (first, second))
        sign = measure.sign if isinstance(measure, Scorer) else 1
        return _by_counts(a, b, lambda sums: sign * inner.of_sums(sums), draws, rng)
    members = [np.flatnonzero(owners == k) for k in range(m)]
    return _by_calls(truth, first, second, _called(measure), members, draws, rng)


def _called(measure: Callable[..., Any]) -> Callable[[Any, Any], float]:
    """Return the measure as a function of truth and predictions that returns a number."""
    value = measure.value if isinstance(measure, Scorer) else measure

    def checked(truth: Any, found: Any) -> float:
        try:
            return float(value(truth, found))
        except TypeError as error:
            raise TypeError(
                f"measure returned no number ({error}); for a measure with several numbers give a scorer, as in "
                "Scorer(chunk_f1, part='f1')"
            ) from None

    return checked


def _by_counts(
    a: Array, b: Array, of_sums: Callable[[Array], Array], draws: int, rng: np.random.Generator
) -> PairedTest:
    m, k = a.shape
    first, second = (float(np.nan_to_num(of_sums(each.sum(axis=0)[None])[0])) for each in (a, b))
    some, differences = max(1, AT_ONCE // m), []
    for begin in range(0, draws, some):
        exchanged = rng.integers(2, size=(min(some, draws - begin), m)) @ (b - a)
        differences.append(of_sums(b.sum(axis=0) - exchanged) - of_sums(a.sum(axis=0) + exchanged))
    sums = drawn_sums(np.hstack([a, b]), rng)
    drawn = of_sums(sums[:, k:]) - of_sums(sums[:, :k])
    return _result(first, second, np.nan_to_num(np.concatenate(differences)), drawn, m)


def _by_calls(
    truth: Any,
    first: Any,
    second: Any,
    measure: Callable[[Any, Any], float],
    members: list[Index],
    draws: int,
    rng: np.random.Generator,
) -> PairedTest:
    m = len(members)

    def measured(found: list[Any], of: Index | None = None) -> float:
        at = range(len(truth)) if of is None else of
        return measure([truth[i] for i in at], [found[i] for i in at])

    truth, ones, others = list(truth), list(first), list(second)  # a column of a table is read in its order
    differences = []
    for _ in range(draws):
        mine, yours = list(ones), list(others)
        for k in np.flatnonzero(rng.integers(2, size=m)):
            for i in members[k]:
                mine[i], yours[i] = others[i], ones[i]
        differences.append(measured(yours) - measured(mine))
    drawn = []
    for _ in range(DRAWS_OF_FUNCTIONS):
        chosen = np.concatenate([members[k] for k in rng.integers(m, size=m)])
        drawn.append(measured(others, chosen) - measured(ones, chosen))
    return _result(measured(ones), measured(others), np.array(differences), np.array(drawn), m)


def _result(first: float, second: float, differences: Array, drawn: Array, m: int) -> PairedTest:
    observed = second - first
    if not np.isfinite(observed):
        raise ValueError(f"measure is {first} for the first and {second} for the second model; expected finite numbers")
    smaller = np.abs(differences) < abs(observed) - ROUNDING  # False for NaN, which is no evidence of a difference
    extreme = int(np.count_nonzero(~smaller))
    p = (1 + extreme) / (1 + len(differences))
    equal = observed == 0 and not drawn.any()  # the predictions are the same, however documents are drawn
    interval = Interval(0.0, 0.0, 0.0, len(drawn)) if equal else interval_of(observed, drawn, m)
    return PairedTest(first, second, interval, p, len(differences), m)
