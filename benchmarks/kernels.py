"""Handwritten digits with an RBF kernel: MulticlassSVC against scikit-learn's SVC, and what sampled cuts save.

``usps-kernel``: MulticlassSVC, one model for all classes, and SVC, one for every pair of classes, with the same gamma.
libsvm's c times a sum is maxmargin's C = c·n times a mean. gamma and each one's c were chosen by the error of threefold
cross-validation on 3000 random training images, among 1/256, 1/128, 1/64 and 0.3, 1, 3, 10, 30. 1/128 was the best for
SVC (c = 10: 2.7%) and as good as any for MulticlassSVC (c = 1: 3.0%; 1/64 with c = 3: 2.97%).

``usps-sampled``: the same problem by cutting planes with cuts of all examples (one_slack), with cuts of samples
(sampled_cuts) and by bcfw, each with memory for a small part of the kernel matrix and for all of it. What is counted are
values of the kernel function. Sampled cuts prove nothing while they train; what the last check and the certificate, both
at the end, cost is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.timing import Contestant, Report, cpu_seconds, race
from maxmargin import solvers
from maxmargin.datasets import load_usps
from maxmargin.kernels import RBF
from maxmargin.solvers.base import Record, Solution, Solver

PROBLEMS = ("usps-kernel", "usps-sampled")
GAMMA = 1 / 128
C = 1.0  # of MulticlassSVC, per training image
C_SVC = 10.0
SMALL_MB = 64.0  # 1150 of the 7291 rows of the kernel matrix
LARGE_MB = 1024.0


@dataclass
class Problem:
    """Training and test part."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def usps(quick: bool) -> Problem:
    """All images, or 1000 training images."""
    X, y = load_usps("train")
    n = 1000 if quick else len(y)
    return Problem(X[:n].copy(), y[:n], *load_usps("test"))


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    report("reading the data")
    problem = usps(quick)
    return against_svc(problem, repeat, report) if name == "usps-kernel" else sampled(problem, report)


# --- usps-kernel


class SvcContestant(Contestant):
    name = "scikit-learn SVC (libsvm), one against one"
    note = ""

    def __init__(self, problem: Problem):
        self.problem = problem

    def train(self) -> None:
        from sklearn.svm import SVC

        self.model = SVC(C=C_SVC, gamma=GAMMA, cache_size=LARGE_MB).fit(self.problem.X, self.problem.y)


class MaxmarginContestant(Contestant):
    def __init__(self, problem: Problem, tol: float):
        self.problem, self.tol = problem, tol
        self.name = f"maxmargin MulticlassSVC, bcfw, gap {100 * tol:g}%"

    def _fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        from maxmargin import MulticlassSVC

        kernel = RBF(GAMMA, cache_mb=LARGE_MB)
        return MulticlassSVC(C=C * len(y), kernel=kernel, tol=self.tol, random_state=0).fit(X, y)

    def warm_up(self) -> None:
        self._fit(self.problem.X[:100], self.problem.y[:100])

    def train(self) -> None:
        self.model = self._fit(self.problem.X, self.problem.y)

    @property
    def note(self) -> str:
        end = self.model.certificate_
        share = self.model.kernel_evaluations_ / len(self.problem.y) ** 2
        return f"relative gap {end.relative_gap:.2g}, {end.passes:.0f} passes, {share:.2f} n² kernel values"


def against_svc(problem: Problem, repeat: int, report: Report) -> Table:
    """Race both."""
    contestants: list[Any] = [
        MaxmarginContestant(problem, 0.01),
        MaxmarginContestant(problem, 0.05),
        SvcContestant(problem),
    ]
    timings = race(contestants, repeat, report)
    table = Table(
        title=f"usps-kernel: {len(problem.y)} training images, RBF with gamma {GAMMA:.4g}",
        caption=f"C = {C:g} per image for maxmargin, {C_SVC:g} for SVC. Ratios are of minima.",
    )
    table.add_column("solver")
    for heading in ("training CPU s\nmin / median", "test\nerror %", "support", "time\n/ SVC's"):
        table.add_column(heading, justify="right")
    table.add_column("end")
    for contestant, timing in zip(contestants, timings, strict=True):
        error = 1 - contestant.model.score(problem.X_test, problem.y_test)
        table.add_row(
            contestant.name,
            f"{timing.minimum:.1f} / {timing.median:.1f}",
            f"{100 * error:.2f}",
            str(len(contestant.model.support_)),
            f"{timing.minimum / timings[-1].minimum:.1f}",
            contestant.note,
        )
    return table


# --- usps-sampled

