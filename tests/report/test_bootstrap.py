"""Intervals, against the same thing done one draw after another, and against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from maxmargin.report import bootstrap
from maxmargin.report.bootstrap import ReportedMeasure, agreement, mean_of, share_of

COUNTS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=2, max_size=12)


@given(COUNTS, st.integers(0, 3))
def test_sums_are_those_of_draws(counts, seed):
    """The fast way draws the same examples as a loop does, and has the same quantiles."""
    parts, wholes = np.array(counts, dtype=float).T
    measure = share_of("share", parts, wholes)
    found = measure.interval(seed)
    assert found.value == pytest.approx(parts.sum() / wholes.sum())
    n, rng, values = len(parts), np.random.default_rng(seed), []
    for index in rng.integers(n, size=(bootstrap.DRAWS, n)):
        values.append(parts[index].sum() / wholes[index].sum())
    np.testing.assert_allclose([found.low, found.high], np.quantile(values, [0.025, 0.975]))
    assert measure.interval(seed) == found


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
    assert by_choice.draws == bootstrap.DRAWS_OF_FUNCTIONS


def test_many_examples_are_drawn_in_parts(monkeypatch):
    values = np.random.default_rng(3).random(30)
    whole = mean_of("mean", values).interval()
    monkeypatch.setattr(bootstrap, "AT_ONCE", 100)
    np.testing.assert_allclose(mean_of("mean", values).interval(), whole)


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
    same = mean_of("mean", np.full(9, 0.25)).interval()
    assert same.low == same.high == 0.25
