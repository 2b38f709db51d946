"""Batch: training data in a form that can be searched. An Oracle knows nothing else of a structure."""

from __future__ import annotations

from typing import Any, Self, TypeVar

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.search import Search
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes

Offered = TypeVar("Offered")


class Batch:
    """The n examples of one task, packed once per fit by `Task.pack`. A subclass must define only `planes`.

    A batch never changes: the results of a search are returned as Planes. (A batch may store what follows from its data
    and is computed once, as Examples does, and the state in which the search of an example ended, for the next search;
    see capabilities/resumable_searches.py.)

    Everything that only some structures have is a capability: a protocol of the folder capabilities/, for which
    `offers` returns an object or None.

    Order of calls: `Task.pack` makes the batch, with `ids`, `task` and the attributes below set. Training calls
    `offers` for the capabilities that it needs. Then, for every block of examples, `take` returns a batch of these
    examples, and `planes` of that batch returns their most violated planes. `planes` may be called at any w, by several
    threads at a time.

    Parameters
    ----------
    task : Task
        The task, after `setup`.
    n : int
        The number of examples.
    """

    ids: Index  # the examples' numbers in the training set, for messages and for lookups in arrays of all examples
    weighs_loss: bool = True  # True if `planes` costs the same for every λ; False if it computes the vector w/λ
    call_cost: float = 20.0  # the cost of one plane, in visits of cached planes, by which solvers balance both

    def __init__(self, task: Any, n: int):
        self.task, self.ids = task, np.arange(n)

    @property
    def dim(self) -> int:
        """The length of w."""
        return int(self.task.dim)

    @property
    def name(self) -> str:
        """The name of the structure in messages."""
        return type(self.task).__name__

    @property
    def search(self) -> Search:
        """The guarantee of `planes`: the maximum, a lower bound on it, or a relaxation."""
        return Search(self.task.search)

    @property
    def method(self) -> str:
        """A description of the search for the certificate; may be empty."""
        return ""

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms that rows of planes are combinations of."""
        return Atoms.coordinates(self.dim)

    def __len__(self) -> int:
        return len(self.ids)

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))  # faster than by way of a pickle
        copied.__dict__.update(self.__dict__)
        return copied

    def offers(self, capability: type[Offered]) -> Offered | None:
        """Return the object that has this capability (a protocol of capabilities/), or None.

        By default this is the batch itself, if it has the protocol's methods. A batch overrides it if this depends on
        its data.
        """
        return self if isinstance(self, capability) else None

    def take(self, index: Index) -> Self:
        """Return the examples at these positions: a view, cheap enough for one call per block of examples."""
        taken = self.__copy__()  # like copy(self), but several times as fast
        taken.ids = self.ids[index]
        return taken

    def loss_weights(self, augment: float | Array) -> Array:
        """Return λ of every example, given one number for all or one for each."""
        return np.full(len(self), augment, dtype=float)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """Return one plane per example, for the output z = argmax λΔ(y, z) + ⟨w, Ψ(x, z)⟩ with λ = augment.

        λ (a number, or one for each example) is 1 in the loss-augmented search of training and 0 in plain prediction;
        other values serve slack rescaling.
        """
        raise NotImplementedError
