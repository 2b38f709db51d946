"""Tags and spans, and what is said of bad ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.segments.compiled import segments_twin as twin

from maxmargin.structures.segments.spans import (
    SegmentEnds,
    codes_of,
    given_as_spans,
    read_segmentation,
    spans_of,
    tags_of,
)

NAMES = ["O", "B-x", "I-x", "B-y", "I-y"]


@given(st.sampled_from(twin.segmentations(5, 3, 2)))
def test_there_and_back(pieces):
    codes = np.array(twin.codes(pieces), dtype=np.int32)
    spans = [(a, b, "xy"[k - 1]) for a, b, k in pieces if k]
    assert spans_of(codes, "xy") == spans
    tags = tags_of(codes, NAMES)
    for given_, expected in ((tags, spans), (spans, spans), (spans[::-1], spans)):
        read = read_segmentation(given_, 5, "Y[0]")
        assert read.spans == expected
        np.testing.assert_array_equal(codes_of(read.spans, {"x": 0, "y": 1}, 5), codes)
    ends = SegmentEnds.of(codes, np.array([0, 5]))
    assert [(t + 1 - n, t + 1, k + 1) for t, (n, k) in enumerate(zip(*ends, strict=True)) if n] == [
        piece for piece in pieces if piece[2]
    ]


def test_segments_end_with_their_sequence():
    ends = SegmentEnds.of(np.array([1, 2, 2, 0], dtype=np.int32), np.array([0, 2, 4]))
    np.testing.assert_array_equal(ends.lengths[:2], [0, 2])


def test_the_form_is_that_of_the_first_that_has_any():
    assert given_as_spans([[], [(0, 1, "x")]])
    assert not given_as_spans([[], ["O"]])
    assert given_as_spans([[], []])
    assert not given_as_spans([np.array(["O", "B-x"])])
    assert read_segmentation(np.array(["O", "B-x"]), 2, "Y[0]").spans == [(1, 2, "x")]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["O", "O"], "Y\\[3\\] has 2 tags for 4 tokens"),
        (["O", "x", "O", "O"], "the tag 'x' at token 1"),
        (["O", "B-", "O", "O"], "the tag 'B-' at token 1"),
        ([(0, 2, "x"), (1, 3, "y")], "\\(0, 2, 'x'\\) and \\(1, 3, 'y'\\), which overlap"),
        ([(2, 5, "x")], "\\(2, 5, 'x'\\); expected 0 <= begin < end.*of 4 tokens"),
        ([(-1, 2, "x")], "expected 0 <= begin < end"),
        ([(2, 2, "x")], "expected 0 <= begin < end"),
        ([(0.5, 2, "x")], "whose ends are not whole numbers"),
        ([(0, 2)], "contains \\(0, 2\\); expected spans"),
        ([(0, 2, None)], "None cannot be the label"),
        ([(0, 2, "O")], "'O' cannot be the label"),
        ([(0, 2, ["x"])], "cannot be the label"),
        (7, "Y\\[3\\] is 7; expected a list of tags"),
        ("OOOO", "expected a list of tags"),
    ],
)
def test_bad_segmentations_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        read_segmentation(y, 4, "Y[3]")
