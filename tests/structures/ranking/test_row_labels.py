import numpy as np
import pytest

from maxmargin.structures.ranking.row_labels import WeightedRows, levels_and_weights

MATRIX = np.arange(12.0).reshape(6, 2)


def test_levels_and_weights():
    X = [MATRIX[:2], MATRIX[2:]]
    levels, weights = levels_and_weights(X, [[0, 1], (1, 1, 0, 2)], "query")
    assert [each.tolist() for each in levels] == [[0, 1], [1, 1, 0, 2]]
    assert weights is None
    levels, weights = levels_and_weights(X, [WeightedRows([0, 1], [2, 3]), [1, 1, 0, 2]], "query")
    assert [each.tolist() for each in levels] == [[0, 1], [1, 1, 0, 2]]
    assert [each.tolist() for each in weights] == [[2, 3], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 1], r"query 0 has 2 rows but labels of shape \(3,\); expected \(2,\)"),
        (1, r"query 0 has 2 rows but labels of shape \(\); expected \(2,\)"),
        ([0, np.nan], "query 0, row 1: the label is nan; expected a finite number"),
        (WeightedRows([0, 1], [1]), r"query 0 has 2 rows but weights of shape \(1,\); expected \(2,\)"),
        (WeightedRows([0, 1], [1, 0]), "query 0, row 1: the weight is 0.0; expected a positive finite number"),
        (WeightedRows([0, 1], [np.inf, 1]), "query 0, row 0: the weight is inf; expected a positive finite number"),
    ],
)
def test_labels_that_cannot_be_used(labels, message):
    with pytest.raises(ValueError, match=message):
        levels_and_weights([MATRIX[:2]], [labels], "query")
