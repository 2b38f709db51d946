"""A dual point of the n-slack problem, one block of weights α per example, as BCFW improves it.

    maximise  D(α) = Σ α b - ½‖Σ α a‖²   subject to α >= 0, Σₖ αᵢₖ <= capᵢ = C vᵢ / n

PlaneDual (plane_dual.py) is the general form, over planes that were found one by one. A batch may offer one of its
own where it knows more of its planes, such as all of them.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import check_memory, is_whole
from maxmargin.base.files.fields import NumberArray, Real, Whole
from maxmargin.base.files.learnt import InPlace
from maxmargin.base.files.objects import Fields
from maxmargin.base.rounding import lowered_dual, raised_square
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes

Planed = TypeVar("Planed", bound="BlockDual")

OFTEN = 20.0  # examples that an average feature is in, where means of w cost next to nothing
SEEN = 1e-22  # what D gains, of itself, by changes of w that are more than rounding
MOST_LONGER = 1e3  # times that α may become longer where only trying tells how long it should be
FEASIBLE = 1e-6  # share by which rounding may have lifted α above its cap; the bound subtracts what it has
CALL = 20_000.0  # multiplications that take as long as to call a kernel


class Report(NamedTuple):
    """What a round of visits saw and did."""

    penalty: float  # Σ cap · penalty of the heights seen: C times an estimate of the risk
    added: int  # planes that were new; where none are kept, examples whose weights have moved
    gain: float  # what the dual gained
    missed: float = 0.0  # how much higher a remembered plane of the first example is than its new one, at the same w
    work: float = 1.0  # in visits of every example that search nothing


class Remembered(NamedTuple):
    """The known planes of all examples that count, in the order of the examples."""

    slots: NDArray[np.intp]
    owners: NDArray[np.intp]  # the examples
    rows: AtomRows
    offset: Array


class Proof(NamedTuple):
    """What a dual point proves by, summed up anew from α and the planes; rounding.lowered_dual says what these are.

    The multiple of α that keeps to its caps, which α exceeds by the share `excess` at most, has this linear part.
    """

    linear: float
    losses: float
    s: Array
    mass: float
    terms: float
    error: float = 0.0
    excess: float = 0.0


class Decoder(Protocol):
    """What a dual point asks of the oracle."""

    @property
    def call_cost(self) -> float:
        """Of a search, in visits that search nothing."""

    def planes(self, w: Array, index: Index) -> Planes:
        """The most violated plane of each of these examples."""

    def deny_miss(self, position: int, missed: float, w: Array) -> None:
        """Raise where a decoder missed an output that it found earlier."""

    def searched(self, examples: int, largest: Planes) -> None:
        """All outputs of so many examples were looked at elsewhere; no planes are larger than these."""


class BlockDual:
    """α, and what follows from it: w = Σ α a and D(α)."""

    def __init__(self, dim: int, weights: Array, formulation: Formulation, C: float, slots: int, cache_mb: float):
        if not is_whole(slots) or slots < 2:
            raise ValueError(
                f"planes per example must be a whole number >= 2, so that two can be folded; got {slots!r}"
            )
        what = f"room for {slots:,} planes per example"
        check_memory(what, 16.0 * slots, "set planes_per_example to a few dozen, or some hundred")
        self.n, self.dim, self.weights = len(weights), dim, weights
        self.formulation, self.squared = formulation, formulation.squared
        self.slots, self.cache_mb = slots, cache_mb  # limits of explicit planes: of each example, and of all memory
        self.C, self.cap = C, caps(weights, C)
        self._averages = False  # whether w is a mean
        self._place(None)
        self._revisits = 0  # of this round
        self.movers = np.arange(0)  # whom a revisit would visit, where it does not visit everyone
        self.dual = 0.0  # D(α)

    def average(self, atoms: Atoms, units: NDArray[np.int64]) -> None:
        """Make w a mean over the revisits of a round, where features are so frequent that this costs next to nothing.

        While D rises steadily, P at Σ α a goes up and down: who was visited last has pulled it his way. What other
        units there are beside those of the examples must not matter.
        """
        if atoms.n_entries_of(units) >= OFTEN * atoms.n_features:
            self._averages, self.w = True, np.zeros(self.dim)

    def leave(self, w: Array | None) -> bool:
        """Whether these weights, an array of this dual point, are left to a model, so that nobody need copy them now.

        The dual point goes on from a copy, if it ever does.
        """
        return False

    def _after_search(self) -> None:
        """A new round has begun."""
        self._revisits = 0
        if self._averages:
            np.copyto(self.w, self._clipped())

    def _after_revisit(self) -> None:
        """One more point to take the mean of."""
        self._revisits += 1
        if self._averages:
            self.w += (self._clipped() - self.w) / self._revisits
            if self._geometry is not None:
                self._geometry.allow(self.w)  # which it is, but for rounding

    learnt: ClassVar[Fields] = {
        "dual": Real(),
        "_vectors": InPlace(),
        "_psi": Real(),
        "_revisits": Whole(),
        "movers": NumberArray(np.int64, None, least=0, below="n"),
    }

    @property
    def _vectors(self) -> list[Array]:
        """Those that visits change, each once."""
        different = {id(each): each for each in (self.sums, self._free, self.w)}
        return list(different.values())

    def _check_learnt(self) -> None:
        """α that was read from a file must be one of this problem."""
        if self.squared:
            return
        over = self.alpha_sums > self.cap * (1 + FEASIBLE)
        if over.any():
            raise ValueError(f"the weights of example {int(np.argmax(over))} exceed what C allows")

    @property
    def alpha_sums(self) -> Array:
        """Σₖ αᵢₖ of every example."""
        raise NotImplementedError

    confinable: ClassVar[bool] = False  # whether `confine` takes a prior and bounds

    def confine(self, geometry: Geometry | None) -> None:
        """Make it the dual of a problem with this prior and these bounds: w is then not Σ α a, but made of it.

        Within bounds visits know only that D has gained as much as it would without them, and `tidy` computes it anew.
        """
        if geometry is not self._geometry:
            self._place(geometry)
            self.refresh()
            self._after_search()

    def _place(self, geometry: Geometry | None) -> None:
        """Make room for the vectors of a geometry, which `refresh` fills."""
        self._geometry, self._psi = geometry, 0.0  # ψ(Σ α a), as `_settle` has left it
        self._limits = None if geometry is None else geometry.limits
        self.sums = np.zeros(self.dim)  # Σ α a
        # What visits add to, and clip when they read it: w₀ + Σ α a. A prior is a shift that they know nothing of.
        self._free = self.sums if geometry is None or not geometry.drawn else np.zeros(self.dim)
        # That within its limits, or a mean of its last values
        self.w = self._free if self._limits is None and not self._averages else np.zeros(self.dim)

    def _settle(self) -> None:
        """Σ α a was computed anew, and what is made of it follows."""
        if self._geometry is not None:
            from maxmargin.problem.dual.compiled.weight_bounds import settle

            w = np.empty(self.dim) if self._averages else self.w
            self._psi = settle(self.sums, self._geometry.origin, self._limits, self._free, w)

    def _clipped(self, first: int | None = None) -> Array:
        """The weights that visits see, or so many of them."""
        free = self._free[:first]
        if self._geometry is None or self._limits is None:
            return free
        return np.clip(free, self._geometry.low[:first], self._geometry.high[:first])

    def _potential(self) -> float:
        """What Σ α b loses to make D."""
        return self._psi if self._geometry is not None else 0.5 * self._squared_norm()

    def _squared_norm(self) -> float:
        """‖Σ α a‖²."""
        return float(np.dot(self.sums, self.sums))

    def _lowered(self, of: Proof) -> float:
        """D from its parts, not rounded up: see rounding.py."""
        if self._geometry is not None:
            return self._geometry.lowered_dual(*of)
        return lowered_dual(of.linear, of.losses, self._square_of(of.s), of.mass, of.terms, of.error)

    def _square_of(self, s: Array) -> float:
        """‖s‖², not rounded down."""
        return raised_square(s)

    def _moved(self, gain: float) -> int:
        """How many examples have moved, unless that was rounding; D has gained so much by it.

        A change of w by a share s changes D by s², which is soon too little to be seen in D, and P by s.
        """
        return len(self.movers) if gain > SEEN * abs(self.dual) else 0

    # --- what BCFW does

    def search(self, oracle: Decoder, order: NDArray[np.intp], block: int) -> Report:
        """Visit these examples, looking at all of their outputs; of those in one block, perhaps at the same w."""
        raise NotImplementedError

    def revisit(self, oracle: Decoder, rng: np.random.Generator) -> Report:
        """Visit again whom that may help most for its work."""
        raise NotImplementedError

    @property
    def calls_again(self) -> int:
        """Of the next `revisit`: the examples whose outputs it would all look at."""
        return 0

    def tidy(self) -> None:
        """Keep to the limits of memory, and know D."""
        if self._limits is not None:  # without, visits know it
            self._know_dual()

    def _know_dual(self) -> None:
        """Compute D from α and, if that is known, Σ α a."""
        if self._free is not self.sums:
            self.refresh()
            return
        self._settle()
        self.dual = self._linear() - self._potential()

    def _linear(self) -> float:
        """Σ α b."""
        raise NotImplementedError

    def check_separable(self) -> None:
        """Under a hard margin: raise NotSeparable if what is known contradicts itself."""

    # --- what follows from α

    def refresh(self) -> None:
        """Recompute w and D from α, so that rounding errors of millions of steps do not add up."""
        raise NotImplementedError

    def bound(self) -> float:
        """D(α) as far as it is proved in floating point, from α and the planes alone: see rounding.py."""
        return self._lowered(self.proof())

    def proof(self) -> Proof:
        """What that is made of."""
        raise NotImplementedError

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """R(w) is at least the mean penalty of the highest known planes there; gains: as in Cuts."""
        return float(np.dot(self.weights, self.formulation.penalty(self.slacks(w, gains)))) / self.n

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """The highest known plane of every example at w, or 0."""
        raise NotImplementedError

    def _know_sums(self) -> None:
        """Where there is a prior, visits leave Σ α a as it was."""
        if self._free is not self.sums:
            self.refresh()

    # --- other problems on the same data

    def move_to(self, weights: Array, C: float) -> None:
        """Carry α over to another C."""
        raise NotImplementedError

    def shift(self, rows: AtomRows) -> None:
        """The truths' Ψ have changed by these rows, one per example."""
        raise NotImplementedError

    def best_multiple(self, linear: float, curvature: float, sums: Array) -> float:
        """The factor f of α with the highest D(fα) = f·linear - ½f²·curvature - ψ(f Σ α a) that keeps to the caps.

        `sums` are Σₖ αᵢₖ of every example; ψ is ½‖·‖² as a rule.
        """
        used = sums > 0
        limit = np.inf if self.squared else float(np.min(self.cap[used] / sums[used], initial=np.inf))
        if self._geometry is not None:
            most = min(limit, MOST_LONGER)
            nothing = np.zeros(self.dim)
            return most * self._geometry.best_share(most * linear, most**2 * curvature, nothing, most * self.sums)
        curvature += self._squared_norm()
        factor = min(limit, linear / curvature if curvature > 0 else np.inf)
        return max(factor, 0.0) if np.isfinite(factor) else 1.0

    def without_planes(self, kind: type[Planed], **limits: Any) -> Planed:
        """An empty dual point of the same problem, of the kind that keeps planes."""
        return kind(self.dim, self.weights, self.formulation, self.C, **limits)

    # --- all blocks at once (solvers/joint_rounds.py)

    def remembered(self) -> Remembered:
        """The planes that carry weight, at least, of all examples that count."""
        raise NotImplementedError

    def alpha_of(self, planes: Remembered) -> Array:
        """Their weights."""
        raise NotImplementedError

    @property
    def size(self) -> tuple[int, int]:
        """How many planes `remembered` has, and of how many examples."""
        raise NotImplementedError

    @property
    def visit_work(self) -> float:
        """Multiplications that take as long as a visit of every example, about; 100 stand for all that is not one."""
        raise NotImplementedError

    @property
    def writing_work(self) -> float:
        """Multiplications of writing the planes out."""
        return 0.0


def caps(weights: Array, C: float) -> Array:
    """C vᵢ / n; an example of weight 0 has no budget even under a hard margin."""
    return np.where(weights > 0, C * np.maximum(weights, 1e-300) / len(weights), 0.0)
