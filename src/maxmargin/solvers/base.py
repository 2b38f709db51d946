"""Solver, Step, Solution: the loop around every algorithm.

An algorithm is a generator of steps. The loop here measures the objective, keeps the best model (or the last one, of
an algorithm that does not minimise the objective), decides when to stop and writes the certificate; no algorithm marks
its own work, and `tol` means the same for all of them.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf, isfinite, nan, sqrt
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_true
from maxmargin.base.errors import NotSeparable, SolverError, TaskError
from maxmargin.base.files.fields import Each, Flag, NumberArray, OneOf, Part, Real, Whole
from maxmargin.base.files.learnt import Keeper, Lines, going_on, learnt_of, relearn
from maxmargin.base.files.objects import Dropped, Field, Fields, IfDeclared, Sometimes
from maxmargin.base.interruptions import first_only, say_interrupted
from maxmargin.base.search import Search
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.objective import Certificate, relative_gap
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.requirements import check_requirements
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.planes.atoms import AtomRows

HISTORY = ("passes", "seconds", "primal", "dual", "guess")  # of every step


class Step(NamedTuple):
    """Where an algorithm is after a piece of work (for most: a pass over the data)."""

    w: Array  # may be the algorithm's working array: the loop copies what it keeps before it asks for the next step
    dual: float = -inf  # a lower bound on the optimum, proved in floating point
    risk: float | None = None  # R(w), where the algorithm's own oracle calls have measured it at exactly this w
    guess: float | None = None  # otherwise an estimate of P(w); the loop measures only when this looks converged
    memory: Any = None  # what the algorithm remembers (see Memory): the next run can start from it
    slacks: Array | None = None  # of every example at w, where the risk was measured by them
    hoped: float = -inf  # a running value of the bound; before it counts, the loop asks memory.bound() to prove it


@runtime_checkable
class Memory(Protocol):
    """What an algorithm remembers of the cuts that it has found."""

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """R(w) as far as these cuts know, which an undergenerating search at w may miss.

        `gains`: by how much other truths than those of the cuts have a higher ⟨w, Ψ⟩ (latent tasks).
        """

    def slacks(self, w: Array) -> Array | None:
        """The highest cut of every example at w, or 0; None where cuts are not of single examples."""


@runtime_checkable
class ShiftingMemory(Memory, Protocol):
    """Cuts that can follow a change of the truths, as training with hidden parts needs."""

    def shift(self, rows: AtomRows) -> None:
        """Make the cuts those of the problem whose truths' Ψ have changed by these rows, one per example."""


class Record(NamedTuple):
    """One line of the history, and what a callback receives."""

    passes: float
    seconds: float
    primal: float  # inf where it was not measured
    dual: float
    guess: float  # the algorithm's own estimate of the objective, or the measured one
    w: Array
    where: str = ""  # of training in several rounds: which one
    parts: int = 1  # of the data, each worked on in a place of its own
    round: int = 0  # of work on them

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.guess, self.dual)


@dataclass
class Solution:
    """The trained weights, their certificate, and what a later run can start from."""

    w: Array
    certificate: Certificate
    C: float
    history: list[dict[str, float]] = field(default_factory=list)
    memory: Any = None  # what the algorithm remembers (dual point, cuts): lets the next run start warm
    error: Exception | None = None  # what stopped training early, if something did
    rounds: list[Any] = field(default_factory=list)  # of latent training, one Round each
    risk: float = nan  # R(w), as far as it was measured

    saved: ClassVar[Fields] = {
        "certificate": Part(Certificate),
        "C": Real(least=0, finite=False),
        "history": Field(),
        "memory": IfDeclared(),  # an online solver's; checked by the model, which knows how long weights are
        "rounds": Field(),
        "risk": Real(finite=False),
        "w": Dropped(),
        "error": Dropped(),
    }

    @property
    def norm(self) -> float:
        """‖w‖, or the distance to the prior: what the objective has beside the risk."""
        square = 2 * (self.certificate.primal - self.C * self.risk)
        return sqrt(square) if square > 1e-14 * self.certificate.primal else 0.0  # not what rounding has left


Callback = Callable[[Record], Any]


