"""ChainGibbs: a dual point of smooth risks, one distribution of label sequences per example.

The dual of ½‖w‖² + Σ_i cap_i (1/b) log Σ_z exp b [mΔ(z) - ⟨w, δΨ_i(z)⟩], with cap_i = C v_i / n (tangents.py), is

    D(α) = Σ_i cap_i (E_α_i [mΔ] + H(α_i) / b) - ½‖w‖²,    w = Σ_i cap_i (Ψ(x_i, y_i) - E_α_i Ψ)                  (1)

over distributions α_i of label sequences with the entropies H(α_i). They are stored as α_i(z) = exp θ_i(z) / Z, with
scores θ_i of labels at positions and of neighbours, a form that visits (compiled/gibbs.py) preserve: a sequence of T
positions with K labels needs TK + K² + 2K numbers, not one for every label sequence.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Real
from maxmargin.base.files.learnt import InPlace
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.base.rounding import gamma, lowered_dual, raised_square
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.dual.caps import caps
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.sequences.chain_sums import steps_to_all
from maxmargin.structures.sequences.compiled.sum_arrays import (
    GibbsPoint,
    GibbsProblem,
    GibbsTrial,
    LinkMasses,
    SumScratch,
)

FIRST_RATE = 0.5  # initial η
AT_ONCE = 2**14  # rows of a table that are processed together, so that temporary arrays stay small
HEAD_START = 8.0  # the least amount by which true labels score higher than others in the first θ


class SoftChains(NamedTuple):
    """Labelled sequences: sequence i has units[bounds[i]:bounds[i + 1]]."""

    atoms: Atoms  # the features of units
    allowed: Array  # (K² + 2K,): 0, or -inf for forbidden links
    cost: Array  # (rows, K): the table of costs
    bounds: NDArray[np.int64]  # (n + 1,): where each sequence begins
    units: NDArray[np.int64]  # the unit of every position
    truth: Labels  # the true label of every position
    rows: Labels  # rows of `cost`
    factors: Array  # factors of these costs


class ChainGibbs:
    """A dual point: θ of every sequence, with the marginals, w and D that follow from it."""

    learnt: ClassVar[Fields] = {
        **dict.fromkeys(("theta", "p", "pairs", "worth", "sizes", "rate", "w"), InPlace()),
        "links": InPlace(finite=False),
        "dual": Real(),
    }

    def _check_learnt(self) -> None:
        """Check that exactly the forbidden links have no score."""
        if not np.array_equal(self.links == -np.inf, np.tile(self.chains.allowed == -np.inf, (len(self.links), 1))):
            raise ValueError("expected scores for the allowed links and for no others")
        if np.isnan(self.links).any() or (self.links == np.inf).any():
            raise ValueError("expected finite scores of links")
        if any(each.min(initial=0.0) < 0 for each in (self.p, self.pairs, self.rate)):
            raise ValueError("expected probabilities and rates >= 0")

    def __init__(
        self, chains: SoftChains, weights: Array, softness: Softness, C: float, memory: MemoryBudget = UNLIMITED
    ):
        self.chains, self.softness = chains, softness
        K = self.K = chains.cost.shape[1]
        n, lengths = len(weights), np.diff(chains.bounds)
        longest = int(np.max(lengths, initial=1))
        self.theta, self.p = (memory.zeros((len(chains.units), K), np.float64) for _ in range(2))
        self.links = memory.zeros((n, len(chains.allowed)), np.float64)
        self.pairs = memory.zeros((n, K, K), np.float64)
        self.links[:] = chains.allowed
        self.worth, self.sizes, self.rate = np.empty(n), np.empty(n), np.full(n, FIRST_RATE)
        c, steps = chains, steps_to_all(chains.allowed[: K * K].reshape(K, K))
        self._problem = GibbsProblem(
            c.atoms.arrays, c.bounds, c.units, c.rows, c.factors, c.cost, *softness, c.allowed, steps
        )
        self._point = GibbsPoint(self.theta, self.links, self.p, self.pairs, self.worth, self.sizes, self.rate)
        self._scratch = LinkMasses.empty(K), SumScratch.of(longest, K)
        self._trial = GibbsTrial.of(longest, K)
        self.w = np.zeros(chains.atoms.dim)
        self._begin(HEAD_START)
        self.move_to(weights, C)
        if self.dual < 0:
            # With a head start h, ‖w‖² falls like exp(-2h) and the contribution of the entropies like exp(-h). With
            # this h the dual is positive, and the first visits need not undo a w that is far too long.
            worth = float(np.dot(self.cap, self.worth))
            self._begin(HEAD_START + 1.0 + float(np.log((worth - self.dual) / worth)))
            self.refresh()

    def _begin(self, head_start: float) -> None:
        """Set every α to a distribution in which labels are mostly true."""
        self.theta[:] = 0.0
        self.theta[np.arange(len(self.theta)), self.chains.truth] = head_start

    def move_to(self, weights: Array, C: float) -> None:
        """Keep all distributions for another C."""
        self.cap = caps(weights, C)
        self.refresh()

    def visit(self, order: NDArray[np.intp]) -> float:
        """Visit these sequences in turn, and return the gain of D."""
        from maxmargin.structures.sequences.compiled.gibbs import visit_all

        gain = visit_all(order, self._problem, self.cap, self.w, self._point, *self._scratch, self._trial)
        self.dual += gain
        return gain

    def refresh(self) -> None:
        """Recompute everything that follows from θ, so that rounding errors of many visits do not accumulate."""
        from maxmargin.structures.sequences.compiled.gibbs import all_distributions

        all_distributions(self._problem, self._point, *self._scratch)
        self._write_weights()
        self.dual = float(np.dot(self.cap, self.worth)) - 0.5 * float(np.dot(self.w, self.w))

    def _write_weights(self) -> None:
        """Compute w of (1)."""
        c, K = self.chains, self.K
        self.w[:] = 0.0
        first, last = c.bounds[:-1], c.bounds[1:] - 1
        each = np.repeat(self.cap, np.diff(c.bounds))
        for begin in range(0, len(c.units), AT_ONCE):
            some = np.arange(begin, min(begin + AT_ONCE, len(c.units)))
            c.atoms.add_units(self.w, c.units[some], self._shares(some, each[some]))
        inner = np.ones(len(c.truth), dtype=bool)
        inner[first] = False
        links = self.w[: K * K].reshape(K, K)
        links -= np.tensordot(self.cap, self.pairs, 1)
        np.add.at(links, (c.truth[:-1][inner[1:]], c.truth[1:][inner[1:]]), each[inner])
        self.w[K * K : K * K + K] += self._shares(first, self.cap).sum(axis=0)
        self.w[K * K + K : K * K + 2 * K] += self._shares(last, self.cap).sum(axis=0)

    def _shares(self, at: NDArray[np.int64], caps: Array) -> Array:
        """Return the multiples of labels that w contains at these positions, for sequences with these caps."""
        shares = -caps[:, None] * self.p[at]
        shares[np.arange(len(at)), self.chains.truth[at]] += caps
        return shares

    def bound(self) -> float:
        """Return a lower bound on D(α), proved in floating point, for the α that θ defines: see rounding.py."""
        self.w = np.empty_like(self.w)  # a new array, because the old one may be a measured point that must not change
        self.refresh()
        c, b, K = self.chains, self.softness.sharpness, self.K
        lengths = np.diff(c.bounds)
        finite = _row_peaks(self.links)
        high = np.maximum.reduceat(_row_peaks(self.theta), c.bounds[:-1])
        terms = 8.0 * (K + 8) * lengths + K * K + 64
        errors = terms * gamma(1) * (self.sizes + (lengths * (high + 1) + (lengths + 1) * finite) / b)
        worth = float(np.dot(self.cap, self.worth - 2 * errors))
        mass = float(np.dot(np.repeat(self.cap, lengths), 2 * c.atoms.lengths[c.units]))
        mass += float(np.dot(self.cap, 2.0 * (lengths + 1)))
        paid = float(np.dot(self.cap, self.sizes))
        return lowered_dual(worth, paid, raised_square(self.w), mass, float(terms.max()) + len(c.units) + len(lengths))


def _row_peaks(table: Array) -> Array:
    """Return the largest absolute finite value of every row."""
    peaks = np.empty(len(table))
    for begin in range(0, len(table), AT_ONCE):
        some = np.abs(table[begin : begin + AT_ONCE])
        some[np.isinf(some)] = 0.0
        peaks[begin : begin + AT_ONCE] = some.max(axis=1)
    return peaks


def continued(
    earlier: Any, chains: SoftChains, weights: Array, softness: Softness, C: float, memory: MemoryBudget
) -> ChainGibbs:
    """Return the dual point of an earlier run on the same data, moved to this C, or a new one if there is none."""
    same = isinstance(earlier, ChainGibbs) and earlier.softness == softness
    if same and len(earlier.chains.units) == len(chains.units) and len(earlier.cap) == len(weights):
        earlier.move_to(weights, C)
        return earlier
    return ChainGibbs(chains, weights, softness, C, memory)
