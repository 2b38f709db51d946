"""The features of a parse tree, phrase by phrase."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.parsing.productions import BEGIN, CHAIN, END, RULE
from maxmargin.structures.parsing.scored import atom_rows


def phrase_pieces(task: Any, x: Any, z: Any) -> Pieces:
    """Return Ψ(x, z) of a Grammar; the root belongs to the phrase of all words."""
    scored = task.scored([x])
    rows = scored.derivation(0, z)
    atoms = scored.counted_atoms(0, rows)
    (of_spans, of_splits), rules = scored.places(0), task.features_.rules
    chains, productions = rows[:, CHAIN], rows[:, RULE] >= 0
    steps = np.where(chains >= 0, np.diff(rules.step)[chains], 0) if len(rules.step) > 1 else np.zeros(len(rows), int)
    of_words = task.features_.reader.first_atom(scored.examples[0].sentence) >= 0
    counts = steps * of_spans.shape[1]
    counts = counts + np.where(productions, of_spans.shape[1] + of_splits.shape[1], int(of_words))
    parts = np.split(atoms, np.cumsum(counts))  # the last part has the root
    parts = [np.concatenate([parts[0], parts[-1]]), *parts[1:-1]]
    units = [Unit("phrase", (i, j), range(i, j)) for i, j in rows[:, [BEGIN, END]].tolist()]
    return Pieces.of_rows(units, atom_rows(parts, [], scored.atoms).tocsr())
