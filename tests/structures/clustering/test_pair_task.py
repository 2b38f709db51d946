"""What Forest and Correlation share: how they read their data, and which weight is whose."""

import numpy as np
import pytest
from structures.clustering.pair_strategies import complete_graph

from maxmargin.tasks import Correlation, Forest, Pairs

X = [complete_graph(3), complete_graph(4)]
Y = [[0, 0, 1], [0, 1, 1, 2]]
NAMED = [Pairs(len(x), x.pairs, x.features, [name]) for x, name in zip(X, ("distance", "size"), strict=True)]


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (X, [Y[0], [0, 1, 1]], "example 1 has 4 items but 3 cluster labels; expected one per item"),
        (X, [Y[0], [0, 1, 1, 2, 2]], "example 1 has 4 items but 5 cluster labels; expected one per item"),
        (X, [Y[0], "abcd"], r"example 1: the clustering is 'abcd'; expected a list of 4 labels"),
        (X, [Y[0], 3], r"example 1: the clustering is 3; expected a list of 4 labels"),
        (X, [Y[0], np.zeros((4, 1))], r"example 1: the labels have shape \(4, 1\); expected \(4,\)"),
        (X, [Y[0], [0, None, 1, 1]], "example 1: the label of item 1 is None; expected the item's cluster"),
        (X, [Y[0], [0, 1, np.nan, 1]], "example 1: the label of item 2 is nan; expected the item's cluster"),
        (X, [Y[0], [0, [1], 1, 1]], "example 1: the label of item 1 cannot be used: unhashable"),
        ([X[0], complete_graph(4, 3)], Y, "example 1 has 3 features per pair; expected 1 as in example 0"),
        (
            X,
            [[0, 1, 2], [0, 1, 2, 3]],
            "no listed pair is inside a true cluster; expected at least one pair of equal labels",
        ),
        ([Pairs(1, [], [])], [[0]], "no example has a pair of items; expected at least one set of two or more items"),
        ([X[0], np.zeros((0, 0, 1))], [Y[0], []], "example 1: the array has no items"),
        ([X[0], np.zeros((2, 3, 1))], Y, r"example 1: expected Pairs or an \(n, n, F\) array, got an array of shape"),
        ([X[0], "text"], Y, r"example 1: expected Pairs or an \(n, n, F\) array"),
        ([X[0], np.full((2, 2, 1), np.nan)], [Y[0], [0, 0]], r"example 1: feature 0 of the pair \(0, 1\) is NaN"),
        (
            [X[0], np.arange(8.0).reshape(2, 2, 2)],
            [Y[0], [0, 0]],
            r"example 1: feature 0 of the pair \(0, 1\) is 2 but",
        ),
        (NAMED, Y, "example 1 has the features size; expected distance as in example 0"),
    ],
)
@pytest.mark.parametrize("kind", [Forest, Correlation])
def test_bad_data(kind, X, Y, message):
    with pytest.raises(ValueError, match=message):
        kind().setup(X, Y)


@pytest.mark.parametrize("kind", [Forest, Correlation])
def test_other_features_when_predicting(kind):
    task = kind()
    task.setup(X, Y)
    with pytest.raises(ValueError, match="example 1 has 3 features per pair; expected 1 as in training"):
        task.decode(np.zeros(2), [X[0], complete_graph(4, 3)])
    assert task.decode(np.zeros(2), []) == []
    assert task.label(task.decode(np.zeros(2), [Pairs(2, [], [])])[0]).tolist() == [0, 1]


@pytest.mark.parametrize("kind", [Forest, Correlation])
def test_names_of_features(kind):
    """Some sets may leave them out, in training and later; other names are refused."""
    task = kind()
    task.setup(X, Y)
    assert task.feature_names_ is None
    task.decode(np.zeros(2), NAMED)
    task.setup([X[0], NAMED[1]], Y)
    assert task.feature_names_ == ["size"]
    task.decode(np.zeros(2), X)
    with pytest.raises(ValueError, match="example 0 has the features distance; expected size as in training"):
        task.decode(np.zeros(2), NAMED)


@pytest.mark.parametrize("kind", [Forest, Correlation])
def test_parts_of_the_weights(kind):
    three = [complete_graph(3, 3), complete_graph(4, 3)]
    task = kind()
    task.setup(three, Y)
    parts = task.split_weights(np.arange(4.0))
    assert {name: part.tolist() for name, part in parts.items()} == {"features": [0, 1, 2], "intercept": [3]}
    task = kind(fit_intercept=False)
    task.setup(three, Y)
    assert {name: part.tolist() for name, part in task.split_weights(np.arange(3.0)).items()} == {"features": [0, 1, 2]}
