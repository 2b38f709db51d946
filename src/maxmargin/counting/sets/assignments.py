"""Assignments: every item of one side gets a different item of the other side."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.items import Items, ItemsLike
from maxmargin.counting.sets.ordered_items import ordered_numbers
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace, OutputSet
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.counting.sets.spectra import Subspace, distinct


class Assignments(OutputSet):
    """The set of all injective maps π of n₁ items into n₂ places; φ is the matrix [π(i) = j], row by row: d = n₁ n₂.

    There are n₂!/(n₂-n₁)! maps; π(i) = j has probability 1/n₂, and π(i) = j, π(i') = j' with i ≠ i', j ≠ j' has
    1/(n₂(n₂-1)). With rows and columns of F split into their mean and the rest, S has the eigenvalues

        1/(n₂-1)                  on (rest, rest),
        (n₂-n₁)/(n₂(n₂-1))        on (mean over items, rest over places), 0 if n₁ = n₂,                            (1)
        0                         on functions that do not depend on the place.

    An output is the tuple of the places of all items, in the order of the items. Decoding is exact (Hungarian method),
    samples are uniform.

    Parameters
    ----------
    items, places : int, iterable or None
        The numbers n₁ <= n₂, or the names. places=None: as many as there are items, with the same names.

    Examples
    --------
    >>> from maxmargin.counting import Assignments
    >>> Assignments(2, ["a", "b", "c"]).decode([1.0, 5.0, 2.0, 0.0, 6.0, 3.0])
    DecodedOutput(y=('b', 'c'), value=8.0, exact=True)

    See Also
    --------
    maxmargin.Assigner : learns assignments with a large margin.
    """

    indicators = True

    def __init__(self, items: ItemsLike, places: ItemsLike | None = None):
        self.items = items
        self.places = places
        if len(self._items) > len(self._places):
            raise ValueError(
                f"there is no assignment of {len(self._items)} items to {len(self._places)} places; "
                "expected at least as many places"
            )

    @property
    def dim(self) -> int:
        return len(self._items) * len(self._places)

    @property
    def coordinates(self) -> list[tuple[Hashable, Hashable]]:
        """The (item, place) of every coordinate of φ."""
        return [(item, place) for item in self._items.names for place in self._places.names]

    def log_size(self) -> float:
        n1, n2 = self._shape
        return float(gammaln(n2 + 1) - gammaln(n2 - n1 + 1))

    def mean(self) -> Array:
        return np.full(self.dim, 1 / len(self._places))

    def cov_apply(self, F: Array) -> Array:
        rest, over_places = self._eigenvalues()
        return rest * self._both(F) + over_places * self._over_places(F)

    def cov_spectrum(self) -> list[Eigenspace]:
        n1, n2 = self._shape
        rest, over_places = self._eigenvalues()
        return distinct(
            [
                Subspace(rest, (n1 - 1) * (n2 - 1), self._both),
                Subspace(over_places, n2 - 1, self._over_places),
                Subspace(0.0, n1, self._constant_over_places),
            ]
        )

    def features(self, y: Any) -> Array:
        places = ordered_numbers(self._places, y, "assignment")
        if len(places) != len(self._items):
            raise ValueError(f"{len(places)} places were found; expected {len(self._items)}, one for every item")
        phi = np.zeros(self._shape)
        phi[np.arange(len(places)), places] = 1.0
        return phi.reshape(-1)

    def decode(self, f: Array) -> DecodedOutput:
        scores = finite_scores(f, self.dim).reshape(self._shape)
        rows, columns = linear_sum_assignment(scores, maximize=True)
        return DecodedOutput(self._places.named(columns), float(scores[rows, columns].sum()), True)

    def outputs(self) -> Iterator[tuple[Hashable, ...]]:
        return permutations(self._places.names, len(self._items))

    def sample(self, rng: np.random.Generator) -> tuple[Hashable, ...]:
        return self._places.named(rng.permutation(len(self._places))[: len(self._items)])

    # --- sizes, names and the projections of (1)

    @cached_property
    def _items(self) -> Items:
        return Items(self.items)

    @cached_property
    def _places(self) -> Items:
        return Items(self.items if self.places is None else self.places, called="place")

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self._items), len(self._places)

    def _eigenvalues(self) -> tuple[float, float]:
        n1, n2 = self._shape
        return (1 / (n2 - 1), (n2 - n1) / (n2 * (n2 - 1))) if n2 > 1 else (0.0, 0.0)

    def _constant_over_places(self, F: Array) -> Array:
        means = _as_matrices(F, self._shape).mean(axis=2, keepdims=True)
        return np.broadcast_to(means, (len(F), *self._shape)).reshape(len(F), self.dim)

    def _over_places(self, F: Array) -> Array:
        means = _as_matrices(F, self._shape).mean(axis=1, keepdims=True)
        rest = means - means.mean(axis=2, keepdims=True)
        return np.broadcast_to(rest, (len(F), *self._shape)).reshape(len(F), self.dim)

    def _both(self, F: Array) -> Array:
        matrices = _as_matrices(F, self._shape)
        rest = matrices - matrices.mean(axis=2, keepdims=True)
        return (rest - rest.mean(axis=1, keepdims=True)).reshape(len(F), self.dim)


def _as_matrices(F: Array, shape: tuple[int, int]) -> Array:
    return np.asarray(F, dtype=np.float64).reshape(len(F), *shape)
