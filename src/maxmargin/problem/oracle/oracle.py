"""Oracle: batch × executor -> planes. It is all that a solver may touch of the problem.

A solver asks for cuts of single examples (`planes`), for one averaged cut (`mean_plane`), or for the risk. The oracle
translates the formulation (margin or slack rescaling, plain or squared slacks) into what the batch can search, counts
the decoder calls, spreads them over the executor (what is done where the data are: violations.py), measures the risk
with what rounding may hide (reach.py), and convicts decoders that miss what they found before (witnesses.py). Where the
examples are worked on is the matter of places.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.errors import TaskError
from maxmargin.base.files.fields import Flag, NumberArray, OneOf, Whole
from maxmargin.base.files.learnt import MaybeInner
from maxmargin.base.files.objects import Fields
from maxmargin.base.files.stacked import Stacked
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.base.rounding import gamma, raised_square
from maxmargin.base.search import Search
from maxmargin.executors import Executor, Serial
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.latent import Latent, latent_of
from maxmargin.problem.contract.capabilities.narrowed_search import NarrowedSearch
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.contract.capabilities.relaxation_report import RelaxationReport
from maxmargin.problem.contract.capabilities.resumable_searches import ResumableSearches
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.limits import DEFAULT_LIMITS, Limits
from maxmargin.problem.dual.objective import Formulation, primal
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.learnt_planes import LearntMissedOutputs, LearntPlaneSizes
from maxmargin.problem.oracle.missed_outputs import MissedOutputs
from maxmargin.problem.oracle.placement import Placement, Share, chunks_of
from maxmargin.problem.oracle.shard_sums import Asked, ShardSum, joined_sums, shard_sum
from maxmargin.problem.oracle.violations import (
    Look,
    Violations,
    joined,
    joined_looks,
    looked_at,
    most_violated,
    predicted,
)
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.plane_sizes import CutSize, PlaneSizes
from maxmargin.problem.planes.planes import Planes

FEW_READS = 20.0  # up to which a mean plane is also given as a combination of atoms: see Atoms.reads


class MeanPlane(NamedTuple):
    """The cut  w -> offset - ⟨a, w⟩ <= R(w)  of the whole risk, tight at the point where it was asked for."""

    a: Array
    offset: float
    risk: float  # R at that point, as the objective is measured: see Violations
    row: AtomRows | None = None  # a as one combination of atoms, where that is the shorter form
    truths: Array | None = None  # (n,) the factor of every Ψ(x, truth) in a, where truths may change (latent tasks)
    planes: Planes | None = None  # of a sample: those of its examples
    size: CutSize = CutSize(0.0, 0.0, 0)


class Oracle:
    """n examples seen through their most violated outputs."""

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
            latent_of(batch)  # raises where the batch cannot complete labels
        self._places = Placement(batch, executor or Serial())
        self.geometry = geometry  # None: w is drawn to 0, and may be anywhere
        self.memory = memory  # where solvers allocate large arrays
        self.formulation = formulation or Formulation()
        self.n, self.dim = len(batch), batch.dim
        self.weights = normalised_weights(sample_weight, self.n)
        if sizes is not None:  # the risk is the mean over what examples are made of
            self.weights = self.weights * (self.n / np.dot(self.weights, sizes))
        self.calls = 0
        self._reach = PlaneSizes()  # of the planes of the first pass, and of all passes that measured something
        self._from_zero = False  # whether the first of them were found at w = 0, where they are large
        self._witnesses = MissedOutputs()
        self._measures = True  # whether what it finds is proved to be all there is: see `narrowed`
        self._lam = np.ones(self.n)  # where the last rescaling search of each example ended
        self._relaxed: NDArray[np.bool_] | None = None  # which examples ever got an answer that is no proved output
        self._apart = (1, 0)  # see `apart_now`
        self._hidden: float | None = None  # where passes are summed up elsewhere: what rounding may hide in the last

    # What decides of the next answers, beside the data: see files/learnt.py.
    learnt: ClassVar[Fields] = {
        "calls": Whole(),
        "_reach": LearntPlaneSizes(),
        "_from_zero": Flag(),
        "_witnesses": LearntMissedOutputs(),
        "_lam": NumberArray(float, "n", least=0),
        "_relaxed": OneOf(None, NumberArray(bool, "n")),
        "_cache": MaybeInner(),
        "_searches": Stacked(),
    }

    @property
    def _batch(self) -> Batch:
        return self._places.batch

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms that planes are made of."""
        return self._batch.plane_atoms

    @property
    def chunk_sizes(self) -> list[int]:
        """How many examples are searched at once, chunk by chunk, in a pass."""
        return list(map(len, chunks_of(np.arange(self.n))))

    @property
    def _cache(self) -> Any:
        return None if self._space is None else self._space.cache

    @property
    def _space(self) -> KernelSpace | None:
        return self._batch.offers(KernelSpace)

    @property
    def _searches(self) -> list[Any] | None:
        """What searches remember, wherever they are made."""
        places = self._places
        if places.here:
            return remembered_part(self._batch, np.arange(self.n))
        each: list[list[Any] | None] = list(places.map(remembered_part, places.placed, places.parts))
        known = [one for some in each if some is not None for one in some]
        return [known[k] for k in places.order] if len(known) == self.n else None

    @_searches.setter
    def _searches(self, found: list[Any] | None) -> None:
        if found is None:
            return
        places = self._places
        if places.here:
            remember_part(self._batch, found)
            return
        shares = [[found[i] for i in part] for part in places.parts]
        list(places.map(remember_part, places.placed, shares))

    # --- what the problem is

    @property
    def search(self) -> Search:
        """What the decoder finds on these data; a relaxation that found nothing but proved outputs was exact."""
        promised = self._batch.search
        if promised is Search.OVERGENERATING and self._relaxed is not None and not self._relaxed.any():
            return Search.EXACT
        return promised

    @property
    def method(self) -> str:
        """How the decoder searches, and, where the batch has words for it, how often it found no proved output."""
        method, report = self._batch.method, self._batch.offers(RelaxationReport)
        if self._relaxed is None or report is None:
            return method
        return f"{method}, {report.relaxed_on(int(np.count_nonzero(self._relaxed)), self.n)}"

    @property
    def call_cost(self) -> float:
        """Of one plane, in visits of cached planes."""
        return self._batch.call_cost

    @property
    def weighs_loss(self) -> bool:
        """Whether the loss can be weighed against w at no cost, so that scale·w need not be formed."""
        return self._batch.weighs_loss

    @property
    def latent(self) -> bool:
        """Whether truths have hidden parts."""
        return self._batch.offers(Latent) is not None

    def promise_broken_on(self, position: int) -> str:
        """How a message begins about an example at this position."""
        return f"{self._batch.name} broke its promise on example {self._batch.ids[position]}"

    @property
    def name(self) -> str:
        """Of the task, for messages."""
        return self._batch.name

    # --- the objective

    def inner(self, v: Array, w: Array) -> float:
        """⟨v, w⟩: with a kernel, weights are coefficients, and the product is not that of the two arrays."""
        return float(np.dot(v, w)) if self._space is None else self._space.inner(v, w)

    def objective(self, w: Array, risk: float, C: float) -> float:
        """P(w) from its measured risk, not rounded down."""
        return primal(self.square(w), risk, C) * (1 + gamma(8))

    def square(self, w: Array) -> float:
        """‖w‖², or the square of the distance to the prior, not rounded down."""
        if self.geometry is not None:
            return self.geometry.square(w)
        return raised_square(w) if self._space is None else self._space.square(w)

    def point(self, s: Array) -> Array:
        """The w that belongs to Σ α a = s."""
        return s if self.geometry is None else self.geometry.point(s)

    @property
    def least(self) -> float:
        """No objective is below this: losses are never negative, and bounds may keep w away from its prior."""
        if self.geometry is None:
            return 0.0
        return self.geometry.lowered_dual(0.0, 0.0, np.zeros(self.dim), 0.0, 1)

    def allowed(self, w: Array) -> Array:
        """The nearest weights that keep to the bounds, if there are any."""
        return w if self.geometry is None else self.geometry.allowed(w)

    def slacks(self, w: Array) -> Array:
        """ξᵢ(w) for every example, not rounded down.

        An upper bound where the search is not exact, unless it is undergenerating.
        """
        if self._places.sums_there:
            return np.concatenate(self._summed(w, cut=False).slacks) + self._unsure(w)
        return np.concatenate([look.slacks for look in self._everyone(w)]) + self._unsure(w)

    def risk(self, w: Array) -> float:
        """R(w), the weighted mean penalty of these slacks."""
        return self.risk_of(self.slacks(w))

    def proved_risk(self, w: Array) -> float:
        """R(w) is proved to be no higher than this; inf where nothing is proved."""
        if self._places.sums_there:
            return self.risk_of(np.concatenate(self._summed(w, cut=False).proved) + self._unsure(w))
        return self.risk_of(np.concatenate([look.proved for look in self._everyone(w)]) + self._unsure(w))

    @property
    def largest_loss(self) -> float:
        """Of all planes that were looked at."""
        return self._reach.b

    def noise(self, w: Array, C: float) -> float:
        """What the measured objective would be if there were nothing but rounding in it."""
        return self.objective(w, self.risk_of(np.full(self.n, self._unsure(w))), C) - 0.5 * self.square(w)

    def risk_of(self, slacks: Array) -> float:
        """R(w) from the slacks at w."""
        counting = self.weights > 0  # an example without weight may have no bound
        penalty = np.dot(self.weights[counting], self.formulation.penalty(slacks[counting])) / self.n
        return float(penalty) * (1 + gamma(self.n + 8))

    def _everyone(self, w: Array, wants_planes: bool = False) -> Iterator[Look]:
        for look in self._pass(w, chunks_of(np.arange(self.n)), wants_planes):
            self._reach = self._reach.joined([look.reach])
            yield look

    def _unsure(self, w: Array) -> float:
        """What rounding may hide of the largest violation of an example at w, in the pass that was just made."""
        if self._hidden is not None:
            return self._hidden
        if not self._from_zero and np.any(
            w
        ):  # at the weights of a warm start, truths may be all that a decoder returns
            self._from_zero = True
            for _ in self._everyone(self.allowed(np.zeros(self.dim))):
                pass
        return self._reach.unsure(w)

    def deny_miss(self, position: int, missed: float, w: Array) -> None:
        """An output found earlier is higher at w, by so much, than what the decoder returned for this example.

        Beyond rounding that is the task's fault, unless its search is known to miss outputs, or looks for something
        else than the highest plane (the λ-search does).
        """
        if missed <= 0 or self._batch.search is not Search.EXACT or not self.formulation.plain:
            return
        if missed > self._tolerated(w):
            raise self._missed_output(position, missed)

    def _missed_output(self, position: int, missed: float) -> TaskError:
        """The error that names the example."""
        return TaskError(
            f"{self.promise_broken_on(position)}: argmax(w, x, y) returned an output with ⟨w, psi⟩ + loss lower by "
            f"{missed:.6g} than that of an output that it returned earlier, at other weights. It must maximise that "
            "sum (or the task must declare search = Search.UNDERGENERATING)"
        )

    def deny_misses(self, w: Array, remembered: Array, slacks: Array, first: int = 0) -> None:
        """The same from position `first` on: the highest remembered planes at w against what was measured there."""
        over = remembered - slacks
        if self._batch.search is Search.EXACT and np.max(over, initial=0.0) > self._tolerated(w):
            raise self._missed_output(first + int(np.argmax(over)), float(np.max(over)))

    def _tolerated(self, w: Array) -> float:
        """Of two heights at w that should be the same: far more than rounding, and far less than a mistake."""
        if self._reach.atoms is None:  # nothing was measured yet
            return np.inf
        return 1e-7 * self._reach.b + 1e4 * self._unsure(w)

    # --- cuts

    def planes(self, w: Array, index: Index, scale: float = 1.0) -> Planes:
        """The most violated cut of each example in `index` at scale·w (without forming that vector, where possible)."""
        planes = self._violations(w, index, scale).planes
        if self.calls <= self.n:  # the first pass, where truths are not yet the best outputs
            self._reach = self._reach.with_planes(planes)
        return planes

    def planes_and_slacks(self, w: Array) -> tuple[Planes, Array]:
        """The most violated cut of every example at w, and ξᵢ(w) as `slacks` measures it, in one pass."""
        looks = list(self._everyone(w, wants_planes=True))
        slacks = np.concatenate([look.slacks for look in looks]) + self._unsure(w)
        return Planes.stack([look.found.planes for look in looks if look.found is not None]), slacks

    def predicted_planes(self, w: Array, index: Index, hint: float) -> Planes:
        """The cuts of z = argmax ⟨w, Ψ(x, z)⟩ + hint·Δ(y, z), whatever the formulation: plain predictions but for ties.

        A hint of loss makes a tie with the truth a mistake, or nothing could be learnt from w = 0, where all is tied.
        """
        self.calls += len(index)
        shares, order = self._places.spread(index)
        found = joined(self._map(predicted, shares, [share.at for share in shares], w, hint), order)
        self._note_relaxed(index, found.relaxed)
        return found.planes

    def mean_plane(self, w: Array, sample: Index | None = None) -> MeanPlane:
        """The risk linearised at w: for plain slacks the mean of the examples' cuts, for squared ones its tangent.

        Over a sample of the examples it is an estimate of that, and no bound on anything.
        """
        if sample is None and self._places.sums_there:
            return self._mean_plane_there(w)
        a, offset, entries = np.zeros(self.dim), 0.0, 0
        size, slacks = CutSize(0.0, 0.0, 0), []
        parts: list[AtomRows] | None = []
        sampled: list[Planes] = []
        n = self.n if sample is None else len(sample)
        truths = np.zeros(self.n) if self.latent and sample is None else None
        chunks = chunks_of(np.arange(self.n) if sample is None else sample)
        for chunk, (index, look) in enumerate(zip(chunks, self._pass(w, chunks, True), strict=True)):
            found = look.found
            assert found is not None
            if self._measures:
                self._reach = self._reach.joined([look.reach])
            if sample is None and self._measures:
                remembered = self._witnesses.heights(chunk, len(index), w)
                self.deny_misses(w, remembered, look.slacks, first=int(index[0]))
                self._witnesses.keep(chunk, found.planes, len(chunks))
            heights = np.maximum(found.heights, 0)
            share = self.weights[index] / n * (heights > 0)  # a cut below the truth's 0 is no cut
            slacks.append(look.slacks)
            spent = 0.0
            if self.formulation.squared:
                share = share * heights
                spent = 0.5 * float(np.dot(share, heights))
            paid = float(np.dot(share, found.planes.loss))
            offset += paid - spent
            if truths is not None:
                truths[index] = share * self.formulation.truths(found.planes.loss)
            rows = AtomRows.of(found.planes.dpsi)
            rows.add_to(a, share)
            size = size.plus(float(np.dot(share, rows.sizes)), paid + spent, int(rows.indptr[-1]) + len(index))
            entries += int(rows.indptr[-1])
            if parts is not None:
                parts.append(rows.scaled(share))
            if rows.atoms.reads(entries) > FEW_READS:
                parts = None
            if sample is not None:
                sampled.append(Planes(rows, found.planes.loss))
        planes = Planes.stack(sampled) if sampled else None
        row = AtomRows.stack(parts).summed().whole() if parts else None
        hidden = self._unsure(w) if self._measures else 0.0
        penalties = self.formulation.penalty(np.concatenate(slacks) + hidden)
        risk = float(np.dot(self.weights[np.concatenate(chunks)], penalties)) / n * (1 + gamma(n + 8))
        return MeanPlane(a, offset, risk, row, truths, planes, size)

    def _mean_plane_there(self, w: Array) -> MeanPlane:
        """The same, summed up where the parts of the data are; it depends on their number, as rounding does."""
        found = self._summed(w, cut=True)
        assert found.a is not None
        risk = self.risk_of(np.concatenate(found.slacks) + self._unsure(w))
        truths = np.concatenate(found.truths) if self.latent else None
        return MeanPlane(found.a, found.offset, risk, truths=truths, size=found.size)

    def _summed(self, w: Array, cut: bool) -> ShardSum:
        """A pass over all parts. As ever, one at w = 0 goes before: planes are largest there."""
        self._check(w)
        if not self._from_zero:
            self._from_zero = True
            if np.any(w):
                self._summed(self.allowed(np.zeros(self.dim)), cut=False)
        self.calls += self.n
        placed, parts, reach = self._places.placed_to_sum, self._places.parts, self._reach._replace(atoms=None)
        lam = [None if self.formulation.plain else self._lam[part] for part in parts]
        self._apart = (len(parts), self._apart[1] + 1)
        asked = [Asked(self.weights[part] / self.n, reach, own, cut) for part, own in zip(parts, lam, strict=True)]
        found: ShardSum = self._places.executor.reduce(joined_sums, shard_sum, placed, asked, w, self.formulation)
        self._reach, self._hidden = self._reach.joined(found.reach), found.unsure
        for part, relaxed, own in zip(parts, found.relaxed, found.lam, strict=True):
            self._note_relaxed(part, relaxed)
            if own is not None:
                self._lam[part] = own
        return found

    def narrowed(self, w: Array) -> Oracle | None:
        """An oracle of the same examples that knows fewer outputs, those close to w; None where all are searched fast.

        Its cuts are cuts of the whole risk, and its own risk is no more than that. Its calls are not counted.
        """
        search = self._batch.offers(NarrowedSearch)
        few = None if search is None else search.narrowed(w)
        if few is None:
            return None
        oracle = self._of(few)
        oracle._places, oracle._measures = Placement(few, Serial()), False
        return oracle

    def block_dual(self, C: float, limits: Limits = DEFAULT_LIMITS, earlier: Any = None) -> BlockDual:
        """Return the dual point of the n-slack problem in the form that the batch improves fastest.

        It is an empty one, or that of an earlier run (if `earlier` is such a point) moved to this C.
        """
        known = earlier if isinstance(earlier, BlockDual) else None
        own, problem = self._batch.offers(OwnDual), self._dual_problem(C, limits)
        dual = None if own is None else own.block_dual(problem, known)
        return self.plane_dual(C, limits, earlier) if dual is None else dual

    def plane_dual(self, C: float, limits: Limits = DEFAULT_LIMITS, earlier: Any = None) -> PlaneDual:
        """Return the same over planes that are found one by one."""
        known = PlaneDual.of(earlier) if isinstance(earlier, BlockDual) else None
        problem = self._dual_problem(C, limits)
        if self._space is not None:
            return self._space.plane_dual(problem, known)
        if known is not None:
            known.move_to(problem)
            return known
        dual = PlaneDual(self.dim, problem)
        dual.use(self.plane_atoms)
        return dual

    def _dual_problem(self, C: float, limits: Limits) -> DualProblem:
        return DualProblem(self.weights, self.formulation, C, limits, self.geometry)

    def searched(self, examples: int, largest: Planes) -> None:
        """All outputs of so many examples were looked at by someone else; no planes are larger than these."""
        self.calls += examples
        if not self._from_zero:
            self._from_zero, self._reach = True, self._reach.with_planes(largest)

    def restricted_to(self, planes: Planes) -> tuple[Oracle, Planes]:
        """The same planes, and an oracle whose block dual costs no more than these planes need."""
        few = self._batch
        if self._space is not None:
            few, planes = self._space.restricted_to(planes)
        oracle = copy(self)
        oracle._places, oracle.dim = Placement(few, self._places.executor), few.dim
        oracle._reach, oracle._from_zero, oracle._witnesses = PlaneSizes(), False, MissedOutputs()
        return oracle, planes

    # --- hidden parts

    def completed(self, w: Array) -> Oracle:
        """The same data with every label completed to the output that explains it best at w (latent tasks)."""
        self._check(w)
        places = self._places
        if places.here:
            return self._of(latent_of(self._batch).completed(w))
        return self._of(self._batch, places.executor.derive(completed_part, places.placed, w))

    def guessed(self, rng: np.random.Generator) -> Oracle:
        """The same data with every label completed somehow, before there are weights (latent tasks)."""
        return self._of(
            latent_of(self._batch).guessed(rng)
        )  # here, because one stream of random numbers serves all examples

    def shifts_to(self, after: Oracle) -> AtomRows:
        """By how much Ψ of every truth changes from this completion to that one."""
        places = self._places
        if places.here:
            return shifted_rows(self._batch, after._batch)
        return AtomRows.stack(list(places.map(shifted_rows, places.placed, after._places.placed))).take(places.order)

    def resumed(self, earlier: Oracle) -> Oracle | None:
        """An earlier completion of the same data in the places of this oracle; None where it is gone."""
        placed, executor = earlier._places.made, self._places.executor
        if placed is not None and (earlier._places.executor is not executor or not executor.alive(placed)):
            return None
        return self._of(earlier._batch, placed)

    def _of(self, batch: Batch, placed: list[Any] | None = None) -> Oracle:
        oracle = copy(self)
        oracle._places, oracle._lam = Placement(batch, self._places.executor, placed), self._lam.copy()
        oracle._witnesses = MissedOutputs()  # planes of other truths are no witnesses
        return oracle

    def apart(self) -> Oracle:
        """The same problem, for looks that are no part of a training and leave no trace in it."""
        return self._of(self._batch)

    def beside(self, batch: Batch, sample_weight: Array) -> Oracle:
        """The problem of other data in the same formulation and place."""
        executor = self._places.executor
        return Oracle(batch, self.formulation, sample_weight, executor, self.geometry, memory=self.memory)

    # --- places

    def side_by_side(self, run: Callable[..., Any], each: Sequence[Any], watch: Any, *shared: Any) -> Iterator[Any]:
        """run(oracle, each[k], watch, *shared) for every k: whole trainings, as many at once as there are workers.

        `run` is a function that other processes can import. They cannot watch, and get None instead; what they return
        takes along what it has of the data as references.
        """
        executor = Serial() if self._places.exclusive else self._places.executor  # one cache, which no two runs may use
        if not self.at_once(len(each)):
            return Serial().map(run, [self] * len(each), each, watch, *shared)
        own = copy(self)
        own._places = Placement(self._batch, Serial())  # no run may wait for the pool that it is in
        if executor.shares_memory:
            return executor.map(run, [own] * len(each), each, watch, *shared)
        places = executor.place([self._batch] * min(len(each), executor.workers))
        where = [places[k % len(places)] for k in range(len(each))]
        problem = (self.formulation, self.weights, self.geometry)
        return executor.map(run_elsewhere, where, each, run, problem, shared)

    def at_once(self, runs: int) -> bool:
        """Whether `side_by_side` makes several of so many runs at a time."""
        return runs > 1 and self._places.executor.workers > 1 and not self._places.exclusive

    @property
    def apart_now(self) -> tuple[int, int]:
        """In how many places data are worked on, and in which round."""
        return self._apart

    def interrupt(self) -> None:
        """Give up what runs elsewhere; threads are waited for."""
        self._places.executor.close()

    def _map(self, fn: Callable[..., Any], shares: Sequence[Share], each: Sequence[Any], *shared: Any) -> list[Any]:
        return list(self._places.map(fn, [share.place for share in shares], each, *shared))

    def _pass(self, w: Array, chunks: Sequence[Index], wants_planes: bool) -> Iterator[Look]:
        """A look at one chunk after the other. Threads search ahead of whoever asks, as they are free."""
        ahead = self._places.spread_ahead(chunks)
        looks: Iterator[Any] = iter(())
        if ahead is not None:
            jobs = [(share, self._begin(share)) for shares in ahead for share in shares]
            rest = (w, self.formulation, wants_planes)
            looks = self._places.map(looked_at, [self._batch] * len(jobs), jobs, *rest)
        for k, index in enumerate(chunks):
            self._count(w, index)
            if ahead is not None:
                look = joined_looks([next(looks) for _ in ahead[k]], None)
            else:
                shares, order = self._places.spread(index)
                look = joined_looks(
                    self._map(looked_at, shares, self._asked(shares, index, order), w, self.formulation, wants_planes),
                    order,
                )
            self._note(index, look)
            yield look

    def _violations(self, w: Array, index: Index, scale: float = 1.0) -> Violations:
        """At scale·w, for a block of examples."""
        self._count(w, index)
        if scale != 1 and not self.formulation.plain:
            w, scale = scale * w, 1.0
        if self.formulation.plain and self._places.alone:  # the usual case, without detours
            found = most_violated(self._batch, (index, None), w, scale, self.formulation)
        else:
            shares, order = self._places.spread(index)
            found = joined(
                self._map(most_violated, shares, self._asked(shares, index, order), w, scale, self.formulation), order
            )
        self._note(index, found)
        return found

    def _count(self, w: Array, index: Index) -> None:
        """So many calls, before they are made."""
        self._check(w)
        if self.calls == 0:
            self._from_zero = not np.any(w)
        self.calls += len(index)

    def _note(self, index: Index, found: Violations | Look) -> None:
        """What the next searches begin with, and what the certificate says of these."""
        if found.lam is not None:
            self._lam[index] = found.lam
        self._note_relaxed(index, found.relaxed)

    def _check(self, w: Array) -> None:
        """Kernels do not look where an array ends."""
        if len(w) != self.dim:
            raise ValueError(f"expected {self.dim} weights, got {len(w)}")

    def _note_relaxed(self, index: Index, relaxed: NDArray[np.bool_] | None) -> None:
        if relaxed is not None:
            if self._relaxed is None:
                self._relaxed = np.zeros(self.n, dtype=bool)
            self._relaxed[index] |= relaxed

    def _begin(self, index: Index) -> Array | None:
        """Where rescaling searches of these examples begin."""
        return None if self.formulation.plain else self._lam[index]

    def _asked(self, shares: Sequence[Share], index: Index, order: Index | None) -> list[tuple[Index, Array | None]]:
        """What every share of an index is told."""
        lam = self._begin(index)
        if lam is None:
            return [(share.at, None) for share in shares]
        own = np.split(lam if order is None else lam[np.argsort(order)], np.cumsum([len(s.at) for s in shares])[:-1])
        return [(share.at, begin) for share, begin in zip(shares, own, strict=True)]


