"""CertifiedPoint: the point that a run would return, with its measured objective and the proved bound."""

from __future__ import annotations

from math import inf, isfinite, nan
from typing import Any, ClassVar, Protocol

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Each, NumberArray, OneOf, Real, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.objective import relative_gap
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.solvers.contradictions import deny_contradiction
from maxmargin.solvers.steps import Memory, Step, remembered_risk


class StoppingRule(Protocol):
    """The options of a solver that determine which point is kept, and when it is good enough."""

    tol: float
    keeps_last: ClassVar[bool]
    measure_every: ClassVar[int]


class CertifiedPoint:
    """The best point so far, or the last one (`Solver.keeps_last`), its objective, and the lower bound.

    Order of calls, after every step: `see`, which sets the last point, the memory and the running bound; `measure`, if
    `should_measure` says so; `recall`; `prove` before the bound is used; `own` before the next step. At the end of a
    run: `prove`, `recall`, `test` and `take`.

    Attributes
    ----------
    w, primal, risk, slacks : array and floats
        The point that is kept, and the measurements there.
    last : array
        The last point, measured or not.
    dual : float
        The proved lower bound.
    hoped : float
        The running value of the bound, which accumulates rounding errors; -inf after a proof.
    memory : Memory or None
        The memory of the algorithm (see steps.Memory).
    """

    learnt: ClassVar[Fields] = {
        "primal": Real(finite=False),
        "dual": Real(finite=False),
        "hoped": Real(finite=False),
        "risk": Real(finite=False),
        "negligible": Real(),
        "unmeasured": Whole(),
        "risk_scale": OneOf(None, Real()),
        "slacks": OneOf(None, NumberArray(float, "oracle.n", finite=False)),
        "points": Each(OneOf(None, NumberArray(float, "oracle.dim"))),
    }

    def __init__(self, rule: StoppingRule, oracle: RiskOracle, C: float):
        self.rule, self.oracle, self.C = rule, oracle, C
        self.primal, self.dual, self.hoped, self.risk = inf, -inf, -inf, nan
        self.w: Array | None = None
        self.last: Array | None = None
        self.slacks: Array | None = None  # set if the risk was computed from them
        self.memory: Any = None
        self.borrowed = False  # True if w is the algorithm's array, which the next step may change
        self.spare: Array | None = None  # the array of the previous point, reused for the next copy
        self.negligible = 0.0  # an objective of rounding errors only, if a prior fits perfectly
        self.unmeasured = 0  # steps since the last measurement
        self.risk_scale: float | None = None  # R(0), to tell a hard margin's zero from rounding

    @property
    def points(self) -> list[Array | None]:
        """The point and, if it is a different one, the last point."""
        return [self.w, None if self.last is self.w else self.last]

    @points.setter
    def points(self, found: list[Array | None]) -> None:
        self.w, last = found
        self.last = self.w if last is None else last

    def see(self, step: Step) -> None:
        """Record a step."""
        self.last, self.memory = step.w, step.memory
        self.dual, self.hoped = max(self.dual, float(step.dual)), float(step.hoped)

    # --- the objective

    def should_measure(self, step: Step) -> bool:
        """Return whether to measure: this costs a pass, so it waits until the estimate makes it worthwhile."""
        self.unmeasured += 1
        if step.risk is not None or step.guess is None:
            return True
        # Heights are seen before the steps that they cause, so the estimate lags: the true gap is about half of it.
        close = relative_gap(step.guess, self.bound) <= 2.5 * self.rule.tol
        return close or self.unmeasured >= self.rule.measure_every

    def measure(self, step: Step) -> float:
        """Return the objective at a step, and keep its point if it is the best one."""
        self.unmeasured = 0
        w = step.w
        if not isfinite(self.C):
            # A dual point only approaches the constraints of a hard margin; a slightly longer w satisfies them.
            w = w * (1 + self.rule.tol / 3)
        slacks, risk = step.slacks, step.risk
        if risk is None or not isfinite(self.C):
            slacks = self.oracle.slacks(w)
            risk = self.oracle.risk_of(slacks)
        if self.oracle.search.estimates:
            risk = max(risk, remembered_risk(self.memory, w))
        risk = self._counted(risk)
        value = float(self.oracle.objective(w, risk, self.C))
        # among equally bad points (inf), the latest one
        if value <= self.primal or self.w is None or self.rule.keeps_last:
            if w is step.w and not self.borrowed:
                self.spare = self.w
            self.w, self.borrowed = w, w is step.w
            self.slacks, self.risk = slacks, risk
            self.primal, self.last = value, w
            if self.oracle.geometry is not None:
                self.negligible = self.oracle.negligible(w, self.C)
        return value

    def _counted(self, risk: float) -> float:
        """Return the risk, set to 0 if it is only rounding under a hard margin."""
        if isfinite(self.C):
            return risk
        if self.risk_scale is None:
            self.risk_scale = self.oracle.risk(np.zeros(self.oracle.dim))
        tiny = 1e-20 if self.oracle.formulation.squared else 1e-10  # slacks must be equally small in both cases
        return 0.0 if risk <= tiny * self.risk_scale else risk

    def recall(self) -> None:
        """Measure the point again by all cuts found since, if its estimated objective has fallen below the bound."""
        if self.oracle.search.estimates and self.w is not None and self.primal < self.bound:
            risk = self._counted(remembered_risk(self.memory, self.w))
            self.primal, self.risk = self.oracle.objective(self.w, risk, self.C), risk

    # --- the bound

    @property
    def bound(self) -> float:
        """The best lower bound known so far, proved or not."""
        return max(self.dual, self.hoped)

    def prove(self) -> None:
        """Replace the running bound, which accumulates rounding errors, by a proved one."""
        if self.hoped > self.dual:
            self.spare = None  # frees memory, because the proof needs an array of the same size
            self.dual, self.hoped = max(self.dual, self.memory.bound()), -inf

    def close_enough(self, bound: float | None = None) -> bool:
        """Return whether the gap to this bound, or to the proved one, is within tol.

        With a prior there may be nothing to learn: the objective is then as small as rounding permits, and its digits
        mean nothing. It counts as close enough if it is negligible compared with the slacks.
        """
        gap = relative_gap(self.primal, self.dual if bound is None else bound)
        return gap <= self.rule.tol or self.primal <= self.negligible

    def test(self, solver: str) -> None:
        """Raise an error if bound and objective contradict each other, through the decoder's fault or the solver's."""
        oracle = self.oracle
        if self.w is None or oracle.search.estimates:
            return
        if isinstance(oracle, Oracle) and self.slacks is not None and isinstance(self.memory, Memory):
            remembered = self.memory.slacks(self.w)
            if remembered is not None:
                oracle.check_remembered(self.w, remembered, self.slacks)
        deny_contradiction(self.primal, self.dual, solver, oracle.batch.name)

    # --- ownership of arrays

    def own(self) -> None:
        """Copy the point, if it is still the algorithm's array.

        This is done as late as possible: often there is no next step, and the proof of the bound needs one array less.
        """
        if self.borrowed and self.w is not None:
            copied = np.empty_like(self.w) if self.spare is None else self.spare
            np.copyto(copied, self.w)
            if self.last is self.w:
                self.last = copied
            self.w, self.borrowed, self.spare = copied, False, None

    def take(self) -> Array | None:
        """Return the point as an array that no algorithm changes: the array of the dual point, or a copy."""
        if self.borrowed and isinstance(self.memory, BlockDual) and self.w is self.memory.w:
            self.w, self.borrowed = self.memory.take_weights(), False
        self.own()
        return self.last if self.w is None else self.w
