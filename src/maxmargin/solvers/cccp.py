"""CCCP: training with hidden parts, as a sequence of convex problems that any certified trainer solves."""

from __future__ import annotations

import time
import warnings
from copy import copy
from dataclasses import replace
from math import inf, isfinite
from numbers import Integral
from threading import Event, Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from maxmargin.errors import TaskError, TrainingInterrupted
from maxmargin.executors import Serial
from maxmargin.objective import Certificate, relative_gap
from maxmargin.oracle import Oracle
from maxmargin.solvers.base import Callback, Record, Solution, Solver, proved_primal
from maxmargin.task import Array, Batch

STOPPED = ("interrupted", "stopped by the callback")
LOOSE = 0.1  # relative gap of the first round's convex problem after a guess; halved in every round
SHRINKING = 0.25 ** np.arange(6)  # lengths at which a direction away from w = 0 is tried
ROUNDING = 1e-7  # by which two measurements of the same objective may differ


class Round(NamedTuple):
    """One outer round: a completion, and the convex problem that it makes."""

    restart: int
    objective: float  # J at its end, of the weights that are kept
    bound: float  # no weights are better than this for the completion of this round
    passes: float
    seconds: float
    changed: int  # examples whose hidden parts its weights explain otherwise than before


class Completed(NamedTuple):
    """What a later run can start from: a completion and the trainer's memory of its convex problem."""

    batch: Batch
    state: Any


