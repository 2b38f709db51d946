import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from maxmargin.structures.ranking.threshold import threshold

SCORES = np.array([3.0, -1.0, 2.0, 2.0, 0.0])


@pytest.mark.parametrize(("size", "expected"), [(0, 4.0), (1, 2.5), (2, 1.0), (3, 1.0), (4, -0.5), (5, -2.0)])
def test_as_many_as_are_wanted_lie_above(size, expected):
    """More, where scores are tied; all and none have a threshold beyond the last score."""
    assert threshold(SCORES, np.ones(5), np.ones(5), size) == expected


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1), st.integers(1, 3)), min_size=2, max_size=9))
def test_fewest_balanced_errors(rows):
    scores, truth, weights = np.array(rows, dtype=float).T
    truth[:2] = 0, 1
    cut = threshold(scores, truth, weights, None)
    assert cut not in scores

    def right(at):
        return balanced_accuracy_score(truth, scores > at, sample_weight=weights)

    assert right(cut) == pytest.approx(max(right(at) for at in np.arange(-4.5, 4.5)))