# --- what is done where the data are


def remembered_part(part: Batch, index: Index) -> list[Any] | None:
    """What the searches of a part remember; `index` is not needed for that."""
    resumable = part.offers(ResumableSearches)
    return None if resumable is None else resumable.search_states()


def remember_part(part: Batch, found: list[Any]) -> None:
    """Begin the next searches of a part with this."""
    resumable = part.offers(ResumableSearches)
    if resumable is None:
        raise ValueError(f"the searches of {part.name} keep no state")
    resumable.restore_searches(found)


def completed_part(part: Batch, w: Array) -> Batch:
    """A part with its truths completed at w."""
    return latent_of(part).completed(w)


def shifted_rows(before: Batch, after: Batch) -> AtomRows:
    """What two completions of a part change in Ψ."""
    return AtomRows.of(latent_of(before).shifts_to(after))


def run_elsewhere(
    batch: Batch,
    each: Any,
    run: Callable[..., Any],
    problem: tuple[Formulation, Array, Geometry | None],
    shared: Sequence[Any],
) -> Any:
    """A whole training in another process, on its copy of the data."""
    formulation, weights, geometry = problem
    oracle = Oracle(batch, formulation, geometry=geometry)
    oracle.weights = weights
    return run(oracle, each, None, *shared)


def normalised_weights(sample_weight: Any, n: int) -> Array:
    """Sample weights scaled to sum to n, so that C keeps multiplying a mean."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},), one weight per example")
    if not np.isfinite(weights).all() or (weights < 0).any():
        i = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ValueError(f"sample_weight[{i}] is {weights[i]}; weights must be finite and >= 0")
    if weights.sum() == 0:
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    weights = weights / weights.max()  # whose sum neither overflows nor vanishes
    return weights * (n / weights.sum())
