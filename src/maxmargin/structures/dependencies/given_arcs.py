"""GivenArcs: features of arcs that a user's function computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array, Index
from maxmargin.inputs.matrices import checked_matrix
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.structures.dependencies.compiled.arc_arrays import CodedSentences
from maxmargin.structures.dependencies.lexicon import Codes
from maxmargin.structures.dependencies.scored_arcs import (
    ArcSizes,
    ArcTables,
    FoundTrees,
    ScoredArcs,
    best_labels_of_arcs,
)


class GivenArcs:
    """Features of arcs given by features(x), a row for every arc of x, dense or sparse.

    The arc from h to m, of n words, is row h·n + m - 1; rows with h = m are not used. With labels, every label has a
    weight for every feature. An array (n + 1, n, F) is read as such a matrix.
    """

    def __init__(self, features: Callable[[Any], Any]):
        self.features = features

    def fit(self, X: Sequence[Any], lengths: Codes, n_labels: int) -> GivenArcs:
        """Learn the number of features. lengths : the number of words of every sentence."""
        self.n_labels = n_labels
        self.n_features = int(self._matrix(X[0], int(lengths[0]), 0).shape[1])
        self.dim = self.n_features * max(n_labels, 1)
        return self

    def packed(self, X: Sequence[Any], lengths: Codes, heads: Codes, labels: Codes) -> PackedGivenArcs:
        matrices = []
        for i, (x, n) in enumerate(zip(X, lengths.tolist(), strict=True)):
            matrix = self._matrix(x, n, i)
            if matrix.shape[1] != self.n_features:
                raise ValueError(f"sentence {i} has arcs of {matrix.shape[1]} features; expected {self.n_features}")
            try:
                matrices.append(checked_matrix(matrix, self.n_features))
            except ValueError as error:  # its message would call a row an example
                raise ValueError(f"sentence {i}: {str(error).replace('example', 'arc')}") from None
        if any(map(sparse.issparse, matrices)):
            units = sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
        else:
            units = np.concatenate([*matrices, np.zeros((0, self.n_features))])
        starts = np.append(0, np.cumsum(lengths + 1))[:-1]
        none = np.zeros(0, dtype=np.int64)
        sentences = CodedSentences(none, none, none, starts, lengths, heads, labels)
        return PackedGivenArcs(self, sentences, Atoms(units, max(self.n_labels, 1), 0))

    def _matrix(self, x: Any, n: int, i: int) -> Any:
        try:
            matrix = self.features(x)
        except Exception as error:
            error.add_note(f"maxmargin: raised by features(x) on sentence {i}")
            raise
        if not sparse.issparse(matrix):
            matrix = np.asarray(matrix)
            if matrix.ndim == 3 and matrix.shape[:2] == (n + 1, n):
                matrix = matrix.reshape(-1, matrix.shape[2])
        if len(matrix.shape) != 2 or matrix.shape[0] != (n + 1) * n:
            raise ValueError(
                f"features(x) of sentence {i}: shape {matrix.shape}; expected ({(n + 1) * n}, F) or ({n + 1}, {n}, F), "
                f"a row for every arc of {n} words"
            )
        return matrix


class PackedGivenArcs:
    """Sentences with the rows of all their arcs in one matrix."""

    def __init__(self, model: GivenArcs, sentences: Any, atoms: Atoms):
        self.model, self.sentences, self.atoms = model, sentences, atoms
        lengths = sentences.lengths
        self.units = np.append(0, np.cumsum((lengths + 1) * lengths))  # the first arc of each sentence

    @property
    def plane_atoms(self) -> Atoms:
        return self.atoms

    def scored(self, w: Array, ids: Index) -> ScoredArcs:
        tables = ArcTables.of(self.sentences.lengths, ids)
        units = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(*self.units[i : i + 2]) for i in ids)])
        found = self.atoms.scores(w, units)
        own = self.sentences.lengths[ids]
        bounds = np.append(0, np.cumsum((own + 1) * own))
        each = [found[a:b].reshape(n + 1, n, -1) for a, b, n in zip(bounds, bounds[1:], own.tolist(), strict=False)]
        return best_labels_of_arcs(tables, self.sentences, each, self.model.n_labels > 0)

    def all_scores(self, w: Array, i: int) -> Array:
        """Return (n + 1, n, L): the scores of all arcs of sentence i with all labels; L = 1 without labels."""
        n = int(self.sentences.lengths[i])
        return self.atoms.scores(w, np.arange(*self.units[i : i + 2])).reshape(n + 1, n, -1)

    def add_shares(self, total: Array, i: int, scale: float, shares: Array) -> None:
        """Add scale · Σ shares · the features of these arcs with these labels to total."""
        self.atoms.add_units(total, np.arange(*self.units[i : i + 2]), scale * shares.reshape(-1, shares.shape[2]))

    def sizes(self, w: Array) -> ArcSizes:
        return ArcSizes(self.atoms.largest(w), self.atoms.terms, float(np.max(self.atoms.lengths, initial=0.0)))

    def rows(self, ids: Index, found: FoundTrees) -> AtomRows:
        """Return Ψ(x, y) - Ψ(x, z) of every sentence."""
        indices, values, ends = [], [], [0]
        for j, i in enumerate(ids.tolist()):
            at, n = int(self.sentences.starts[i]), int(self.sentences.lengths[i])
            heads, labels = (each[found.bounds[j] : found.bounds[j + 1]] for each in (found.heads, found.labels))
            true_heads, true_labels = (
                each[at + 1 : at + n + 1] for each in (self.sentences.heads, self.sentences.labels)
            )
            wrong = np.flatnonzero((heads != true_heads) | (labels != true_labels))
            for of_heads, of_labels, value in ((true_heads, true_labels, 1.0), (heads, labels, -1.0)):
                words = wrong[of_heads[wrong] >= 0]  # -1 denotes no arc
                unit = self.units[i] + of_heads[words] * n + words
                indices.append(unit * max(self.model.n_labels, 1) + np.maximum(of_labels[words], 0))
                values.append(np.full(len(words), value))
            ends.append(ends[-1] + len(indices[-1]) + len(indices[-2]))
        none = np.zeros(0)
        return AtomRows(
            self.atoms,
            np.array(ends, dtype=np.int32),
            np.concatenate([none, *indices]).astype(np.int32),
            np.concatenate([none, *values]),
        )
