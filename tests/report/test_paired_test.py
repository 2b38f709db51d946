"""Paired tests: against enumeration of all exchanges, and against what both ways of computing have in common."""

from itertools import product

import numpy as np
import pytest

from maxmargin.metrics import EntityF1, Scorer, chunk_f1, chunk_f1_scorer, exact_match, paired_test


def predictions(seed, n=9):
    rng = np.random.default_rng(seed)
    labels = np.array(["O", "B-A", "I-A"])
    truth = [labels[rng.integers(3, size=5)].tolist() for _ in range(n)]
    first, second = (
        [y if rng.random() < share else labels[rng.integers(3, size=5)].tolist() for y in truth] for share in (0.2, 0.8)
    )
    return truth, first, second


def enumerated_p_value(truth, first, second, measure, documents=None):
    """Return the share of all exchanges with a difference that is at least as large as the real one."""
    documents = list(range(len(truth))) if documents is None else documents
    names = sorted(set(documents))
    real = abs(measure(truth, first) - measure(truth, second))
    extreme = 0
    for swap in product([False, True], repeat=len(names)):
        chosen = dict(zip(names, swap, strict=True))
        a = [z2 if chosen[d] else z1 for z1, z2, d in zip(first, second, documents, strict=True)]
        b = [z1 if chosen[d] else z2 for z1, z2, d in zip(first, second, documents, strict=True)]
        extreme += abs(measure(truth, a) - measure(truth, b)) >= real - 1e-12
    return extreme / 2 ** len(names)


@pytest.mark.parametrize("seed", range(3))
def test_the_p_value_is_that_of_all_exchanges(seed):
    truth, first, second = predictions(seed)
    expected = enumerated_p_value(truth, first, second, EntityF1())
    result = paired_test(truth, first, second, measure=EntityF1())
    assert result.p_value == pytest.approx(expected, abs=0.02)  # 4 standard errors of 10,000 draws
    slow = paired_test(truth, first, second, measure=chunk_f1_scorer)
    assert slow.p_value == pytest.approx(expected, abs=0.065)  # of 1,000
    assert (slow.first, slow.second) == pytest.approx((result.first, result.second))
    assert (result.draws, slow.draws) == (10_000, 1000)


def test_whole_documents_are_exchanged():
    truth, first, second = predictions(5, n=12)
    documents = [k // 2 for k in range(12)]
    expected = enumerated_p_value(truth, first, second, EntityF1(), documents)
    for measure, near in ((EntityF1(), 0.02), (chunk_f1_scorer, 0.065)):
        result = paired_test(truth, first, second, measure=measure, documents=documents)
        assert result.p_value == pytest.approx(expected, abs=near)
        assert result.documents == 6


def test_equal_predictions_do_not_differ():
    truth, first, _ = predictions(0)
    for measure in (EntityF1("partial"), exact_match):
        result = paired_test(truth, first, first, measure=measure, draws=50)
        assert result.p_value == 1.0
        assert result.difference[:3] == (0.0, 0.0, 0.0)


def test_the_interval_of_the_difference_is_that_of_its_mean():
    rng = np.random.default_rng(0)
    truth = [[1]] * 400
    first, second = ([[int(rng.random() < share)] for _ in truth] for share in (0.6, 0.7))
    result = paired_test(truth, first, second, measure=exact_match, draws=20)
    each = np.array([b[0] - a[0] for a, b in zip(first, second, strict=True)])
    half = 1.96 * each.std() / np.sqrt(len(each))
    assert result.difference.value == pytest.approx(each.mean())
    assert (result.difference.high - result.difference.low) / 2 == pytest.approx(half, rel=0.25)


def test_losses_have_their_sign():
    truth, first, second = predictions(1)
    gain = paired_test(truth, first, second, measure=Scorer(EntityF1()))
    loss = paired_test(truth, first, second, measure=Scorer(EntityF1(), sign=-1))
    assert loss.difference.value == -gain.difference.value
    assert loss.p_value == gain.p_value


def test_the_result_is_a_sentence():
    truth, first, second = predictions(2)
    text = str(paired_test(truth, first, second, measure=EntityF1(), draws=99))
    assert "no interval (too few examples)" in text
    assert "99 randomisations of 9 documents" in text
    assert "95% interval [" in str(paired_test(3 * truth, 3 * first, 3 * second, measure=EntityF1(), draws=99))


def test_bad_input():
    with pytest.raises(ValueError, match="second has 1 predictions for 2 true outputs"):
        paired_test([1, 2], [1, 2], [1], measure=exact_match)
    with pytest.raises(ValueError, match="no examples given"):
        paired_test([], [], [], measure=exact_match)
    with pytest.raises(ValueError, match="documents has 1 entries for 2 examples"):
        paired_test([1, 2], [1, 2], [1, 2], measure=exact_match, documents=[0])
    with pytest.raises(TypeError, match=r"give a scorer, as in Scorer\(chunk_f1"):
        paired_test([["O"]], [["O"]], [["O"]], measure=chunk_f1)
    with pytest.raises(ValueError, match="draws"):
        paired_test([["O"]], [["O"]], [["O"]], measure=exact_match, draws=0)


def test_columns_of_tables_are_read_in_their_order():
    pandas = pytest.importorskip("pandas")
    truth, first, second = [1, 2, 3, 4] * 3, [1, 2, 3, 4] * 3, [1, 2, 4, 3] * 3
    columns = [pandas.Series(each, index=range(len(each))[::-1]) for each in (truth, first, second)]
    found = paired_test(*columns, measure=agreement, draws=20)
    assert found == paired_test(truth, first, second, measure=agreement, draws=20)
    assert (found.first, found.second) == (1.0, 0.5)


def test_a_measure_that_is_no_number_is_no_evidence():
    truth = [1, 2, 3, 4] * 3
    with pytest.raises(ValueError, match="measure is nan for the first and nan for the second model"):
        paired_test(truth, truth, truth, measure=lambda a, b: float("nan"), draws=20)

    def undefined_if_mixed(a, b):
        return float(b[0]) if len(set(b)) == 1 else float("nan")

    assert paired_test([1] * 12, [1] * 12, [0] * 12, measure=undefined_if_mixed, draws=20).p_value == 1.0


def agreement(truth, found):
    return float(np.mean(np.asarray(truth) == np.asarray(found)))
