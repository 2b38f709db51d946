"""Batch: training data in a form that can be searched. It is all that an Oracle knows of a structure."""

from __future__ import annotations

from typing import Any, Self, TypeVar

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.search import Search
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes

Offered = TypeVar("Offered")


class Batch:
    """The n examples of one task, packed once per fit by `Task.pack`. Only `planes` must be written.

    A batch never changes: what a search finds comes back in its Planes. (A batch may keep where the search of an
    example ended, to begin the next one there; see capabilities/resumable_searches.py.)

    Everything that only some structures have is a capability: a protocol of the folder capabilities/, for which
    `offers` returns an object or None.

    Order of calls: `Task.pack` makes the batch, with `ids`, `task` and the attributes below set. Whoever trains asks
    `offers` for what it needs. Then, for every block of examples, `take` returns a batch of these examples, and
    `planes` of that batch their most violated planes. `planes` may be called at any w, by several threads at a time.
    """

    ids: Index  # the examples' numbers in the training set, for messages and for lookups in the arrays of all examples
    weighs_loss: bool = True  # whether `planes` costs the same for every λ; False where it forms the vector w/λ
    call_cost: float = 20.0  # of one plane, in visits of cached planes: solvers weigh one against the other

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
        """The promise of what `planes` finds: the maximum, a lower one, or a relaxation."""
        return Search(self.task.search)

    @property
    def method(self) -> str:
        """The words with which a certificate says how outputs are searched; empty where there is nothing to say."""
        return ""

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms that rows of planes are combinations of."""
        return Atoms.coordinates(self.dim)

    def __len__(self) -> int:
        return len(self.ids)

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))  # without the detour through a pickle
        copied.__dict__.update(self.__dict__)
        return copied

    def offers(self, capability: type[Offered]) -> Offered | None:
        """Return the object that has this capability (a protocol of capabilities/), or None where there is none.

        By default this is the batch itself, if it has the protocol's methods. A batch whose data decide overrides it.
        """
        return self if isinstance(self, capability) else None

    def take(self, index: Index) -> Self:
        """Return the examples at these positions: a view, cheap enough for one call per block of examples."""
        taken = self.__copy__()  # as copy(self), which takes several times as long
        taken.ids = self.ids[index]
        return taken

    def loss_weights(self, augment: float | Array) -> Array:
        """Return λ of every example, from one number for all or from one for each."""
        return np.full(len(self), augment, dtype=float)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """Return one plane per example, that of z = argmax λΔ(y, z) + ⟨w, Ψ(x, z)⟩ with λ = augment.

        λ (a number, or one for each example) is 1 in the loss-augmented search of training and 0 in plain prediction;
        other values serve slack rescaling.
        """
        raise NotImplementedError
