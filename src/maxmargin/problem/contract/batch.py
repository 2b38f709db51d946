"""Batch: training data in a form that can be searched. It is all that an Oracle knows of a structure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.errors import TaskError
from maxmargin.base.files.array_folder import ArrayFolder
from maxmargin.base.rounding import raised_square
from maxmargin.base.search import Search
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes, Rows

Offered = TypeVar("Offered")


class Settled(NamedTuple):
    """What prediction keeps of training."""

    task: Any
    w: Array
    attributes: Mapping[str, Any] = MappingProxyType({})  # what else a fitted estimator shows, by name


class Batch:
    """n examples of one task, made once per fit by `Task.pack`. Only `planes` must be written.

    A batch never changes: what a search finds out comes back in its Planes. (It may remember where the search of an
    example ended, to begin the next one there.)
    """

    ids: Index  # the examples' numbers in the training set
    weighs_loss: bool = True  # whether `planes` costs the same for every λ, and not a vector w/λ
    call_cost: float = 20.0  # of one plane, in visits of cached planes: solvers weigh one against the other
    relaxed_as: str = ""  # how the certificate says on how many of all examples answers were relaxed; "": not at all
    source: ArrayFolder | None = None  # a packed folder whose arrays it reads: a pickle names them, and has none

    def __init__(self, task: Any, n: int):
        self.task, self.ids = task, np.arange(n)

    @property
    def dim(self) -> int:
        """Length of w."""
        return int(self.task.dim)

    @property
    def name(self) -> str:
        """For messages."""
        return type(self.task).__name__

    @property
    def search(self) -> Search:
        """What `planes` finds."""
        return Search(self.task.search)

    @property
    def method(self) -> str:
        """How it searches, for the certificate."""
        return ""

    @property
    def latent(self) -> bool:
        """Whether truths have hidden parts, which `completed` finds."""
        return bool(self.task.latent)

    @property
    def exclusive(self) -> bool:
        """Whether it has a cache that one run alone may use, in this process only."""
        return False

    def __len__(self) -> int:
        return len(self.ids)

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))  # without the detour through a pickle
        copied.__dict__.update(self.__dict__)
        return copied

    def __getstate__(self) -> dict[str, Any]:
        if self.source is None:
            return dict(self.__dict__)
        first, n, state = int(self.ids[0]) if len(self) else 0, len(self), self.source.named(self.__dict__)
        if np.array_equal(self.ids, np.arange(first, first + n)):
            state["ids"] = range(first, first + n)
        return {**state, "task": self.task.searching()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        source: ArrayFolder | None = state.get("source")
        self.__dict__.update(state if source is None else source.with_arrays(state))
        if isinstance(self.ids, range):
            self.ids = np.arange(self.ids.start, self.ids.stop)
        if source is not None:
            self.verify()

    def verify(self) -> None:
        """Of a batch that reads a packed folder: compare what these examples need with its checksums."""
        assert self.source is not None
        for name in self.source.arrays:
            self.source.verify(name)

    def offers(self, capability: type[Offered]) -> Offered | None:
        """Return the object that has this capability (a protocol of capabilities/), or None where there is none.

        By default this is the batch itself, if it has the protocol's methods. A batch whose data decide overrides it.
        """
        return self if isinstance(self, capability) else None

    def take(self, index: Index) -> Self:
        """The examples at these positions: a view, cheap enough for one call per block of examples."""
        taken = self.__copy__()  # as copy(self), which takes several times as long
        taken.ids = self.ids[index]
        return taken

    def part(self, index: Index) -> Self:
        """The same for another place to work at: what these examples do not need may be left behind."""
        return self.take(index)

    def own_part(self, index: Index) -> Self | None:
        """The same for a place from which no rows of planes return, only their sums: units may be numbered anew.

        None: `part` leaves behind all that can be.
        """
        return None

    def each(self, augment: float | Array) -> Array:
        """λ of every example, from a number or from one each."""
        return np.full(len(self), augment, dtype=float)

    def informative(self) -> Index:
        """Positions of the examples whose labels tell something; training leaves the others out."""
        return np.arange(len(self))

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """One plane per example, from z = argmax λΔ(y, z) + ⟨w, Ψ(x, z)⟩ with λ = augment (a number, or one each).

        λ = 1 is the loss-augmented search of training, λ = 0 plain prediction; other values serve slack rescaling.
        """
        raise NotImplementedError

    def narrowed(self, w: Array) -> Self | None:
        """The same with fewer outputs, the truth and those that come close at w: cheaper to search near there.

        What is found is a plane of the whole, though perhaps not the highest. None where there is nothing to save.
        """
        return None

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes | None:
        """Planes of the z with the highest formulation.value(Δ, ⟨w, δΨ⟩), exactly; None where only `planes` can search.

        Serves slack rescaling and squared slacks, whose violation is not Δ - ⟨w, δΨ⟩. Where a search had to be given
        up, `upper` bounds the violation.
        """
        return None

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Add Σ_i weights_i E_p [Ψ(x_i, y_i) - Ψ(x_i, z)] to `total`: of smooth objectives, see tangents.py."""
        raise ValueError(f"{self.name} cannot sum over all outputs, which other objectives than the hinge need")

    def gibbs_dual(self, weights: Array, softness: Softness, C: float, earlier: Any = None) -> Any:
        """A dual point with one distribution of outputs per example, for solvers.ExponentiatedGradient."""
        raise ValueError(f"{self.name} keeps no distributions of outputs; use solver='lbfgs'")

    # --- hidden parts

    def completed(self, w: Array) -> Self:
        """The same with every truth replaced by the output that explains its label best at w."""
        raise TaskError(f"{self._says_latent()} completed(w)")

    def guessed(self, rng: np.random.Generator) -> Self:
        """The same with every truth replaced by some output that explains its label, before there are weights."""
        return self.completed(rng.standard_normal(self.dim))

    def shifts_to(self, after: Self) -> Rows:
        """Ψ(x, truth after) - Ψ(x, truth here) of every example, for two completions of the same examples."""
        raise TaskError(f"{self._says_latent()} shifts_to(after)")

    def _says_latent(self) -> str:
        return f"{self.name} has hidden parts and packs a {type(self).__name__}, which must have its own"

    # --- the space of w

    def inner(self, v: Array, w: Array) -> float:
        """⟨v, w⟩, which is not that of the two arrays where weights are coefficients."""
        return float(np.dot(v, w))

    def square(self, w: Array) -> float:
        """‖w‖², not rounded down."""
        return raised_square(w)

    def block_dual(
        self, weights: Array, formulation: Formulation, C: float, earlier: BlockDual | None = None, **limits: Any
    ) -> BlockDual:
        """The dual point in the form that is improved fastest: `plane_dual`, unless the batch has one of its own.

        `earlier` is that of an earlier run on the same data, which is moved to this C.
        """
        known = None if earlier is None else PlaneDual.of(earlier)
        return self.plane_dual(weights, formulation, C, known, **limits)

    def plane_dual(
        self, weights: Array, formulation: Formulation, C: float, earlier: PlaneDual | None = None, **limits: Any
    ) -> PlaneDual:
        """The dual point over planes that are found one by one, in the form that suits them."""
        if earlier is None:
            blocks = PlaneDual(self.dim, weights, formulation, C, **limits)
            blocks.use(self.plane_atoms)
            return blocks
        earlier.move_to(weights, C)
        return earlier

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms that rows of planes are made of."""
        return Atoms.coordinates(self.dim)

    # --- going on after a stop (files/learnt.py)

    @property
    def cache(self) -> Any:
        """What was computed and decides what is computed next, an object that lists what it learns; None: nothing."""
        return None

    def remembered_searches(self) -> list[Any] | None:
        """Of every example, what its next search begins with, as plain data; None where searches remember nothing."""
        return None

    def remember_searches(self, found: list[Any]) -> None:
        """Begin the next searches with this, one entry per example; ValueError where it cannot be."""
        raise ValueError(f"the searches of {self.name} remember nothing")

    def restricted_to(self, planes: Planes) -> tuple[Batch, Planes]:
        """The same planes, and a batch whose block dual costs no more than these planes need."""
        return self, planes

    def lifted(self, w: Array) -> Array:
        """The weights of a settled model as weights of this batch."""
        return w

    def settled(self, w: Array) -> Settled:
        """The task and the weights that prediction needs after training on this batch."""
        return Settled(self.task, w)
