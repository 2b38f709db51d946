"""Handwritten digits with an RBF kernel: MulticlassSVC against scikit-learn's SVC, and what sampled cuts save.

``usps-kernel``: MulticlassSVC, one model for all classes, and SVC, one for every pair of classes, with the same gamma.
libsvm's c times a sum is maxmargin's C = c·n times a mean. gamma was chosen among 1/256, 1/128 and 1/64 by threefold
cross-validation on 3000 random training images (2.7% for SVC; 1/64 is 0.03 points better for MulticlassSVC). On these
images 1, 3 and 10 are equally good as c of MulticlassSVC (3.0 to 3.1%), so that it was chosen by five folds of all
training images: 144 mistakes with c = 1, 123 with 3 and 123 with 10. SVC makes the fewest, 140, with c = 10.

``usps-sampled``: the same problem by cutting planes, with cuts of samples (sampled_cuts) and of all examples
(one_slack), and by bcfw, with memory for a sixth of the kernel matrix and for all of it. Values of the kernel function
are counted. sampled_cuts comes first and stops by itself; the others stop where their test error is as small as that of
its model, or at their own tolerance. Sampled cuts prove nothing while they train: what the last check and the
certificate cost, which are computed at the end and on everything, is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_usps
from benchmarks.timing import Contestant, Report, cpu_seconds, race
from maxmargin import solvers
from maxmargin.kernels import RBF
from maxmargin.solvers.base import Solver
from maxmargin.solvers.history import Record

PROBLEMS = ("usps-kernel", "usps-sampled")
GAMMA = 1 / 128
C = 3.0  # of MulticlassSVC, per training image
C_CUTS = 1.0  # of usps-sampled: cutting planes need more rounds for a larger one
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
        self._fit(self.problem.X[:1500], self.problem.y[:1500])  # enough to go the way that all of them go

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

SOLVERS: list[tuple[str, Solver, float]] = [
    ("sampled_cuts", solvers.SampledCuts(tol=0.1), SMALL_MB),  # first: the others stop when they are as good
    ("one_slack", solvers.OneSlack(tol=0.1, max_passes=150), SMALL_MB),
    ("sampled_cuts", solvers.SampledCuts(tol=0.1), LARGE_MB),
    ("one_slack", solvers.OneSlack(tol=0.1, max_passes=150), LARGE_MB),
    ("bcfw", solvers.BCFW(tol=0.1), LARGE_MB),
]
LOOK_EVERY = 5  # rounds between looks at the test error, which cost nothing that is counted


class Trace:
    """A training that is watched: how many kernel values it computes until its test error is as small as `enough`."""

    def __init__(self, problem: Problem, solver: Solver, cache_mb: float, similar: np.ndarray, enough: float):
        from maxmargin.problem.oracle.oracle import Oracle
        from maxmargin.tasks import Multiclass

        task = Multiclass(kernel=RBF(GAMMA, cache_mb=cache_mb))
        task.setup(problem.X, problem.y)
        batch = task.pack(problem.X, problem.y)
        self.oracle, self.kernel = Oracle(batch), batch.kernel
        self.similar, self.y_test, self.classes = similar, problem.y_test, np.asarray(task.classes_)
        self.solver, self.C, self.enough = solver, C_CUTS * len(problem.y), enough
        self.rounds = self.training = 0

    @property
    def evaluations(self) -> int:
        assert self.kernel is not None
        return int(self.kernel.rows.evaluations)

    def error(self, w: np.ndarray) -> float:
        scores = self.similar @ w.reshape(self.similar.shape[1], -1)
        return float(np.mean(self.classes[np.argmax(scores, axis=1)] != self.y_test))

    def look(self, now: Record) -> bool:
        """After every round; whether the model is good enough. The last round of sampled cuts is the certificate."""
        self.rounds += 1
        if not (isinstance(self.solver, solvers.SampledCuts) and np.isfinite(now.primal)):
            self.training = self.evaluations
        return self.rounds % LOOK_EVERY == 0 and self.error(now.w) <= self.enough

    def train(self) -> None:
        self.solution = self.solver.solve(self.oracle, self.C, callback=self.look)
        self.certificate = self.evaluations - self.training


def sampled(problem: Problem, report: Report) -> Table:
    """Train with every solver and count."""
    n = len(problem.y)
    similar = RBF(GAMMA).fit(problem.X).values(problem.X_test, problem.X)
    MaxmarginContestant(problem, 0.1).warm_up()
    table = Table(
        title=f"usps-sampled: {n} training images, RBF with gamma {GAMMA:.4g}, C = {C_CUTS:g} per image",
        caption="Kernel values in units of n², all pairs of training images.",
    )
    table.add_column("solver")
    for heading in (
        "kernel rows\nMB",
        "test\nerror %",
        "kernel values\nof training",
        "of check and\ncertificate",
        "relative\ngap",
        "rounds",
        "support",
        "CPU s",
    ):
        table.add_column(heading, justify="right")
    table.add_column("end")
    enough = -1.0
    for name, solver, cache_mb in SOLVERS:
        budget = cache_mb * (n / 7291) ** 2  # the same share of the matrix in quick runs
        report(f"{name}, {budget:.0f} MB")
        trace = Trace(problem, solver, budget, similar, enough)
        _, seconds = cpu_seconds(trace.train)
        w, end = trace.solution.w, trace.solution.certificate
        error = trace.error(w)
        enough = error if enough < 0 else enough
        report(f"{name}, {budget:.0f} MB: {100 * error:.2f}% with {trace.training / n**2:.2f} n² kernel values")
        table.add_row(
            name,
            f"{budget:.0f}",
            f"{100 * error:.2f}",
            f"{trace.training / n**2:.2f}",
            f"{trace.certificate / n**2:.2f}",
            f"{end.relative_gap:.2f}",
            str(trace.rounds),
            str(np.count_nonzero(w.reshape(n, -1).any(axis=1))),
            f"{seconds:.1f}",
            end.stop_reason,
        )
    return table
