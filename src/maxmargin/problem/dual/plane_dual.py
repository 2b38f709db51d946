"""The dual point of the n-slack problem, one block of cached planes per example, with the weights w kept explicit.

    maximise  D(α) = Σ α b - ½‖Σ α a‖²  (- Σᵢ (Σₖ αᵢₖ)²/2capᵢ for squared slacks)
    subject to α >= 0, Σₖ αᵢₖ <= capᵢ = C vᵢ / n  (no upper limit for squared slacks)

over the planes (a, b) seen so far. BCFW and the n-slack cutting plane method share this state: they differ in the
planes that they request and when, not in how the dual is stored. Blocks are improved one at a time by exact pairwise
steps (compiled/plane_dual.py); memory is bounded by merging the planes of an example with the smallest weights.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.errors import NotSeparable
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.dual.block_dual import BlockDual, Decoder, Report
from maxmargin.problem.dual.caps import largest_multiple, within_caps
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.known_planes import JointSize, KnownPlanes
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.proof import Proof
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays
from maxmargin.problem.planes.compiled.plane_tables import (
    ADDED,
    CELLS,
    ENTRIES,
    GAIN,
    MISSED,
    NO_ROWS,
    PENALTY,
    SLOTS,
    UNBOUNDED,
    Hashed,
    PlaneRows,
    PlaneTables,
    Scratch,
    VisitLimits,
)
from maxmargin.problem.planes.learnt_tables import LearntTables
from maxmargin.problem.planes.planes import Planes


@runtime_checkable
class OwnPlaneForm(Protocol):
    """A dual point whose planes need a PlaneDual of another kind, such as the PlaneDual of a kernel."""

    def empty_plane_dual(self, limits: Limits) -> PlaneDual:
        """Return a dual point of the same problem at α = 0."""


class PlaneDual(BlockDual):
    """A BlockDual that stores planes of every example, and merges those with the smallest weights to save memory.

    Order of calls: as for BlockDual, preceded by `use`, or by a `visit` with planes: both set the atoms.
    `search` and `revisit` are made of `visit`, which other solvers call themselves. `shift` follows a change of truths.
    Joint rounds call `make_slots` once, then `known_planes`, `written`, `ascend_towards` and `admit` in every round.
    """

    learnt: ClassVar[Fields] = {"slots": Whole(2, 2**20), "_tables": LearntTables()}

    def __init__(self, dim: int, problem: DualProblem, patience: int = 10):
        super().__init__(dim, problem)
        self.slots = problem.limits.planes_per_example
        self.patience = patience  # visits after which a plane without weight is dropped
        self._tables = PlaneTables.empty(self.n, slots=64, entries=64, cells=64)
        self._atoms = Atoms.coordinates(self.dim)
        self._scratch = Scratch.of(self.dim, self.slots)

    @classmethod
    def of(cls, point: BlockDual) -> PlaneDual:
        """Return this dual point in the form that stores planes, with the same α and problem."""
        from maxmargin.problem.dual.compiled.plane_products import regram

        if isinstance(point, PlaneDual):
            return point
        planes, limits = point.known_planes(), point.problem.limits
        alpha, counts = planes.alpha, np.bincount(planes.owners, minlength=point.n)
        slots = max(limits.planes_per_example, int(counts.max(initial=0)))
        limits = limits._replace(planes_per_example=slots)
        if isinstance(point, OwnPlaneForm):
            blocks = point.empty_plane_dual(limits)
        else:
            blocks = cls(point.dim, point.problem._replace(limits=limits))
        tables, rows, entries = blocks._tables, planes.rows, int(planes.rows.indptr[-1])
        blocks._tables = tables = tables.grown(len(alpha), entries, int(np.sum(counts**2)))
        tables.filled[:] = tables.capacity[:] = counts
        tables.base[:], tables.gram_base[:] = np.cumsum(counts) - counts, np.cumsum(counts**2) - counts**2
        tables.start[: len(alpha)], tables.length[: len(alpha)] = rows.indptr[:-1], np.diff(rows.indptr)
        tables.offset[: len(alpha)], tables.alpha[: len(alpha)] = planes.offset, alpha
        tables.indices[:entries], tables.values[:entries] = rows.indices[:entries], rows.values[:entries]
        tables.tops[[SLOTS, ENTRIES, CELLS]] = len(alpha), entries, np.sum(counts**2)
        tables.longest[0] = np.max(rows.atoms.squared_norms(rows), initial=0.0)
        blocks._atoms = rows.atoms
        regram(np.arange(point.n), blocks._scratch, blocks._atoms.arrays, blocks._images(), tables)
        blocks.refresh()
        return blocks

    def use(self, atoms: Atoms) -> None:
        """Set the atoms that planes are combinations of."""
        self._atoms = atoms

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms that planes are combinations of."""
        return self._atoms

    def _check_learnt(self) -> None:
        super()._check_learnt()
        self._scratch = Scratch.of(self.dim, self.slots)

    @property
    def alpha_sums(self) -> Array:
        base, count, alpha = self._tables.base, self._tables.filled, self._tables.alpha
        return np.array([alpha[b : b + c].sum() for b, c in zip(base, count, strict=True)])

    @property
    def cached_mb(self) -> float:
        """The megabytes of memory that the plane cache takes."""
        return sum(array.nbytes for array in self._tables) / 2**20

    def search(self, oracle: Decoder, order: NDArray[np.intp], block: int) -> Report:
        """Visit these examples, each with a fresh plane."""
        penalty, added, gain = 0.0, 0, 0.0
        for begin in range(0, len(order), block):
            index = order[begin : begin + block]
            report = self.visit(index, oracle.planes(self.w, index))
            oracle.check_missed(index[0], report.missed, self.w)
            penalty += report.penalty
            added += report.added
            gain += report.gain
        return Report(penalty, added, gain, work=oracle.call_cost)

    def revisit(self, oracle: Decoder, rng: np.random.Generator) -> Report:
        """Visit every example without the oracle."""
        return self.visit(rng.permutation(self.n))

    def visit(
        self, order: NDArray[np.intp], planes: Planes | None = None, steps: int = 10, epsilon: float = 0.0
    ) -> Report:
        """Visit examples in this order: add the new plane of each if it is higher by epsilon, then ascend."""
        rows = NO_ROWS
        if planes is not None:
            new = AtomRows.of(planes.dpsi)
            self._atoms = new.atoms
            rows = PlaneRows(new.indptr, new.indices, new.values, planes.loss)
        limits = VisitLimits(self.cap, self.squared, steps, self.slots, self.patience, epsilon)
        order = np.ascontiguousarray(order, dtype=np.int64)
        report = np.array([0.0, 0.0, 0.0, -1.0, -1.0, -1.0])
        begin = 0
        while begin < len(order):
            begin = self._visit(order, begin, rows, limits, report)
            if report[UNBOUNDED] >= 0:
                raise NotSeparable(
                    f"example {int(report[UNBOUNDED])} cannot be separated: a wrong output has the same features as "
                    "the right one, so C = inf has no solution; use a finite C"
                )
            if begin < len(order):
                longest = int(np.max(np.diff(rows.indptr), initial=0))
                self._enlarge(longest)
        self.dual += report[GAIN]
        return Report(report[PENALTY], int(report[ADDED]), report[GAIN], report[MISSED])

    def _visit(self, order: NDArray[np.int64], begin: int, rows: PlaneRows, limits: VisitLimits, report: Array) -> int:
        """Visit order[begin:], and return the position of the first example for which the tables are too small."""
        from maxmargin.problem.dual.compiled.plane_dual import visit

        atoms, scratch, tables = tuple(self._atoms.arrays), self._scratch.plain(), tuple(self._tables)
        of, fixed = self.vectors, tuple(limits)
        weights = (of.w, of.free, of.bounds)
        return int(visit(order, begin, tuple(rows), atoms, atoms, fixed, weights, scratch, report, tables))

    def refresh(self) -> None:
        linear = self._sum_up()
        self.dual = linear - self.vectors.settle()

    def _sum_up(self) -> float:
        """Set Σ α a from α, and return Σ α b, minus the cost of squared slacks."""
        self.vectors.sums[:] = 0.0
        linear, *_ = self._totals(self.vectors.sums)
        return linear

    def _totals(self, sums: Array) -> tuple[float, float, float, int, int, float]:
        """Add Σ α a to an array, and return the other terms of D(α); see compiled/plane_dual.py."""
        from maxmargin.problem.dual.compiled.plane_dual import totals

        return totals(self.cap, self.squared, sums, self._atoms.arrays, self._atoms.lengths, self._tables)

    def proof(self) -> Proof:
        w = np.zeros(self.dim)
        linear, losses, mass, entries, folded, excess = self._totals(w)
        # The multiple of α that respects its caps has at least this linear part.
        linear -= excess * abs(linear)
        # Merging two planes rounds every number of both planes, and their offsets, at most four times.
        wrong = 4 * UNIT * folded
        longest = float(self._tables.longest[0]) * float(np.max(self._atoms.lengths, initial=1.0))
        error, losses = wrong * longest, losses * (1 + gamma(entries))
        linear -= wrong * float(np.max(self._tables.offset, initial=0.0))
        return Proof(linear, losses, w, mass, entries + self._atoms.terms, error, excess)

    def _linear(self) -> float:
        slots, _ = self._used_slots(self._tables.filled)
        return float(np.dot(self._tables.alpha[slots], self._tables.offset[slots]))

    def _images(self) -> AtomArrays:
        """Return the atoms in the form in which products of planes are summed."""
        return self._atoms.arrays

    def check_separable(self) -> None:
        """Raise NotSeparable if, under a hard margin, the planes seen so far contradict each other (by an LP)."""
        if np.isfinite(self.problem.C):
            return
        rows, offset = self._planes()
        if not len(offset):
            return
        from scipy.optimize import linprog  # slower to import than everything that predictions need of scipy

        outcome = linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-offset, bounds=(None, None), method="highs")
        if outcome.status == 2:
            raise NotSeparable(
                f"no weights separate all examples: {len(offset)} constraints found so far contradict each other, "
                "so C = inf has no solution; use a finite C"
            )

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """Return the height of the highest cached plane of every example at w, or 0."""
        slots, owners = self._used_slots(self._tables.filled)
        slacks = np.zeros(self.n)
        offsets = self._tables.offset[slots]
        heights = offsets - self._rows_of(slots) @ w
        if gains is not None:
            heights -= self.problem.formulation.truths(offsets) * gains[owners]
        np.maximum.at(slacks, owners, heights)
        return slacks

    # --- all blocks at once (solvers/joint_rounds.py)

    @property
    def joint_size(self) -> JointSize:
        filled = self._tables.filled[self.cap > 0]
        return JointSize(int(filled.sum()), int(np.count_nonzero(filled)))

    @property
    def visit_work(self) -> float:
        planes = max(int(self._tables.filled.sum()), 1)
        entries = 2.0 * self._live_entries() / planes * max(1.0, self._atoms.n_entries / max(self._atoms.n_units, 1))
        return (entries + 100.0) * max(planes, self.n)

    def known_planes(self) -> KnownPlanes:
        slots, owners = self._used_slots(np.where(self.cap > 0, self._tables.filled, 0))
        tables = self._tables
        return KnownPlanes(slots, owners, self._rows_of(slots), tables.offset[slots], tables.alpha[slots])

    def written(self, planes: KnownPlanes) -> tuple[Array, NDArray[np.intp] | None]:
        """Return (N, d) vectors with the inner products of the planes, and the coordinates of w that they refer to.

        With a kernel, they refer to no coordinates, and None is returned for these.
        """
        if planes.rows.n_entries >= planes.rows.shape[0] * planes.rows.shape[1]:  # sparse rows would be longer
            dense = planes.rows.toarray()
            used = np.flatnonzero(dense.any(axis=0))
            return (dense if len(used) == dense.shape[1] else dense[:, used]), used
        explicit = planes.rows.tocsr().tocsc()
        used = np.flatnonzero(np.diff(explicit.indptr))
        return explicit[:, used].toarray(), used

    def admit(self, planes: Planes, w: Array) -> Report:
        """Add these planes of all examples, found at another w, if they are higher there than the cached ones."""
        own, self.vectors.w = self.vectors.w, w
        try:
            return self.visit(np.arange(self.n), planes, steps=0)
        finally:
            self.vectors.w = own

    def make_slots(self, slots: int) -> None:
        """Allow every example at least this many planes from now on."""
        if slots > self.slots:
            self.slots, self._scratch = slots, Scratch.of(self.dim, slots)

    def ascend_towards(self, planes: KnownPlanes, target: Array) -> float:
        """Move α of these planes, all that count, to the maximiser of D on the segment to a feasible target.

        Recompute w and D, undo the step if it did not raise D, and return the gain of D.
        """
        self.refresh()
        alpha, before, old = self._tables.alpha, self.dual, self._tables.alpha[planes.slots]
        change = target - old
        way = np.zeros(self.dim)
        planes.rows.add_to(way, change)
        slope, curvature = float(np.dot(change, planes.offset)), 0.0
        if self.squared:
            sums, moves = np.bincount(planes.owners, old, self.n), np.bincount(planes.owners, change, self.n)
            counted = self.cap > 0
            slope -= float(np.sum((sums * moves)[counted] / self.cap[counted]))
            curvature = float(np.sum(moves[counted] ** 2 / self.cap[counted]))
        length = self.vectors.best_share(slope, curvature, way)
        moved = np.maximum(old + length * change, 0.0)
        alpha[planes.slots] = moved if self.squared else within_caps(moved, planes.owners, self.cap)
        self.refresh()
        gain = self.dual - before
        if not gain > 0:
            alpha[planes.slots] = old
            self.refresh()
        return max(gain, 0.0)

    def _planes(self) -> tuple[Any, Array]:
        """Return the cached planes of all examples that count, as explicit rows, and their offsets."""
        slots, _ = self._used_slots(np.where(self.cap > 0, self._tables.filled, 0))
        return self._rows_of(slots).tocsr(), self._tables.offset[slots]

    def _used_slots(self, counts: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first counts[i] slots of every example i, and the examples that own them."""
        owners = np.repeat(np.arange(self.n), counts)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._tables.base[owners] + within, owners

    def _rows_of(self, slots: NDArray[np.intp]) -> AtomRows:
        """Return the planes in these slots."""
        tables = self._tables
        start, length = tables.start[slots], tables.length[slots]
        indptr = np.concatenate([[0], np.cumsum(length)])
        entries = np.arange(indptr[-1]) + np.repeat(start - indptr[:-1], length)
        return AtomRows(self._atoms, indptr.astype(np.int32), tables.indices[entries], tables.values[entries])

    def tidy(self) -> None:
        """Free unused memory, and merge planes if the cache exceeds its limit; one plane per example always stays."""
        from maxmargin.problem.dual.compiled.plane_slots import shrink

        live, limit = int(self._live_entries()), self.problem.limits.cache_mb
        if live < self._tables.tops[ENTRIES] // 2 or self._used_mb() > limit:
            self._compact()
        most = self.slots
        while self._used_mb() > limit and most > 1:
            most //= 2
            while shrink(most, self._scratch.hashed, self._tables) < self.n:
                self._enlarge(0)
            self._compact()
        if self.vectors.bounds is not None:
            self.refresh()

    def move_to(self, problem: DualProblem) -> None:
        if self.vectors.behind:
            self.refresh()
        self.problem, self.cap = problem, problem.caps
        sums, curvature = self.alpha_sums, 0.0
        if self.squared:
            with np.errstate(divide="ignore", invalid="ignore"):
                curvature = float(np.nansum(np.where(sums > 0, sums**2 / self.cap, 0.0)))
        limit = np.inf if self.squared else largest_multiple(sums, self.cap)
        self._tables.alpha[:] *= self.vectors.best_multiple(self._linear(), curvature, limit)
        self.vectors.set_geometry(problem.geometry)
        self.refresh()

    def shift(self, rows: AtomRows) -> None:
        """Adapt the planes to truths whose Ψ have changed by these rows: planes of i move by row i, and α stays.

        The offset of a plane is a loss that does not depend on the hidden part of the truth, so a shifted plane is a
        plane of the new problem, and α a feasible point of its dual.
        """
        from maxmargin.problem.dual.compiled.plane_products import regram

        slots, owners = self._used_slots(self._tables.filled)
        changed = np.flatnonzero(np.diff(rows.indptr))
        if len(slots) and len(changed):
            planes = self._rows_of(slots)
            shape = (len(slots), self._atoms.count)
            old = sparse.csr_array((planes.values, planes.indices, planes.indptr), shape=shape)
            moves = rows.take(owners).scaled(self.problem.formulation.truths(self._tables.offset[slots]))
            new = old + sparse.csr_array((moves.values, moves.indices, moves.indptr), shape=shape)
            new.sum_duplicates()
            new.eliminate_zeros()
            self._tables.start[slots], self._tables.length[slots] = new.indptr[:-1], np.diff(new.indptr)
            self._tables.folds[slots] += 1
            self._tables = self._tables._replace(indices=new.indices.astype(np.int32), values=new.data)
            self._tables.tops[ENTRIES] = len(new.data)
            regram(changed, self._scratch, self._atoms.arrays, self._images(), self._tables)
        self.refresh()

    def _live_entries(self) -> int:
        base, count = self._tables.base, self._tables.filled
        length = np.append(np.cumsum(self._tables.length, dtype=np.int64), 0)  # index -1 reads the 0
        return int(np.sum((length[base + count - 1] - length[base - 1])[count > 0]))

    def _used_mb(self) -> float:
        tops = self._tables.tops
        return float(tops[ENTRIES] * 12 + tops[SLOTS] * 28 + tops[CELLS] * 8) / 2**20

    def _enlarge(self, longest_row: int) -> None:
        """Enlarge every table to hold at least another example's worst case."""
        entries = longest_row + 2 * int(np.max(self._tables.length, initial=0))
        side = 2 * (1 << (self.slots - 1).bit_length())  # capacities are powers of 2, the largest at least `slots`
        size = max(len(self._scratch.hashed.keys), 1 << (4 * entries - 1).bit_length())
        self._scratch = self._scratch._replace(hashed=Hashed.of_size(size))
        self._tables = self._tables.grown(slots=side, entries=entries, cells=side * side)

    def _compact(self) -> None:
        from maxmargin.problem.dual.compiled.plane_slots import compact

        slots = int(np.sum(2 * self._tables.filled))
        cells = int(np.sum((2 * self._tables.filled) ** 2))
        entries = self._live_entries()
        # with half as much to spare, because it will soon be needed
        new = PlaneTables.empty(self.n, slots + slots // 2 + 1, entries + entries // 2 + 1, cells + 1)
        compact(self._tables, new)
        self._tables = new
