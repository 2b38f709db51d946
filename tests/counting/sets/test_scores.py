import numpy as np
import pytest

from maxmargin.counting.sets.scores import finite_scores


def test_numbers_are_read():
    np.testing.assert_array_equal(finite_scores([1, 2], 2), [1.0, 2.0])


@pytest.mark.parametrize(
    ("f", "message"),
    [
        ([1.0], r"scores have the shape \(1,\); expected \(2,\), one for each coordinate"),
        ([[1.0, 2.0]], r"scores have the shape \(1, 2\)"),
        ([0.0, np.nan], "score 1 is nan; expected finite numbers"),
        ([-np.inf, 0.0], "score 0 is -inf"),
    ],
)
def test_others_are_not(f, message):
    with pytest.raises(ValueError, match=message):
        finite_scores(f, 2)
