"""SegmentNames: segmentations as users have them, and which of them a model can predict."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.segments.spans import Codes, Segmentation, codes_of, read_segmentations, spans_of, tags_of


class SegmentNames(NamedTuple):
    """The types of segments by name and by number, and the form of segmentations."""

    classes: Sequence[Hashable]
    numbers: dict[Hashable, int]
    max_length: int  # of a segment
    outside: bool  # whether tokens may be outside of segments
    tags: Sequence[str] | None = None  # of every code; None: segmentations are lists of spans

    def named(self, codes: Codes) -> Any:
        """Return a segmentation in the user's form."""
        return spans_of(codes, self.classes) if self.tags is None else tags_of(codes, self.tags)

    def codes(self, truths: list[Segmentation], offsets: NDArray[np.int64]) -> Codes:
        """Return the codes of all tokens; raise a ValueError for a segmentation that cannot be predicted."""
        codes = np.zeros(int(offsets[-1]), dtype=np.int32)
        for i, truth in enumerate(truths):
            first, end = offsets[i : i + 2].tolist()
            trouble = self._trouble(truth, end - first)
            if trouble:
                raise ValueError(f"Y[{i}]: {trouble}")
            codes[first:end] = codes_of(truth.spans, self.numbers, end - first)
        return codes

    def read_possible(self, Y: Any, offsets: NDArray[np.int64]) -> tuple[Codes, NDArray[np.bool_]]:
        """Return the codes of these segmentations, and which of them can be predicted; others are all outside."""
        truths, lengths = read_segmentations(Y, offsets), np.diff(offsets).tolist()
        possible = np.array([not self._trouble(t, n) for t, n in zip(truths, lengths, strict=True)], dtype=bool)
        each = [
            codes_of(truth.spans if good else [], self.numbers, length)
            for truth, good, length in zip(truths, possible, lengths, strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int32), *each]), possible

    def _trouble(self, truth: Segmentation, length: int) -> str:
        """Return why this cannot be predicted, or "" if it can."""
        for begin, end, label in truth.spans:
            if label not in self.numbers:
                return f"the label {label!r} is not one of the classes"
            if end - begin > self.max_length:
                return (
                    f"the segment {(begin, end, label)!r} has {end - begin} tokens, more than max_length="
                    f"{self.max_length}; raise it, or leave it out to have the longest of the training data"
                )
        if not self.outside and sum(end - begin for begin, end, _ in truth.spans) < length:
            return "a token is outside of all segments, which none of the first training data is"
        return ""
