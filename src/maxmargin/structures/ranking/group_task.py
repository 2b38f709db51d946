"""GroupTask: the base of tasks whose outputs are about the rows of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.matrices import checked_matrix
from maxmargin.kernels.units import UnitTask
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.segmented_batch import Segments


class GroupTask(UnitTask):
    """Base class of tasks over groups of rows, with one weight per feature or a kernel of rows."""

    n_features_: int

    saved: ClassVar[Fields] = {"n_features_": Whole(1)}

    def _check_saved(self) -> None:
        self._check_length(self.n_features_, 1, 0)

    def _set_rows(self, X: Any) -> None:
        """Set the width of the rows and the length of w; part of `setup`."""
        matrix = Groups.of(X).matrix
        self.n_features_ = matrix.shape[1]
        self._set_dim(matrix, 1, 0)

    def row_scores(self, w: Array, matrix: Any) -> Array:
        """Compute the score of every row of a matrix."""
        return self._unit_scores(w, checked_matrix(matrix, self.n_features_), 1, 0)[:, 0]

    def _segments(self, X: Any, levels: Sequence[Array], weights: Sequence[Array] | None = None) -> Segments:
        """Sort the rows into segments of equal level, and make their atoms; part of `pack`."""
        groups = Groups.of(X)
        owner = np.full(groups.matrix.shape[0], -1)
        owner[groups.rows] = np.repeat(np.arange(len(groups)), groups.sizes)
        atoms = self._unit_atoms(checked_matrix(groups.matrix, self.n_features_), 1, 0, owner)
        return Segments.of(atoms, groups, levels, weights)
