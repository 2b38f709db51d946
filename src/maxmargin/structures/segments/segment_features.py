"""Features of whole segments, by a user's function that is called for all possible segments.

    segment_features(tokens, begin, end) -> a list of attributes, or a dict, as for tokens (inputs/tokens)

Only features of true segments in the training data get weights: the others would be about as many as the data have
stretches of tokens. A property that speaks against a segment is best given with both of its values ("quotes=open",
"quotes=closed"), one of which true segments have.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import OneOf, Part, Texts, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.matrices import LARGEST
from maxmargin.inputs.tokens.token_features import FeatureRows, pairs_of
from maxmargin.structures.segments.segment_text import SegmentText
from maxmargin.structures.segments.spans import TokenSpan

Describe = Callable[[int, int], Any]  # (begin, end) -> features of that segment of one sequence


class FeatureTable(NamedTuple):
    """Sparse matrix whose row u·L + d has the features of the segment of d + 1 tokens that ends at unit u.

    Without values, all values are 1.
    """

    indptr: NDArray[np.int64]  # where each row begins, as in CSR
    columns: NDArray[np.int32]  # the numbers of features
    values: Array


class Candidate(NamedTuple):
    """Possible segment: tokens begin:end of sequence i."""

    i: int
    begin: int
    end: int


class SegmentFeatures:
    """Numbered features of segments, as `function` computes them.

    function : None, or as above. If it has a method `of_sequence(tokens)`, that is called once per sequence and returns
        (begin, end) -> features, so that work can be shared by all segments of a sequence.
    min_count : features of fewer true segments get no number.
    """

    saved: ClassVar[Fields] = {
        "function": OneOf(None, Part(SegmentText)),
        "min_count": Whole(1),
        "names": Texts(different=True),
    }

    def __init__(self, function: Any, min_count: int = 1):
        if function is not None and not callable(function):
            raise ValueError(f"segment_features must be None or a function (tokens, begin, end), got {function!r}")
        self.function, self.min_count = function, min_count
        self.names: list[str] = []  # in the order of their numbers

    def __len__(self) -> int:
        return len(self.names)

    def fit(self, X: Any, truths: Iterable[list[TokenSpan]]) -> SegmentFeatures:
        """Number the features of the true segments."""
        counts: Counter[str] = Counter()
        if self.function is not None:
            for i, (x, spans) in enumerate(zip(X, truths, strict=True)):
                describe = self._described(x)
                for begin, end, _ in spans:
                    pairs = _pairs(describe(begin, end), Candidate(i, begin, end))
                    counts.update(list(dict.fromkeys(name for name, value in pairs if value != 0)))
        self.names = [name for name, count in counts.items() if count >= self.min_count]
        return self

    def table(self, X: Any, offsets: NDArray[np.int64], longest: int) -> FeatureTable:
        """Return the features of all segments of at most `longest` tokens."""
        if len(self) == 0:
            none = np.zeros(0, dtype=np.int32)
            return FeatureTable(np.zeros(int(offsets[-1]) * longest + 1, dtype=np.int64), none, np.zeros(0))
        # names are looked up one by one in a dict, because most of them are unknown
        known = {name: number for number, name in enumerate(self.names)}
        columns, counts = array("i"), np.zeros(int(offsets[-1]) * longest, dtype=np.int64)
        values: array[float] | None = None  # not None once a dict was found
        row = 0
        for i, x in enumerate(X):
            describe = self._described(x)
            for end in range(1, int(offsets[i + 1] - offsets[i]) + 1):
                for size in range(1, min(longest, end) + 1):
                    before, found = len(columns), describe(end - size, end)
                    if values is None and type(found) is list and set(map(type, found)) <= {str}:
                        columns.extend([known[name] for name in found if name in known])
                    else:
                        if values is None:
                            values = array("d", [1.0] * before)
                        for name, value in _pairs(found, Candidate(i, end - size, end)):
                            if name in known:
                                columns.append(known[name])
                                values.append(value)
                    counts[row + size - 1] = len(columns) - before
                row += longest
        ends = np.concatenate([[0], np.cumsum(counts)])
        given = None if values is None else np.array(values)
        rows = FeatureRows.of(np.array(columns, dtype=np.int32), given, ends)
        return FeatureTable(rows.ends, rows.columns, np.zeros(0) if rows.values is None else rows.values)

    def _described(self, x: Any) -> Describe:
        if hasattr(self.function, "of_sequence"):
            described: Describe = self.function.of_sequence(x)
            return described
        function = self.function
        return lambda begin, end: function(x, begin, end)


def _pairs(found: Any, where: Candidate) -> list[tuple[str, float]]:
    """Return the features of one candidate with their values."""
    try:
        pairs = [(name, float(value)) for name, value in pairs_of(found)]
    except ValueError:
        pairs = None
    if pairs is None or not all(abs(value) <= LARGEST for _, value in pairs):
        raise ValueError(
            f"segment_features of sequence {where.i}, tokens {where.begin}:{where.end}, are {found!r}; expected a list "
            f"of attribute strings, or a dict of strings and finite numbers, at most {LARGEST:g}"
        )
    return pairs
