"""The runs of latent training: their rounds, their ends, and their form in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, ClassVar, NamedTuple

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import NumberArray, OneOf, Real, Text, Whole
from maxmargin.base.files.learnt import Keeper, Learnt, Lines, Within, going_on, learnt_of, relearn
from maxmargin.base.files.objects import Fields, declare, fields_of, restored
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.side_by_side import at_once
from maxmargin.solvers.history import HISTORY

ROUNDS = Lines(HISTORY, ("round", "restart"))  # the columns of a history in rounds
STOPPED = ("interrupted", "stopped by the callback")


class Round(NamedTuple):
    """One outer round: a completion, and the convex problem that it defines."""

    restart: int  # the number of the run, counted from 0
    objective: float  # the objective J of the weights that are kept at the end of the round
    bound: float  # a lower bound on the objective for the completion of this round
    passes: float  # decoder calls of the round, divided by the number of examples
    seconds: float  # the time of the round
    changed: int  # the number of examples whose hidden variables the new weights complete differently


declare(
    Round,
    {
        "restart": Whole(),
        "objective": Real(finite=False),
        "bound": Real(finite=False),
        "passes": Real(finite=False),
        "seconds": Real(finite=False),
        "changed": Whole(),
    },
)


class Completed(NamedTuple):
    """A starting point for a later run: a completion, and the solver's memory of its convex problem."""

    oracle: Oracle  # the oracle with the completed truths
    memory: Any


class Descended(NamedTuple):
    """The result of a run."""

    w: Array | None  # the best weights; None before the first round
    objective: float  # the objective J at w
    bound: float  # a lower bound on the objective for the last completion
    reason: str  # why the run ended
    calls: int  # the number of oracle calls
    history: list[dict[str, float]]  # the steps of the run
    rounds: list[Round]  # the outer rounds of the run
    error: Exception | None  # the exception that ended the run, if any
    completed: Completed | None  # a starting point for a later run


NOT_BEGUN = Descended(None, inf, -inf, "not begun", 0, [], [], None, None)


class LearntRounds(Learnt):
    """The rounds of a run."""

    def left(self, value: list[Round]) -> Any:
        return [each._asdict() for each in value]

    def refilled(self, found: Any, current: Any, owner: Any) -> list[Round]:
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise ValueError("expected rounds")
        return [restored(Round, fields_of(Round) or {}, each) for each in found]


class EndedRun:
    """The part of a finished run that a checkpoint keeps."""

    learnt: ClassVar[Fields] = {
        "w": OneOf(None, NumberArray(float, "oracle.dim")),
        **dict.fromkeys(("objective", "bound"), Real(finite=False)),
        "reason": Text(),
        "calls": Whole(),
        "history": ROUNDS,
        "rounds": LearntRounds(),
    }

    def __init__(self, oracle: Oracle, run: Descended = NOT_BEGUN):
        self.oracle = oracle
        self.w, self.objective, self.bound, self.reason, self.calls, self.history, self.rounds, *_ = run

    @property
    def descended(self) -> Descended:
        """The run, without its last completion."""
        own = self.w, self.objective, self.bound, self.reason, self.calls, self.history, self.rounds
        return Descended(*own, error=None, completed=None)


class KeptRuns:
    """Several runs in a checkpoint: the finished runs and, if runs are not made in parallel, the current one."""

    def __init__(self, oracle: Oracle, keeper: Keeper | None, restarts: int):
        self.oracle, self.keeper, self.restarts = oracle, keeper, restarts
        self.ended: dict[int, Descended] = {}
        self.number, self.open_run = -1, None  # the current run, and its state
        self.whole = True  # True if the current run can be saved
        found = None if keeper is None else keeper.found
        if found is not None:
            with going_on():
                self._read(found)
        self.whole = not at_once(oracle, self.restarts - len(self.ended))

    def _read(self, found: Any) -> None:
        if not isinstance(found, dict) or set(found) != {"restarts", "oracle", "ended", "number", "run"}:
            raise ValueError("expected the state of several runs")
        self.restarts = Whole(1, 2**31).read(found["restarts"], None)
        relearn(self.oracle, found["oracle"])
        if not isinstance(found["ended"], list) or len(found["ended"]) > self.restarts:
            raise ValueError(f"expected at most {self.restarts} finished runs")
        for each in found["ended"]:
            number = Whole(0, self.restarts - 1).read(each.get("number") if isinstance(each, dict) else None, None)
            run = EndedRun(self.oracle)
            relearn(run, {name: value for name, value in each.items() if name != "number"})
            self.ended[number] = run.descended
        self.number, self.open_run = Whole(-1, self.restarts - 1).read(found["number"], None), found["run"]

    def keeper_of(self, number: int, state: Callable[[], dict[str, Any]]) -> Within | None:
        """Return a keeper for the trainings within a run, whose own state is `state`."""
        if self.keeper is None or not self.whole:
            return None
        inner = None
        if self.open_run is not None and number == self.number:
            inner, self.open_run = self.open_run["inner"], None
        passes = sum(run.calls for run in self.ended.values()) / self.oracle.n
        return Within(self.keeper, inner, lambda kept: self._state(number, {"run": state(), "inner": kept}), passes)

    def run_of(self, number: int) -> Any:
        """Return the saved state of this run, if it is the current one."""
        if self.open_run is None or number != self.number:
            return None
        if not isinstance(self.open_run, dict) or set(self.open_run) != {"run", "inner"}:
            raise ValueError("expected the state of a run and of the solver inside it")
        return self.open_run["run"]

    def end(self, run: Descended) -> None:
        """Record the end of a run, and offer a checkpoint to the keeper."""
        healthy = run.error is None and run.reason not in STOPPED
        if self.keeper is not None and healthy and len(self.ended) < self.restarts:
            passes = sum(each.calls for each in self.ended.values()) / self.oracle.n
            self.keeper.offer(passes, lambda: self._state(-1, None))

    def _state(self, number: int, run: Any) -> dict[str, Any]:
        ended = [{"number": k, **learnt_of(EndedRun(self.oracle, each))} for k, each in self.ended.items()]
        return {
            "restarts": self.restarts,
            "oracle": learnt_of(self.oracle),
            "ended": ended,
            "number": number,
            "run": run,
        }
