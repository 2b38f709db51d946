"""CCCP: training with hidden variables, as a sequence of convex problems that any certified solver can solve."""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from maxmargin.base.checks import check_whole
from maxmargin.base.compile_clock import work_cpu_seconds, work_seconds
from maxmargin.base.files.learnt import Keeper
from maxmargin.base.interruptions import first_only, say_interrupted
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.dual.objective import Certificate
from maxmargin.problem.oracle.completions import completed
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.side_by_side import side_by_side, stop_runs
from maxmargin.solvers.base import Solver
from maxmargin.solvers.contradictions import proved_primal
from maxmargin.solvers.descent import Beginning, RunLimits, Watch, descend
from maxmargin.solvers.history import Callback, Record
from maxmargin.solvers.latent_runs import NOT_BEGUN, Descended, KeptRuns
from maxmargin.solvers.named import CONVEX, solver_among
from maxmargin.solvers.requirements import check_latent, check_requirements
from maxmargin.solvers.solution import Solution


class CCCP(Solver, name="cccp"):
    """Minimise the objective of latent structural SVMs (Yu and Joachims 2009, Eq. 5, with C times the mean),

        J(w) = ½‖w‖² + C/n Σᵢ vᵢ ( max_z [Δ(yᵢ,z) + ⟨w, Ψ(xᵢ,z)⟩] - max_{z explains yᵢ} ⟨w, Ψ(xᵢ,z)⟩ ),            (1)

    a difference of convex functions. A round completes every label at the current weights, zᵢ* = complete(w, xᵢ, yᵢ),
    and minimises the convex problem in which zᵢ* is the truth. That problem is an upper bound on J that is tight at w,
    so J never rises. This holds for every kind of rescaling and slack.

    Cuts are kept from round to round; only the terms of the truths are replaced. The convex problems are solved loosely
    at first. Training ends with a round that proves its initial weights to be a local optimum: for the hidden parts
    that explain the labels best at these weights, no weights have an objective lower by more than `tol`. (The final
    weights of the round are returned instead if they explain all hidden parts in the same way.) More cannot be proved,
    because (1) has many local optima. If the best solution of a convex problem is w = 0, which explains nothing, the
    round ends in a direction in which J falls, if the inner solver has met one. `restarts` runs begin at different
    guesses of the hidden parts, in parallel if the executor has several workers; the best is returned.

    Parameters
    ----------
    inner : str or Solver
        Name or solver object of a certified solver.
    restarts : int
        Number of runs from different guesses. The first begins at `start`, if given.
    rounds : int
        Limit on the rounds of a run.
    start : array or None
        Weights at which to complete the labels first, instead of the task's guess.
    """

    inner: Any = "bcfw"
    restarts: int = 1
    rounds: int = 50
    start: Any = None
    max_passes: float = 10_000  # limit for one run
    certified: ClassVar[bool] = True
    wraps: ClassVar[bool] = True

    def solve(
        self,
        oracle: RiskOracle,
        C: float,
        start: Solution | None = None,
        callback: Callback | None = None,
        seed: int = 0,
        keeper: Keeper | None = None,
    ) -> Solution:
        """Run the rounds, for every restart."""
        inner: Solver = clone(solver_among(self.inner, CONVEX))
        check_latent(inner, oracle, C, self.known)
        if not isinstance(oracle, Oracle) or oracle.batch.offers(Latent) is None:
            inner.set_params(tol=self.tol, max_passes=self.max_passes)
            return inner.solve(oracle, C, start, callback, seed, keeper)
        check_requirements(inner.name, inner.requires, oracle, C, CONVEX)
        for name in ("restarts", "rounds"):
            check_whole(name, getattr(self, name), least=1)
        if start is None and self.start is not None:
            start = _beginning(self.start, oracle, C)
        restarts = 1 if start is not None and start.memory is not None else self.restarts
        limits = RunLimits(inner, C, self.tol, self.rounds, self.max_passes)
        return _best_of(KeptRuns(oracle, keeper, restarts), limits, oracle, start, callback, seed)


def _best_of(
    kept: KeptRuns, limits: RunLimits, oracle: Oracle, start: Solution | None, callback: Callback | None, seed: int
) -> Solution:
    """Make several runs and return the best one with its certificate."""
    began, cpu_began = work_seconds(), work_cpu_seconds()
    watch = Watch(callback, kept.restarts, kept)
    runs, interrupted = _ended(_beginnings(kept.restarts, seed, start), watch, limits, oracle)
    interrupted = interrupted or any(run.reason == "interrupted" for run in runs)
    calls = sum(run.calls for run in runs)
    oracle.calls += calls
    error = next((run.error for run in runs if run.error is not None), None)
    best = min(runs, key=lambda run: (run.objective, run.w is None))
    if best.w is None and error is not None:
        raise error
    w = oracle.space.point(np.zeros(oracle.dim)) if best.w is None else best.w
    upper = None
    if oracle.search.estimates:
        whole = error is None and not interrupted
        upper = proved_primal(completed(oracle, w), w, limits.C) if whole else inf
    certificate = Certificate(
        primal=best.objective,
        dual=best.bound,
        converged=best.reason == "converged",
        passes=calls / oracle.n,
        seconds=work_seconds() - began,
        cpu_seconds=work_cpu_seconds() - cpu_began,
        stop_reason="interrupted" if interrupted else best.reason,
        rounds=len(best.rounds),
        search=oracle.search,
        method=oracle.method,
        upper=upper,
    )
    history = [line for run in runs for line in run.history]
    rounds = [each for run in runs for each in run.rounds]
    risk = (best.objective - 0.5 * oracle.space.square(w)) / limits.C
    return Solution(w, certificate, limits.C, history, best.completed, error, rounds, risk)


def _beginnings(restarts: int, seed: int, start: Solution | None) -> list[Beginning]:
    """Return the beginnings of all runs: the first at `start`, if given, and with the seed itself."""
    seeds = [np.random.SeedSequence([seed, r]) for r in range(restarts)]
    others = [Beginning(r, each, int(each.generate_state(1)[0])) for r, each in enumerate(seeds)]
    return [others[0]._replace(seed=seed, start=start), *others[1:]]


def _ended(
    beginnings: list[Beginning], watch: Watch, limits: RunLimits, oracle: Oracle
) -> tuple[list[Descended], bool]:
    """Return the ends of all runs, and whether Ctrl-C was pressed while waiting for them."""
    try:
        left = [beginning for beginning in beginnings if beginning.number not in watch.ended]
        for beginning, run in zip(left, side_by_side(oracle, descend, left, watch, limits), strict=True):
            if beginning.number not in watch.ended:  # it ran in another process
                watch.end(beginning.number, run)
                for line in run.history[-1:]:
                    record = Record(line["passes"], line["seconds"], line["primal"], line["dual"], line["guess"], run.w)
                    watch.step(beginning.number, record._replace(where="ended"))
    except KeyboardInterrupt as pressed:
        watch.stop.set()
        try:
            first_only(pressed)
        finally:
            stop_runs(oracle)  # waits for the runs in other threads, which check `stop` at their next step
        say_interrupted()
        return _in_order(beginnings, watch), True
    return _in_order(beginnings, watch), False


def _in_order(beginnings: list[Beginning], watch: Watch) -> list[Descended]:
    return [watch.ended.get(beginning.number, NOT_BEGUN) for beginning in beginnings]


def _beginning(weights: Any, oracle: Oracle, C: float) -> Solution:
    dim = oracle.dim
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
    return Solution(oracle.space.allowed(w), unknown, C)
