"""Dual points of parts of the data, each where its part is: what ParallelBCFW asks of them.

A part works with β = σα, the weights of its own planes times a number. With caps σ times as large, its local problem

    maximise over its own α   Σ α b - ⟨x, δ⟩ - ½σ‖δ‖²,      δ = Σ α a - Σ α' a,  α' where it began                  (1)

is the dual of BCFW as it is, from a w that begins at x: visits see heights at x + σδ and take exact steps in β. So all
that structures know of their duals serves here, too.

What a part knows is kept with the part. Where parts may get lost with a process, whoever asks also sends what has
happened since the last state that it has a copy of, and a part that was made anew catches up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.files.learnt import learnt_of, relearn
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.block_dual import BlockDual, Moment, Proof
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.plane_sizes import PlaneSizes


class WholeProblem(NamedTuple):
    """What all parts know of the whole."""

    run: str  # a name of its own
    formulation: Formulation
    C: float
    n: int
    bounds: tuple[Array, Array] | None
    limits: dict[str, Any]  # of the plane cache
    seed: int
    here: bool  # whether parts are in the memory of whoever asks


class Visits(NamedTuple):
    """One pass over a part."""

    number: int  # of all passes of this run
    search: bool  # whether all outputs are looked at
    block: int
    start: Array  # x of (1)
    changed: NDArray[np.int64] | None  # where that is another one than in the last pass; None: anywhere
    sigma: float
    back: float  # to which share of the last pass to go back before


class Told(NamedTuple):
    """What a part has to do, and, if it says that it was MISSING, how it gets there."""

    part: int
    since: tuple[Visits, ...]  # passes, the last of which is to be made
    wants_state: bool = False  # whether to return the state before that
    weights: Array | None = None  # of its examples, for one that is made anew
    saved: Any = None  # and its state before these passes; None: it had none


MISSING = "missing"  # the answer of a part that does not know of earlier passes


class Done(NamedTuple):
    """What a pass did."""

    places: NDArray[np.int64]  # where Σ α a has changed
    way: Array  # by how much there: δ of (1)
    slope: float  # of Σ α b on that way
    curvature: float  # of squared slacks
    penalty: float  # C times an estimate of the risk of this part
    work: float  # in visits of every example of the part
    moved: int
    calls: int
    calls_again: int
    averages: bool
    relaxed: Any
    reach: PlaneSizes | None
    state: Any


class PartDual:
    """The dual point of one part."""

    def __init__(self, batch: Batch, problem: WholeProblem, weights: Array, sigma: float):
        self.problem, self.passes, self.sigma = problem, 0, sigma
        self.oracle = Oracle(batch, problem.formulation)
        self.oracle.weights = weights
        C = self._scaled(sigma)
        dual: BlockDual = batch.block_dual(weights, problem.formulation, C, None, **problem.limits)
        if problem.bounds is not None and not dual.confinable:
            dual = batch.plane_dual(weights, problem.formulation, C, None, **problem.limits)
        if not dual.divisible:
            raise ValueError(f"{batch.name} with a kernel cannot be trained in parts; use solver='bcfw'")
        if problem.bounds is not None:
            dual.confine(Geometry(np.zeros(dual.dim), *problem.bounds))
        self.dual, self.before = dual, None

    before: Moment | None  # the last pass

    def _scaled(self, sigma: float) -> float:
        """The C whose caps are σ times those that this part has in the whole."""
        return sigma * self.problem.C * self.oracle.n / self.problem.n

    def state(self) -> dict[str, Any]:
        """Before the next pass, once it has gone back as it should."""
        return {
            "passes": self.passes,
            "sigma": self.sigma,
            "lam": self.oracle._lam.copy(),
            "dual": _copied(learnt_of(self.dual)),
        }

    def recall(self, state: dict[str, Any]) -> None:
        self.passes, self.oracle._lam, self.before = state["passes"], state["lam"].copy(), None
        relearn(self.dual, _copied(state["dual"]))

    def prepare(self, visits: Visits) -> None:
        """Go back, and take on the σ of this pass."""
        if self.before is not None and visits.back < 1:
            self.dual.go_back(self.before, visits.back)
        self.before = None
        if visits.sigma != self.sigma:
            self.dual.stretch(visits.sigma / self.sigma, self._scaled(visits.sigma))
            self.sigma = visits.sigma

    def visit(self, part: int, visits: Visits, state: Any = None) -> Done:
        dual, oracle = self.dual, self.oracle
        dual.tidy()
        self.before = dual.mark()
        dual.stand_at(visits.start, visits.changed if visits.number == self.passes + 1 else None)
        rng = np.random.default_rng([self.problem.seed, part, visits.number])
        calls = oracle.calls
        if visits.search:
            report = dual.search(oracle, rng.permutation(oracle.n), visits.block)
        else:
            report = dual.revisit(oracle, rng)
        self.passes = visits.number
        slope, curvature = dual.rise(self.before)
        return Done(
            *dual.changes(visits.start, 1.0 / self.sigma),
            slope / self.sigma,
            curvature / self.sigma,
            report.penalty / self.sigma,
            report.work,
            report.added,
            oracle.calls - calls,
            dual.calls_again,
            dual._averages,
            oracle._relaxed,
            oracle._reach if oracle._from_zero and self.problem.here else None,
            state,
        )

    def __reduce__(self) -> Any:
        return _nobody, ()  # a part that is copied catches up


def _nobody() -> None:
    return None


def _copied(found: Any) -> Any:
    """Plain data whose arrays nobody else has."""
    if isinstance(found, dict):
        return {key: _copied(each) for key, each in found.items()}
    if isinstance(found, list):
        return [_copied(each) for each in found]
    return found.copy() if isinstance(found, np.ndarray) else found


# --- what executors call


def part_pass(batch: Batch, told: Told, problem: WholeProblem) -> Done | str:
    """Make the last of the passes that a part is told of, after those that it has not made."""
    own = _there(batch, told, problem)
    if own is None:
        return MISSING
    _catch_up(own, told, told.since[:-1])
    own.prepare(told.since[-1])
    return own.visit(told.part, told.since[-1], own.state() if told.wants_state else None)


def part_proof(batch: Batch, told: Told, problem: WholeProblem) -> Proof | str:
    """What the bound is made of; α is that of the whole problem."""
    own = _settled(batch, told, problem)
    if own is None:
        return MISSING
    found, by = own.dual.proof(), 1.0 / own.sigma
    return found._replace(
        linear=by * found.linear, losses=by * found.losses, s=by * found.s, mass=by * found.mass, error=by * found.error
    )


def part_slacks(batch: Batch, told: Told, problem: WholeProblem, w: Array) -> Array | str:
    """The highest known planes of its examples at w."""
    own = _settled(batch, told, problem)
    return MISSING if own is None else own.dual.slacks(w)


def part_state(batch: Batch, told: Told, problem: WholeProblem) -> dict[str, Any] | str:
    """All that it has learnt."""
    own = _settled(batch, told, problem)
    return MISSING if own is None else own.state()


def _settled(batch: Batch, told: Told, problem: WholeProblem) -> PartDual | None:
    """After all passes but the last, which only says to which share of the one before to go back."""
    own = _there(batch, told, problem)
    if own is not None:
        _catch_up(own, told, told.since[:-1])
        own.prepare(told.since[-1])
    return own


def _catch_up(own: PartDual, told: Told, passes: Sequence[Visits]) -> None:
    for visits in passes:
        if visits.number > own.passes:
            own.prepare(visits)
            own.visit(told.part, visits)


def _there(batch: Batch, told: Told, problem: WholeProblem) -> PartDual | None:
    """The dual point of this part, which is made anew where that is possible and needed."""
    run, own = batch.__dict__.get("_part_dual", ("", None))
    if own is not None and run == problem.run and told.since[0].number - 1 <= own.passes < told.since[-1].number:
        return own
    if told.weights is None:
        return None
    own = PartDual(batch, problem, told.weights, told.since[0].sigma if told.saved is None else told.saved["sigma"])
    if told.saved is not None:
        own.recall(told.saved)
    batch.__dict__["_part_dual"] = (problem.run, own)
    return own


def split(n: int, parts: int) -> Sequence[Index]:
    """Consecutive examples, nearly equally many in each."""
    return np.array_split(np.arange(n), min(parts, n))
