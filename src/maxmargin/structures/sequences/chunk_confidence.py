"""Probabilities of chunks: the sum over all label sequences that contain exactly this chunk."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.inputs.tokens.chunk_schemes import ChunkScheme
from maxmargin.structures.sequences.chain_sums import ChainSums, Stretch


class ChunkConfidence(NamedTuple):
    """A predicted chunk, at positions begin:end, and its probability."""

    begin: int
    end: int
    type: str
    probability: float


def chunk_confidences(
    sums: ChainSums, j: int, labels: Sequence[Hashable], scheme: ChunkScheme
) -> list[ChunkConfidence]:
    """Return the probability of every chunk of these labels of sequence j, ends included.

    The label before must not be one that the chunk continues, and the label after must not continue the chunk.
    """
    classes, numbers = sums.names
    stretches, found = [], scheme.chunks(labels)
    for begin, end, _ in found:
        inside = np.array([numbers[label] for label in labels[begin:end]], dtype=np.int32)
        before = np.array([not scheme.goes_on(label, labels[begin]) for label in classes])
        after = np.array([not scheme.goes_on(labels[end - 1], label) for label in classes])
        stretches.append(Stretch(begin, end, inside, before, after))
    each = sums.stretches(j, stretches)
    return [ChunkConfidence(*chunk, float(p)) for chunk, p in zip(found, each, strict=True)]
