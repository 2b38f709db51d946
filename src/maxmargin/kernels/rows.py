"""Rows of the kernel matrix of the training units: computed on demand, cached within a memory budget."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import NumberArray, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.kernels.base import Kernel

Units = NDArray[np.int64]
CHUNK = 256  # rows multiplied at once
SPARSE = 0.7  # if a smaller share of a block is missing, only the missing entries are computed


class KernelRows:
    """The matrix G[u, v] = k(u, v) over n units, in double precision, because the certificate refers to this matrix.

    A cached row has the length of the matrix but is filled on demand: unknown entries are NaN and cost nothing. Row u
    is in store[slot_of[u]]. If the cache is full, the least recently used row is replaced; a product with more rows
    than the cache holds bypasses it, because it would replace all rows every time.
    """

    def __init__(self, kernel: Kernel, units: Any, cache_mb: float | None = None):
        self.kernel, self.units, self.n = kernel, units, int(units.shape[0])
        budget = kernel.cache_mb if cache_mb is None else cache_mb
        self.capacity = min(self.n, int(budget * 2**20 / (8 * max(self.n, 1))))
        if self.n and self.capacity < 1:
            raise ValueError(
                f"one row of the kernel matrix of {self.n} units takes {8 * self.n / 2**20:.3g} MB, but cache_mb = "
                f"{budget:g}; give the kernel a larger cache_mb"
            )
        self._evaluations = [0]  # shared with restricted copies
        self._lock = RLock()
        self._clear()

    def _clear(self) -> None:
        self.store = np.empty((self.capacity, self.n))  # untouched memory is not allocated
        self.slot_of = np.full(self.n, -1, dtype=np.int64)
        self.unit_of = np.full(self.capacity, -1, dtype=np.int64)
        self.known = np.zeros(self.capacity, dtype=np.int64)  # number of known entries of the row
        self.complete = np.zeros(self.capacity, dtype=np.bool_)
        self.last_use = np.zeros(self.capacity, dtype=np.int64)
        self.clock = np.zeros(1, dtype=np.int64)

    @property
    def evaluations(self) -> int:
        """The number of evaluations of the kernel function."""
        return self._evaluations[0]

    @evaluations.setter
    def evaluations(self, count: int) -> None:
        """The number of evaluations of the kernel function."""
        self._evaluations[0] = count

    # The rows themselves are recomputed as well, because their last bits depend on the rows computed with them.
    learnt: ClassVar[Fields] = {
        "evaluations": Whole(),
        "clock": NumberArray(np.int64, 1, least=0),
        "unit_of": NumberArray(np.int64, "capacity", least=-1, below="n"),
        "last_use": NumberArray(np.int64, "capacity", least=0),
        "filled_rows": NumberArray(float, None, "n", finite=False),
    }

    @property
    def filled_rows(self) -> Array:
        """The rows that belong to a unit, in the order of their slots."""
        used = np.flatnonzero(self.unit_of >= 0)
        return self.store[: len(used)] if not len(used) or used[-1] == len(used) - 1 else self.store[used]

    @filled_rows.setter
    def filled_rows(self, found: Array) -> None:
        """The rows that belong to a unit, in the order of their slots."""
        used = np.flatnonzero(self.unit_of >= 0)
        units = self.unit_of[used]
        if len(found) != len(used) or len(np.unique(units)) < len(units):
            raise ValueError("expected one row in the cache for every unit")
        if np.isinf(found).any():
            raise ValueError("expected kernel values that are finite or unknown")
        self.store[used] = found
        self.slot_of[:] = -1
        self.slot_of[units] = used
        self.known[:] = 0
        self.known[used] = np.count_nonzero(~np.isnan(found), axis=1)
        self.complete = self.known == self.n
        self.complete[self.unit_of < 0] = False

    def products(self, coefficients: Array, units: Units) -> Array:
        """Return the (len(units), K) products G[units, :] @ coefficients; the units must be different."""
        active = np.flatnonzero(coefficients.any(axis=1))
        total = np.zeros((coefficients.shape[1], len(units)))
        with self._lock:
            for begin in range(0, len(active), CHUNK):
                some = active[begin : begin + CHUNK]
                total += coefficients[some].T @ self._block(some, units, len(active) <= self.capacity)
        return np.ascontiguousarray(total.T)

    def whole(self, units: Units) -> None:
        """Ensure that the complete rows of these units, at most `capacity`, are in the cache."""
        with self._lock:
            slots = self.slot_of[units]
            self.last_use[slots[slots >= 0]] = self._tick()  # so that these rows are not replaced
            missing = units[(slots < 0) | ~self.complete[slots]]
            for begin in range(0, len(missing), CHUNK):  # so that copies stay small compared with the cache
                some = missing[begin : begin + CHUNK]
                if np.array_equal(self.known, np.where(self.complete, self.n, 0)):
                    rows = self._fresh(some)
                    self._admit(some)
                else:
                    self._admit(some)
                    rows = self.store[self.slot_of[some]]
                    self._fill(rows, some, np.arange(self.n))
                slots = self.slot_of[some]
                self.store[slots] = rows
                self.known[slots], self.complete[slots] = self.n, True

    def block(self, rows: Units, columns: Units) -> Array:
        """Return G[rows, columns], computed without the cache."""
        return self._computed(rows, columns)

    def restricted(self, units: Units) -> KernelRows:
        """Return the matrix of these units alone, with its known entries."""
        part = KernelRows(self.kernel, self.kernel.among(self.units, units))
        part._evaluations = self._evaluations
        with self._lock:
            cached = np.flatnonzero(self.slot_of[units] >= 0)[: part.capacity]
            part._admit(cached)
            slots = part.slot_of[cached]
            part.store[slots] = self.store[self.slot_of[units[cached]][:, None], units]
            part.known[slots] = np.count_nonzero(~np.isnan(part.store[slots]), axis=1)
            part.complete[slots] = part.known[slots] == part.n
        return part

    @cached_property
    def prepared(self) -> Any:
        """The units in the form that the kernel reads."""
        return self.kernel.prepared(self.units)

    @cached_property
    def diagonal(self) -> Array:
        """The values G[u, u] of every unit."""
        values = self.kernel.diagonal(self.units)
        self._evaluations[0] += self.n
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise _not_finite(int(bad[0]), int(bad[0]), float(values[bad[0]]))
        return values

    def _block(self, rows: Units, columns: Units, admit: bool) -> Array:
        """Return G[rows, columns] through the cache."""
        if admit:
            self._admit(rows)
        slots = self.slot_of[rows]
        cached = slots >= 0
        if len(columns) == self.n and cached.all() and self.complete[slots].all():
            self.last_use[slots] = self._tick()
            return self.store[slots][:, columns] if np.any(np.diff(columns) < 0) else self.store[slots]
        if not cached.any():
            return self._computed(rows, columns)
        found = np.full((len(rows), len(columns)), np.nan)
        self.last_use[slots[cached]] = self._tick()
        found[cached] = self.store[slots[cached][:, None], columns]
        open_ = np.flatnonzero(~cached | ~self.complete[slots])
        if len(open_):
            part = found[open_]
            new = self._fill(part, rows[open_], columns)
            found[open_] = part
            keep = cached[open_] & (new > 0)
            filled = slots[open_[keep]]
            self.store[filled[:, None], columns] = part[keep]
            self.known[filled] += new[keep]
            self.complete[filled] = self.known[filled] == self.n
        return found

    def _fill(self, block: Array, rows: Units, columns: Units) -> NDArray[np.intp]:
        """Replace every NaN in a block G[rows, columns]; return the number of NaNs in each row.

        G is symmetric, so entries that are known in cached rows of the columns need not be computed.
        """
        unknown = np.isnan(block)
        some, which = np.flatnonzero(unknown.any(axis=1)), np.flatnonzero(unknown.any(axis=0))
        if len(some):
            slots = self.slot_of[columns[which]]
            cached = which[slots >= 0]
            mirrored = self.store[slots[slots >= 0][:, None], rows[some]].T
            known = block[some[:, None], cached]
            block[some[:, None], cached] = np.where(np.isnan(known), mirrored, known)
            for left, where in _blocks(np.isnan(block)):
                block[left[:, None], where] = self._computed(rows[left], columns[where])
        return np.count_nonzero(unknown, axis=1)

    def _fresh(self, rows: Units) -> Array:
        """Return G[rows, :], using only complete rows of other units."""
        slots = self.slot_of
        known = (slots >= 0) & self.complete[slots]
        cached, rest = np.flatnonzero(known), np.flatnonzero(~known)
        if not len(cached):
            return self._computed(rows, rest)
        block = np.empty((len(rows), self.n))
        block[:, cached] = self.store[slots[cached][:, None], rows].T
        if len(rest):
            block[:, rest] = self._computed(rows, rest)
        return block

    def _admit(self, units: Units) -> None:
        """Give each of these units a slot, replacing the least recently used ones. New rows are cleared."""
        now = self._tick()
        new = units[self.slot_of[units] < 0]
        self.last_use[self.slot_of[units[self.slot_of[units] >= 0]]] = now
        if not len(new):
            return
        slots = np.argsort(self.last_use, kind="stable")[: len(new)]
        old = self.unit_of[slots]
        self.slot_of[old[old >= 0]] = -1
        self.unit_of[slots], self.slot_of[new] = new, slots
        self.complete[slots], self.known[slots], self.last_use[slots] = False, 0, now
        self.store[slots] = np.nan

    def _tick(self) -> int:
        self.clock += 1
        return int(self.clock[0])

    def _computed(self, rows: Units, columns: Units) -> Array:
        values = self.kernel.between(self.prepared, rows, columns)
        self._evaluations[0] += values.size
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise _not_finite(int(rows[i]), int(columns[j]), float(values[i, j]))
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the cache."""
        transient = ("store", "slot_of", "unit_of", "known", "complete", "last_use", "clock", "_lock", "prepared")
        return {name: value for name, value in vars(self).items() if name not in transient}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()
        self._clear()


def _blocks(wanted: NDArray[np.bool_]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return blocks of rows × columns that cover the wanted entries: one, or one per kind of row if far smaller."""
    left, where = np.flatnonzero(wanted.any(axis=1)), np.flatnonzero(wanted.any(axis=0))
    if not len(left):
        return []
    if np.count_nonzero(wanted) < SPARSE * len(left) * len(where):
        kinds, kind = np.unique(wanted[left], axis=0, return_inverse=True)
        return [(left[kind.ravel() == k], np.flatnonzero(columns)) for k, columns in enumerate(kinds)]
    return [(left, where)]


def _not_finite(u: int, v: int, value: float) -> ValueError:
    return ValueError(f"the kernel of training units {u} and {v} is {value}; it must be a finite number")
