"""Oracle: batch × executor -> planes. Solvers access the problem only through it.

A solver asks for cuts of single examples (`planes`), for one averaged cut (`mean_plane`), or for the risk. The oracle
translates the formulation (margin or slack rescaling, plain or squared slacks) into searches of the batch, counts the
decoder calls, spreads them over the executor (searches.py, placement.py), measures the risk including the error that
rounding may hide (search_record.py), and refuses decoders that miss outputs that they found before (missed_outputs.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.files.learnt import Inner
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.base.rounding import gamma
from maxmargin.base.search import Search
from maxmargin.executors import Executor
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.latent import is_latent, latent_of
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.limits import DEFAULT_LIMITS, Limits
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.mean_plane import CutSum, MeanPlane
from maxmargin.problem.oracle.placement import Placement, chunks_of
from maxmargin.problem.oracle.promises import missed_output
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.search_record import SearchRecord
from maxmargin.problem.oracle.searches import Searches
from maxmargin.problem.oracle.shard_sums import ShardSum
from maxmargin.problem.oracle.violations import ChunkResult
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes

NEGLIGIBLE = 1e-9  # share of C times the largest loss below which an objective is negligible compared with the slacks


class Oracle(RiskOracle):
    """An oracle that sees n examples through their most violated outputs.

    In addition to the attributes of RiskOracle, the constructor sets `searches`, which makes the decoder calls, and
    `record`, the facts learnt from the planes found so far.

    Order of calls: a solver that keeps a dual point begins with `block_dual` or `plane_dual`; the dual point then calls
    `planes`, or searches by itself and reports by `searched`. Other solvers call `planes`, `planes_and_slacks`,
    `predicted_planes` or `mean_plane`. `check_missed` follows a call of `planes`, `check_remembered` a measurement of
    slacks. Only `calls` and `record` change, with every call that searches.
    """

    # A checkpoint keeps the state on which later answers depend, besides the data: see base/files/learnt.py.
    learnt: ClassVar[Fields] = {"record": Inner(), "searches": Inner()}

    def __init__(
        self,
        batch: Batch,
        formulation: Formulation | None = None,
        sample_weight: Any = None,
        executor: Executor | None = None,
        geometry: Geometry | None = None,
        sizes: Array | None = None,
        memory: MemoryBudget = UNLIMITED,
    ):
        if batch.task.latent:
            latent_of(batch)  # raises an error if the batch cannot complete labels
        super().__init__(batch, formulation or Formulation(), sample_weight, executor, geometry, sizes, memory)
        self.searches = Searches(self.placement, self.formulation)
        self.record = SearchRecord(batch)

    @property
    def search(self) -> Search:
        return self.record.search

    @property
    def method(self) -> str:
        return self.record.method

    @property
    def call_cost(self) -> float:
        """The cost of one plane, in visits of cached planes."""
        return self.batch.call_cost

    def with_placement(self, placement: Placement) -> Self:
        other = super().with_placement(placement)
        other.searches = self.searches.with_placement(placement)
        other.record = self.record.for_batch(placement.batch)
        return other

    # --- the risk

    def slacks(self, w: Array) -> Array:
        """Return ξᵢ(w) of every example, not rounded down.

        They are upper bounds if the search is not exact, unless it is undergenerating.
        """
        slacks, _ = self._measured(w)
        return slacks + self._hidden(w)

    def proved_risk(self, w: Array) -> float:
        _, proved = self._measured(w)
        return self.risk_of(proved + self._hidden(w))

    def negligible(self, w: Array, C: float) -> float:
        rounding = self.objective(w, self.risk_of(np.full(self.n, self._hidden(w))), C) - 0.5 * self.space.square(w)
        return min(2 * rounding, NEGLIGIBLE * C * self.record.sizes.b)

    # --- cuts

    def planes(self, w: Array, index: Index, scale: float = 1.0) -> Planes:
        """Return the most violated cut of each example in `index` at scale·w, which is not computed if possible."""
        self._begin_search(w, len(index))
        found = self.searches.violations(w, index, scale)
        self.record.note_relaxed(index, found.relaxed)
        if self.calls <= self.n:  # in the first pass, truths are not yet the best outputs
            self.record.sizes = self.record.sizes.with_planes(found.planes)
        return found.planes

    def planes_and_slacks(self, w: Array) -> tuple[Planes, Array]:
        """Return the most violated cut of every example at w, and ξᵢ(w) as `slacks` measures it, from one pass."""
        chunks = list(self._everyone(w, wants_planes=True))
        slacks = np.concatenate([chunk.slacks for chunk in chunks]) + self._hidden(w)
        return Planes.stack([chunk.found.planes for chunk in chunks if chunk.found is not None]), slacks

    def predicted_planes(self, w: Array, index: Index, hint: float) -> Planes:
        """Return the cuts of z = argmax ⟨w, Ψ(x, z)⟩ + hint·Δ(y, z), plain predictions except for ties.

        The hint of loss turns a tie with the truth into a mistake; otherwise nothing could be learnt from w = 0, where
        all outputs are tied. The formulation does not matter.
        """
        self.calls += len(index)
        found = self.searches.predicted(w, index, hint)
        self.record.note_relaxed(index, found.relaxed)
        return found.planes

    def mean_plane(self, w: Array, sample: Index | None = None) -> MeanPlane:
        """Return the risk linearised at w: for plain slacks the mean of the examples' cuts, for squared its tangent.

        Over a sample of the examples it is only an estimate, not a bound.
        """
        if sample is None and self.placement.sums_there:
            return self._summed_mean_plane(w)
        total, slacks, sampled = CutSum(self.dim, self.formulation), [], []
        n = self.n if sample is None else len(sample)
        truths = np.zeros(self.n) if sample is None and is_latent(self.batch) else None
        chunks = chunks_of(np.arange(self.n) if sample is None else sample)
        for number, (index, chunk) in enumerate(zip(chunks, self._pass(w, chunks, True), strict=True)):
            found = chunk.found
            assert found is not None
            self.record.sizes = self.record.sizes.joined([chunk.sizes])
            if sample is None:
                remembered = self.record.missed.heights(number, len(index), w)
                self.check_remembered(w, remembered, chunk.slacks, first=int(index[0]))
                self.record.missed.keep(number, found.planes, len(chunks))
            else:
                sampled.append(Planes(AtomRows.of(found.planes.dpsi), found.planes.loss))
            slacks.append(chunk.slacks)
            share = total.add(found, self.weights[index] / n)
            if truths is not None:
                truths[index] = share * self.formulation.truths(found.planes.loss)
        penalties = self.formulation.penalty(np.concatenate(slacks) + self._hidden(w))
        risk = float(np.dot(self.weights[np.concatenate(chunks)], penalties)) / n * (1 + gamma(n + 8))
        planes = Planes.stack(sampled) if sampled else None
        return MeanPlane(total.a, total.offset, risk, total.row(), truths, planes, total.size)

    # --- dual points

    def block_dual(self, C: float, limits: Limits = DEFAULT_LIMITS, earlier: Any = None) -> BlockDual:
        """Return the dual point of the n-slack problem in the form that the batch improves fastest.

        It is empty, or a dual point of an earlier run (`earlier`) moved to this C.
        """
        known = earlier if isinstance(earlier, BlockDual) else None
        own = self.batch.offers(OwnDual)
        dual = None if own is None else own.block_dual(self._dual_problem(C, limits), known)
        return self.plane_dual(C, limits, earlier) if dual is None else dual

    def plane_dual(self, C: float, limits: Limits = DEFAULT_LIMITS, earlier: Any = None) -> PlaneDual:
        """Return the dual point over planes that are found one by one, empty or moved to this C."""
        known = PlaneDual.of(earlier) if isinstance(earlier, BlockDual) else None
        problem, space = self._dual_problem(C, limits), self.batch.offers(KernelSpace)
        if space is not None:
            return space.plane_dual(problem, known)
        if known is not None:
            known.move_to(problem)
            return known
        dual = PlaneDual(self.dim, problem)
        dual.use(self.batch.plane_atoms)
        return dual

    def _dual_problem(self, C: float, limits: Limits) -> DualProblem:
        return DualProblem(self.weights, self.formulation, C, limits, self.geometry)

    def searched(self, examples: int, largest: Planes) -> None:
        """Count the examples that a dual point has searched itself; no planes are larger than these."""
        self.calls += examples
        if not self.record.from_zero:
            self.record.from_zero, self.record.sizes = True, self.record.sizes.with_planes(largest)

    # --- tests of the decoder

    def check_missed(self, position: int, missed: float, w: Array) -> None:
        """Raise an error if an output found earlier is higher at w, by `missed`, than the decoder's result.

        Beyond rounding this is the task's fault, unless its search is known to miss outputs, or does not look for the
        highest plane (as in the λ-search).
        """
        if missed <= 0 or self.batch.search is not Search.EXACT or not self.formulation.plain:
            return
        if missed > self._tolerated(w):
            raise missed_output(self.batch, position, missed)

    def check_remembered(self, w: Array, remembered: Array, slacks: Array, first: int = 0) -> None:
        """Raise an error if remembered planes, from position `first` on, are higher at w than the measured slacks."""
        over = remembered - slacks
        if self.batch.search is Search.EXACT and np.max(over, initial=0.0) > self._tolerated(w):
            raise missed_output(self.batch, first + int(np.argmax(over)), float(np.max(over)))

    def _tolerated(self, w: Array) -> float:
        """Return the tolerance for heights at w that should be equal: more than rounding, less than a mistake."""
        if self.record.sizes.atoms is None:  # nothing has been measured yet
            return np.inf
        return 1e-7 * self.record.sizes.b + 1e4 * self._hidden(w)

    # --- passes

    def _begin_search(self, w: Array, calls: int) -> None:
        """Count decoder calls before making them, and record whether the first ones are made at w = 0."""
        first = self.calls == 0
        self._count(w, calls)
        if first:
            self.record.from_zero = not np.any(w)

    def _pass(self, w: Array, chunks: Sequence[Index], wants_planes: bool) -> Iterator[ChunkResult]:
        """Search one chunk after the other."""
        results = self.searches.chunks(w, chunks, wants_planes)
        for index in chunks:
            self._begin_search(w, len(index))
            result = next(results)
            self.record.note_relaxed(index, result.relaxed)
            yield result

    def _everyone(self, w: Array, wants_planes: bool = False) -> Iterator[ChunkResult]:
        """Search all examples, and record the sizes of their planes."""
        for result in self._pass(w, chunks_of(np.arange(self.n)), wants_planes):
            self.record.sizes = self.record.sizes.joined([result.sizes])
            yield result

    def _measured(self, w: Array) -> tuple[Array, Array]:
        """Return the slacks of all examples, and proved bounds on them, from one pass."""
        if self.placement.sums_there:
            found = self._summed(w, cut=False)
            return np.concatenate(found.slacks), np.concatenate(found.proved)
        slacks, proved = zip(*((result.slacks, result.proved) for result in self._everyone(w)), strict=True)
        return np.concatenate(slacks), np.concatenate(proved)

    def _hidden(self, w: Array) -> float:
        """Return how much of an example's largest violation at w rounding may hide, in the last pass.

        At the weights of a warm start, a decoder may return only truths: a pass at w = 0 sees larger planes.
        """
        if self.record.hidden_in_shards is None and not self.record.from_zero and np.any(w):
            self.record.from_zero = True
            for _ in self._everyone(self.space.allowed(np.zeros(self.dim))):
                pass
        return self.record.hidden(w)

    def _summed(self, w: Array, cut: bool) -> ShardSum:
        """Make a pass that shards sum up. A pass at w = 0 precedes it, because planes are largest there."""
        record = self.record
        if not record.from_zero:
            record.from_zero = True
            if np.any(w):
                self._summed(self.space.allowed(np.zeros(self.dim)), cut=False)
        self._count(w, self.n)
        found = self.searches.shard_sums(w, self.weights / self.n, record.sizes, cut)
        record.sizes, record.hidden_in_shards = record.sizes.joined(found.sizes), found.unsure
        for index, relaxed in zip(self.placement.indices, found.relaxed, strict=True):
            record.note_relaxed(index, relaxed)
        return found

    def _summed_mean_plane(self, w: Array) -> MeanPlane:
        """Return the mean plane that shards sum up; through rounding it depends on their number."""
        found = self._summed(w, cut=True)
        assert found.a is not None
        risk = self.risk_of(np.concatenate(found.slacks) + self._hidden(w))
        truths = np.concatenate(found.truths) if is_latent(self.batch) else None
        return MeanPlane(found.a, found.offset, risk, truths=truths, size=found.size)
