"""Packed sequences, fully or partially labelled, and their search."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index, read_only
from maxmargin.base.files.array_folder import ArrayFolder, Excerpt
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.inputs.labels.labels import Labels
from maxmargin.inputs.packed.packed_rows import verify_rows
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.problem.contract.batch import Offered
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.missing_labels import MissingLabels
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.capabilities.summing_shards import SummingShards
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes, Rows
from maxmargin.structures.sequences.chain_flows import MOST_LABELS, ChainFlows, LabelledChains, product_type
from maxmargin.structures.sequences.chain_gibbs import ChainGibbs, SoftChains, continued
from maxmargin.structures.sequences.chain_space import TrueLabels
from maxmargin.structures.sequences.chain_sums import ChainSums
from maxmargin.structures.sequences.links import ChainLinks
from maxmargin.structures.sequences.scored import ScoredChains

# the most positions of a sequence whose products every visit computes anew, instead of storing planes
MOST_PRODUCTS = 256
LOSS_TABLE = 4_000_000  # entries of the table (positions × labels × losses) up to which slack rescaling is exact


class Unrolled(NamedTuple):
    """The units of a batch's sequences, concatenated; sequence j is at bounds[j]:bounds[j + 1]."""

    units: NDArray[np.int64]
    bounds: NDArray[np.int64]


