"""Sampled cuts: the 1-slack method with cuts built on samples, for kernels and large data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.checks import check_whole
from maxmargin.objective import primal
from maxmargin.oracle import Oracle
from maxmargin.planes import Planes
from maxmargin.room import room
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.qp import solve_master

ROUNDS = 50  # of block ascent for the bound, at most


class SampledCuts(Solver):
    """Cut an estimate of the mean slack instead of the mean slack, and stop when samples say that it is enough.

    A cut of the 1-slack method averages the most violated constraints of all n examples, and with a kernel every one of
    them is compared with every support vector: n × support kernel values a round. Here a round draws `sample` examples
    at random and cuts with their mean alone,

        a_t = (1/m) Σ_{i in S_t} vᵢ aᵢ,    offset_t = (1/m) Σ_{i in S_t} vᵢ bᵢ     (most violated at the current w)  (1)

    which is an unbiased estimate of the full cut. The master problem is that of OneSlack. A sample of round t is
    independent of the weights w_t that it is used at, so that its mean slack R̂ is an unbiased estimate of R(w_t), too:

        stop when  ½‖w‖² + C R̂(w) - (½‖w‖² + C ξ) <= tol · (½‖w‖² + C R̂(w)),                                      (2)

    first for the cut's own sample and then for an independent one of `check` examples. The time of a round and of the
    check is constant in n. If slacks lie in [0, B], Hoeffding's inequality has |R̂ - R| <= ε with probability 1 - δ for
    samples of m >= (B²/2ε²) ln(2/δ) examples, whatever n is: with B = 1, ε = 0.05 and δ = 0.05 that is 738. (It holds
    for draws with and without replacement. These are without, so that a sample as large as the data is the data.)

    Sampled cuts may lie above the risk, so the value of their master problem bounds nothing. The certificate is
    computed at the end and on everything: the objective of w by a pass over all examples, the bound by block ascent
    (DualBlocks) over the constraints of the last cuts that carry weight. Only sampled examples take part in it, so that
    it is far from tight where these are a small share of the data; `certify` of an estimator computes a tight one.

    Yu and Joachims, "Training structural SVMs with kernels using sampled cuts" (KDD 2008): samples drawn uniformly, one
    cut per sample, a check of constant time; told from memory, details may differ. Sample weights, squared slacks and
    the bound at the end are additions.
    """

    sample: int = 256  # examples per cut
    check: int = 1024  # examples of the last check
    patience: int = 20  # rounds after which a cut without weight is forgotten
    cache_mb: float = 1024.0  # of the planes in the bound
    max_passes: float = 1000
    measure_every: ClassVar[int] = 10**9  # the objective is measured at the end only

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        if not np.isfinite(C):
            raise ValueError("sampled cuts need a finite C; for a hard margin use 'n_slack', 'one_slack' or 'bcfw'")
        for name in ("sample", "check"):
            check_whole(name, getattr(self, name), least=1)
        rng, limit = np.random.default_rng(seed), oracle.calls + max(self.max_passes - 2, 1) * oracle.n
        cuts = Cuts()
        drawn: list[Drawn] = []  # of every cut, what it is made of
        w, square, value = np.zeros(oracle.dim), 0.0, 0.0
        while oracle.calls < limit:
            index = _drawn(oracle, self.sample, rng)
            plane = oracle.mean_plane(w, index)
            guess = primal(square, plane.risk, C)
            if guess - value <= self.tol * guess:
                checked = primal(square, oracle.mean_plane(w, _drawn(oracle, self.check, rng)).risk, C)
                if checked - value <= self.tol * checked:
                    break
            yield Step(w, guess=guess)
            cuts.add(plane)
            assert plane.planes is not None
            drawn.append(Drawn(index, plane.planes))
            cuts.weigh(solve_master(cuts.gram, cuts.offset, C, alpha=cuts.alpha).alpha)
            drawn = [drawn[t] for t in cuts.drop_idle(self.patience)]
            w, value = cuts.combined(oracle.dim), cuts.bound(oracle)
            square = oracle.inner(w, w)
        yield Step(w, self._bound(oracle, C, [drawn[t] for t in np.flatnonzero(cuts.alpha)], rng))

    def _bound(self, oracle: Oracle, C: float, drawn: list[Drawn], rng: np.random.Generator) -> float:
        """A value of the n-slack dual: block ascent over the planes that the cuts are made of."""
        if not drawn:
            return 0.0
        examples = np.concatenate([each.examples for each in drawn])
        few, planes = oracle.restricted_to(Planes.stack([each.planes for each in drawn]))
        blocks = few.plane_dual(C, slots=32, cache_mb=room().of_cache(self.cache_mb))
        for _ in range(2):  # a plane that is not violated at first may be so later
            blocks.visit(examples, planes)
        everyone = np.unique(examples)
        for _ in range(ROUNDS):
            if blocks.visit(rng.permutation(everyone), steps=100).gain <= 0.01 * self.tol * abs(blocks.dual):
                break
        return blocks.bound()


def _drawn(oracle: Oracle, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return rng.choice(oracle.n, min(size, oracle.n), replace=False)


class Drawn(NamedTuple):
    """A sample, and the planes of its examples."""

    examples: NDArray[np.intp]
    planes: Planes
