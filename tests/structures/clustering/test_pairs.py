"""Pairs: the ways to spell a set of items with features of pairs, and what cannot be one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import whole

from maxmargin.structures.clustering.pairs import read_all
from maxmargin.tasks import Pairs


def gap(a, b):
    return [abs(a - b), a + b]


def test_function_of_all_pairs():
    x = Pairs.of([1, 5, 7], gap)
    assert x.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert x.features.tolist() == [[4, 6], [6, 8], [2, 12]]
    assert (len(x), x.n_items, x.n_features) == (3, 3, 2)
    assert repr(x) == "Pairs(3 items, 3 pairs, 2 features)"


def test_function_of_candidates():
    """The function is given the items in the order of their numbers, whichever way round a candidate is."""
    asked = []

    def first(a, b):
        asked.append((a, b))
        return [a]

    x = Pairs.of([1, 5, 7], first, iter([(2, 0), (1, 2)]))
    assert x.pairs.tolist() == [[0, 2], [1, 2]]
    assert x.features.tolist() == [[1], [5]]
    assert asked == [(1, 7), (5, 7)]


def test_function_that_returns_sparse_rows():
    x = Pairs.of([1, 5, 7], lambda a, b: sparse.csr_array(np.array([gap(a, b)])))
    assert sparse.issparse(x.features)
    np.testing.assert_array_equal(x.features.toarray(), Pairs.of([1, 5, 7], gap).features)


def test_item_alone():
    x = Pairs.of(["alone"], gap)
    assert (x.n_items, len(x.pairs), x.n_features) == (1, 0, None)


@given(st.integers(1, 4), st.integers(1, 2), st.booleans(), st.data())
def test_arrays(n, n_features, triangle, data):
    values = data.draw(whole((n, n, n_features)))
    values = np.triu(values.transpose(2, 0, 1)).transpose(1, 2, 0)
    if not triangle:
        values = values + values.transpose(1, 0, 2)
    values[np.arange(n), np.arange(n)] = np.nan  # the diagonal is not read
    x = Pairs.from_array(values)
    assert x.n_items == n
    assert len(x.pairs) == n * (n - 1) // 2
    for (i, j), features in zip(x.pairs, x.features, strict=True):
        assert i < j
        np.testing.assert_array_equal(features, values[i, j])


def test_array_that_is_not_symmetric():
    values = np.zeros((3, 3, 2))
    values[2, 1, 1], values[1, 2, 1] = 3.0, 4.0
    with pytest.raises(
        ValueError, match=r"feature 1 of the pair \(1, 2\) is 4 but the feature of \(2, 1\) is 3; expected a sym"
    ):
        Pairs.from_array(values)


@pytest.mark.parametrize(("X", "kind"), [(Pairs(2, [(0, 1)], [[1.0]]), "Pairs"), (3, "int"), (None, "NoneType")])
def test_one_set_is_no_list_of_sets(X, kind):
    with pytest.raises(ValueError, match=f"X is of type {kind}; expected a list of sets of items"):
        read_all(X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [], []), "n_items is 0; expected a whole number of items, 1 or more"),
        ((2.0, [], []), "n_items is 2.0; expected a whole number"),
        ((True, [], []), "n_items is True; expected a whole number"),
        ((3, [(0, 1), (1, 3)], [[1], [2]]), r"pair 1 is \(1, 3\); expected item numbers from 0 to 2, as there are 3"),
        ((3, [(0, -1)], [[1]]), r"pair 0 is \(0, -1\); expected item numbers from 0 to 2"),
        ((3, [(0, 1), (2, 2)], [[1], [2]]), r"pair 1 is \(2, 2\), an item with itself"),
        ((3, [(0, 1), (1, 2), (1, 0)], [[1], [2], [3]]), r"pairs 0 and 2 are both \(0, 1\); expected every pair once"),
        ((3, [(0, 1, 2)], [[1]]), r"pairs have shape \(1, 3\); expected \(m, 2\)"),
        ((3, [(0, 1), (2,)], [[1]]), r"pairs must be an \(m, 2\) array of item numbers"),
        ((3, [(0.0, 1.0)], [[1]]), "pairs are of the type float64; expected whole numbers"),
        ((3, [(0, 1)], [[1], [2]]), "there are 1 pairs but 2 rows of features; expected one per pair"),
        ((3, [(0, 1)], sparse.csr_array((2, 4))), "there are 1 pairs but 2 rows of features; expected one per pair"),
        ((3, [(0, 1)], [1.0]), r"features have shape \(1,\); expected \(1, F\), one row per pair"),
        ((3, [(0, 1)], [["x"]]), r"features must be an \(m, F\) array of numbers"),
        ((3, [(0, 1), (2, 1)], [[1, 2], [1, np.nan]]), r"feature 1 of the pair \(1, 2\) is NaN or infinity"),
        ((3, [(0, 1)], sparse.csr_array([[0, np.inf]])), r"feature 1 of the pair \(0, 1\) is NaN or infinity"),
        ((3, [(0, 1)], [[1e200]]), r"feature 0 of the pair \(0, 1\) is 1e\+200, whose square overflows"),
    ],
)
def test_bad_pairs(arguments, message):
    with pytest.raises(ValueError, match=message):
        Pairs(*arguments)


@pytest.mark.parametrize(
    ("items", "function", "candidates", "message"),
    [
        ([], gap, None, "the list of items is empty"),
        ([1, 2], lambda a, b: 3.0, None, r"features of the pair \(0, 1\) have shape \(\); expected one dimension"),
        ([1, 2, 3], lambda a, b: [1.0] * b, None, r"pair \(0, 2\) have shape \(3,\); expected \(2,\) as for the pair"),
        ([1, 2], gap, [(0, 2)], r"pair 0 is \(0, 2\); expected item numbers from 0 to 1"),
    ],
)
def test_bad_functions(items, function, candidates, message):
    with pytest.raises(ValueError, match=message):
        Pairs.of(items, function, candidates)


def test_names_of_features():
    table = pd.DataFrame({"gap": [4.0, 6.0, 2.0], "sum": [6.0, 8.0, 12.0]})
    given = Pairs(3, [(0, 1), (0, 2), (1, 2)], table)
    for x in (given, Pairs.of([1, 5, 7], gap, feature_names=("gap", "sum"))):
        assert x.feature_names == ["gap", "sum"]
        np.testing.assert_array_equal(x.features, table)
    assert Pairs(3, given.pairs, table, ["a", "b"]).feature_names == ["a", "b"]
    assert Pairs.from_array(np.zeros((2, 2, 1)), np.array(["a"], dtype=object)).feature_names == ["a"]
    assert Pairs(3, given.pairs, given.features).feature_names is None
    assert Pairs.of(["alone"], gap, feature_names=["gap", "sum"]).feature_names is None  # nothing has features


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], r"feature_names are \['a'\]; expected 2 names, one per feature"),
        ("ab", "feature_names are 'ab'; expected 2 names"),
        ([0, 1], r"feature_names are \[0, 1\]; expected 2 names"),
        (["a", "a"], r"feature_names are \['a', 'a'\]; expected different names"),
    ],
)
def test_bad_names(names, message):
    with pytest.raises(ValueError, match=message):
        Pairs(2, [(0, 1)], [[1.0, 2.0]], names)
