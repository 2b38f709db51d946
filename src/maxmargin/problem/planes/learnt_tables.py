"""PlaneTables in a checkpoint: without the unused space at the end, and checked before any kernel reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.files.learnt import Learnt
from maxmargin.problem.planes.compiled.plane_tables import CELLS, ENTRIES, SLOTS, PlaneTables

EMPTY = PlaneTables.empty(0, 0, 0, 0)
OF = {  # the counter in `tops` that says how much of an array is used
    **dict.fromkeys(("start", "length", "offset", "alpha", "idle", "folds"), SLOTS),
    **dict.fromkeys(("indices", "values"), ENTRIES),
    "gram": CELLS,
}
MOST_CAPACITY = 2**20  # the most planes of one example


class LearntTables(Learnt):
    """The tables of an owner with n examples, at most `slots` planes of each, and planes over `plane_atoms`."""

    def left(self, value: PlaneTables) -> Any:
        return {name: each[: value.tops[OF[name]]] if name in OF else each for name, each in value._asdict().items()}

    def refilled(self, found: Any, current: PlaneTables, owner: Any) -> PlaneTables:
        if not isinstance(found, dict) or set(found) != set(PlaneTables._fields):
            raise ValueError("expected the tables of planes")
        for name, kind in EMPTY._asdict().items():
            each = found[name]
            if not isinstance(each, np.ndarray) or each.dtype != kind.dtype or each.ndim != 1:
                raise ValueError(f"{name}: expected an array of {kind.dtype}")
            if each.dtype.kind == "f" and not np.isfinite(each).all():
                raise ValueError(f"{name}: expected finite numbers")
            if each.dtype.kind == "i" and len(each) and each.min() < 0:
                raise ValueError(f"{name}: expected numbers >= 0")
        tables = PlaneTables(**found)
        if len(tables.tops) != 3 or len(tables.longest) != 1:
            raise ValueError("expected three tops, and one longest plane")
        sizes = {name: owner.n if name not in OF else int(tables.tops[OF[name]]) for name in tables._fields}
        for name in set(tables._fields) - {"tops", "longest"}:
            if len(found[name]) != sizes[name]:
                raise ValueError(f"{name}: expected {sizes[name]} numbers, found {len(found[name])}")
        _check_slots(tables, owner.slots)
        used = _used(tables)
        empty = np.ones(len(tables.start), dtype=bool)
        empty[used] = False
        tables.start[empty] = tables.length[empty] = 0  # entries left over from deleted planes are arbitrary
        if (tables.start[used] > sizes["indices"]).any() or (tables.length[used] > sizes["indices"]).any():
            raise ValueError("expected planes within their entries")
        if (tables.start[used] + tables.length[used] > sizes["indices"]).any():
            raise ValueError("expected planes within their entries")
        if len(tables.indices) and tables.indices.max() >= owner.plane_atoms.count:
            raise ValueError(f"expected atoms below {owner.plane_atoms.count}")
        if len(tables.alpha) and tables.alpha.min() < 0:
            raise ValueError("expected weights of planes >= 0")
        return tables


def _check_slots(tables: PlaneTables, most: int) -> None:
    """Check that every example has its own slots and products, and no more planes than fit."""
    if (tables.filled > tables.capacity).any() or (tables.filled > most).any():
        raise ValueError(f"expected at most {most} planes of an example, and no more than its capacity")
    if len(tables.capacity) and tables.capacity.max() > MOST_CAPACITY:
        raise ValueError(f"expected capacities up to {MOST_CAPACITY}")
    _check_disjoint(tables.base, tables.capacity, int(tables.tops[SLOTS]))
    _check_disjoint(tables.gram_base, tables.capacity**2, int(tables.tops[CELLS]))


def _used(tables: PlaneTables) -> NDArray[np.int64]:
    """Return the slots that have a plane."""
    filled = tables.filled
    within = np.arange(filled.sum()) - np.repeat(np.cumsum(filled) - filled, filled)
    return np.asarray(np.repeat(tables.base, filled) + within)


def _check_disjoint(first: NDArray[np.int64], size: NDArray[np.int64], top: int) -> None:
    """Check that ranges end before the top, and that no two overlap."""
    used = np.flatnonzero(size)
    if (first > top).any() or (size > top).any() or (first[used] + size[used] > top).any():
        raise ValueError(f"expected ranges that end at {top}")
    order = used[np.argsort(first[used])]
    if (first[order][1:] < (first[order] + size[order])[:-1]).any():
        raise ValueError("expected ranges that do not overlap")