class CCCP(Solver):
    """Minimise the objective of latent structural SVMs (Yu and Joachims 2009, Eq. 5, with C times the mean),

        J(w) = ½‖w‖² + C/n Σᵢ vᵢ ( max_z [Δ(yᵢ,z) + ⟨w, Ψ(xᵢ,z)⟩] - max_{z explains yᵢ} ⟨w, Ψ(xᵢ,z)⟩ ),            (1)

    a difference of convex functions. A round completes every label at the current weights, zᵢ* = complete(w, xᵢ, yᵢ),
    and minimises the convex problem in which zᵢ* is the truth. That problem lies above J and touches it at w, so J
    never rises. Every kind of rescaling and slack is treated in the same way.

    Cuts survive a round: only the truths' share of them is replaced. The convex problems are solved loosely at first.
    Training ends with a round that proves its first weights good: for the hidden parts that they explain best, no
    weights have an objective better by more than `tol`. They are a local optimum, and more cannot be said, for (1) has
    many. (The last weights are kept instead if they explain all hidden parts as the first ones do.) Where a convex
    problem has nothing better than w = 0, which explains nothing, the round ends in a direction in which J falls, if
    the trainer has come to one. `restarts` runs begin at different guesses of the hidden parts, side by side where the
    executor has several workers; the best is kept.

    inner : name or solver object of a certified trainer.
    restarts : runs from different guesses. The first begins at `start`, if given.
    rounds : limit on the rounds of a run.
    start : weights at which to complete the labels first, instead of the task's guess.
    """

    inner: Any = "bcfw"
    restarts: int = 1
    rounds: int = 50
    start: Any = None
    max_passes: float = 10_000  # of one run
    certified: ClassVar[bool] = True

    def solve(
        self,
        oracle: Oracle,
        C: float,
        start: Solution | None = None,
        callback: Callback | None = None,
        seed: int = 0,
    ) -> Solution:
        """Run the rounds; with several restarts, of every one."""
        inner = self._inner()
        if not oracle.task.latent:
            inner.set_params(tol=self.tol, max_passes=self.max_passes)
            return inner.solve(oracle, C, start, callback, seed)
        if not isfinite(C):
            raise ValueError("latent training needs a finite C: under a hard margin no guess would be good enough")
        for name in ("restarts", "rounds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")
        if start is None and self.start is not None:
            start = _beginning(self.start, oracle.dim, C)
        return self._best_of(
            1 if start is not None and start.state is not None else self.restarts, oracle, C, start, callback, seed
        )

    def _inner(self) -> Solver:
        from maxmargin.solvers import as_solver

        inner: Solver = clone(as_solver(self.inner))
        if not inner.certified or isinstance(inner, CCCP):
            raise ValueError(
                "hidden parts need a solver with a certificate ('bcfw', 'n_slack', 'one_slack', 'bundle'), not "
                f"{inner!r}"
            )
        return inner

    def _best_of(
        self, restarts: int, oracle: Oracle, C: float, start: Solution | None, callback: Callback | None, seed: int
    ) -> Solution:
        began, cpu_began = time.perf_counter(), time.process_time()
        stop, lock = Event(), Lock()
        own, executor = oracle, oracle.executor
        if oracle.batch.kernel is not None:
            executor = Serial()  # one cache of kernel rows, which compiled code reads without a lock
        elif restarts > 1 and oracle.executor.workers > 1:  # whole runs side by side: no run may wait for the same pool
            own = copy(oracle)
            own.executor = Serial()
        runs = [
            _Descent(self, own, C, _Watch(callback, stop, lock, r, restarts), np.random.SeedSequence([seed, r]), r)
            for r in range(restarts)
        ]
        runs[0].start = start
        runs[0].seed = seed
        interrupted = False
        try:
            for _ in executor.map(_Descent.run, runs):
                pass
        except KeyboardInterrupt:
            interrupted = True
            stop.set()
            oracle.executor.close()  # waits for the runs in other threads, which see `stop` at their next step
            warnings.warn(
                "training was interrupted; the model is the best one so far", TrainingInterrupted, stacklevel=5
            )
        interrupted = interrupted or any(run.reason == "interrupted" for run in runs)
        oracle.calls += sum(run.calls for run in runs)
        error = next((run.error for run in runs if run.error is not None), None)
        best = min(runs, key=lambda run: (run.objective, run.w is None))
        if best.w is None:
            if error is not None:
                raise error
            best.w = np.zeros(oracle.dim)
        upper = None
        if oracle.search == "undergenerating":
            whole = error is None and not interrupted
            upper = proved_primal(oracle.completed(best.w), best.w, C) if whole else inf
        certificate = Certificate(
            primal=best.objective,
            dual=best.bound,
            converged=best.reason == "converged",
            passes=sum(run.calls for run in runs) / oracle.n,
            seconds=time.perf_counter() - began,
            cpu_seconds=time.process_time() - cpu_began,
            stop_reason="interrupted" if interrupted else best.reason,
            rounds=len(best.rounds),
            search=oracle.search,
            method=oracle.batch.method,
            upper=upper,
        )
        state = None if best.current is None else Completed(best.current.batch, best.state)
        history = [line for run in runs for line in run.history]
        rounds = [each for run in runs for each in run.rounds]
        return Solution(best.w, certificate, C, history, state, error, rounds)


class _Watch:
    """The callback of one run among several: says where training is, and stops when any of them was stopped."""

    def __init__(self, callback: Callback | None, stop: Event, lock: Lock, restart: int, restarts: int):
        self.callback, self.stop, self.lock = callback, stop, lock
        self.run = f"run {restart + 1} of {restarts}, " if restarts > 1 else ""

    def __call__(self, record: Record) -> bool:
        try:
            with self.lock:  # runs in other threads call the same function
                answer = None if self.callback is None else self.callback(record)
        except KeyboardInterrupt:
            self.stop.set()
            raise
        if isinstance(answer, bool | np.bool_) and answer:
            self.stop.set()
        return self.stop.is_set()


