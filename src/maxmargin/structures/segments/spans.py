"""Conversions between tags, spans and codes of segmentations.

Users give a segmentation of T tokens as T tags ("O", "B-x" for the first token of a segment of type x, "I-x" for its
other tokens) or as a list of spans (begin, end, type), where `end` is one past the last token. Internally it is a
*code* for every token: 0 outside of segments, 2k + 1 for the first token of a segment of type k, 2k + 2 for the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.tokens.chunk_schemes import SCHEMES

OUTSIDE = "O"
Codes = NDArray[np.int32]
TokenSpan = tuple[int, int, Hashable]


class Segmentation(NamedTuple):
    """Segmentation of one sequence."""

    spans: list[TokenSpan]  # in the order of the tokens
    repaired: int = 0  # the number of segments that begin with an "I-" tag, which is read as "B-"


def given_as_spans(Y: Iterable[Any]) -> bool:
    """Return whether Y consists of spans and not of tags, decided by the first element of the first nonempty y."""
    for y in Y:
        for each in y if isinstance(y, Sequence | np.ndarray) and not isinstance(y, str) else ():
            return not isinstance(each, str)
    return True  # all y are empty lists of spans


def read_segmentation(y: Any, length: int | None, what: str) -> Segmentation:
    """Read the tags or spans of a sequence of `length` tokens, or of any number if None; errors begin with `what`."""
    if isinstance(y, np.ndarray):
        y = y.tolist()
    if not isinstance(y, Sequence) or isinstance(y, str):
        raise ValueError(f"{what} is {y!r}; expected a list of tags, or of spans (begin, end, label)")
    if y and isinstance(y[0], str):
        return _read_tags(y, length, what)
    return Segmentation(_read_spans(y, length, what))


def read_segmentations(Y: Any, offsets: NDArray[np.int64]) -> list[Segmentation]:
    """Return the segmentations Y of the sequences that begin at these offsets."""
    if len(Y) != len(offsets) - 1:
        raise ValueError(
            f"there are {len(offsets) - 1} sequences of tokens but {len(Y)} segmentations; expected one per sequence"
        )
    lengths = np.diff(offsets).tolist()
    return [read_segmentation(y, lengths[i], f"Y[{i}]") for i, y in enumerate(Y)]


def _read_tags(tags: Sequence[Any], length: int | None, what: str) -> Segmentation:
    if length is not None and len(tags) != length:
        raise ValueError(f"{what} has {len(tags)} tags for {length} tokens; expected one per token")
    for t, tag in enumerate(tags):
        if not isinstance(tag, str) or (tag != OUTSIDE and (tag[:2] not in ("B-", "I-") or len(tag) == 2)):
            raise ValueError(f"{what} has the tag {tag!r} at token {t}; expected 'O', 'B-x' or 'I-x'")
    spans = list(SCHEMES["BIO"].chunks(tags))
    return Segmentation(list(spans), sum(tags[begin][0] == "I" for begin, _, _ in spans))


def _read_spans(y: Sequence[Any], length: int | None, what: str) -> list[TokenSpan]:
    spans: list[TokenSpan] = []
    for each in y:
        if not isinstance(each, Sequence) or isinstance(each, str) or len(each) != 3:
            raise ValueError(f"{what} contains {each!r}; expected spans (begin, end, label)")
        begin, end, label = each
        if not (_is_position(begin) and _is_position(end)):
            raise ValueError(f"{what} has the span {each!r}, whose ends are not whole numbers; expected token numbers")
        if not 0 <= begin < end or (length is not None and end > length):
            within = "" if length is None else f" of {length} tokens"
            raise ValueError(
                f"{what} has the span {each!r}; expected 0 <= begin < end, where end is one past the last token{within}"
            )
        if label is None or not isinstance(label, Hashable) or label == OUTSIDE:
            raise ValueError(
                f"{what} has the span {each!r}; {label!r} cannot be the label of a segment, expected a hashable label "
                f"other than None and {OUTSIDE!r}"
            )
        spans.append((int(begin), int(end), label))
    spans.sort(key=lambda span: span[:2])
    for one, other in pairwise(spans):
        if other[0] < one[1]:
            raise ValueError(f"{what} has the spans {one!r} and {other!r}, which overlap; expected disjoint spans")
    return spans


def _is_position(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def codes_of(spans: Iterable[TokenSpan], numbers: dict[Hashable, int], length: int) -> Codes:
    """Return the codes of a segmentation, given the numbers of its labels."""
    codes = np.zeros(length, dtype=np.int32)
    for begin, end, label in spans:
        k = numbers[label]
        codes[begin:end] = 2 * k + 2
        codes[begin] = 2 * k + 1
    return codes


def spans_of(codes: Codes, classes: Sequence[Hashable]) -> list[TokenSpan]:
    """Return the spans of codes."""
    spans: list[TokenSpan] = []
    for t, code in enumerate(codes.tolist()):
        if code % 2:
            spans.append((t, t + 1, classes[code // 2]))
        elif code:
            begin, _, label = spans[-1]
            spans[-1] = begin, t + 1, label
    return spans


def tags_of(codes: Codes, names: Sequence[str]) -> list[str]:
    """Return the tags of codes; names[code] is the tag of a code."""
    return [names[code] for code in codes.tolist()]


class SegmentEnds(NamedTuple):
    """Segments of concatenated sequences, by their last tokens."""

    lengths: NDArray[np.int64]  # for every token, the length of the segment that ends at it, or 0 if none does
    labels: NDArray[np.int32]  # for every token, the label of its segment, or -1 outside of segments

    @classmethod
    def of(cls, codes: Codes, bounds: NDArray[np.int64]) -> SegmentEnds:
        """Find the ends of all segments; sequence j has the tokens bounds[j]:bounds[j + 1]."""
        labels = (codes + 1) // 2 - 1
        begins = codes % 2 == 1
        at = np.arange(len(codes))
        last = np.ones(len(codes), dtype=bool)  # True if the next token belongs to another segment or sequence
        last[:-1] = (codes[1:] % 2 == 1) | (codes[1:] == 0)
        last[bounds[1:][np.diff(bounds) > 0] - 1] = True
        lengths = at - np.maximum.accumulate(np.where(begins, at, 0)) + 1
        return cls(np.where(last & (labels >= 0), lengths, 0), labels.astype(np.int32))
