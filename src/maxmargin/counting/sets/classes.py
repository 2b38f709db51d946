"""One class out of several, without and with an order."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.items import Items, ItemsLike
from maxmargin.counting.sets.one_label import OneLabel
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.counting.sets.spectra import FEW, Subspace, averaged, centred, distinct


class Classes(OneLabel):
    """The set of d classes, φ(y) = e_y (Gärtner and Vembu 2009, section 5.1).

        μ = 1/d,     S = (I - 11ᵀ/d) / d.

    Parameters
    ----------
    classes : int or iterable
        The number of classes (outputs are 0 … d-1) or their names (outputs are names).

    Examples
    --------
    >>> from maxmargin.counting import Classes
    >>> Classes(["ham", "spam"]).decode([1.0, 2.0]).y
    'spam'

    See Also
    --------
    OrderedClasses : classes in an order.   HierarchyLabels : classes in a tree.
    """

    def __init__(self, classes: ItemsLike):
        self.classes = classes
        _ = self._items

    @cached_property
    def _items(self) -> Items:
        return Items(self.classes, least=1, called="class")

    def mean(self) -> Array:
        return np.full(self.dim, 1 / self.dim)

    def cov_apply(self, F: Array) -> Array:
        return centred(F) / self.dim

    def cov_spectrum(self) -> list[Eigenspace]:
        return distinct([Subspace(1 / self.dim, self.dim - 1, centred), Subspace(0.0, 1, averaged)])

    def features(self, y: Any) -> Array:
        return indicator(self._items.number(y), self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        best = int(np.argmax(f))
        return DecodedOutput(self._items.names[best], float(f[best]), True)


class OrderedClasses(OneLabel):
    """The set of levels 0 < 1 < … < d-1, φ_i(y) = 1 if y > i, for i = 0 … d-2 (Gärtner and Vembu 2009, section 5.2).

        μ_i = (d-1-i) / d,     S_ij = μ_max(i,j) (1 - μ_min(i,j)).

    The features 1[y >= i] of the paper are these and one more that is always 1; it has no variance, cancels in every
    comparison of two levels, and is left out. S is the covariance of a Brownian bridge at i/d; its eigenvectors are
    sines.

    Parameters
    ----------
    levels : int or iterable
        The number of levels (outputs are 0 … d-1) or their names from low to high (outputs are names).

    Examples
    --------
    >>> from maxmargin.counting import OrderedClasses
    >>> OrderedClasses(["low", "mid", "high"]).decode([1.0, -2.0]).y
    'mid'

    See Also
    --------
    Classes : classes without an order.   maxmargin.OrdinalSVC : learns ordered classes with a large margin.
    """

    def __init__(self, levels: ItemsLike):
        self.levels = levels
        _ = self._items

    @cached_property
    def _items(self) -> Items:
        return Items(self.levels, least=2, called="level")

    @property
    def dim(self) -> int:
        return len(self._items) - 1

    @property
    def coordinates(self) -> list[Hashable]:
        """The pair ("above", level) of every coordinate of φ."""
        return [("above", level) for level in self._items.names[:-1]]

    def mean(self) -> Array:
        return np.arange(self.dim, 0, -1) / len(self._items)

    def cov_apply(self, F: Array) -> Array:
        # F S is the mean of (score - mean score) φ over the levels, and scores are prefix sums.
        scores = np.zeros((len(F), len(self._items)))
        np.cumsum(F, axis=1, out=scores[:, 1:])
        scores -= scores.mean(1, keepdims=True)
        return -np.cumsum(scores[:, :-1], axis=1) / len(self._items)

    def cov_spectrum(self) -> list[Eigenspace] | None:
        d = len(self._items)
        if self.dim > FEW:
            return None
        angles = np.pi * np.arange(1, d) / d
        return distinct(
            Subspace(float(1 / (4 * d * np.sin(angle / 2) ** 2)), 1, _along(np.sin(angle * np.arange(1, d))))
            for angle in angles
        )

    def features(self, y: Any) -> Array:
        return (np.arange(self.dim) < self._items.number(y)).astype(float)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        scores = np.concatenate([[0.0], np.cumsum(f)])
        best = int(np.argmax(scores))
        return DecodedOutput(self._items.names[best], float(scores[best]), True)


def _along(direction: Array) -> Any:
    unit = direction / np.linalg.norm(direction)
    return lambda rows: np.multiply.outer(rows @ unit, unit)
