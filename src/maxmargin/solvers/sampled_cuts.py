"""Sampled cuts: the 1-slack method with cuts built on samples, for kernels and large data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Flag, NumberArray, Real, Whole
from maxmargin.base.files.learnt import Inner, Learnt, RandomState
from maxmargin.base.files.objects import Fields
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.objective import primal
from maxmargin.problem.oracle.learnt_planes import plain_planes, read_planes
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.smaller_problems import restricted_to
from maxmargin.problem.planes.planes import Planes
from maxmargin.solvers.base import Solver
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.learnt_cuts import LearntCut
from maxmargin.solvers.qp import solve_master
from maxmargin.solvers.requirements import FINITE_C, FREE_WEIGHTS, Requirements
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step

ROUNDS = 50  # limit on the rounds of block ascent for the bound


class Drawn(NamedTuple):
    """A sample, and the planes of its examples."""

    examples: NDArray[np.int64]
    planes: Planes


class LearntSamples(Learnt):
    """The planes of all cuts of an owner."""

    def left(self, value: list[Drawn]) -> Any:
        return [[each.examples, plain_planes(each.planes)] for each in value]

    def refilled(self, found: Any, current: Any, owner: Sampling) -> list[Drawn]:
        if not isinstance(found, list) or len(found) != len(owner.cuts):
            raise ValueError("expected the samples of all cuts")
        return [self._read(each, owner.oracle) for each in found]

    def _read(self, found: Any, oracle: Oracle) -> Drawn:
        if not isinstance(found, list) or len(found) != 2:
            raise ValueError("expected a sample and its planes")
        examples, planes = found
        fits = isinstance(examples, np.ndarray) and examples.dtype == np.int64 and examples.ndim == 1
        if not fits or (len(examples) and (examples.min() < 0 or examples.max() >= oracle.n)):
            raise ValueError(f"expected numbers of examples below {oracle.n}")
        return Drawn(examples, read_planes(oracle.batch.plane_atoms, planes, len(examples)))


class Sampling:
    """The state of the method: the cuts, their planes, and the minimiser of the model."""

    learnt: ClassVar[Fields] = {
        "rng": RandomState(),
        "cuts": Inner(),
        "drawn": LearntSamples(),
        "w": NumberArray(float, "oracle.dim"),
        **dict.fromkeys(("square", "value"), Real()),
        "calls_before": Whole(),
        "ended": Flag(),
        "index": NumberArray(np.int64, None, least=0, below="oracle.n"),
        "plane": LearntCut(),
    }
    memory = None  # cuts from samples prove nothing

    def __init__(self, oracle: Oracle, seed: int):
        self.oracle, self.rng, self.calls_before = oracle, np.random.default_rng(seed), oracle.calls
        self.cuts = Cuts(atoms=oracle.batch.plane_atoms, memory=oracle.memory)
        self.drawn: list[Drawn] = []  # the planes of every cut
        self.w, self.square, self.value = np.zeros(oracle.dim), 0.0, 0.0
        self.ended = False
        self.index: NDArray[np.int64] = np.arange(0)  # the last sample
        self.plane: MeanPlane | None = None  # its cut, not yet added to the others

    def _check_learnt(self) -> None:
        planes = None if self.plane is None else self.plane.planes
        if self.plane is not None and (planes is None or len(planes.loss) != len(self.index)):
            raise ValueError("expected the planes of the last sample")


class SampledCuts(Solver, name="sampled_cuts"):
    """Cut an estimate of the mean slack instead of the mean slack, and stop when samples indicate convergence.

    A cut of the 1-slack method averages the most violated constraints of all n examples, and with a kernel every one of
    them is compared with every support vector: n × support kernel values a round. Here a round draws `sample` examples
    at random and cuts with their mean alone,

        a_t = (1/m) Σ_{i in S_t} vᵢ aᵢ,    offset_t = (1/m) Σ_{i in S_t} vᵢ bᵢ     (most violated at the current w)  (1)

    which is an unbiased estimate of the full cut. OneSlack has the same master problem. A sample of round t is
    independent of the weights w_t that it is used at, so that its mean slack R̂ is an unbiased estimate of R(w_t), too:

        stop when  ½‖w‖² + C R̂(w) - (½‖w‖² + C ξ) <= tol · (½‖w‖² + C R̂(w)),                                      (2)

    first for the cut's own sample and then for an independent one of `check` examples. The time of a round and of the
    check is constant in n. If slacks lie in [0, B], Hoeffding's inequality has |R̂ - R| <= ε with probability 1 - δ for
    samples of m >= (B²/2ε²) ln(2/δ) examples, whatever n is: with B = 1, ε = 0.05 and δ = 0.05 that is 738. (It holds
    for draws with and without replacement. These are without, so that a sample as large as the data is the data.)

    Sampled cuts may lie above the risk, so the value of their master problem bounds nothing. The certificate is
    computed at the end and on everything: the objective of w by a pass over all examples, the bound by block ascent
    (PlaneDual) over the constraints of the last cuts that carry weight. Only sampled examples take part in it, so that
    it is far from tight where these are a small share of the data; `certify` of an estimator computes a tight one.

    Yu and Joachims, "Training structural SVMs with kernels using sampled cuts" (KDD 2008): samples drawn uniformly, one
    cut per sample, a check of constant time. Details may differ from the paper. Sample weights, squared slacks and
    the bound at the end are additions.

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`.
    sample : int
        Examples per cut.
    check : int
        Examples of the final check.
    patience : int
        Rounds after which a cut without weight is dropped.
    cache_mb : float
        The limit of the planes in the bound.
    """

    sample: int = 256
    check: int = 1024
    patience: int = 20
    cache_mb: float = 1024.0
    max_passes: float = 1000
    measure_every: ClassVar[int] = 10**9  # the objective is measured at the end only

    requires: ClassVar[Requirements] = (Oracle, FINITE_C, FREE_WEIGHTS)

    def begin(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Sampling:
        for name in ("sample", "check"):
            check_whole(name, getattr(self, name), least=1)
        return Sampling(oracle, seed)

    def advance(self, oracle: Oracle, C: float, at: Sampling) -> Iterator[Step]:
        limit = at.calls_before + max(self.max_passes - 2, 1) * oracle.n
        while not at.ended:
            if at.plane is not None:  # the cut of the last step
                self._learn(oracle, C, at, at.plane)
                at.plane = None
            if oracle.calls >= limit:
                break
            at.index = _drawn(oracle, self.sample, at.rng)
            plane = oracle.mean_plane(at.w, at.index)
            guess = primal(at.square, plane.risk, C)
            if guess - at.value <= self.tol * guess:
                checked = primal(at.square, oracle.mean_plane(at.w, _drawn(oracle, self.check, at.rng)).risk, C)
                if checked - at.value <= self.tol * checked:
                    break
            at.plane = plane
            yield Step(at.w, guess=guess)
        if not at.ended:
            at.ended = True
            used = [at.drawn[t] for t in np.flatnonzero(at.cuts.alpha)]
            yield Step(at.w, self._bound(oracle, C, used, at.rng))

    def _learn(self, oracle: Oracle, C: float, at: Sampling, plane: MeanPlane) -> None:
        """Add this cut of the sample, and move to the minimiser of the model."""
        cuts = at.cuts
        cuts.add(plane)
        assert plane.planes is not None
        at.drawn.append(Drawn(at.index, plane.planes))
        cuts.weigh(solve_master(cuts.gram, cuts.offset, C, alpha=cuts.alpha).alpha)
        at.drawn = [at.drawn[t] for t in cuts.drop_idle(self.patience)]
        at.w, at.value = cuts.combined(oracle.dim), cuts.bound(oracle)
        at.square = oracle.space.inner(at.w, at.w)

    def _bound(self, oracle: Oracle, C: float, drawn: list[Drawn], rng: np.random.Generator) -> float:
        """Return a value of the n-slack dual, by block ascent over the planes of the cuts."""
        if not drawn:
            return 0.0
        examples = np.concatenate([each.examples for each in drawn])
        few, planes = restricted_to(oracle, Planes.stack([each.planes for each in drawn]))
        blocks = few.plane_dual(C, Limits(32, oracle.memory.of_cache(self.cache_mb), oracle.memory))
        for _ in range(2):  # a plane that is not violated at first may be violated later
            blocks.visit(examples, planes)
        everyone = np.unique(examples)
        for _ in range(ROUNDS):
            if blocks.visit(rng.permutation(everyone), steps=100).gain <= 0.01 * self.tol * abs(blocks.dual):
                break
        return blocks.bound()


def _drawn(oracle: Oracle, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return rng.choice(oracle.n, min(size, oracle.n), replace=False)
