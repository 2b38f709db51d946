"""Labels of nodes: the ways to write them, what is missing, what they cost."""

import numpy as np
import pytest

from maxmargin.structures.graphs.node_labels import read_labels
from maxmargin.tasks import Weighted

COST = np.array([[0.0, 1.0], [3.0, 0.0]])
NUMBERS = {"a": 0, "b": 1}


@pytest.mark.parametrize(
    "y",
    [["a", "b", "a", "a"], ("a", "b", "a", "a"), np.array(list("abaa")), np.array([["a", "b"], ["a", "a"]])],
    ids=["list", "tuple", "array", "image"],
)
def test_ways_to_write_labels(y):
    read = read_labels(y, 4, (2, 2))
    assert read.numbers(NUMBERS).tolist() == [0, 1, 0, 0]
    assert read.numbers(NUMBERS).dtype == np.int32
    assert read.known.all()
    assert read.costs.tolist() == [1, 1, 1, 1]
    assert sorted(read.kinds) == ["a", "b"]


def test_images_of_labels_for_graphs_that_are_no_grids_are_read_row_by_row():
    assert read_labels(np.array([["a", "b"], ["a", "a"]]), 4, (4,)).numbers(NUMBERS).tolist() == [0, 1, 0, 0]
    with pytest.raises(ValueError, match=r"labels of shape \(1, 3\); expected 4 labels, one per node"):
        read_labels(np.array([["a", "b", "a"]]), 4, (4,))


def test_labels_of_any_hashable_kind():
    y = np.fromiter([("x", 1), None, 5, ("x", 1)], dtype=object, count=4)
    read = read_labels(y, 4)
    assert read.kinds == [("x", 1), None, 5]
    assert read.kind_of.tolist() == [0, 1, 2, 0]


def test_missing_labels_are_known_to_be_missing():
    read = read_labels(["a", None, "b"], 3)
    assert read.known.tolist() == [True, False, True]
    assert read.numbers(NUMBERS).tolist() == [0, 0, 1]
    assert read.prices(NUMBERS, COST).tolist() == [[0, 1], [0, 0], [3, 0]]
    assert read.at(read.known).numbers(NUMBERS).tolist() == [0, 1]


def test_prices_are_costs_of_labels_times_costs_of_nodes():
    read = read_labels(Weighted(["a", "b", "new"], [2.0, 1.0, 0.5]), 3)
    assert read.prices(NUMBERS, COST).tolist() == [[0, 2], [3, 0], [1.5, 1.5]]
    assert read.at(np.array([True, False, True])).costs.tolist() == [2, 0.5]


def test_agreement_counts_known_labels_only():
    read = read_labels(["a", None, "b", "new"], 4)
    assert read.shown_by(np.array([["a", "a"], ["a", "a"]])).tolist() == [True, False, False, False]


def test_numbers_of_numpy_are_plain_labels():
    assert read_labels(np.array([3, 5, 3]), 3).kinds == [3, 5]
    assert [type(kind) for kind in read_labels([np.int64(3), 4], 2).kinds] == [int, int]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (5, "its labels are 5; expected one label per node"),
        ("abaa", "its labels are 'abaa'; expected one label per node"),
        (["a", "b"], "it has 4 nodes but 2 labels; expected 4 labels in a list, or an array of shape"),
        (np.zeros((4, 1)), r"it has 4 nodes but labels of shape \(4, 1\)"),
        (["a", "b", "a", float("nan")], "the label of node 3 is NaN; put None"),
        (np.array([1.0, np.nan, 1.0, 1.0]), "the label of node 1 is NaN; put None"),
        ([["a"], "b", "a", "b"], "a label cannot be used: unhashable"),
        (Weighted("aaaa", [1.0] * 4), "its labels are 'aaaa'"),
        (Weighted(list("aaaa"), [1.0] * 3), "it has 4 nodes but 3 costs"),
        (Weighted(list("aaaa"), [1.0, -1.0, 1.0, 1.0]), "the cost of node 1 is -1.0"),
        (Weighted(list("aaaa"), ["x"] * 4), "its node costs are"),
    ],
    ids=["number", "text", "few", "column", "nan", "nan-array", "lists", "weighted-text", "costs", "negative", "words"],
)
def test_faults_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        read_labels(y, 4, (2, 2))


def test_labels_that_are_no_classes():
    with pytest.raises(ValueError, match="the label 'c' is not one of the classes"):
        read_labels(["a", "c"], 2).numbers(NUMBERS)
