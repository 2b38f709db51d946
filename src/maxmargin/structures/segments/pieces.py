"""The features of a segmentation, segment by segment."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.inputs.labels.labels import label_numbers
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.segments.spans import read_segmentation


def segment_pieces(task: Any, x: Any, z: Any) -> Pieces:
    """Return Ψ(x, z) of SemiMarkov: segments, tokens outside of them, and the transitions between these."""
    packed = task.packer_.pack([x])
    matrix, length = sparse.csr_array(packed.matrix), packed.matrix.shape[0]
    table = task.segments_.table([x], packed.offsets, task.max_length_)
    m, longest = task.n_types_, task.max_length_
    K = m + 1
    start, end, lengths = K * K, K * K + K, K * K + 2 * K
    segments = lengths + longest * m
    units: list[Unit] = []
    owners, indices, values = [], [], []

    def add(unit: int, at: Any, numbers: Any) -> None:
        at = np.atleast_1d(at).astype(np.int64)
        owners.append(np.full(len(at), unit))
        indices.append(at)
        values.append(np.broadcast_to(np.asarray(numbers, dtype=float), at.shape))

    def tokens(t: int) -> tuple[Any, Any]:
        entries = slice(matrix.indptr[t], matrix.indptr[t + 1])
        return task.first_ + matrix.indices[entries].astype(np.int64) * (1 + 3 * m), matrix.data[entries]

    labels: list[int] = []
    bounds: list[tuple[int, int]] = []  # the first token of each unit, and the one after its last
    done = 0
    for begin, stop, label in [*read_segmentation(z, length, "the output").spans, (length, length, None)]:
        for t in range(done, begin):
            labels.append(0)
            bounds.append((t, t + 1))
            units.append(Unit("outside", t))
            add(len(units) - 1, *tokens(t))
        if label is None:
            break
        if stop - begin > longest:
            raise ValueError(
                f"the output has a segment of {stop - begin} tokens, {(begin, stop, label)!r}; the longest segments of "
                f"this model have {longest}"
            )
        k, done = int(label_numbers([label], task.numbers_)[0]), stop
        labels.append(k + 1)
        bounds.append((begin, stop))
        units.append(Unit("segment", (begin, stop), range(begin, stop)))
        own = len(units) - 1
        add(own, lengths + (stop - begin - 1) * m + k, 1.0)
        at = (stop - 1) * longest + stop - begin - 1
        entries = slice(table.indptr[at], table.indptr[at + 1])
        numbers = table.values[entries] if len(table.values) else 1.0
        add(own, segments + table.columns[entries].astype(np.int64) * m + k, numbers)
        for t, role in [*((t, 0) for t in range(begin, stop)), (begin, 1), (stop - 1, 2)]:
            first, numbers = tokens(t)
            add(own, first + 1 + 3 * k + role, numbers)
    add(0, start + labels[0], 1.0)
    add(len(units) - 1, end + labels[-1], 1.0)
    for t, (before, after) in enumerate(pairwise(labels)):
        units.append(Unit("transition", (bounds[t][1] - 1, bounds[t + 1][0])))
        add(len(units) - 1, before * K + after, 1.0)
    return Pieces(units, np.concatenate(owners), np.concatenate(indices), np.concatenate(values))
