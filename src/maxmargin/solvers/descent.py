"""One run of training with hidden variables: rounds of completing labels and solving the resulting convex problem."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from threading import Event, Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_true
from maxmargin.base.compile_clock import work_seconds
from maxmargin.base.errors import TaskError
from maxmargin.base.files.fields import NumberArray, OneOf, Real, Whole
from maxmargin.base.files.learnt import going_on, learnt_of, relearn
from maxmargin.base.files.objects import Fields
from maxmargin.base.interruptions import first_only, say_interrupted
from maxmargin.base.search import Search
from maxmargin.problem.dual.objective import relative_gap
from maxmargin.problem.oracle.completions import completed, guessed, resumed, shifts, worse_completion
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers.base import Solver
from maxmargin.solvers.history import Callback, Record
from maxmargin.solvers.latent_runs import (
    NOT_BEGUN,
    ROUNDS,
    STOPPED,
    Completed,
    Descended,
    KeptRuns,
    LearntRounds,
    Round,
)
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import ShiftingMemory

LOOSE = 0.1  # relative gap of the first round's convex problem after a guess; halved in every round
SHRINKING = 0.25 ** np.arange(6)  # lengths at which a direction away from w = 0 is tried
ROUNDING = 1e-7  # by which two measurements of the same objective may differ


class RunLimits(NamedTuple):
    """The options that all runs share."""

    inner: Solver  # solves the convex problem of each round
    C: float  # the weight of the mean slack
    tol: float  # the relative gap at which a run ends
    rounds: int  # the most outer rounds of a run
    max_passes: float  # the most passes of a run


class Beginning(NamedTuple):
    """The beginning of a run: an earlier solution, or a guess that depends on the seeds."""

    number: int  # the number of the run
    guess_seed: np.random.SeedSequence  # the seed of the initial guess of the hidden variables
    seed: int  # the seed of the inner solver
    start: Solution | None = None  # the earlier solution


class Watch:
    """An observer of several runs: it calls the callback, and stops all runs when one of them was stopped."""

    def __init__(self, callback: Callback | None, restarts: int, kept: KeptRuns):
        self.callback, self.restarts, self.kept = callback, restarts, kept
        self.stop, self.lock = Event(), Lock()
        self.ended = kept.ended  # by number of the run

    def step(self, number: int, record: Record) -> bool:
        """Call the callback; return True to stop training."""
        if self.restarts > 1:
            record = record._replace(where=f"run {number + 1} of {self.restarts}, {record.where}")
        try:
            with self.lock:  # runs in other threads call the same function
                answer = None if self.callback is None else self.callback(record)
        except KeyboardInterrupt:
            self.stop.set()
            raise
        if is_true(answer):
            self.stop.set()
        return self.stop.is_set()

    def end(self, number: int, run: Descended) -> None:
        if run.reason in STOPPED:
            self.stop.set()  # stop all other runs as well
        with self.lock:
            self.ended[number] = run
            self.kept.end(run)


def descend(oracle: Oracle, beginning: Beginning, watch: Watch | None, limits: RunLimits) -> Descended:
    """Run the rounds from one beginning to a local optimum, a limit or an error; `watch` is None in other processes."""
    if watch is not None and watch.stop.is_set():
        return NOT_BEGUN
    run = _Descent(oracle, beginning, watch, limits).run()
    if watch is not None:
        watch.end(beginning.number, run)
    return run


class _Descent:
    """The state of a run between its rounds."""

    def __init__(self, oracle: Oracle, beginning: Beginning, watch: Watch | None, limits: RunLimits):
        self.oracle, self.watch, self.limits, self.C = oracle, watch, limits, limits.C
        self.number, self.start, self.seed = beginning.number, beginning.start, beginning.seed
        self.rng = np.random.default_rng(beginning.guess_seed)
        self.began = work_seconds()
        self.w: Array | None = None
        self.objective, self.bound = inf, -inf
        self.current: Oracle | None = None
        self.memory: Any = None
        self.history: list[dict[str, float]] = []
        self.rounds: list[Round] = []
        self.interrupted = False  # True if the inner solver was interrupted, so that this run is about to end
        self.tried: Array | None = None  # the last nonzero weights that the inner solver visited in this round
        self.completed_at: Array | None = None  # the weights at which the labels were completed; None for a guess
        self.tol = 0.0  # tolerance of this round's convex problem
        self.calls_before = oracle.calls  # calls before this round
        self.round_seconds = 0.0

    learnt: ClassVar[Fields] = {
        **dict.fromkeys(("w", "tried", "completed_at"), OneOf(None, NumberArray(float, "oracle.dim"))),
        **dict.fromkeys(("objective", "bound"), Real(finite=False)),
        "history": ROUNDS,
        "rounds": LearntRounds(),
        "tol": Real(least=0),
        "calls_before": Whole(),
        **dict.fromkeys(("seconds", "round_seconds"), Real(least=0)),
    }

    @property
    def seconds(self) -> float:
        """The seconds since the run began."""
        return work_seconds() - self.began

    @seconds.setter
    def seconds(self, found: float) -> None:
        self.began = work_seconds() - found

    def run(self) -> Descended:
        error: Exception | None = None
        try:
            reason = self._descend(*self._begin())
        except KeyboardInterrupt as pressed:  # between two runs of the inner solver, which would have reported it
            first_only(pressed, stopping=self.interrupted)
            reason = "interrupted"
            say_interrupted()
        except Exception as failure:
            reason, error = f"stopped by {type(failure).__name__}", failure
        calls = 0 if self.current is None else self.current.calls - self.oracle.calls
        last = None if self.current is None else Completed(self.current, self.memory)
        return Descended(self.w, self.objective, self.bound, reason, calls, self.history, self.rounds, error, last)

    def _begin(self) -> tuple[Oracle, Solution | None]:
        """Return the first completion, and a starting point for the first convex problem."""
        start = self.start
        found = None if self.watch is None else self.watch.kept.run_of(self.number)
        if found is not None:
            with going_on():
                relearn(self, found)
            at = self.completed_at
            self.current = guessed(self.oracle, self.rng) if at is None else completed(self.oracle, at)
            return self.current, None
        # A loose solution may be worse than good initial weights, and its completion would discard them.
        self.tol = self._tightest if start is not None else max(LOOSE, self._tightest)
        if start is None:
            self.current = guessed(self.oracle, self.rng)
            return self.current, None
        self.completed_at = start.w.copy()
        self.current = current = completed(self.oracle, start.w)
        self.w, self.objective = start.w.copy(), self._measured(start.w, current)
        if not isinstance(start.memory, Completed):
            return current, start
        before = resumed(self.oracle, start.memory.oracle)
        memory = None if before is None else _moved(start.memory.memory, before, current)
        return current, replace(start, memory=memory)

    def _descend(self, current: Oracle, start: Solution | None) -> str:
        while len(self.rounds) < self.limits.rounds:
            solution = self._convex(current, start)
            w, bound, self.memory = solution.w, solution.certificate.dual, solution.memory
            self.interrupted = solution.certificate.stop_reason == "interrupted"
            if solution.error is not None:
                self._keep_unmeasured(solution)
                raise solution.error
            try:
                after, at = completed(current, w), w
                moves = shifts(current, after)
                value = self._measured(w, after)
            except BaseException:  # Ctrl-C too
                self._keep_unmeasured(solution)
                raise
            current.calls = after.calls
            if self.oracle.search.estimates and solution.memory is not None:  # cuts may know worse outputs
                value = max(value, current.objective(w, solution.memory.risk(w, moves @ w), self.C))
                if self.w is not None:  # the current labels were completed at w
                    known = current.objective(self.w, solution.memory.risk(self.w), self.C)
                    self.objective = max(self.objective, known)
            self._check(solution, moves @ w, value)
            if not np.any(w) and solution.certificate.stop_reason not in STOPPED:
                try:
                    w, value, there = self._away_from_zero(value, after)
                    at, after = at if there is after or self.tried is None else self.tried, there
                    moves = shifts(current, after)
                except BaseException:
                    self._keep_unmeasured(solution)
                    raise
                current.calls = after.calls
            changed = int(np.count_nonzero(np.diff(moves.indptr)))
            better = value < self.objective
            # The bound holds for the completion at the previous weights, and certifies those.
            self.bound = max(self.bound, bound)
            converged = relative_gap(self.objective, self.bound) <= self.limits.tol
            if better and not (converged and changed):
                self.w, self.objective = w, value
                self.bound = -inf if changed else self.bound
            seconds, passes = self.seconds - self.round_seconds, (after.calls - self.calls_before) / after.n
            self.rounds.append(Round(self.number, self.objective, bound, passes, seconds, changed))
            if solution.certificate.stop_reason in STOPPED:
                return solution.certificate.stop_reason
            if converged or relative_gap(self.objective, self.bound) <= self.limits.tol:
                return "converged"
            if after.calls - self.oracle.calls >= self.limits.max_passes * after.n:
                return "max_passes reached"
            stuck = not better or not changed
            if stuck and self.tol <= self._tightest:  # the inner solver cannot improve this completion further
                return "no more progress possible"
            self.tol = max(self._tightest, self.tol / (8 if stuck else 2))
            if not stuck:
                self.memory = None  # if Ctrl-C interrupts the next line, half-moved cuts must not be used
                moved = _moved(solution.memory, current, after)
                self.memory, self.current, current, self.completed_at = moved, after, after, at
            start = replace(solution, w=w, memory=self.memory)
        return "rounds reached"

    @property
    def _tightest(self) -> float:
        """The smallest tolerance of convex problems."""
        return self.limits.tol / 2

    def _convex(self, current: Oracle, start: Solution | None) -> Solution:
        """Solve the problem with the hidden parts fixed, continuing from a checkpoint if there is one."""
        keeper = None if self.watch is None else self.watch.kept.keeper_of(self.number, lambda: learnt_of(self))
        if keeper is None or keeper.found is None:
            self.calls_before, self.round_seconds, self.tried = current.calls, self.seconds, None
        passes, seconds = (self.calls_before - self.oracle.calls) / current.n, self.round_seconds
        where = f"round {len(self.rounds) + 1}"

        def watch(record: Record) -> bool:
            if np.any(record.w):
                self.tried = record.w.copy()  # copied, because it may be the solver's working array
            later = record._replace(passes=passes + record.passes, seconds=seconds + record.seconds, where=where)
            return False if self.watch is None else self.watch.step(self.number, later)

        inner = clone(self.limits.inner).set_params(tol=self.tol, max_passes=max(self.limits.max_passes - passes, 1.0))
        kept = {}
        if keeper is not None:
            keeper.passes += passes  # the calls of earlier rounds
            kept = {"keeper": keeper}
        solution = inner.solve(current, self.C, start, watch, self.seed, **kept)
        for line in solution.history:
            line["passes"] += passes
            line["seconds"] += seconds
            line["round"] = float(len(self.rounds))
            line["restart"] = float(self.number)
        self.history += solution.history
        return solution

    def _away_from_zero(self, value: float, after: Oracle) -> tuple[Array, float, Oracle]:
        """Return weights with a smaller J than w = 0, their J and their completion; if none are found, return w = 0.

        For a poor guess, w = 0 is often the best solution of the convex problem. It explains all hidden parts equally
        well, so that its completion carries no information for the next round. But J may fall in a direction that the
        solver has visited, because labels are completed differently there, which the convex problem ignores. The
        completion is the same along a whole direction.
        """
        nowhere = self.oracle.space.allowed(np.zeros(self.oracle.dim))
        if self.tried is None:
            return nowhere, value, after
        there = completed(after, self.tried)
        for length in SHRINKING:
            w = self.oracle.space.allowed(length * self.tried)
            reached = self._measured(w, there)
            if reached < value:
                return w, reached, there
        after.calls = there.calls
        return nowhere, value, after

    def _keep_unmeasured(self, solution: Solution) -> None:
        """Keep a point without calling the task again: the convex objective is an upper bound on J."""
        if self.w is None or solution.certificate.primal < self.objective:
            self.w, self.objective, self.bound = solution.w, solution.certificate.primal, -inf

    def _measured(self, w: Array, completed_at_w: Oracle) -> float:
        """Return J(w)."""
        return completed_at_w.objective(w, completed_at_w.risk(w), self.C)

    def _check(self, solution: Solution, gains: Array, value: float) -> None:
        """Check that J is at most the convex objective at w, and that the bound is at most the previous J."""
        if self.oracle.search is not Search.EXACT:
            return
        name, certificate = self.oracle.batch.name, solution.certificate
        scale = ROUNDING * (1 + abs(certificate.primal))
        worst = int(np.argmin(gains)) if len(gains) else 0
        if len(gains) and gains[worst] < -scale:
            raise worse_completion(self.oracle, worst, -gains[worst])
        # For other searches the objective may be an upper bound, which need not shrink with a better truth.
        if self.oracle.formulation.plain and value > certificate.primal + scale:
            raise TaskError(
                f"completing the labels raised the objective from {certificate.primal:.9g} to {value:.9g}; "
                f"{name}.complete(w, x, y) must maximise ⟨w, psi⟩ among the outputs without loss"
            )
        if certificate.dual > self.objective + ROUNDING * (1 + abs(self.objective)):
            raise TaskError(
                f"the lower bound {certificate.dual:.9g} of the convex problem exceeds the objective "
                f"{self.objective:.9g} that the same completion had at the last weights: the decoder of {name} "
                "misses a maximum"
            )


def _moved(memory: Any, before: Oracle, after: Oracle) -> Any:
    """Return a solver's memory for one completion, moved to another completion; None if it cannot be moved."""
    if not isinstance(memory, ShiftingMemory):
        return None
    memory.shift(shifts(before, after))
    return memory