class _Descent:
    """One run: the rounds from one guess."""

    def __init__(
        self, solver: CCCP, oracle: Oracle, C: float, watch: _Watch, seeds: np.random.SeedSequence, number: int
    ):
        self.solver, self.oracle, self.C, self.watch, self.number = solver, oracle, C, watch, number
        self.rng, self.seed = np.random.default_rng(seeds), int(seeds.generate_state(1)[0])
        self.start: Solution | None = None
        self.began = time.perf_counter()
        self.calls = 0
        self.w: Array | None = None
        self.objective, self.bound = inf, -inf
        self.reason = "not begun"
        self.current: Oracle | None = None
        self.state: Any = None
        self.history: list[dict[str, float]] = []
        self.rounds: list[Round] = []
        self.error: Exception | None = None
        self.tried: Array | None = None  # the last weights but 0 that the trainer came to in this round

    def run(self) -> None:
        self.began = time.perf_counter()
        if self.watch.stop.is_set():
            return
        try:
            self.reason = self._descend(*self._begin())
        except Exception as failure:
            self.reason, self.error = f"stopped by {type(failure).__name__}", failure
        finally:
            if self.current is not None:
                self.calls = self.current.calls - self.oracle.calls

    def _begin(self) -> tuple[Oracle, Solution | None]:
        """The first completion, and what the first convex problem can start from."""
        start = self.start
        if start is None:
            self.current = self.oracle.guessed(self.rng)
            return self.current, None
        self.current = current = self.oracle.completed(start.w)
        self.w, self.objective = start.w.copy(), self._measured(start.w, current)
        if not isinstance(start.state, Completed):
            return current, start
        before = copy(self.oracle)
        before.batch = start.state.batch
        return current, replace(start, state=_moved(start.state.state, before, current))

    def _descend(self, current: Oracle, start: Solution | None) -> str:
        tightest = self.solver.tol / 2
        # A loose solution may be worse than good first weights, and its completion would throw them away.
        tol = max(LOOSE, tightest) if self.start is None else tightest
        while len(self.rounds) < self.solver.rounds:
            began, calls = time.perf_counter(), current.calls
            solution = self._convex(current, start, tol)
            w, bound, self.state = solution.w, solution.certificate.dual, solution.state
            if solution.error is not None:
                self._keep_unmeasured(solution)
                raise solution.error
            try:
                after = current.completed(w)
                moves = current.shifts_to(after)
                value = self._measured(w, after)
            except BaseException:  # Ctrl-C too
                self._keep_unmeasured(solution)
                raise
            current.calls = after.calls
            if self.oracle.search == "undergenerating" and solution.state is not None:  # cuts may know of worse outputs
                value = max(value, current.objective(w, solution.state.risk(w, moves @ w), self.C))
                if self.w is not None:  # whose completion is the current one
                    known = current.objective(self.w, solution.state.risk(self.w), self.C)
                    self.objective = max(self.objective, known)
            self._check(solution, moves @ w, value)
            if not np.any(w) and solution.certificate.stop_reason not in STOPPED:
                try:
                    w, value, after = self._away_from_zero(value, after)
                    moves = current.shifts_to(after)
                except BaseException:
                    self._keep_unmeasured(solution)
                    raise
                current.calls = after.calls
            changed = int(np.count_nonzero(np.diff(moves.indptr)))
            better = value < self.objective
            # The bound is one for the completion at the last weights: it says how good those are.
            self.bound = max(self.bound, bound)
            converged = relative_gap(self.objective, self.bound) <= self.solver.tol
            if better and not (converged and changed):
                self.w, self.objective = w, value
                self.bound = -inf if changed else self.bound
            seconds, passes = time.perf_counter() - began, (after.calls - calls) / after.n
            self.rounds.append(Round(self.number, self.objective, bound, passes, seconds, changed))
            if solution.certificate.stop_reason in STOPPED:
                self.watch.stop.set()  # all other runs too
                return solution.certificate.stop_reason
            if converged or relative_gap(self.objective, self.bound) <= self.solver.tol:
                return "converged"
            if after.calls - self.oracle.calls >= self.solver.max_passes * after.n:
                return "max_passes reached"
            stuck = not better or not changed
            if stuck and tol <= tightest:  # the trainer has done what it can for this completion
                return "no more progress possible"
            tol = max(tightest, tol / (8 if stuck else 2))
            if not stuck:
                self.state = None  # a Ctrl-C in the middle of the next line must not leave half-moved cuts
                moved = _moved(solution.state, current, after)
                self.state, self.current, current = moved, after, after
            start = replace(solution, w=w, state=self.state)
        return "rounds reached"

    def _convex(self, current: Oracle, start: Solution | None, tol: float) -> Solution:
        """The problem with the hidden parts fixed."""
        passes = (current.calls - self.oracle.calls) / current.n
        seconds = time.perf_counter() - self.began
        where = f"{self.watch.run}round {len(self.rounds) + 1}"
        self.tried = None

        def watch(record: Record) -> bool:
            if np.any(record.w):
                self.tried = record.w.copy()  # which may be the trainer's working array
            later = record._replace(passes=passes + record.passes, seconds=seconds + record.seconds, where=where)
            return self.watch(later)

        inner = self.solver._inner().set_params(tol=tol, max_passes=max(self.solver.max_passes - passes, 1.0))
        solution = inner.solve(current, self.C, start, watch, self.seed)
        for line in solution.history:
            line["passes"] += passes
            line["seconds"] += seconds
            line["round"] = float(len(self.rounds))
            line["restart"] = float(self.number)
        self.history += solution.history
        return solution

    def _away_from_zero(self, value: float, after: Oracle) -> tuple[Array, float, Oracle]:
        """Weights with a smaller J than w = 0 has, their J and their completion; those of 0 where none are found.

        For a poor guess, w = 0 is often the best that the convex problem has. It explains all hidden parts equally
        well, so that its completion says nothing and the next round would begin in the dark. But J may fall in a
        direction that the trainer has tried: there labels are completed anew, and the convex problem knows nothing of
        that. The completion is the same all along a direction.
        """
        nowhere = np.zeros(self.oracle.dim)
        if self.tried is None:
            return nowhere, value, after
        there = after.completed(self.tried)
        for length in SHRINKING:
            w = length * self.tried
            reached = self._measured(w, there)
            if reached < value:
                return w, reached, there
        after.calls = there.calls
        return nowhere, value, after

    def _keep_unmeasured(self, solution: Solution) -> None:
        """After an error nothing more is asked of the task; the convex problem's objective is no less than J."""
        if self.w is None or solution.certificate.primal < self.objective:
            self.w, self.objective, self.bound = solution.w, solution.certificate.primal, -inf

    def _measured(self, w: Array, completed_at_w: Oracle) -> float:
        """J(w)."""
        return completed_at_w.objective(w, completed_at_w.risk(w), self.C)

    def _check(self, solution: Solution, gains: Array, value: float) -> None:
        """J must not exceed what the convex problem measured at the same w, nor may its bound exceed the last J."""
        if self.oracle.search != "exact":
            return
        name, certificate = type(self.oracle.task).__name__, solution.certificate
        scale = ROUNDING * (1 + abs(certificate.primal))
        worst = int(np.argmin(gains)) if len(gains) else 0
        if len(gains) and gains[worst] < -scale:
            raise TaskError(
                f"{name} broke its promise on example {self.oracle.batch.ids[worst]}: complete(w, x, y) returned an "
                f"output whose score is lower than that of its last completion by {-gains[worst]:.6g}"
            )
        # Elsewhere the objective may be measured by a search, whose upper bounds are no closer for a better truth.
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


def _moved(state: Any, before: Oracle, after: Oracle) -> Any:
    """A trainer's memory of one completion's problem, as one of another's; None where it has none that can move."""
    if not hasattr(state, "shift"):
        return None
    state.shift(before.shifts_to(after))
    return state


def _beginning(weights: Any, dim: int, C: float) -> Solution:
    try:
        w = np.array(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"start must be {dim} finite weights, got {weights!r}") from None
    if w.shape != (dim,) or not np.isfinite(w).all():
        raise ValueError(
            f"start must be {dim} finite weights, got an array of shape {w.shape}"
            + (" with NaN or infinity" if w.shape == (dim,) else "")
        )
    unknown = Certificate(inf, -inf, False, 0.0, 0.0, 0.0, "start")
    return Solution(w, unknown, C)
