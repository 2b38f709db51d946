"""Losses of contingency tables against their definitions."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    fbeta_score,
    precision_score,
    recall_score,
    zero_one_loss,
)
from thorough import examples

from maxmargin.errors import TaskError
from maxmargin.structures.ranking.measures import NAMES, Measure, checked_k, measure_of

counts = st.integers(1, 7)
QUANTIFIERS = ["kld", "nkld", "absolute_error", "relative_absolute_error"]


def labels(tp, fp, fn, tn):
    """Some true and found labels with this table."""
    return [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn


def tables(P, Q):
    return [(a, b, P - a, Q - b) for a in range(P + 1) for b in range(Q + 1)]


def smoothed_shares(tp, fp, fn, tn):
    n = tp + fp + fn + tn
    true = [(tp + fn + 0.5) / (n + 1), (fp + tn + 0.5) / (n + 1)]
    found = [(tp + fp + 0.5) / (n + 1), (fn + tn + 0.5) / (n + 1)]
    return true, found


def kld(*table):
    return sum(p * log(p / q) for p, q in zip(*smoothed_shares(*table), strict=True))


def relative(*table):
    true, found = smoothed_shares(*table)
    return np.mean([abs(p - q) / p for p, q in zip(true, found, strict=True)])


def q_loss(tp, fp, fn, tn):
    recall = tp / (tp + fn)
    quantification = 1 - abs(fp - fn) / max(tp + fn, fp + tn)
    return 1 - (2 * recall * quantification / (recall + quantification) if recall + quantification else 0)


DEFINITIONS = {
    "error": lambda *table: zero_one_loss(*labels(*table)),
    "balanced_error": lambda *table: 1 - balanced_accuracy_score(*labels(*table)),
    "f1": lambda *table: 1 - f1_score(*labels(*table)),
    "kld": kld,
    "nkld": lambda *table: 2 * exp(kld(*table)) / (exp(kld(*table)) + 1) - 1,
    "absolute_error": lambda tp, fp, fn, tn: abs((tp + fp) - (tp + fn)) / (tp + fp + fn + tn),
    "relative_absolute_error": relative,
    "q": q_loss,
}


@pytest.mark.parametrize("name", DEFINITIONS)
@examples(5, 8)
@given(P=counts, Q=counts)
def test_definitions(name, P, Q):
    measure = measure_of(name)
    for table in tables(P, Q):
        assert measure.loss(*table) == pytest.approx(DEFINITIONS[name](*table), abs=1e-12), table


@examples(5, 8)
@given(counts, counts, st.sampled_from([0.5, 1.0, 2.0, 3]))
def test_fbeta(P, Q, beta):
    measure = measure_of("fbeta", beta=beta)
    for table in tables(P, Q):
        expected = fbeta_score(*labels(*table), beta=beta)
        assert measure.value(*table) == pytest.approx(expected)
        assert measure.loss(*table) == pytest.approx(1 - expected)


@examples(8, 20)
@given(counts, counts, st.integers(1, 16))
def test_measures_at_k(P, Q, k):
    """The loss is how much less than the best possible prediction of the same size finds."""
    shown = min(k, P + Q)
    for table in tables(P, Q):
        tp, fp = table[:2]
        if tp + fp != shown:
            continue
        y, z = labels(*table)
        best = min(shown, P)
        precision, recall = measure_of("precision_at_k", k), measure_of("recall_at_k", k)
        assert precision.size(P) == recall.size(P) == k
        assert precision.value(*table) == pytest.approx(precision_score(y, z))
        assert precision.loss(*table) == pytest.approx(best / shown - precision_score(y, z))
        assert recall.value(*table) == pytest.approx(recall_score(y, z))
        assert recall.loss(*table) == pytest.approx(best / P - recall_score(y, z))


@examples(6, 15)
@given(counts, counts)
def test_break_even_point_of_precision_and_recall(P, Q):
    measure = measure_of("prbep")
    assert measure.size(P) == P
    for table in tables(P, Q):
        if table[0] + table[1] == P:
            y, z = labels(*table)
            assert measure.value(*table) == pytest.approx(precision_score(y, z, zero_division=0))
            assert measure.value(*table) == pytest.approx(recall_score(y, z))
            assert measure.loss(*table) == pytest.approx(1 - recall_score(y, z))


@pytest.mark.parametrize("name", NAMES)
@given(P=counts, Q=counts, k=st.integers(1, 15), beta=st.sampled_from([0.5, 2.0]))
def test_every_loss_is_zero_at_the_truth_and_never_negative(name, P, Q, k, beta):
    measure = measure_of(name, k, beta)
    a, b = np.meshgrid(np.arange(P + 1), np.arange(Q + 1), indexing="ij")
    losses = measure.table(a, b, P, Q)  # checks its signs
    assert losses.shape == (P + 1, Q + 1)
    assert losses[P, 0] == 0
    measure.check_truth(P, Q)
    for table in tables(P, Q)[:5]:
        assert losses[table[:2]] == measure.loss(*table)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "q"])
@given(P=counts, Q=counts, k=st.integers(1, 15), beta=st.sampled_from([0.5, 2.0]))
def test_losses_along_lines(name, P, Q, k, beta):
    measure = measure_of(name, k, beta)
    assert measure.linear
    sizes, alpha, beta = measure.lines(P, Q)
    assert (alpha >= 0).all()
    assert (beta >= 0).all()
    expected = range(P + Q + 1) if measure.size is None else [min(measure.size(P), P + Q)]
    assert sizes.tolist() == list(expected)
    for m, least, slope in zip(sizes, alpha, beta, strict=True):
        high = min(m, P)
        for a in range(max(0, m - Q), high + 1):
            loss = measure.loss(a, m - a, P - a, Q - (m - a))
            assert least + slope * (high - a) == pytest.approx(loss, abs=1e-12)
        assert least == measure.loss(high, m - high, P - high, Q - (m - high))  # to the last digit: it may be 0


@pytest.mark.parametrize("name", QUANTIFIERS)
@given(P=counts, Q=counts)
def test_quantification_sees_the_number_of_positives_alone(name, P, Q):
    lines = measure_of(name).lines(P, Q)
    assert not lines.beta.any()
    assert (lines.alpha == 0).sum() == 1  # only as many as there are
    assert lines.alpha[P] == 0


def test_measures_that_are_sums_over_examples():
    assert [name for name in NAMES if measure_of(name, k=1).separable] == ["error", "balanced_error"]


@given(counts, counts, st.floats(0.1, 10), st.floats(0.1, 10))
def test_sums_over_examples_take_any_weights(P, Q, heavy, light):
    for name in ("error", "balanced_error"):
        measure, total = measure_of(name), P * heavy + Q * light
        missed = measure.loss((P - 1) * heavy, 0, heavy, Q * light)
        false = measure.loss(P * heavy, light, 0, (Q - 1) * light)
        expected = (heavy / total, light / total) if name == "error" else (0.5 / P, 0.5 / Q)
        assert (missed, false) == pytest.approx(expected)
        assert measure.loss((P - 1) * heavy, light, heavy, (Q - 1) * light) == pytest.approx(missed + false)


# --- names and numbers


@pytest.mark.parametrize("measure", ["F1", "", None, 3, ["f1"], {"f1"}])
def test_unknown_measures(measure):
    with pytest.raises(ValueError, match=r"measure must be one of 'error', .*'f1', .*'recall_at_k' or a function, got"):
        measure_of(measure)


@pytest.mark.parametrize("k", [0, -1, 1.5, 2.0, True, "3", None, np.float64(2)])
def test_numbers_of_examples(k):
    for name in ("precision_at_k", "recall_at_k"):
        with pytest.raises(ValueError, match=f"measure '{name}' needs k, a positive whole number, got"):
            measure_of(name, k)
    assert checked_k(np.int32(3), "ndcg") == 3


@pytest.mark.parametrize("beta", [0, -1.0, np.nan, np.inf, "1", True, None, 1j])
def test_values_of_beta(beta):
    with pytest.raises(ValueError, match="beta must be a positive number, got"):
        measure_of("fbeta", beta=beta)
    measure_of("f1", beta=beta)  # which does not read it


# --- a user's own


def test_a_function_is_taken_as_it_is():
    def loss(tp, fp, fn, tn):
        return (fp + fn) ** 2

    measure = measure_of(loss)
    assert not measure.linear
    assert measure.table(np.array([1]), np.array([2]), 3, 3).tolist() == [16.0]
    measure.check_truth(3, 3)


WRONG = [
    (lambda tp, fp, fn, tn: np.where(fp == 1, np.nan, 0.0 * tp), r"measure\(tp=2, fp=1, fn=0, tn=2\) is nan; a loss"),
    (lambda tp, fp, fn, tn: np.where(fp == 1, np.inf, 0.0 * tp), r"measure\(tp=2, fp=1, fn=0, tn=2\) is inf; a loss"),
    (
        lambda tp, fp, fn, tn: 0.5 * fn - fp,
        r"measure\(tp=2, fp=1, fn=0, tn=2\) is -1.0; a loss must be a finite number",
    ),
    (lambda tp, fp, fn, tn: 1.0, r"returned an array of shape \(\) for counts of shape \(1,\)\. It must take four"),
    (lambda tp, fp, fn, tn: None, r"returned an array of shape \(\)"),
    (lambda tp, fp, fn, tn: np.stack([tp, fp]), r"returned an array of shape \(2, 1\) for counts of shape \(1,\)"),
]


@pytest.mark.parametrize(("loss", "message"), WRONG, ids=[case[1] for case in WRONG])
def test_functions_that_are_no_losses(loss, message):
    with pytest.raises(TaskError, match=message):
        Measure(loss).table(np.array([2]), np.array([1]), 2, 3)


def test_functions_that_blame_the_truth():
    with pytest.raises(TaskError, match=r"measure\(tp=2, fp=0, fn=0, tn=3\) is 1.0; the loss of a perfect prediction"):
        Measure(lambda tp, fp, fn, tn: 1.0 + fp).check_truth(2, 3)
