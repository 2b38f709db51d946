"""The dual point of the n-slack problem, one block of cached planes per example, with the weights w kept explicit.

    maximise  D(α) = Σ α b - ½‖Σ α a‖²  (- Σᵢ (Σₖ αᵢₖ)²/2capᵢ for squared slacks)
    subject to α >= 0, Σₖ αᵢₖ <= capᵢ = C vᵢ / n  (no upper limit for squared slacks)

over the planes (a, b) seen so far. This is the state that BCFW and the n-slack cutting plane method share: they differ
in which planes they ask for and when, not in how the dual is kept. Blocks are improved one at a time by exact pairwise
steps (compiled/dual_blocks.py); memory is bounded by folding the lightest planes of an example into one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.errors import NotSeparable
from maxmargin.objective import Formulation
from maxmargin.planes import Planes

MEMO = 512  # as in compiled/dual_blocks.py, which is loaded only when it is needed
_SLOT_TYPES = (np.int64, np.int32, np.float64, np.float64, np.int32)  # start, length, offset, alpha, idle
_NO_ROWS = (np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0))


class Report(NamedTuple):
    """What a round of visits saw and did."""

    penalty: float  # Σ cap · penalty of the heights seen: C times an estimate of the risk
    added: int  # planes that were new
    gain: float  # what the dual gained


class DualBlocks:
    """α, w and the plane cache."""

    def __init__(
        self,
        dim: int,
        weights: Array,
        formulation: Formulation,
        C: float,
        slots: int = 32,
        patience: int = 10,
        cache_mb: float = 1024.0,
    ):
        if slots < 2:
            raise ValueError(f"an example needs room for at least 2 planes, so that they can be folded; got {slots}")
        self.n, self.dim, self.weights = len(weights), dim, weights
        self.formulation, self.squared = formulation, formulation.squared
        self.slots, self.patience, self.cache_mb = slots, patience, cache_mb
        self.C, self.cap = C, _caps(weights, C)
        self.w, self._work = np.zeros(self.dim), np.zeros(self.dim)
        self._owner: list[Any] = [np.zeros(self.n, dtype=kind) for kind in (np.int64, np.int64, np.int64, np.int64)]
        self._tops = np.zeros(3, dtype=np.int64)  # used sparse entries, slots, Gram entries
        self._tables: list[Any] = [np.zeros(64, dtype=kind) for kind in _SLOT_TYPES]
        self._entries: list[Any] = [np.zeros(64, dtype=np.int32), np.zeros(64)]
        self._gram: Any = np.zeros(64)
        self._atoms = Atoms.coordinates(self.dim)  # the task's own come with its first planes
        self.dual = 0.0  # D(α)
        self._scratch = _scratch(slots, MEMO)

    @property
    def alpha_sums(self) -> Array:
        """Σₖ αᵢₖ of every example."""
        base, count = self._owner[0], self._owner[1]
        return np.array([self._tables[3][b : b + c].sum() for b, c in zip(base, count, strict=True)])

    @property
    def cached_mb(self) -> float:
        """Memory of the plane cache."""
        arrays = [*self._tables, *self._entries, self._gram]
        return sum(array.nbytes for array in arrays) / 2**20

    def visit(
        self, order: NDArray[np.intp], planes: Planes | None = None, steps: int = 10, epsilon: float = 0.0
    ) -> Report:
        """Visit examples in this order: add each one's new plane (where it cuts deeper by epsilon), then ascend."""
        rows = _NO_ROWS
        if planes is not None:
            new = AtomRows.of(planes.dpsi)
            self._atoms = new.atoms
            rows = (new.indptr, new.indices, new.values, planes.loss)
        order = np.ascontiguousarray(order, dtype=np.int64)
        report = np.array([0.0, 0.0, 0.0, -1.0])
        begin = 0
        while begin < len(order):
            begin = self._visit(order, begin, planes is not None, rows, steps, epsilon, report)
            if report[3] >= 0:
                raise NotSeparable(
                    f"example {int(report[3])} cannot be separated: a wrong output has the same features as the "
                    f"right one, "
                    "so C = inf has no solution; use a finite C"
                )
            if begin < len(order):
                longest = int(np.max(np.diff(rows[0]), initial=0))
                self._enlarge(longest)
        self.dual += report[2]
        return Report(report[0], int(report[1]), report[2])

    def _visit(
        self, order: Any, begin: int, fresh: bool, rows: tuple[Any, ...], steps: int, epsilon: float, report: Array
    ) -> int:
        """Visit order[begin:]; returns the position of the first example for which the tables have no room."""
        from maxmargin.compiled.dual_blocks import visit

        atoms, fixed = self._atoms.arrays, (self.cap, self.squared, steps, self.slots, self.patience, epsilon)
        scratch = (self._work, *self._scratch)
        return int(
            visit(order, begin, fresh, rows, atoms, atoms, *fixed, self.w, self.w, scratch, report, self._state())
        )

    def refresh(self) -> None:
        """Recompute w and D from α, so that rounding errors of millions of steps do not add up."""
        from maxmargin.compiled.dual_blocks import totals

        self.w[:] = 0.0
        linear = totals(self.cap, self.squared, self.w, self._atoms.arrays, self._state())
        self.dual = linear - 0.5 * self._squared_norm()

    def _squared_norm(self) -> float:
        return float(np.dot(self.w, self.w))

    def _images(self) -> tuple[Any, ...]:
        """The atoms as they are added up for products of planes."""
        return self._atoms.arrays

    def check_separable(self) -> None:
        """Under a hard margin: raise NotSeparable if the planes seen so far contradict each other (an LP tells)."""
        if np.isfinite(self.C):
            return
        rows, offset = self._planes()
        if not len(offset):
            return
        outcome = linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-offset, bounds=(None, None), method="highs")
        if outcome.status == 2:
            raise NotSeparable(
                f"no weights separate all examples: {len(offset)} constraints found so far contradict each "
                f"other, so C = inf "
                "has no solution; use a finite C"
            )

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """R(w) is at least the mean penalty of the highest cached planes there; gains: as in Cuts."""
        slots, owners = self._used_slots(self._owner[1])
        slacks = np.zeros(self.n)
        offsets = self._tables[2][slots]
        heights = offsets - self._rows_of(slots) @ w
        if gains is not None:
            heights -= self.formulation.truths(offsets) * gains[owners]
        np.maximum.at(slacks, owners, heights)
        return float(np.dot(self.weights, self.formulation.penalty(slacks))) / self.n

    def _planes(self) -> tuple[Any, Array]:
        """The cached planes of all examples that count, as explicit rows, with their offsets."""
        slots, _ = self._used_slots(np.where(self.cap > 0, self._owner[1], 0))
        return self._rows_of(slots).tocsr(), self._tables[2][slots]

    def _used_slots(self, counts: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first counts[i] slots of every example i, and the examples that own them."""
        owners = np.repeat(np.arange(self.n), counts)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._owner[0][owners] + within, owners

    def _rows_of(self, slots: NDArray[np.intp]) -> AtomRows:
        """The planes in these slots."""
        start, length = self._tables[0][slots], self._tables[1][slots]
        indptr = np.concatenate([[0], np.cumsum(length)])
        entries = np.arange(indptr[-1]) + np.repeat(start - indptr[:-1], length)
        indices, values = self._entries
        return AtomRows(self._atoms, indptr.astype(np.int32), indices[entries], values[entries])

    def tidy(self) -> None:
        """Drop garbage, and fold planes where the cache is over its limit. One plane per example always stays."""
        from maxmargin.compiled.dual_blocks import shrink

        live = int(self._live_entries())
        if live < self._tops[0] // 2 or self._used_mb() > self.cache_mb:
            self._compact()
        most = self.slots
        while self._used_mb() > self.cache_mb and most > 1:
            most //= 2
            while shrink(most, self._scratch[-2:], self._state()) < self.n:
                self._enlarge(0)
            self._compact()

    def move_to(self, weights: Array, C: float) -> None:
        """Carry α over to another C: scale it to the best feasible multiple (a parabola in the factor)."""
        norm = self._squared_norm()
        sums = self.alpha_sums
        self.C, self.cap = C, _caps(weights, C)
        slots, _ = self._used_slots(self._owner[1])
        linear = float(np.dot(self._tables[3][slots], self._tables[2][slots]))
        if self.squared:
            with np.errstate(divide="ignore", invalid="ignore"):
                norm += float(np.nansum(np.where(sums > 0, sums**2 / self.cap, 0.0)))
            limit = np.inf
        else:
            used = sums > 0
            limit = float(np.min(self.cap[used] / sums[used], initial=np.inf))
        factor = min(limit, linear / norm if norm > 0 else np.inf)
        self._tables[3] *= max(factor, 0.0) if np.isfinite(factor) else 1.0
        self.refresh()

    def shift(self, rows: AtomRows) -> None:
        """The truths' Ψ have changed by these rows, one per example: the planes of i move by row i, and α stays.

        The offset of a plane is a loss that does not depend on the hidden part of the truth, so a shifted plane is a
        plane of the new problem, and α a feasible point of its dual.
        """
        from maxmargin.compiled.dual_blocks import regram

        slots, owners = self._used_slots(self._owner[1])
        changed = np.flatnonzero(np.diff(rows.indptr))
        if len(slots) and len(changed):
            planes = self._rows_of(slots)
            shape = (len(slots), self._atoms.count)
            old = sparse.csr_array((planes.values, planes.indices, planes.indptr), shape=shape)
            moves = rows.take(owners).scaled(self.formulation.truths(self._tables[2][slots]))
            new = old + sparse.csr_array((moves.values, moves.indices, moves.indptr), shape=shape)
            new.sum_duplicates()
            new.eliminate_zeros()
            self._tables[0][slots], self._tables[1][slots] = new.indptr[:-1], np.diff(new.indptr)
            self._entries = [new.indices.astype(np.int32), new.data]
            self._tops[0] = len(new.data)
            memo = self._scratch[2:5]
            regram(changed, self._work, memo, self._atoms.arrays, self._images(), self._state())
        self.refresh()

    def _state(self) -> tuple[Any, ...]:
        base, count, capacity, gram_base = self._owner
        return (base, count, capacity, gram_base, self._tops, *self._tables, *self._entries, self._gram)

    def _live_entries(self) -> int:
        base, count = self._owner[0], self._owner[1]
        length = np.append(np.cumsum(self._tables[1], dtype=np.int64), 0)  # index -1 reads the 0
        return int(np.sum((length[base + count - 1] - length[base - 1])[count > 0]))

    def _used_mb(self) -> float:
        return float(self._tops[0] * 12 + self._tops[1] * 28 + self._tops[2] * 8) / 2**20

    def _enlarge(self, longest_row: int) -> None:
        """Grow every table to hold at least another example's worst case, by a half more each time."""
        length = self._tables[1]
        entries = longest_row + 2 * int(np.max(length, initial=0))
        side = 2 * (1 << (self.slots - 1).bit_length())  # capacities are powers of 2, the largest not below slots
        self._scratch = _scratch(self.slots, max(len(self._scratch[-1]), 1 << (4 * entries - 1).bit_length()))
        self._entries = [_longer(array, int(self._tops[0]) + entries) for array in self._entries]
        self._tables = [_longer(array, int(self._tops[1]) + side) for array in self._tables]
        self._gram = _longer(self._gram, int(self._tops[2]) + side * side)

    def _compact(self) -> None:
        from maxmargin.compiled.dual_blocks import compact

        slots = int(np.sum(2 * self._owner[1]))
        cells = int(np.sum((2 * self._owner[1]) ** 2))
        entries = self._live_entries()
        # with a half to spare: what was alive before will soon be needed again
        tables = [np.zeros(slots + slots // 2 + 1, dtype=kind) for kind in _SLOT_TYPES]
        new_entries = [np.zeros(entries + entries // 2 + 1, dtype=array.dtype) for array in self._entries]
        gram = np.zeros(cells + 1)
        compact(self._state(), (*tables, *new_entries, gram))
        self._tables, self._entries, self._gram = tables, new_entries, gram


def _scratch(slots: int, table: int) -> tuple[Any, ...]:
    """What a visit needs to work in: heights and changes of α, a memo of atom scores, a hash table for folding."""
    memo = (np.full(MEMO, -1), np.zeros(MEMO, dtype=np.int64), np.zeros(MEMO))
    return (
        np.zeros(slots + 1),
        np.zeros(slots + 1),
        *memo,
        np.zeros(table, dtype=np.int64),
        np.zeros(table, dtype=np.int64),
    )


def _caps(weights: Array, C: float) -> Array:
    """C vᵢ / n; an example of weight 0 has no budget even under a hard margin."""
    return np.where(weights > 0, C * np.maximum(weights, 1e-300) / len(weights), 0.0)


def _longer(array: Any, needed: int) -> Any:
    if needed <= len(array):
        return array
    longer = np.zeros(2 * needed, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