SAMPLED = "sampled_cuts"
SOLVERS: list[tuple[str, Solver, float]] = [
    ("one_slack", solvers.OneSlack(tol=0.1), SMALL_MB),
    (SAMPLED, solvers.SampledCuts(tol=0.1), SMALL_MB),
    ("one_slack", solvers.OneSlack(tol=0.1), LARGE_MB),
    (SAMPLED, solvers.SampledCuts(tol=0.1), LARGE_MB),
    ("bcfw", solvers.BCFW(tol=0.1), LARGE_MB),
]
LOOK_EVERY = 5  # rounds between looks at the test error, which cost nothing that is counted


class Trace:
    """A training that is watched: kernel values computed so far, and the test error of the model of that moment."""

    def __init__(self, problem: Problem, solver: Solver, cache_mb: float, similar: np.ndarray):
        from maxmargin.oracle import Oracle
        from maxmargin.tasks import Multiclass

        task = Multiclass(kernel=RBF(GAMMA, cache_mb=cache_mb))
        task.setup(problem.X, problem.y)
        self.oracle = Oracle(task, task.pack(problem.X, problem.y))
        self.similar, self.y_test, self.classes = similar, problem.y_test, np.asarray(task.classes_)
        self.solver, self.C = solver, C * len(problem.y)
        self.seen: list[tuple[int, float]] = []
        self.rounds = 0

    @property
    def evaluations(self) -> int:
        kernel = self.oracle.batch.kernel
        assert kernel is not None
        return int(kernel.rows.evaluations)

    def error(self, w: np.ndarray) -> float:
        scores = self.similar @ w.reshape(self.similar.shape[1], -1)
        return float(np.mean(self.classes[np.argmax(scores, axis=1)] != self.y_test))

    def look(self, now: Record) -> None:
        """After every round; at the last one of sampled cuts the certificate is there already."""
        self.rounds += 1
        if not np.isfinite(now.primal):
            self.before_certificate = self.evaluations
        if self.rounds % LOOK_EVERY == 0:
            self.seen.append((self.evaluations, self.error(now.w)))

    def train(self) -> Solution:
        solution = self.solver.solve(self.oracle, self.C, callback=self.look)
        self.end = self.evaluations
        if not isinstance(self.solver, solvers.SampledCuts):
            self.before_certificate = self.end  # every round is part of the certificate
        self.final = self.error(solution.w)
        self.seen.append((self.before_certificate, self.final))
        return solution

    def until(self, error: float) -> int:
        """Kernel values computed when the test error was first this small."""
        return min((count for count, found in self.seen if found <= error), default=self.end)


def sampled(problem: Problem, report: Report) -> Table:
    """Train with every solver and count."""
    n = len(problem.y)
    similar = RBF(GAMMA).fit(problem.X).values(problem.X_test, problem.X)
    MaxmarginContestant(problem, 0.1).warm_up()
    traces: list[tuple[str, float, Trace, Solution, float]] = []
    for name, solver, cache_mb in SOLVERS:
        budget = cache_mb * n**2 / 7291**2  # the same share of the matrix in quick runs
        report(f"{name}, {budget:.0f} MB")
        trace = Trace(problem, solver, budget, similar)
        solution, seconds = cpu_seconds(trace.train)
        traces.append((name, budget, trace, solution, seconds))
    target = max(trace.final for name, _, trace, _, _ in traces if name in ("one_slack", SAMPLED))
    table = Table(
        title=f"usps-sampled: {n} training images, RBF with gamma {GAMMA:.4g}, C = {C:g} per image",
        caption="Kernel values in units of n², all pairs of training images.",
    )
    table.add_column("solver")
    for heading in (
        "kernel rows\nMB",
        "test\nerror %",
        "kernel values\nof training",
        "of the\ncertificate",
        f"until test error\n<= {100 * target:.2f}%",
        "relative\ngap",
        "rounds",
        "support",
        "CPU s",
    ):
        table.add_column(heading, justify="right")
    for name, budget, trace, solution, seconds in traces:
        counts = (trace.before_certificate, trace.end - trace.before_certificate, trace.until(target))
        training, certificate, until = (f"{count / n**2:.2f}" for count in counts)
        table.add_row(
            name,
            f"{budget:.0f}",
            f"{100 * trace.final:.2f}",
            training,
            certificate,
            until,
            f"{solution.certificate.relative_gap:.3f}",
            str(trace.rounds),
            str(np.count_nonzero(solution.w.reshape(n, -1).any(axis=1))),
            f"{seconds:.1f}",
        )
    return table
