"""The contract of a dual point of the n-slack problem, one block of weights α per example, as BCFW improves it.

    maximise  D(α) = Σ α b - ½‖Σ α a‖²   subject to α >= 0, Σₖ αᵢₖ <= capᵢ = C vᵢ / n

PlaneDual (plane_dual.py) is the general form, over planes that were found one by one. A batch that knows more of its
planes, such as all of them, may offer a form of its own (capabilities/own_dual.py).
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import check_memory, is_whole
from maxmargin.base.files.fields import NumberArray, Real
from maxmargin.base.files.learnt import Inner
from maxmargin.base.files.objects import Fields
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.known_planes import JointSize, KnownPlanes
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.proof import Proof
from maxmargin.problem.dual.weight_vectors import WeightVectors
from maxmargin.problem.planes.planes import Planes

SEEN = 1e-22  # relative gain of D below which changes of w are only rounding
FEASIBLE = 1e-6  # share by which rounding may have raised α above its cap; the bound subtracts it
CALL = 20_000.0  # multiplications that take as long as the call of a kernel


class Report(NamedTuple):
    """The outcome of a round of visits."""

    penalty: float  # Σ cap · penalty of the heights seen: C times an estimate of the risk
    added: int  # new planes; if none are stored, examples whose weights have moved
    gain: float  # the increase of D
    missed: float = 0.0  # how much higher a remembered plane of the first example is than its new one, at the same w
    work: float = 1.0  # in visits of every example without a search


class Decoder(Protocol):
    """The part of the oracle that dual points use."""

    @property
    def call_cost(self) -> float:
        """The work of a search, in visits without a search."""

    def planes(self, w: Array, index: Index) -> Planes:
        """Return the most violated plane of each of these examples at w."""

    def check_missed(self, position: int, missed: float, w: Array) -> None:
        """Raise TaskError if the decoder has missed an output that it found earlier."""

    def searched(self, examples: int, largest: Planes) -> None:
        """Count this many searches, made by the dual point itself; no planes are larger than `largest`."""


class BlockDual:
    """The weights α of a dual point, and the w and D(α) that follow from them.

    Order of calls: `search` visits all examples, then `revisit` visits some of them again, as long as this is
    worthwhile. `tidy` follows every round, and `refresh` some of them. `bound` and `slacks` may be called between
    rounds. `move_to` begins another run on the same data. `take_weights` ends a run; the next `search` begins with a
    copy of w.

    Attributes
    ----------
    problem : DualProblem
        The problem whose dual this is; `move_to` sets it.
    n, dim : int
        The numbers of examples and of weights.
    cap : array of shape (n,)
        The highest Σₖ αᵢₖ; for squared slacks, which have no such limit, the factor C vᵢ / n.
    squared : bool
        True if slacks are squared.
    dual : float
        D(α). `search` and `revisit` add their gain, `refresh` and `move_to` recompute it. With bounds, visits know only
        a lower bound on their gain, and `tidy` computes D.
    vectors : WeightVectors
        Σ α a, and the weights computed from it.
    movers : array of int or None
        The examples that the next `revisit` visits, if not all; `search` and `revisit` set them.
    """

    learnt: ClassVar[Fields] = {
        "dual": Real(),
        "vectors": Inner(),
        "movers": NumberArray(np.int64, None, least=0, below="n"),
    }

    def __init__(self, dim: int, problem: DualProblem):
        check_limits(problem.limits)
        self.problem, self.n, self.dim = problem, len(problem.weights), dim
        self.cap, self.squared = problem.caps, problem.formulation.squared
        self.vectors = WeightVectors(dim, problem.geometry)
        self.movers = np.arange(0)
        self.dual = 0.0 - self.vectors.settle()

    @property
    def w(self) -> Array:
        """The weights, an array that the next visit may change."""
        return self.vectors.w

    # --- improvement

    def search(self, oracle: Decoder, order: NDArray[np.intp], block: int) -> Report:
        """Visit these examples, searching all of their outputs; a block of examples may be searched at the same w."""
        raise NotImplementedError

    def revisit(self, oracle: Decoder, rng: np.random.Generator) -> Report:
        """Visit the examples again that are expected to gain most for their work."""
        raise NotImplementedError

    @property
    def calls_again(self) -> int:
        """The number of examples that the next `revisit` would search like `search`."""
        return 0

    def tidy(self) -> None:
        """Respect the memory limits, and update D if there are bounds."""
        if self.vectors.bounds is None:
            return
        if self.vectors.behind:
            self.refresh()
        else:
            self.dual = self._linear() - self.vectors.settle()

    def refresh(self) -> None:
        """Recompute w and D from α, so that rounding errors of millions of steps do not accumulate."""
        raise NotImplementedError

    def move_to(self, problem: DualProblem) -> None:
        """Make this a dual point of another problem on the same data, with the best feasible multiple of α."""
        raise NotImplementedError

    def take_weights(self) -> Array:
        """Return w for a model to keep. The dual point continues with an array of its own."""
        return self.vectors.w.copy()

    # --- proof

    @property
    def alpha_sums(self) -> Array:
        """Σₖ αᵢₖ of every example."""
        raise NotImplementedError

    def _linear(self) -> float:
        """Return Σ α b."""
        raise NotImplementedError

    def proof(self) -> Proof:
        """Return the terms of D(α), computed from α and the planes alone."""
        raise NotImplementedError

    def bound(self) -> float:
        """Return a lower bound on D(α) that is proved in floating point (base/rounding.py)."""
        return self.vectors.lowered(self.proof())

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """Return the height of the highest known plane of every example at w, or 0; gains: as in Memory."""
        raise NotImplementedError

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """Return a lower bound on R(w): the mean penalty of the highest known planes there."""
        penalty = self.problem.formulation.penalty(self.slacks(w, gains))
        return float(np.dot(self.problem.weights, penalty)) / self.n

    # --- all blocks at once (solvers/joint_rounds.py)

    @property
    def visit_work(self) -> float:
        """The number of multiplications that take as long as a visit of every example.

        All other work of a visit counts as 100 of them.
        """
        raise NotImplementedError

    @property
    def joint_size(self) -> JointSize:
        """The size of the result of `known_planes`."""
        raise NotImplementedError

    def known_planes(self) -> KnownPlanes:
        """Return planes of all examples that count, at least those that carry weight."""
        raise NotImplementedError

    # --- checkpoints (base/files/learnt.py)

    def _check_learnt(self) -> None:
        """Raise ValueError if α, as read from a checkpoint, is not feasible."""
        if self.squared:
            return
        over = self.alpha_sums > self.cap * (1 + FEASIBLE)
        if over.any():
            raise ValueError(f"the dual variables of example {int(np.argmax(over))} sum to more than C allows")


def check_limits(limits: Limits) -> None:
    """Raise a ValueError if two planes of an example could not be merged, or if this many can never fit into memory."""
    slots = limits.planes_per_example
    if not is_whole(slots) or slots < 2:
        raise ValueError(f"planes_per_example must be a whole number >= 2, so that two can be merged; got {slots!r}")
    what = f"{slots:,} planes per example"
    check_memory(what, 16.0 * slots, "set planes_per_example to a few dozen, or some hundred")


def count_moved(movers: NDArray[np.intp], gain: float, dual: float) -> int:
    """Return the number of examples that have moved, or 0 if the gain of D may be rounding.

    A relative change s of w changes D by s², which is soon too small to be seen, but P by s.
    """
    return len(movers) if gain > SEEN * abs(dual) else 0