class ChainBatch(AtomBatch, DistributionDual, Latent, MissingLabels, OwnDual, RescaledSearch, Smooth, SummingShards):
    """Sequences of units: sequence i owns the units offsets[i]:offsets[i + 1].

    The loss of the labels z is Σ_t factors[t] · cost[rows[t], z_t]. The searches only read these arrays, so any other
    loss that is a sum over positions is another table `cost`; `Choices.prices` computes it, also for Chain.loss.
    """

    call_cost = 6.0  # measured on letters and chunking; compiled decoders are almost as fast as the cache

    def __init__(
        self,
        task: Any,
        atoms: Atoms,
        offsets: NDArray[np.int64],
        rows: Labels,
        factors: Array,
        allowed: NDArray[np.bool_],
        cost: Array,
        whole_losses: bool,
    ):
        super().__init__(task, len(offsets) - 1, atoms)
        self.offsets = offsets
        # (units,): rows of `allowed`, the possible labels of each unit; the first K rows are the single labels
        self.rows = rows
        # (R, K) each: the labels allowed at a position, and the costs of the others
        self.allowed, self.cost = allowed, cost
        self.factors = factors  # (units,): the factor of the cost of a mistake
        self.whole_losses = whole_losses  # slack rescaling can be exact
        self.labels = rows  # the truth: `rows`, completed where they leave the label open
        self.longest = int(np.max(np.diff(offsets), initial=0))

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is Latent and not self.task.latent:
            return None
        if capability is RescaledSearch and not self.whole_losses:
            return None
        if capability is SummingShards and (self.source is not None or self.kernel is not None):
            return None
        return super().offers(capability)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(units,): True if exactly one label is allowed."""
        if len(self.allowed) == self.allowed.shape[1]:
            return np.broadcast_to(np.True_, len(self.rows))
        return np.asarray(self.rows < self.allowed.shape[1])

    @property
    def n_informative(self) -> Array:
        """(sequences,): the number of positions whose labels say something, so that a mistake can cost something."""
        if not self.allowed.all(axis=1).any():
            return np.diff(self.offsets)[self.ids].astype(float)
        tells = ~np.asarray(self.allowed.all(axis=1))[self.rows]
        return np.diff(np.concatenate([[0], np.cumsum(tells)])[self.offsets])[self.ids].astype(float)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if self.source is not None and len(self):
            begin, end = self._unit_range()
            for name in ("rows", "labels"):  # arrays that are not in the folder
                if isinstance(state[name], np.ndarray):
                    state[name] = Excerpt.of(state[name], begin, end)
        return state

    def summing_shard(self, index: Index) -> Self:
        """Return these sequences with the units from the first one's to the last one's, numbered from 0."""
        shard = self.take(index)
        begin, end = shard._unit_range()
        shard._keep_units(begin, end)
        shard.task = self.task.searching()
        return shard

    def _keep_units(self, begin: int, end: int) -> None:
        """Drop all other units; of their sequences only the numbers are kept."""
        rows, labels = self.rows[begin:end], self.labels[begin:end]
        self.rows, self.labels = rows, rows if self.labels is self.rows else labels
        self.atoms, self.factors = self.atoms.between(begin, end), self.factors[begin:end]
        self.offsets = np.clip(self.offsets, begin, end) - begin

    def _unit_range(self) -> tuple[int, int]:
        """Return the range of units from the first to the last of these sequences."""
        return int(self.offsets[self.ids.min()]), int(self.offsets[self.ids.max() + 1])

    def verify(self, source: ArrayFolder) -> None:
        """Verify the features and labels of the sequences from the first of these to the last."""
        if len(self) == 0:
            return
        if self.offsets is source.arrays["offsets"]:  # otherwise they came with the batch
            source.verify("offsets", int(self.ids.min()), int(self.ids.max()) + 2)
        begin, end = self._unit_range()
        for name in ("rows", "factors"):
            if name in source.arrays:
                source.verify(name, begin, end)
        verify_rows(source, begin, end)

    def with_labels(self, labels: Labels) -> ChainBatch:
        """Return this batch with other completed labels."""
        completed = copy(self)
        completed.labels = labels
        return completed

    def informative(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.n_informative)

    def stretches(self) -> tuple[ChainBatch, NDArray[np.intp]]:
        """Return the stretches of known labels as separate sequences, and the numbers of their owners here."""
        known = self.known
        borders = np.flatnonzero(known[1:] != known[:-1]) + 1
        offsets = np.union1d(self.offsets, borders)
        owner = np.searchsorted(self.offsets, offsets[:-1], side="right") - 1
        place = np.full(len(self.offsets) - 1, -1)
        place[self.ids] = np.arange(len(self))
        ids = np.flatnonzero(known[offsets[:-1]] & (place[owner] >= 0))
        cut = copy(self)
        cut.offsets, cut.ids, cut.labels = offsets, ids, self.rows
        cut.task = self.task.cut_out()
        return cut, place[owner[ids]]

    def unrolled(self, memory: MemoryBudget = UNLIMITED) -> Unrolled:
        """Return all units of these sequences, one sequence after another."""
        from maxmargin.structures.sequences.compiled import chain

        bounds = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(self.offsets[self.ids + 1] - self.offsets[self.ids], out=bounds[1:])
        units = memory.zeros(int(bounds[-1]), np.int64)
        chain.unroll(read_only(self.offsets), self.ids, bounds, units)
        return Unrolled(units, bounds)

    def block_dual(self, problem: DualProblem, earlier: BlockDual | None = None) -> BlockDual | None:
        """Return flows if the problem permits them and the products of positions are few or fit into memory."""
        memory = problem.limits.memory
        K, size = self.cost.shape[1], np.dtype(product_type(self.atoms)).itemsize
        products = size * float(np.sum(np.diff(self.offsets)[self.ids].astype(float) ** 2))
        # On disk, stored products would not be faster than computing them.
        keeps = products <= min(0.5 * problem.limits.cache_mb * 2**20, memory.left)
        large = not (keeps or self.longest <= MOST_PRODUCTS) or K > MOST_LABELS
        plain = problem.formulation.plain and np.isfinite(problem.C)
        plain = plain and self.kernel is None and not self.task.latent and K > 1
        if large or not plain or isinstance(earlier, PlaneDual):  # earlier PlaneDual: single steps made no progress
            return None
        if isinstance(earlier, ChainFlows):
            earlier.move_to(problem)
            return earlier
        view, known = self.unrolled(memory), (self.labels, self.rows, self.factors)
        at = view.units
        if len(at) < len(self.rows) or not np.array_equal(self.ids, np.arange(len(self))):
            known = (self.labels[at], self.rows[at], self.factors[at])
        chains = LabelledChains(self.atoms, self.task.allowed_, self.cost, view.bounds, at, *known)
        return ChainFlows(chains, problem, keeps)

    # --- search

    def scored(self) -> Any:
        """Return these sequences with their truths, ready to be scored and searched, as ScoredChains."""
        view = self.unrolled()
        names = self.task.names
        return ScoredChains(self.atoms, view.units, self.task.allowed_, view.bounds, names, self._truths(view.units))

    def _truths(self, at: NDArray[np.int64]) -> TrueLabels:
        """Return the true labels of these units, and the costs of mistakes there."""
        return TrueLabels(self.labels[at], self.rows[at], self.cost, self.factors[at])

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        scored = self.scored()
        return scored.planes_of(scored.best_of_own(scored.scores(w), augment).found)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search exactly: losses are whole numbers, so the best score for every possible loss can be computed."""
        scored = self.scored()
        return scored.planes_of(scored.most_violated(scored.scores(w), formulation.value))

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Compute tangents by the sums of compiled/chain_sums.py, at b times the scores."""
        from maxmargin.structures.sequences.compiled import chain

        view, K, b = self.unrolled(), self.task.n_labels_, softness.sharpness
        at, truth, first, last = view.units, self.labels[view.units], view.bounds[:-1], view.bounds[1:] - 1
        lengths = np.diff(view.bounds)
        scores, (T, s, f) = self.atoms.scores(w, at), self.task.links(w)
        right = scores[np.arange(len(at)), truth]
        inner = np.ones(len(at), dtype=bool)
        inner[first] = False
        right[inner] += T[truth[:-1], truth[1:]][inner[1:]]
        right[first] += s[truth[first]]
        right[last] += f[truth[last]]
        if softness.margin:
            chain.augment(scores, self.cost, self.rows[at], softness.margin * self.factors[at])
        scores *= b
        pairs = np.zeros((K, K))
        sums = ChainSums(self.task.names, scores, ChainLinks(b * T, b * s, b * f), view.bounds)
        log_z, p = sums.summed(weights, pairs)
        slacks = log_z / b - np.add.reduceat(right, first)
        # Add the truth, minus the expectation of labels, links, starts and ends.
        each = np.repeat(weights, lengths)
        p *= -each[:, None]
        links, start, end = self.task.cut(total[: self.task.first_])
        links -= pairs
        start += p[first].sum(axis=0)
        end += p[last].sum(axis=0)
        np.add.at(links, (truth[:-1][inner[1:]], truth[1:][inner[1:]]), each[1:][inner[1:]])
        np.add.at(start, truth[first], weights)
        np.add.at(end, truth[last], weights)
        p[np.arange(len(at)), truth] += each
        self.atoms.add_units(total, at, p)
        # Scores are sums of `terms` products whose absolute values sum to at most `largest`; every step of the
        # recursion adds K of their exponentials. An error of a score causes a relative error of the same size in a
        # probability.
        largest = self.atoms.largest(w) + float(np.max(self.cost, initial=0.0)) * softness.margin * float(
            np.max(self.factors[at], initial=0.0)
        )
        known = np.concatenate([each[np.isfinite(each)].ravel() for each in (T, s, f)])
        paths = lengths * largest + (lengths + 1) * float(np.max(np.abs(known), initial=0.0))
        errors = 4 * gamma(self.atoms.terms + 2 * K + 16) * (paths + lengths / b)
        mass = float(np.dot(each, 2 * self.atoms.lengths[at])) + float(np.dot(weights, 2 * (lengths + 1)))
        steps = 4.0 * (K + 8) * self.longest + 4 * b * float(np.max(errors, initial=0.0)) / UNIT
        return Tangents(slacks, errors, mass, steps + len(at))

    def gibbs_dual(
        self, weights: Array, softness: Softness, C: float, memory: MemoryBudget, earlier: Any = None
    ) -> ChainGibbs:
        view = self.unrolled(memory)
        at = view.units
        known = (self.labels[at], self.rows[at], self.factors[at])
        chains = SoftChains(self.atoms, self.task.allowed_, self.cost, view.bounds, at, *known)
        return continued(earlier, chains, weights, softness, C, memory)

    def guessed(self, rng: np.random.Generator) -> ChainBatch:
        return self.completed(rng.standard_normal(self.dim))

    def completed(self, w: Array) -> ChainBatch:
        """Complete the labels by Viterbi's algorithm over those that are allowed at every position."""
        unknown = np.concatenate([[0], np.cumsum(~self.known)])
        open_ones = np.flatnonzero(unknown[self.offsets[self.ids + 1]] > unknown[self.offsets[self.ids]])
        scored = self.take(open_ones).scored()
        scores = scored.scores(w)
        scores.unary[~self.allowed[scored.truths.rows]] = -np.inf
        best = scored.best_of_own(scores)
        if not np.isfinite(best.values).all():
            i = self.ids[open_ones[np.flatnonzero(~np.isfinite(best.values))[0]]]
            raise ValueError(
                f"sequence {i}: every choice of its missing labels contains a forbidden transition; if "
                "the data do not contain all labels, name them in classes"
            )
        labels = self.labels.copy()
        labels[scored.units] = best.found
        return self.with_labels(labels)

    def shifts_to(self, after: ChainBatch) -> Rows:
        """Return Ψ(x, truth in `after`) - Ψ(x, truth in self) for every sequence."""
        scored = after.scored()
        dpsi: Rows = scored.planes_of(self.labels[scored.units]).dpsi
        return dpsi


def whole_losses(cost: Array, factors: Array, offsets: NDArray[np.int64]) -> bool:
    """Return whether losses are whole numbers, and few enough for a table over them for every sequence."""
    different = factors[:1] if factors.strides == (0,) else factors
    if (cost != np.rint(cost)).any() or (different != np.rint(different)).any():
        return False
    all_same = factors.strides == (0,)
    most = (np.diff(offsets) * factors[0] if all_same else np.add.reduceat(factors, offsets[:-1])) * cost.max()
    return bool(np.max(np.diff(offsets) * cost.shape[1] * (most + 1)) <= LOSS_TABLE)
