"""Rows of queries in a packed folder.

Besides the rows (inputs/packed/packed_rows.py), a folder has the relevance of every row (`levels`) and the number of
its query (`queries`), counted in order of appearance, and `weights` if they are not all 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolderWriter
from maxmargin.inputs.packed.packed_matrix import PackedRows, packing_rows
from maxmargin.inputs.packed.packed_rows import MostlySame, deny, expect
from maxmargin.inputs.packed.row_blocks import checked_outputs, checked_weights, row_blocks


class PackedQueries(PackedRows):
    """Packed rows of queries, which Ranker takes instead of X, y and qid; see maxmargin.pack."""

    kind = "ranking"

    @property
    def outputs(self) -> Array:
        """The relevance of every row, after verifying the folder."""
        self.verify()
        return self.folder.arrays["levels"]

    @property
    def queries(self) -> NDArray[np.int64]:
        """The query number of every row."""
        self.verify()
        return self.folder.arrays["queries"]

    def in_parts(self) -> tuple[Any, Any, dict[str, Any]]:
        X, y, others = super().in_parts()
        return X, y, {"qid": np.array(self.queries), **others}

    def _check(self) -> None:
        super()._check()
        deny(self.folder, self.constant, "rows of queries have a constant feature")
        expect(self.folder, "levels", np.float64, self.n)
        expect(self.folder, "queries", np.int64, self.n)
        for _, some in self.folder.pieces("levels"):
            deny(self.folder, not np.isfinite(some).all(), "levels are not finite")
        known = 0
        for _, some in self.folder.pieces("queries"):
            highest = np.maximum.accumulate(np.append(known - 1, some))
            wrong = some.min() < 0 or (np.diff(highest) > 1).any()
            deny(self.folder, wrong, "queries are not counted as they appear")
            known = int(highest[-1]) + 1


def pack_ranking(data: Iterable[Any], folder: ArrayFolderWriter) -> PackedQueries:
    """Write blocks or single rows (see row_blocks.py) in one pass, few at a time."""
    numbers, weights = dict[Hashable, int](), MostlySame(folder, "weights")
    with packing_rows(folder, constant=False) as rows:
        for block in row_blocks(data, queries=True):
            first, n = rows.n, rows.append(block)
            folder.append("levels", _levels(checked_outputs(block.y, "labels", n, first), first))
            folder.append("queries", _numbered(checked_outputs(block.qid, "queries", n, first), numbers, first))
            weights.append(checked_weights(block.weights, n, first))
        packed = rows.finished()
    return PackedQueries(packed.n, packed.n_features, packed.constant, packed.names)


def _levels(y: NDArray[Any], first: int) -> Array:
    try:
        levels = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"example {first}: the relevance of rows has the type {y.dtype}; expected numbers") from None
    wrong = np.flatnonzero(~np.isfinite(levels))
    if len(wrong):
        raise ValueError(f"example {first + wrong[0]}: the relevance is {levels[wrong[0]]}; expected a finite number")
    return levels


def _numbered(qid: NDArray[Any], numbers: dict[Hashable, int], first: int) -> NDArray[np.int64]:
    """Return the query numbers of some rows."""
    ids = qid.tolist()
    for i, each in enumerate(ids):
        if each is None or each != each:
            raise ValueError(f"example {first + i}: the query is {each}; every row must belong to a query")
    found = [numbers.setdefault(each, len(numbers)) for each in ids]
    return np.array(found, dtype=np.int64)
