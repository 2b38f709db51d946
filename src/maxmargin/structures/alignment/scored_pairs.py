"""The search of many pairs of sequences in one compiled call.

Other threads can run during a call, for which single pairs are often too short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.alignment.columns import Codes
from maxmargin.structures.alignment.compiled.alignment_arrays import AlignmentScratch, FlatPairs, ScoredPair

MANY_SCORES = 100_000  # the most scores searched in one call; long pairs are searched alone and not copied


class BestAlignment(NamedTuple):
    """The best alignment of one pair of sequences."""

    score: float  # the score of the alignment
    pairs: Codes  # the aligned positions of both sequences


def best_alignments(pairs: Iterable[ScoredPair], mode: int) -> Iterator[BestAlignment]:
    """Yield the alignment with the highest score of each pair."""
    together: list[ScoredPair] = []
    size = 0
    for pair in pairs:
        together.append(pair)
        size += pair.profile.size
        if size > MANY_SCORES:
            yield from _searched(together, mode)
            together, size = [], 0
    if together:
        yield from _searched(together, mode)


def _searched(pairs: Sequence[ScoredPair], mode: int) -> Iterator[BestAlignment]:
    from maxmargin.structures.alignment.compiled import alignment

    sizes = np.array([(len(pair.row_of), pair.profile.shape[1], len(pair.profile)) for pair in pairs])
    n, m, _ = sizes.T
    longest, ends = int(m.max()), np.cumsum(np.minimum(n, m))
    scores, found = np.empty((len(pairs), 2)), np.empty((int(ends[-1]), 2), dtype=np.int64)
    flat = FlatPairs(
        sizes,
        _flat([pair.profile for pair in pairs]),
        _flat([pair.row_of for pair in pairs]),
        _flat([pair.low for pair in pairs]),
        _flat([pair.high for pair in pairs]),
        np.array([pair.price for pair in pairs]),
        _flat([pair.of_a for pair in pairs]),
        _flat([pair.of_b for pair in pairs]),
    )
    scratch = AlignmentScratch(
        np.empty(int((n * m).max()), dtype=np.uint8),
        np.empty(alignment.ROWS * (longest + 1)),
        np.empty(longest),
        np.empty(longest, dtype=np.int64),
    )
    alignment.best_alignments(flat, mode, scratch, scores, found)
    for (score, count), end in zip(scores.tolist(), ends.tolist(), strict=True):
        yield BestAlignment(score, found[end - int(count) : end])


def _flat(tables: Sequence[NDArray]) -> NDArray:
    """Return the numbers of all tables, one table after the other."""
    return tables[0].reshape(-1) if len(tables) == 1 else np.concatenate([table.reshape(-1) for table in tables])
