"""Features of whole segments: what a user's function says of tokens begin:end, for all that may be a segment.

    segment_features(tokens, begin, end)    a list of attributes, or a dict, as tokens have them (inputs/token_features)

Only what true segments of the training data have gets a weight. All other features are left out: those of the many
segments that are none would be as many as the data have stretches of tokens. A property that speaks against a segment
is best given with both of its values ("quotes=open", "quotes=closed"), one of which true segments have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.inputs.token_features import FeatureRows, pairs_of, read_tokens
from maxmargin.inputs.vocabulary import Vocabulary
from maxmargin.structures.segments.spans import Span

AT_ONCE = 20_000  # segments whose features are held as strings

Describe = Callable[[int, int], Any]  # the features of the segment begin:end of one sequence


class FeatureTable(NamedTuple):
    """Row u·L + d has the features of the segment of d + 1 tokens that ends at unit u; without values these are 1."""

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: Array


class Candidate(NamedTuple):
    """Tokens begin:end of sequence i."""

    i: int
    begin: int
    end: int


class SegmentFeatures:
    """The features that `function` finds, of which those of true segments have numbers.

    function : None, or as above. One that has a method `of_sequence(tokens)` is asked for (begin, end) -> features
        once per sequence, where it can prepare what all segments of a sequence share.
    min_count : features that fewer true segments have get no number.
    """

    def __init__(self, function: Any, min_count: int = 1):
        if function is not None and not callable(function):
            raise ValueError(f"segment_features must be None or a function (tokens, begin, end), got {function!r}")
        self.function, self.min_count = function, min_count
        self.vocabulary = Vocabulary()

    def __len__(self) -> int:
        return len(self.vocabulary)

    @property
    def names(self) -> list[str]:
        """In the order of their numbers."""
        return self.vocabulary.names.strings()

    def fit(self, X: Any, truths: Iterable[list[Span]]) -> SegmentFeatures:
        """Learn what the true segments have."""
        if self.function is None:
            return self
        seen, counts = Vocabulary(), np.zeros(0, dtype=np.int64)
        candidates = (Candidate(i, begin, end) for i, spans in enumerate(truths) for begin, end, _ in spans)
        for names, values, ends in self._read(X, candidates):
            rows = FeatureRows.of(seen.learn(names), values, ends)
            here = rows.columns if rows.values is None else rows.columns[rows.values != 0]
            counts = np.pad(counts, (0, len(seen) - len(counts)))
            counts += np.bincount(here, minlength=len(seen))
        self.vocabulary = Vocabulary(seen.names.where(counts >= self.min_count))
        return self

    def table(self, X: Any, offsets: NDArray[np.int64], longest: int) -> FeatureTable:
        """The features of all segments of at most so many tokens."""
        if len(self) == 0:
            none = np.zeros(0, dtype=np.int32)
            return FeatureTable(np.zeros(int(offsets[-1]) * longest + 1, dtype=np.int64), none, np.zeros(0))
        candidates = (
            Candidate(i, end - d, end)
            for i, length in enumerate(np.diff(offsets).tolist())
            for end in range(1, length + 1)
            for d in range(1, longest + 1)
        )
        rows = FeatureRows.stacked(
            FeatureRows.of(self.vocabulary.look_up(names), values, ends)
            for names, values, ends in self._read(X, candidates)
        )
        values = np.zeros(0) if rows.values is None else rows.values
        if len(values) and not np.isfinite(values).all():
            at = int(np.searchsorted(rows.ends, np.flatnonzero(~np.isfinite(values))[0], side="right")) - 1
            i = int(np.searchsorted(offsets, at // longest, side="right")) - 1
            end = at // longest - int(offsets[i]) + 1
            raise ValueError(f"segment_features of sequence {i}, tokens {end - at % longest - 1}:{end}, are not finite")
        return FeatureTable(rows.ends, rows.columns, values)

    def _read(self, X: Any, candidates: Iterator[Candidate]) -> Iterator[Any]:
        """The features of these candidates, which are none where one would begin before its sequence."""
        sequences, owner, describe = enumerate(X), -1, None
        found: list[Any] = []
        where: list[Candidate] = []
        for candidate in candidates:
            while owner < candidate.i:
                owner, x = next(sequences)
                describe = self._described(x)
            assert describe is not None
            found.append(() if candidate.begin < 0 else describe(candidate.begin, candidate.end))
            where.append(candidate)
            if len(found) == AT_ONCE:
                yield from _features(found, where)
                found, where = [], []
        yield from _features(found, where)

    def _described(self, x: Any) -> Describe:
        if hasattr(self.function, "of_sequence"):
            described: Describe = self.function.of_sequence(x)
            return described
        function = self.function
        return lambda begin, end: function(x, begin, end)


def _features(found: list[Any], where: list[Candidate]) -> Iterator[Any]:
    try:
        yield from read_tokens([found], np.array([0, len(found)]))
    except ValueError:
        for each, (i, begin, end) in zip(found, where, strict=True):
            try:
                list(pairs_of(each))
            except ValueError:
                raise ValueError(
                    f"segment_features of sequence {i}, tokens {begin}:{end}, are {each!r}; expected a list of "
                    "attribute strings or a dict of features"
                ) from None
        raise
