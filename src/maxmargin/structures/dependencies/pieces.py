"""The features of a dependency tree, arc by arc."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.structures.dependencies.scored_arcs import FoundTrees


def arc_pieces(task: Any, x: Any, z: Any) -> Pieces:
    """Return Ψ(x, z) of Dependencies: an arc has the features that the tree has and the tree without it has not."""
    arcs = task.pack([x], [z]).arcs
    n = int(arcs.sentences.lengths[0])
    heads, labels = (np.asarray(each[1 : n + 1]) for each in (arcs.sentences.heads, arcs.sentences.labels))
    left_out = np.eye(n, dtype=bool)
    without = FoundTrees(
        np.arange(n + 1) * n,
        np.where(left_out, -1, heads).astype(np.int32).ravel(),
        np.where(left_out, -1, labels).astype(np.int32).ravel(),
    )
    rows = arcs.rows(np.zeros(n, dtype=np.intp), without)
    units = [Unit("arc", (head, word), (word,)) for word, head in enumerate(heads.tolist(), 1)]
    return Pieces.of_rows(units, rows.tocsr() if isinstance(rows, AtomRows) else rows)
