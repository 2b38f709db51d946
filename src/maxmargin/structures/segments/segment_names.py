"""SegmentNames: conversion of codes to the user's segmentations, and checks of what a model can predict."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.segments.spans import Codes, Segmentation, codes_of, read_segmentations, spans_of, tags_of


class SegmentNames(NamedTuple):
    """Types of segments by name and by number, with the form and the limits of segmentations."""

    classes: Sequence[Hashable]  # the name of each type
    numbers: dict[Hashable, int]  # the number of each name
    max_length: int  # the length of the longest segment that is predicted
    outside: bool  # whether tokens may be outside of segments
    tags: Sequence[str] | None = None  # the tag of every code; None if segmentations are lists of spans

    def named(self, codes: Codes) -> Any:
        """Return a segmentation in the user's form."""
        return spans_of(codes, self.classes) if self.tags is None else tags_of(codes, self.tags)

    def codes(self, truths: list[Segmentation], offsets: NDArray[np.int64]) -> Codes:
        """Return the codes of all tokens; raise a ValueError for a segmentation that cannot be predicted."""
        codes = np.zeros(int(offsets[-1]), dtype=np.int32)
        for i, truth in enumerate(truths):
            first, end = offsets[i : i + 2].tolist()
            reason = self._impossible(truth, end - first)
            if reason:
                raise ValueError(f"Y[{i}]: {reason}")
            codes[first:end] = codes_of(truth.spans, self.numbers, end - first)
        return codes

    def read_possible(self, Y: Any, offsets: NDArray[np.int64]) -> tuple[Codes, NDArray[np.bool_]]:
        """Return the codes of these segmentations, and whether each can be predicted; impossible ones get codes 0."""
        truths, lengths = read_segmentations(Y, offsets), np.diff(offsets).tolist()
        possible = np.array([not self._impossible(t, n) for t, n in zip(truths, lengths, strict=True)], dtype=bool)
        each = [
            codes_of(truth.spans if good else [], self.numbers, length)
            for truth, good, length in zip(truths, possible, lengths, strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int32), *each]), possible

    def _impossible(self, truth: Segmentation, length: int) -> str:
        """Return why this segmentation cannot be predicted, or "" if it can."""
        for begin, end, label in truth.spans:
            if label not in self.numbers:
                return f"the label {label!r} is not one of the classes"
            if end - begin > self.max_length:
                return (
                    f"the segment {(begin, end, label)!r} has {end - begin} tokens, more than max_length="
                    f"{self.max_length}; raise it, or use max_length=None for the longest of the training data"
                )
        if not self.outside and sum(end - begin for begin, end, _ in truth.spans) < length:
            return (
                "a token is outside of all segments, but no token of the first training data is; expected segments "
                "that cover all tokens"
            )
        return ""
