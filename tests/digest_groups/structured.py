"""Digests of StructuredSVM: tasks of users in plain Python, and those of the library."""

from __future__ import annotations

from math import inf

import numpy as np
from example_tasks import Bags, Interval, Pairs, Sloppy, Tags, bag_data, interval_data, tag_data

import maxmargin as mm
from digest_groups.data import chains, linked, table
from digest_groups.fits import CERTIFIED, ONLINE, SOLVERS, group
from maxmargin import solvers, tasks
from maxmargin.problem.contract.examples import Examples


class HalfGood(Sloppy):
    """An inexact decoder with a ratio that it claims."""

    ratio = 0.5


class MixedTags(Tags):
    """psi is listed for some outputs and written out for others."""

    def psi(self, x, z):
        indices, values = super().psi(x, z)
        if z != self.tags_[0]:
            return indices, values
        full = np.zeros(self.dim)
        np.add.at(full, indices, values)
        return full


class GuessedBags(Bags):
    """Bags with a decoder, a completion and a guess of its own; its outputs are not listed."""

    def pack(self, X, Y):
        return Examples(self, X, Y)

    def argmax(self, w, x, y=None):
        return max(self.outputs(x), key=lambda z: self.psi(x, z) @ w + (0.0 if y is None else self.loss(y, z)))

    def complete(self, w, x, y):
        return max(((y, k) for k in range(len(x))), key=lambda z: self.psi(x, z) @ w)

    def guess(self, rng, x, y):
        return y, int(rng.integers(len(x)))


class SloppyBags(GuessedBags):
    """The same, with a decoder that does not see the last instances of large bags."""

    search = mm.Search.UNDERGENERATING

    def outputs(self, x):
        return super().outputs(x[:2])


class Spelling(tasks.JointKernelTask):
    """Outputs compared by a joint kernel."""

    def joint_kernel(self, first, second):
        (x, z), (x2, z2) = first, second
        return float(len(set(x) & set(x2)) * len(set(z) & set(z2)))

    def loss(self, y, z):
        return float(y != z)

    def outputs(self, x):
        return ["colour", "honour", "labour"]


@group("structured: outputs")
def _(fits):
    fit = fits(mm.StructuredSVM, *interval_data(10, longest=6), task=Interval(), C=2.0, max_passes=20)
    for solver in SOLVERS:
        fit.formulations(prefix=f"{solver} ", solver=solver)


@group("structured: argmax")
def _(fits):
    fit = fits(mm.StructuredSVM, *linked(), task=Pairs(), C=5.0, max_passes=20)
    for solver in ("bcfw", "one_slack", "subgradient"):
        fit.formulations(prefix=f"{solver} ", solver=solver)


@group("structured: sparse psi")
def _(fits):
    X, Y = tag_data(12)[0], ["abc"[i % 3] for i in range(12)]
    fit = fits(mm.StructuredSVM, X, Y, task=Tags(), C=3.0)
    fit.solvers(prefix="", max_passes=20)
    fit("mixed", task=MixedTags())
    fit("weighted", given={"sample_weight": np.linspace(0.5, 2, len(X))})
    fit("weights of 0", given={"sample_weight": [0, 1, 2, 1] * 3})
    fit("n_jobs", n_jobs=2)
    fit("seed 7", random_state=7, max_passes=3)
    fit.certify(solver="perceptron")
    fit.path([0.1, 1.0, 10.0])
    for solver in CERTIFIED:
        fit.warm(4.0, f"warm {solver}", C=1.0, solver=solver)
    for solver in ONLINE:
        fit.partial([(X, Y), (X[:6], Y[:6])], f"partial {solver}", solver=solver, C=1.0)


@group("structured: inexact search")
def _(fits):
    fit = fits(mm.StructuredSVM, *interval_data(10, longest=6), task=Sloppy(), C=2.0, max_passes=20)
    for solver in CERTIFIED:
        fit(solver, solver=solver)
        fit(f"{solver} ratio", solver=solver, task=HalfGood())
    fit.formulations()
    fit.certify(task=HalfGood())


@group("structured: latent")
def _(fits):
    fit = fits(mm.StructuredSVM, *bag_data(12, largest=4), task=Bags(), C=1.0)
    fit.solvers((*CERTIFIED, "sampled_cuts", "cccp"), prefix="", max_passes=200)
    for task in (Bags(listed=True), GuessedBags()):
        fit.formulations(prefix=f"{type(task).__name__} ", task=task, max_passes=200)
    for inner in CERTIFIED:
        restarts = solvers.CCCP(inner=inner, restarts=2, rounds=8)
        fit(f"restarts {inner}", solver=restarts)
        fit(f"restarts {inner} n_jobs", solver=restarts, n_jobs=2)
        fit(f"inexact {inner}", task=SloppyBags(), solver=inner, max_passes=200)
    fit("one round", solver=solvers.CCCP(rounds=1))
    fit("callback", callback=lambda record: record.passes > 4)
    fit("start", solver=solvers.CCCP(inner="n_slack", start=[0.5, -0.5, 1.0, 0.0, 0.2, 0.1]))
    fit.path([0.3, 1.0], max_passes=200)
    fit.warm(3.0, max_passes=200)
    fit.certify(max_passes=200)


@group("structured: joint kernel")
def _(fits):
    X, Y = ["color", "honor", "labor", "colr", "honr", "labr"], ["colour", "honour", "labour"] * 2
    fit = fits(mm.StructuredSVM, X, Y, task=Spelling(), C=10.0)
    fit.solvers((*CERTIFIED, "sampled_cuts", "subgradient"), prefix="", max_passes=20)
    fit.formulations()


@group("structured: tasks of the library")
def _(fits):
    fit = fits(mm.StructuredSVM, *chains(), task=tasks.Chain(), C=5.0)
    fit("chain")
    fit("multiclass", task=tasks.Multiclass(), data=table())
    fit("hard margin", data=chains(noise=0.1), C=inf, max_passes=60)
