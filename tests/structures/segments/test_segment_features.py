"""Features of whole segments: which have a weight, and where they stand."""

import numpy as np
import pytest

from maxmargin.structures.segments.segment_features import SegmentFeatures
from maxmargin.structures.segments.segment_text import SegmentText, shape

X = [["a", "b", "c"], ["c", "a"]]
OFFSETS = np.array([0, 3, 5])


def words(tokens, begin, end):
    return [" ".join(tokens[begin:end]), "any"]


def test_true_segments_tell_which_features_count():
    features = SegmentFeatures(words).fit(X, [[(0, 2, "x")], [(0, 1, "x")]])
    assert features.names == ["a b", "any", "c"]
    table = features.table(X, OFFSETS, 2)
    rows = [table.columns[a:b].tolist() for a, b in zip(table.indptr, table.indptr[1:], strict=False)]
    assert rows == [[1], [], [1], [0, 1], [1, 2], [1], [1, 2], [], [1], [1]]
    assert len(table.values) == 0
    assert SegmentFeatures(words, min_count=2).fit(X, [[(0, 2, "x")], [(0, 1, "x")]]).names == ["any"]


def test_values_of_dicts():
    features = SegmentFeatures(lambda tokens, begin, end: {"size": end - begin, "word": tokens[begin]})
    table = features.fit(X, [[(0, 2, "x")], []]).table(X, OFFSETS, 2)
    assert features.names == ["size", "word=a"]
    np.testing.assert_array_equal(table.columns[:4], [0, 1, 0, 0])
    np.testing.assert_array_equal(table.values[:4], [1, 1, 1, 2])


def test_without_a_function_there_are_none():
    table = SegmentFeatures(None).fit(X, [[(0, 1, "x")], []]).table(X, OFFSETS, 2)
    assert len(table.indptr) == 11
    assert len(table.columns) == 0


@pytest.mark.parametrize("answer", [None, "text", [3], {"a": object()}])
def test_what_is_no_list_of_features_is_named(answer):
    with pytest.raises(ValueError, match="segment_features of sequence 1, tokens 0:1, are"):
        SegmentFeatures(lambda tokens, begin, end: answer).fit(X, [[], [(0, 1, "x")]])


@pytest.mark.parametrize("number", [np.inf, np.nan, -1e200])
def test_numbers_must_be_finite_and_have_squares(number):
    features = SegmentFeatures(lambda tokens, begin, end: {"size": number if tokens[begin:end] == ["c", "a"] else 1.0})
    features.fit(X, [[(0, 1, "x")], []])
    with pytest.raises(ValueError, match=r"sequence 1, tokens 0:2, are .*finite numbers"):
        features.table(X, OFFSETS, 2)


def test_no_function():
    with pytest.raises(ValueError, match="must be None or a function"):
        SegmentFeatures("text")


def test_text_of_segments():
    tokens = [{"word": "In"}, {"word": "New"}, {"word": "York"}, {"word": "1999"}]
    text = SegmentText()
    assert text(tokens, 1, 3) == ["text=new york", "shape=Xx", "ends=new|york", "around=in|1999"]
    assert text(tokens, 0, 1) == ["text=in", "shape=Xx", "around=<s>|new"]
    assert text(tokens, 3, 4)[-1] == "around=york|</s>"
    assert SegmentText(kinds=["shape"])(tokens, 1, 4) == ["shape=Xx 9"]
    assert SegmentText("w", ["text"])([["bias", "w=A"]], 0, 1) == ["text=a"]
    assert SegmentText(str.upper, ["text"])(["a", "b"], 0, 2) == ["text=a b"]
    assert [shape(word) for word in ("UN", "3.14", "e-mail", "McX")] == ["X", "9.9", "x-x", "XxX"]


def test_text_needs_words():
    with pytest.raises(ValueError, match=r"token 0 is .*which has no 'word'"):
        SegmentText()([{"form": "a"}], 0, 1)
    with pytest.raises(ValueError, match="kinds must be of 'text'"):
        SegmentText(kinds=["size"])
