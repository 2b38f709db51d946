"""Counts of labels taken for others, against scikit-learn's confusion matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from maxmargin.metrics import LabelConfusion, Mistake, label_confusion
from maxmargin.tasks import Weighted

PAIRS = st.lists(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=5), max_size=5)


@given(PAIRS)
def test_as_scikit_learn_counts(pairs):
    truth, found = [[a for a, _ in x] for x in pairs], [[b for _, b in x] for x in pairs]
    result = label_confusion(truth, found)
    flat = [pair for x in pairs for pair in x]
    assert result.labels == sorted({label for pair in flat for label in pair})
    if len(result.labels) > 1:  # scikit-learn warns of one
        expected = confusion_matrix([a for a, _ in flat], [b for _, b in flat], labels=result.labels)
        np.testing.assert_array_equal(result.counts, expected)
    assert sum(mistake.times for mistake in result.mistakes(100)) == sum(a != b for a, b in flat)
    counts = [mistake.times for mistake in result.mistakes(3)]
    assert counts == sorted(counts, reverse=True)
    assert len(str(result).splitlines()) == len(result.labels) + 1


def test_positions_that_are_judged():
    truth = [Weighted(["a", "b"], [1.0, 2.0]), [None, {"a", "b"}, {"b"}]]
    result = label_confusion(truth, [["a", "a"], ["a", "a", "a"]])
    assert result.labels == ["a", "b"]
    assert result.counts.tolist() == [[1, 0], [2, 0]]
    assert result.mistakes() == [Mistake("b", "a", 2)]
    assert str(result) == "true  a  b\n   a  1  0\n   b  2  0\n"
    assert isinstance(result, LabelConfusion)


def test_lengths_are_checked():
    with pytest.raises(ValueError, match="1"):
        label_confusion([["a", "b"]], [["a"]])
