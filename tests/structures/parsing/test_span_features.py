import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.structures.parsing.span_features import COMMON, LENGTHS, SPAN, SPLIT, SpanFeatures, spans

ALL = (*SPAN, *SPLIT)
KNOWN = [["the", "dog", "barks"] * COMMON, ["The", "dog"]]


def test_spans_are_in_the_order_of_cells():
    for n in range(1, 6):
        expected = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
        assert list(zip(*(ends.tolist() for ends in spans(n)), strict=True)) == expected


@given(st.lists(st.sampled_from(["the", "dog", "barks", "cat"]), min_size=1, max_size=5), st.sets(st.sampled_from(ALL)))
def test_places_are_where_the_weights_of_values_begin(x, names):
    first, block = 11, 3
    features = SpanFeatures(sorted(names)).fit(KNOWN, first, block)
    numbers = {"the": 0, "dog": 1, "barks": 2, "outside": 3, "cat": 4}  # a cat is one of all other tokens
    begins = {}
    for name in [name for name in ALL if name in names]:
        begins[name] = first
        first += block * (10 if name == "length" else 5)
    assert features.first_ == begins
    assert features.end_ == first
    of_spans, of_splits = features.places(features.tokens(x))
    padded = {-1: "outside", len(x): "outside", **dict(enumerate(x))}
    ends = [(i, j) for i in range(len(x)) for j in range(i + 1, len(x) + 1)]
    for (i, j), places in zip(ends, of_spans, strict=True):
        values = {
            "first": numbers[x[i]],
            "last": numbers[x[j - 1]],
            "before": numbers[padded[i - 1]],
            "after": numbers[padded[j]],
            "length": j - i - 1,
        }
        assert places.tolist() == [0, *(begins[f] + block * values[f] for f in SPAN if f in names)]
    for k in range(1, len(x)):
        values = {"split_left": numbers[x[k - 1]], "split_right": numbers[x[k]]}
        assert of_splits[k].tolist() == [begins[f] + block * values[f] for f in SPLIT if f in names]


@given(st.sets(st.sampled_from(ALL)), st.integers(0, 3))
def test_parts_are_the_weights_by_value(names, block):
    features = SpanFeatures(tuple(names)).fit(KNOWN, 7, block)
    w = np.arange(features.end_, dtype=float)
    parts = features.parts(w)
    assert list(parts) == [name for name in ALL if name in names]
    for name, values in parts.items():
        assert values.shape == (10 if name == "length" else 5, block)
        for value, row in enumerate(values):
            begin = features.first_[name] + value * block
            assert row.tolist() == list(range(begin, begin + block))
    np.testing.assert_array_equal(np.concatenate([w[:7], *(values.ravel() for values in parts.values())]), w)


def test_long_spans_share_their_lengths():
    features = SpanFeatures(["length"]).fit([["a"] * 40], 0, 1)
    of_spans, _ = features.places(features.tokens(["a"] * 40))
    begin, end = spans(40)
    buckets = [[1], [2], [3], [4], [5], [6, 7], [8, 9, 10], list(range(11, 16)), list(range(16, 21)), range(21, 41)]
    for bucket, lengths in enumerate(buckets):
        assert set(of_spans[np.isin(end - begin, lengths), 1].tolist()) == {bucket}
    assert len(LENGTHS) == 22


def test_rare_words_share_the_weights_of_their_endings():
    rare = [f"{stem}ing" for stem in ("sing", "ring", "br", "k", "w")]  # five words that end alike
    other = ["walks", "talks", "x7", "y7", "Anning"]
    features = SpanFeatures(["first"]).fit([["the"] * COMMON, rare, other, rare[:1] * (COMMON - 2)], 0, 1)
    assert list(features.numbers_) == ["the", ("a", "ng")]
    numbers = features.tokens(["the", "singing", "swing", "The", "Bang", "walks", "7ng"]).tolist()
    assert numbers == [2, 0, 1, 1, 3, 3, 3, 3, 2]  # ends, known, known ending, new word of that ending, and all others


def test_capitals_and_digits_have_endings_of_their_own():
    words = [f"{letter}ork" for letter in "BCDFP"] + [f"{digit}1st" for digit in range(5)]
    features = SpanFeatures(["first"]).fit([words], 0, 1)
    assert list(features.numbers_) == [("A", "rk"), ("9", "st")]
    assert features.tokens(["York", "WORK", "work", "21st", "First"]).tolist()[1:-1] == [0, 0, 3, 1, 3]


@pytest.mark.parametrize(
    ("names", "wrong"), [("first", "'first'"), (["first", "middle"], "'middle'"), (None, "None"), (3, "3"), ([7], "7")]
)
def test_bad_names(names, wrong):
    with pytest.raises(ValueError, match=f"span_features has {wrong}; expected a list of some of 'first', 'last', "):
        SpanFeatures(names)
