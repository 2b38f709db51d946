"""The features of an alignment, pair by pair and skipped residue by skipped residue."""

from __future__ import annotations

from typing import Any

from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.alignment.alignments import PairwiseAlignment


def alignment_pieces(task: Any, x: Any, z: Any) -> Pieces:
    """Return Ψ(x, z) of an Alignment. Elements are the residues of the first sequence."""
    code = task.encode(x)
    pairs = PairwiseAlignment.of(z, code.lengths, "the output").pairs
    paid = task.paid_gaps(code, pairs)
    entries = []
    for k, (sequence, residue, *_) in enumerate(paid.tolist()):
        unit = Unit("skipped in second", residue, ()) if sequence else Unit("skipped in first", residue, (residue,))
        entries.append((unit, task.gap_features(code, paid[k : k + 1])))
    for k, (i, j) in enumerate(pairs.tolist()):
        entries.append((Unit("pair", (i, j), (i,)), task.pair_features(code, pairs[k : k + 1])))
    return Pieces.of(entries)
