"""Intervals, against the same thing done one draw after another, and against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from maxmargin.report import intervals
from maxmargin.report.intervals import ReportedMeasure, agreement, mean_of, share_of

COUNTS = st.lists(st.tuples(st.integers(0, 5), st.integers(2, 5)), min_size=20, max_size=30)


@given(COUNTS, st.integers(0, 3))
def test_sums_are_those_of_draws(counts, seed):
    """The fast way draws the same examples as a loop does, and has the same quantiles."""
    parts, wholes = np.array(counts, dtype=float).T
    measure = share_of("share", parts, wholes)
    found = measure.interval(seed)
    assert found.value == pytest.approx(parts.sum() / wholes.sum())
    n, rng, values = len(parts), np.random.default_rng(seed), []
    for index in rng.integers(n, size=(intervals.DRAWS, n)):
        values.append(parts[index].sum() / wholes[index].sum())
    low, high = np.quantile(values, [0.025, 0.975])
    if low == high:
        assert found.why_not == "too few mistakes"
    else:
        np.testing.assert_allclose([found.low, found.high], [low, high])
        assert measure.interval(seed) == found


@given(st.integers(1, 60), st.floats(0, 1))
def test_shares_of_examples_have_exact_intervals(n, share):
    """Those of scipy, for any number of examples, right ones or not."""
    hits = round(n * share)
    found = mean_of("right", np.arange(n) < hits).interval()
    theirs = stats.binomtest(hits, n).proportion_ci(0.95, "exact")
    np.testing.assert_allclose([found.value, found.low, found.high], [hits / n, theirs.low, theirs.high], atol=1e-12)
    assert found.draws == 0


def test_a_share_of_some_examples():
    """As the precision: only the rows that were predicted count."""
    found = share_of("precision", [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]).interval()
    theirs = stats.binomtest(2, 3).proportion_ci(0.95, "exact")
    np.testing.assert_allclose([found.value, found.low, found.high], [2 / 3, theirs.low, theirs.high])


@pytest.mark.parametrize("n", [1, 5, 19])
def test_few_examples_have_no_interval(n):
    f1, *_ = agreement(["p", "r", "f"], np.full(n, 2), np.full(n, 2), np.full(n, 2))
    found = f1.interval()
    assert (found.value, found.why_not) == (1.0, "too few examples")
    assert np.isnan([found.low, found.high]).all()


def test_perfect_predictions_have_no_interval():
    f1, *_ = agreement(["p", "r", "f"], np.full(50, 2), np.full(50, 2), np.full(50, 2))
    assert f1.interval().why_not == "too few mistakes"


def test_against_scipy():
    values = np.random.default_rng(1).exponential(size=80)
    found = mean_of("mean", values).interval()
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=0).confidence_interval
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(theirs.low, abs=0.03)
    assert found.high == pytest.approx(theirs.high, abs=0.03)


def test_functions_of_examples_and_sums_agree():
    values = np.random.default_rng(2).random(50)
    by_choice = ReportedMeasure("mean", 50, of_choice=lambda index: float(values[index].mean())).interval()
    by_sums = mean_of("mean", values).interval()
    assert by_choice.value == pytest.approx(by_sums.value)
    assert by_choice.low == pytest.approx(by_sums.low, abs=0.03)
    assert by_choice.draws == intervals.DRAWS_OF_FUNCTIONS


def test_many_examples_are_drawn_in_parts(monkeypatch):
    values = np.random.default_rng(3).random(30)
    whole = mean_of("mean", values).interval()
    monkeypatch.setattr(intervals, "AT_ONCE", 100)
    np.testing.assert_allclose(mean_of("mean", values).interval()[:4], whole[:4])


def test_precision_recall_and_f1():
    f1, precision, recall = agreement(["p", "r", "f"], [1, 2], [2, 2], [4, 2])
    assert [each.name for each in (f1, precision, recall)] == ["f", "p", "r"]
    assert precision.interval().value == 3 / 4
    assert recall.interval().value == 3 / 6
    assert f1.interval().value == pytest.approx(stats.hmean([3 / 4, 3 / 6]))


def test_little_to_draw_from():
    one = mean_of("mean", [0.5]).interval()
    assert (one.value, one.draws) == (0.5, 0)
    assert np.isnan(one.low)
    assert np.isnan(mean_of("mean", []).interval().value)
    assert np.isnan(share_of("share", [0, 0], [0, 0]).interval().value)