class Solver:
    """Options are class attributes, declared once with their default; unknown names raise."""

    tol: float = 1e-2  # relative duality gap at which training stops
    max_passes: float = 1000  # limit on oracle calls, in passes over the data
    certified: ClassVar[bool] = True  # whether steps carry a lower bound
    keeps_last: ClassVar[bool] = False  # whether the model is the last point, whatever its P(w), and not the best one
    requires: ClassVar[tuple[type, ...]] = ()  # kinds of oracles and capabilities of batches: see requirements.py
    online: ClassVar[bool] = False  # whether training can go on with new examples (partial_fit)
    measure_every: ClassVar[int] = 10  # steps between exact measurements while the guess is far from tol

    def __init__(self, **options: Any):
        for name, value in options.items():
            if name not in self.options():
                raise TypeError(
                    f"{type(self).__name__} has no option {name!r}; it has {', '.join(sorted(self.options()))}"
                )
            setattr(self, name, value)

    saved: ClassVar[Fields] = {}
    saved_as: ClassVar[str] = "__init__"

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return {name: Sometimes(Field()) for name in cls.options()}

    @classmethod
    def options(cls) -> dict[str, Any]:
        """Name and default of every option."""
        kinds = [pair for c in reversed(cls.__mro__) for pair in inspect.get_annotations(c).items()]
        return {name: getattr(cls, name) for name, kind in kinds if "ClassVar" not in str(kind)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options, as scikit-learn asks for them: clone and GridSearchCV (solver__tol) work."""
        return {name: getattr(self, name) for name in self.options()}

    def set_params(self, **params: Any) -> Solver:
        self.__init__(**params)  # type: ignore[misc]
        return self

    def __repr__(self) -> str:
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if not _same(v, type(self).options()[k])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def steps(self, oracle: Any, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        """The algorithm. `start` is an earlier solution of the same data, perhaps for another C."""
        return self.advance(oracle, C, self.begin(oracle, C, seed, start))

    def begin(self, oracle: Any, C: float, seed: int, start: Solution | None) -> Any:
        """Where the algorithm is before its first step: an object that lists what it learns (files/learnt.py).

        It has `memory`, that of the last step. Nothing is asked of the oracle yet, as far as that can be helped.
        """
        raise NotImplementedError

    def advance(self, oracle: Any, C: float, at: Any) -> Iterator[Step]:
        """The steps from there on. `at` is kept up to date: while a step is out, it is all that the next ones need."""
        raise NotImplementedError

    @property
    def resumable(self) -> bool:
        """Whether a run that was stopped can go on in another process: the algorithm has `begin` and `advance`."""
        return type(self).steps is Solver.steps

    def solve(
        self,
        oracle: RiskOracle,
        C: float,
        start: Solution | None = None,
        callback: Callback | None = None,
        seed: int = 0,
        keeper: Keeper | None = None,
    ) -> Solution:
        """Run the algorithm until the certificate is good enough; with a keeper, from where an earlier run was."""
        check_requirements(oracle, self.requires, type(self).__name__)
        if oracle.geometry is not None and not isfinite(C):
            raise ValueError("a hard margin (C = inf) takes neither bounds nor a prior; use a large finite C")
        if oracle.geometry is not None and not self.certified:
            known = "'bcfw', 'n_slack', 'one_slack' or 'bundle'"
            raise ValueError(
                f"{type(self).__name__} takes neither bounds nor a prior; use a solver with a bound: {known}"
            )
        if keeper is not None and not self.resumable:
            raise ValueError(
                f"{type(self).__name__} takes no checkpoint: it has no begin and advance (docs/add_a_solver.md)"
            )
        return _Run(self, oracle, C, callback, keeper).finish(start, seed)


class _Run:
    """One run of a solver: clock, history, the point to keep: the best so far or the last (`Solver.keeps_last`)."""

    # What a run knows after a step, beside the algorithm and the oracle.
    learnt: ClassVar[Fields] = {
        "spent": Each(Real(least=0), size=2),
        "calls_before": Whole(),
        "best_primal": Real(finite=False),
        "best_dual": Real(finite=False),
        "hoped": Real(finite=False),
        "best_risk": Real(finite=False),
        "nothing": Real(),
        "unmeasured": Whole(),
        "risk_scale": OneOf(None, Real()),
        "fractional": Flag(),
        "best_slacks": OneOf(None, NumberArray(float, "oracle.n", finite=False)),
        "points": Each(OneOf(None, NumberArray(float, "oracle.dim"))),
        "history": Lines(HISTORY),
    }

    def __init__(
        self, solver: Solver, oracle: RiskOracle, C: float, callback: Callback | None, keeper: Keeper | None = None
    ):
        self.solver, self.oracle, self.C, self.callback, self.keeper = solver, oracle, C, callback, keeper
        self.begun = False  # whether the algorithm has made a step, or an earlier run of it
        self.fractional = False  # whether cuts of an earlier run are known that may be of no outputs
        self.began, self.cpu_began, self.calls_before = time.perf_counter(), time.process_time(), oracle.calls
        self.best_primal, self.best_dual, self.hoped = inf, -inf, -inf
        self.best_w: Array | None = None
        self.borrowed = False  # whether best_w is the algorithm's array, which the next step may change
        self.spare: Array | None = None  # of the last best point, for the next copy
        self.best_slacks: Array | None = None  # where its risk was measured by them
        self.best_risk = nan
        self.nothing = 0.0  # an objective that is no more than rounding, where a prior may leave nothing else
        self.last_w: Array | None = None
        self.unmeasured = 0
        self.memory: Any = None
        self.risk_scale: float | None = None  # R(0), to tell a hard margin's zero from rounding
        self.history: list[dict[str, float]] = []

    def finish(self, start: Solution | None, seed: int) -> Solution:
        error: Exception | None = None
        self.memory = None if start is None else start.memory  # what is known before the first step
        self.fractional = self.memory is not None and start is not None and not start.certificate.exact
        try:
            reason = self.loop(start, seed)
        except KeyboardInterrupt as pressed:
            first_only(pressed)
            reason = "interrupted"
        except Exception as failure:
            if not self.begun:
                raise
            if isinstance(failure, NotSeparable) and self.oracle.search is Search.OVERGENERATING:
                failure.add_note("maxmargin: this is proved of the relaxed problem; the true one may be separable")
            if self.last_w is None:  # nothing has been learnt: there is no model to keep
                raise
            reason, error = f"stopped by {type(failure).__name__}", failure
        if self.last_w is None:
            self.last_w = self.oracle.space.point(np.zeros(self.oracle.dim)) if start is None else start.w
        if error is None and self.best_w is not self.last_w:
            try:  # the last point too: it is usually better than the best measured one
                self.measure(Step(self.last_w))
            except KeyboardInterrupt as pressed:
                first_only(pressed, stopping=reason == "interrupted")
                reason = "interrupted"
            except Exception as failure:
                reason, error = f"stopped by {type(failure).__name__}", failure
        if reason == "interrupted":
            say_interrupted("last" if self.solver.keeps_last else "best")
        self.prove()
        self.recall()
        if error is None:
            try:
                self.test()
            except (TaskError, SolverError) as failure:
                reason, error = f"stopped by {type(failure).__name__}", failure
        if error is None and reason == "no more progress possible" and self.close_enough():
            reason = "converged"
        self.take_best()
        w = self.last_w if self.best_w is None else self.best_w
        upper: float | None = inf if self.oracle.search.estimates else None
        if upper is not None and error is None and reason != "interrupted":
            upper = proved_primal(self.oracle, w, self.C)
        search = self.oracle.search
        if search is Search.EXACT and self.fractional:
            search = Search.OVERGENERATING
        certificate = Certificate(
            primal=self.best_primal,
            dual=self.best_dual,
            converged=error is None and self.close_enough(),
            passes=self.passes,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            stop_reason=reason,
            search=search,
            method=self.oracle.method,
            upper=upper,
        )
        return Solution(w, certificate, self.C, self.history, self.memory, error, risk=self.best_risk)

    @property
    def passes(self) -> float:
        return (self.oracle.calls - self.calls_before) / self.oracle.n

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def cpu_seconds(self) -> float:
        return time.process_time() - self.cpu_began

    def loop(self, start: Solution | None, seed: int) -> str:
        steps = self.steps(start, seed)
        self.begun = True
        reason = self.reason() if self.history else None  # of an earlier run, after its last step
        if reason is not None:
            return reason
        for step in steps:
            self.last_w, self.memory = step.w, step.memory
            self.best_dual, self.hoped = max(self.best_dual, float(step.dual)), float(step.hoped)
            measured = self.measure(step) if self.should_measure(step) else inf
            guess = measured if isfinite(measured) or step.guess is None else float(step.guess)
            if self.record(step, measured, guess):
                return "stopped by the callback"
            if self.keeper is not None:
                self.own()
                self.keeper.offer(self.passes, self.state, last=self.passes >= self.solver.max_passes)
            reason = self.reason()
            if reason is not None:
                return reason
            self.own()
        return "no more progress possible" if self.solver.certified else "finished"

    def reason(self) -> str | None:
        """Why training ends after this step; None if it goes on."""
        self.recall()
        if self.close_enough(self.bound):
            self.prove()
            self.recall()
            if self.close_enough() or self.best_dual > self.best_primal:
                return "converged"
        return "max_passes reached" if self.passes >= self.solver.max_passes else None

    def steps(self, start: Solution | None, seed: int) -> Iterator[Step]:
        """Those of the algorithm, from its beginning or from where an earlier run was."""
        if not self.solver.resumable:
            return self.solver.steps(self.oracle, self.C, seed, start)
        found = None if self.keeper is None else self.keeper.found
        self.at = self.solver.begin(self.oracle, self.C, seed, None if found is not None else start)
        if found is not None:
            with going_on():
                relearn(self.oracle, found["oracle"])
                relearn(self.at, found["at"])
                relearn(self, found["run"])
            self.memory = self.at.memory
        return self.solver.advance(self.oracle, self.C, self.at)

    def state(self) -> dict[str, Any]:
        """All that decides how this run goes on, as plain data."""
        return {"oracle": learnt_of(self.oracle), "at": learnt_of(self.at), "run": learnt_of(self)}

    @property
    def spent(self) -> list[float]:
        """Seconds so far, and those of the processor."""
        return [self.seconds, self.cpu_seconds]

    @spent.setter
    def spent(self, found: list[float]) -> None:
        self.began, self.cpu_began = time.perf_counter() - found[0], time.process_time() - found[1]

    @property
    def points(self) -> list[Array | None]:
        """The best point and the last one, if that is another."""
        return [self.best_w, None if self.last_w is self.best_w else self.last_w]

    @points.setter
    def points(self, found: list[Array | None]) -> None:
        self.best_w, last = found
        self.last_w = self.best_w if last is None else last

    def should_measure(self, step: Step) -> bool:
        """Measuring costs a pass, so it waits until the estimate says that it will be worth it."""
        self.unmeasured += 1
        if step.risk is not None or step.guess is None:
            return True
        # Heights are seen before the steps that they cause, so the estimate is late: the true gap is about half of it.
        close = relative_gap(step.guess, self.bound) <= 2.5 * self.solver.tol
        return close or self.unmeasured >= self.solver.measure_every

    @property
    def bound(self) -> float:
        """The lower bound as far as it is known without more work."""
        return max(self.best_dual, self.hoped)

    def prove(self) -> None:
        """Replace the running value of the bound, in which rounding errors add up, by a proved one."""
        if self.hoped > self.best_dual:
            self.spare = None  # a bound takes as much memory
            self.best_dual, self.hoped = max(self.best_dual, self.memory.bound()), -inf

    def close_enough(self, bound: float | None = None) -> bool:
        """Whether the gap to this bound, or to the proved one, is within tol.

        A prior may leave nothing to learn: then the objective is as small as rounding lets it be, and has no digits.
        That is close enough where it is nothing beside the slacks that are at stake, too.
        """
        gap = relative_gap(self.best_primal, self.best_dual if bound is None else bound)
        return gap <= self.solver.tol or self.best_primal <= self.nothing

    def test(self) -> None:
        """Raise where what is to be certified contradicts itself: by the decoder's fault, or by the solver's."""
        if self.best_w is None or self.oracle.search.estimates:
            return
        oracle = self.oracle
        if isinstance(oracle, Oracle) and self.best_slacks is not None and isinstance(self.memory, Memory):
            remembered = self.memory.slacks(self.best_w)
            if remembered is not None:
                oracle.check_remembered(self.best_w, remembered, self.best_slacks)
        deny_contradiction(self.best_primal, self.best_dual, type(self.solver).__name__, oracle.batch.name)

    def recall(self) -> None:
        """An estimate that fell below the bound is outdated: measure that point by all cuts found since then."""
        if self.oracle.search.estimates and self.best_w is not None and self.best_primal < self.bound:
            risk = self.counted(remembered_risk(self.memory, self.best_w))
            self.best_primal, self.best_risk = self.oracle.objective(self.best_w, risk, self.C), risk

    def measure(self, step: Step) -> float:
        self.unmeasured = 0
        w = step.w
        if not isfinite(self.C):
            # A dual point only approaches the constraints of a hard margin; a slightly longer w satisfies them.
            w = w * (1 + self.solver.tol / 3)
        slacks, risk = step.slacks, step.risk
        if risk is None or not isfinite(self.C):
            slacks = self.oracle.slacks(w)
            risk = self.oracle.risk_of(slacks)
        if self.oracle.search.estimates:
            risk = max(risk, remembered_risk(self.memory, w))
        risk = self.counted(risk)
        value = float(self.oracle.objective(w, risk, self.C))
        # of points that are equally bad (inf), the latest
        if value <= self.best_primal or self.best_w is None or self.solver.keeps_last:
            if w is step.w and not self.borrowed:
                self.spare = self.best_w
            self.best_w, self.borrowed = w, w is step.w
            self.best_slacks, self.best_risk = slacks, risk
            self.best_primal, self.last_w = value, w
            if self.oracle.geometry is not None:
                self.nothing = self.oracle.negligible(w, self.C)
        return value

    def own(self) -> None:
        """Copy the best point, if it is still the algorithm's.

        As late as possible: most often there is no next step, and the bound is proved with one array less in memory.
        """
        if self.borrowed and self.best_w is not None:
            copied = np.empty_like(self.best_w) if self.spare is None else self.spare
            np.copyto(copied, self.best_w)
            if self.last_w is self.best_w:
                self.last_w = copied
            self.best_w, self.borrowed, self.spare = copied, False, None

    def take_best(self) -> None:
        """Make the best point an array of its own: that of the dual point, if it is still there, or else a copy."""
        if self.borrowed and isinstance(self.memory, BlockDual) and self.best_w is self.memory.w:
            self.best_w, self.borrowed = self.memory.take_weights(), False
        self.own()

    def counted(self, risk: float) -> float:
        """The risk, without what is rounding under a hard margin."""
        if isfinite(self.C):
            return risk
        if self.risk_scale is None:
            self.risk_scale = self.oracle.risk(np.zeros(self.oracle.dim))
        tiny = 1e-20 if self.oracle.formulation.squared else 1e-10  # the slacks are to be as small either way
        return 0.0 if risk <= tiny * self.risk_scale else risk

    def record(self, step: Step, measured: float, guess: float) -> bool:
        rounds = self.oracle.placement.shard_rounds
        line = Record(self.passes, self.seconds, measured, self.bound, guess, step.w, "", *rounds)
        self.history.append(
            {"passes": line.passes, "seconds": line.seconds, "primal": measured, "dual": line.dual, "guess": guess}
        )
        answer = None if self.callback is None else self.callback(line)
        return is_true(answer)


def deny_contradiction(primal: float, dual: float, solver: str, task: str) -> None:
    """Raise if a bound lies above an objective that was measured: one of them is not true."""
    if dual > primal:
        raise SolverError(
            f"{solver} states that no weights have an objective below {dual:.9g}, but {primal:.9g} was measured: a "
            f"fault of this solver, or of {task}, whose decoder returned too little. Compare with another solver, and "
            "check the task (testing.check_task)"
        )


def proved_primal(oracle: RiskOracle, w: Array, C: float) -> float:
    """An upper bound on P(w), which an undergenerating search only estimates; inf where nothing is proved."""
    return oracle.objective(w, oracle.proved_risk(w), C)


def remembered_risk(memory: Any, w: Array) -> float:
    """R(w) as far as the cuts know that an algorithm remembers."""
    return memory.risk(w) if isinstance(memory, Memory) else 0.0


def _same(value: Any, default: Any) -> bool:
    """Whether an option has its default value; options may be arrays."""
    return value is default or bool(np.array_equal(value, default))
