"""Run: the loop around every algorithm, which ends with a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite
from typing import Any, ClassVar, Protocol

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_true
from maxmargin.base.compile_clock import work_cpu_seconds, work_seconds
from maxmargin.base.errors import NotSeparable, SolverError, TaskError
from maxmargin.base.files.fields import Each, Flag, Real, Whole
from maxmargin.base.files.learnt import Inner, Keeper, Lines, going_on, learnt_of, relearn
from maxmargin.base.files.objects import Fields
from maxmargin.base.interruptions import first_only, say_interrupted
from maxmargin.base.search import Search
from maxmargin.problem.dual.objective import Certificate
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.solvers.certified_point import CertifiedPoint, StoppingRule
from maxmargin.solvers.contradictions import proved_primal
from maxmargin.solvers.history import HISTORY, Callback, Record
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step


class Algorithm(StoppingRule, Protocol):
    """A solver as the loop sees it: Solver (base.py) documents each name."""

    max_passes: float
    certified: ClassVar[bool]

    @property
    def resumable(self) -> bool:
        """Return whether the algorithm has `begin` and `advance`."""

    def steps(self, oracle: Any, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        """Yield the steps of the algorithm."""

    def begin(self, oracle: Any, C: float, seed: int, start: Solution | None) -> Any:
        """Return the state before the first step."""

    def advance(self, oracle: Any, C: float, at: Any) -> Iterator[Step]:
        """Yield the steps from a state on."""


class Run:
    """One run of a solver: its clock, its history, and the point that it would return.

    Order of calls: `finish`, once. With a keeper, it continues an earlier run.
    """

    # Everything that determines how a run continues, besides the algorithm and the oracle.
    learnt: ClassVar[Fields] = {
        "spent": Each(Real(least=0), size=2),
        "calls_before": Whole(),
        "fractional": Flag(),
        "point": Inner(),
        "history": Lines(HISTORY),
    }

    def __init__(
        self, solver: Algorithm, oracle: RiskOracle, C: float, callback: Callback | None, keeper: Keeper | None = None
    ):
        self.solver, self.oracle, self.C, self.callback, self.keeper = solver, oracle, C, callback, keeper
        self.point = CertifiedPoint(solver, oracle, C)
        self.begun = False  # True once the algorithm has made a step, in this run or an earlier one
        self.fractional = False  # True if cuts of an earlier run may not belong to outputs
        self.began, self.cpu_began, self.calls_before = work_seconds(), work_cpu_seconds(), oracle.calls
        self.history: list[dict[str, float]] = []

    def finish(self, start: Solution | None, seed: int) -> Solution:
        """Make the run, and return the best point with its certificate, even after an error or Ctrl-C."""
        point, error = self.point, None
        point.memory = None if start is None else start.memory  # known before the first step
        self.fractional = point.memory is not None and start is not None and not start.certificate.exact
        try:
            reason = self._loop(start, seed)
        except KeyboardInterrupt as pressed:
            first_only(pressed)
            reason = "interrupted"
        except Exception as failure:
            if not self.begun:
                raise
            if isinstance(failure, NotSeparable) and self.oracle.search is Search.OVERGENERATING:
                failure.add_note("maxmargin: this is proved of the relaxed problem; the true one may be separable")
            if point.last is None:  # nothing has been learnt, so there is no model to keep
                raise
            reason, error = f"stopped by {type(failure).__name__}", failure
        if point.last is None:
            point.last = self.oracle.space.point(np.zeros(self.oracle.dim)) if start is None else start.w
        if error is None and point.w is not point.last:
            try:  # also measure the last point, which is usually better than the best measured one
                point.measure(Step(point.last))
            except KeyboardInterrupt as pressed:
                first_only(pressed, stopping=reason == "interrupted")
                reason = "interrupted"
            except Exception as failure:
                reason, error = f"stopped by {type(failure).__name__}", failure
        if reason == "interrupted":
            say_interrupted("last" if self.solver.keeps_last else "best")
        point.prove()
        point.recall()
        if error is None:
            try:
                point.test(type(self.solver).__name__)
            except (TaskError, SolverError) as failure:
                reason, error = f"stopped by {type(failure).__name__}", failure
        if error is None and reason == "no more progress possible" and point.close_enough():
            reason = "converged"
        w = point.take()
        assert w is not None
        certificate = self._certificate(w, reason, error)
        return Solution(w, certificate, self.C, self.history, point.memory, error, risk=point.risk)

    def _certificate(self, w: Array, reason: str, error: Exception | None) -> Certificate:
        """Return the certificate of the point that is kept."""
        upper: float | None = inf if self.oracle.search.estimates else None
        if upper is not None and error is None and reason != "interrupted":
            upper = proved_primal(self.oracle, w, self.C)
        search = self.oracle.search
        if search is Search.EXACT and self.fractional:
            search = Search.OVERGENERATING
        return Certificate(
            primal=self.point.primal,
            dual=self.point.dual,
            converged=error is None and self.point.close_enough(),
            passes=self.passes,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            stop_reason=reason,
            search=search,
            method=self.oracle.method,
            upper=upper,
        )

    # --- the loop

    def _loop(self, start: Solution | None, seed: int) -> str:
        """Iterate over the steps of the algorithm, and return why training has ended."""
        point, steps = self.point, self._steps(start, seed)
        self.begun = True
        reason = self._reason() if self.history else None  # the reason of an earlier run, after its last step
        if reason is not None:
            return reason
        for step in steps:
            point.see(step)
            measured = point.measure(step) if point.should_measure(step) else inf
            guess = measured if isfinite(measured) or step.guess is None else float(step.guess)
            if self._record(step, measured, guess):
                return "stopped by the callback"
            if self.keeper is not None:
                point.own()
                self.keeper.offer(self.passes, self.state, last=self.passes >= self.solver.max_passes)
            reason = self._reason()
            if reason is not None:
                return reason
            point.own()
        return "no more progress possible" if self.solver.certified else "finished"

    def _reason(self) -> str | None:
        """Return why training ends after this step, or None if it continues."""
        point = self.point
        point.recall()
        if point.close_enough(point.bound):
            point.prove()
            point.recall()
            if point.close_enough() or point.dual > point.primal:
                return "converged"
        return "max_passes reached" if self.passes >= self.solver.max_passes else None

    def _steps(self, start: Solution | None, seed: int) -> Iterator[Step]:
        """Return the steps of the algorithm, from its beginning or continuing an earlier run."""
        if not self.solver.resumable:
            return self.solver.steps(self.oracle, self.C, seed, start)
        found = None if self.keeper is None else self.keeper.found
        self.at = self.solver.begin(self.oracle, self.C, seed, None if found is not None else start)
        if found is not None:
            with going_on():
                relearn(self.oracle, found["oracle"])
                relearn(self.at, found["at"])
                relearn(self, found["run"])
            self.point.memory = self.at.memory
        return self.solver.advance(self.oracle, self.C, self.at)

    def _record(self, step: Step, measured: float, guess: float) -> bool:
        """Add a line to the history, call the callback, and return whether it asks to stop."""
        rounds = self.oracle.placement.shard_rounds
        record = Record(self.passes, self.seconds, measured, self.point.bound, guess, step.w, "", *rounds)
        self.history.append(record.line)
        answer = None if self.callback is None else self.callback(record)
        return is_true(answer)

    # --- state for checkpoints

    def state(self) -> dict[str, Any]:
        """Return everything that determines how this run continues, as plain data."""
        return {"oracle": learnt_of(self.oracle), "at": learnt_of(self.at), "run": learnt_of(self)}

    @property
    def passes(self) -> float:
        """The decoder calls of this run, in passes over the data."""
        return (self.oracle.calls - self.calls_before) / self.oracle.n

    @property
    def seconds(self) -> float:
        """The elapsed seconds since the run began, without compilation."""
        return work_seconds() - self.began

    @property
    def cpu_seconds(self) -> float:
        """The processor seconds since the run began, without compilation."""
        return work_cpu_seconds() - self.cpu_began

    @property
    def spent(self) -> list[float]:
        """The elapsed seconds and processor seconds so far."""
        return [self.seconds, self.cpu_seconds]

    @spent.setter
    def spent(self, found: list[float]) -> None:
        self.began, self.cpu_began = work_seconds() - found[0], work_cpu_seconds() - found[1]
