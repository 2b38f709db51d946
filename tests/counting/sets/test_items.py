import numpy as np
import pytest

from maxmargin.counting.sets.items import Items, collection, whole_number


def test_numbered_items():
    items = Items(np.int64(3))
    assert len(items) == 3
    assert list(items.names) == [0, 1, 2]
    assert items.number(np.int32(2)) == 2
    assert items.numbers({1, 0}, "set") == [0, 1]
    assert items.named(np.array([2, 0])) == (2, 0)


def test_named_items_are_plain_and_keep_their_order():
    items = Items(np.array(["b", "a"]), called="vertex")
    assert items.names == ["b", "a"]
    assert all(type(name) is str for name in items.names)
    assert items.numbers(("a", "b"), "set") == [1, 0]


def test_long_lists_are_cut_in_messages():
    assert Items(1).described() == "0"
    assert Items(100).described() == "0 … 99"
    assert Items("abcdefg").described() == "'a', 'b', 'c', 'd', 'e', 'f', …"


def test_numbers_stay_apart_from_truth_values():
    with pytest.raises(ValueError, match="True is not one of the items; expected 0 … 1"):
        Items(2).number(True)
    assert Items([True, False]).number(False) == 1


@pytest.mark.parametrize("y", ["ab", 3, None, {"a": 1}, iter("ab"), np.array([True, False]), np.zeros((2, 2))])
def test_what_is_no_collection(y):
    with pytest.raises(ValueError, match="; expected a set, list or tuple of items"):
        collection(y, "team")


@pytest.mark.parametrize(
    ("value", "message"),
    [(0, "k must be from 1 to 4, got 0 \\(why\\)"), (5, "got 5"), (2.0, "whole number, got 2.0"), (False, "got False")],
)
def test_what_is_no_whole_number(value, message):
    whole_number(np.int8(4), "k", 1, 4)
    with pytest.raises(ValueError, match=message):
        whole_number(value, "k", 1, 4, "why")
