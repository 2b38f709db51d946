"""The contract of optimisers whose costs are learnt, and a base class with its defaults."""

from __future__ import annotations

from math import isfinite
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import refuse_complex
from maxmargin.base.files.fields import Argument
from maxmargin.base.files.objects import Fields, parameters_of

MOST_NODES = 2**12  # the longest side of a grid or matrix in model files


class CostSolver(Protocol):
    """Contract of optimisers: minimise a linear function over a set Z of vectors with one number for each part.

        z(c) in argmin_{z in Z} ⟨c, z⟩      (argmax, if sense is "max")                                              (1)

    Z is fixed; only the costs c change. Examples with sets of their own have an optimiser each: a list with one per
    example. The answer depends on the costs alone, also for ties, and not on earlier calls. An optimiser consists of
    plain data, so that it can be copied, pickled and sent to other processes.

    See Also
    --------
    Optimiser : A base class with defaults.
    maxmargin.CostLearner : Learns the costs of such an object.
    """

    @property
    def n_parts(self) -> int | None:
        """The length of c and z; None if any length is accepted."""

    @property
    def sense(self) -> str:
        """The sense of (1): "min" or "max"."""

    @property
    def exact(self) -> bool:
        """True if no z is better than the one returned, up to rounding."""

    @property
    def nonnegative(self) -> bool:
        """True if costs < 0 are refused."""

    @property
    def same_size(self) -> bool:
        """True if Σz is the same for all z in Z, so that adding a constant to all costs does not change (1)."""

    def __call__(self, costs: Any) -> Array:
        """Return the best z for (n_parts,) costs: 0 or 1 for every part, or real numbers if Z has such vectors."""

    def solve_many(self, costs: Any) -> Array:
        """Return the best z of every row of an (n, n_parts) matrix of costs, as the rows of another."""

    def check(self, z: Any) -> None:
        """Raise a ValueError that says why z is not in Z."""


class Optimiser(BaseEstimator):
    """Base class of optimisers: a subclass implements `solve` and sets the attributes that differ from the defaults.

    Costs are checked here: `solve` gets a finite array of n_parts numbers, nonnegative if the attribute says so. A
    subclass may override `solve_rows` if many rows are solved faster at once. Parameters are those of the constructor,
    as in scikit-learn; derived attributes are computed there, and again by `set_params`.

    Attributes
    ----------
    n_parts : int or None
        The number of costs; None if any number is accepted.
    sense : "min" or "max"
        Whether costs are minimised or values maximised.
    exact : bool
        False if the best z may be missed.
    nonnegative : bool
        True if costs must be >= 0.
    same_size : bool
        True if Σz is the same for all z.

    See Also
    --------
    maxmargin.CostLearner : Learns the costs of an optimiser.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import optimisers
    >>> class Cheapest(optimisers.Optimiser):  # choose one of several parts
    ...     same_size = True
    ...     def solve(self, costs):
    ...         return np.eye(len(costs))[np.argmin(costs)]
    >>> Cheapest()([3.0, 1.0, 2.0])
    array([0., 1., 0.])
    """

    saved: ClassVar[Fields] = {}
    saved_as: ClassVar[str] = "__init__"

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return dict.fromkeys(parameters_of(cls), Argument())

    n_parts: int | None = None
    sense: str = "min"
    exact: bool = True
    nonnegative: bool = False
    same_size: bool = False

    def __call__(self, costs: Any) -> Array:
        return self.solve(self._checked(costs, n_axes=1))

    def solve_many(self, costs: Any) -> Array:
        return self.solve_rows(self._checked(costs, n_axes=2))

    def solve(self, costs: Array) -> Array:
        """Return the best z for checked costs; a subclass implements it."""
        raise NotImplementedError(f"{type(self).__name__} has no solve(costs)")

    def solve_rows(self, costs: Array) -> Array:
        """Return the best z for every row of checked costs."""
        found = np.empty(costs.shape)
        for row, own in zip(found, costs, strict=True):
            row[:] = self.solve(own)
        return found

    def check(self, z: Any) -> None:
        self._vector(z)

    def set_params(self, **params: Any) -> Optimiser:
        """Set parameters, and compute all that depends on them anew."""
        known = self.get_params(deep=False).keys()
        if unknown := params.keys() - known:
            raise ValueError(f"{type(self).__name__} has no parameter {min(unknown)!r}; expected {', '.join(known)}")
        made = type(self)(**{**self.get_params(deep=False), **params})  # if this raises, nothing has changed
        self.__dict__.update(vars(made))
        return self

    # --- checks for subclasses

    def _checked(self, costs: Any, n_axes: int) -> Array:
        refuse_complex("costs", costs)
        array = np.ascontiguousarray(costs, dtype=np.float64)
        if array.ndim != n_axes or self.n_parts not in (None, array.shape[-1]):
            size = "n_parts" if self.n_parts is None else str(self.n_parts)
            expected = f"({size},)" if n_axes == 1 else f"(n, {size})"
            raise ValueError(f"costs have shape {np.shape(costs)}; expected {expected}, a number for every part")
        largest = float(np.abs(array).max(initial=0.0))
        if not isfinite(largest * array.shape[-1]):
            finite = np.isfinite(array)
            if finite.all():
                self._refuse(array, np.abs(array) == largest, "costs whose sum is a finite number")
            self._refuse(array, ~finite, "a finite number")
        if self.nonnegative and (array < 0).any():
            self._refuse(array, array < 0, f"a number >= 0, as {type(self).__name__} needs")
        return array

    def _refuse(self, costs: Array, bad: np.ndarray, expected: str) -> None:
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        row = f"row {where[0]}: " if len(where) == 2 else ""
        raise ValueError(f"{row}the cost of part {where[-1]} is {costs[where]}; expected {expected}")

    def _vector(self, z: Any) -> Array:
        """Return z as an array after checking its length and numbers."""
        vector = np.asarray(z, dtype=np.float64)
        if vector.ndim != 1 or self.n_parts not in (None, len(vector)):
            raise ValueError(f"z has shape {vector.shape}; expected ({self.n_parts},), a number for every part")
        if not np.isfinite(vector).all():
            p = int(np.argmin(np.isfinite(vector)))
            raise ValueError(f"part {p} has z = {vector[p]}; expected a finite number")
        return vector

    def _chosen(self, z: Any) -> Index:
        """Return the parts with z = 1 after checking that all others have z = 0."""
        vector = self._vector(z)
        good = (vector == 0) | (vector == 1)
        if not good.all():
            p = int(np.argmin(good))
            raise ValueError(f"part {p} has z = {vector[p]}; expected 0 or 1")
        return np.flatnonzero(vector)
