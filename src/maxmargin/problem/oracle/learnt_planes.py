"""Planes in a checkpoint, as rows over the atoms of their owner, and the sizes of planes."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_finite, is_whole
from maxmargin.base.files.learnt import Learnt
from maxmargin.problem.oracle.missed_outputs import MissedOutputs
from maxmargin.problem.planes.atoms import AtomRows, Atoms, read_rows
from maxmargin.problem.planes.plane_sizes import PlaneSizes
from maxmargin.problem.planes.planes import Planes


def plain_planes(planes: Planes) -> list[Any]:
    """Return planes as plain data: their rows and losses."""
    return [AtomRows.of(planes.dpsi).plain, planes.loss]


def read_planes(atoms: Atoms, found: Any, n: int | None = None) -> Planes:
    """Read planes from the result of `plain_planes`; raise a ValueError unless there is one for each of n examples."""
    if not isinstance(found, list) or len(found) != 2:
        raise ValueError("expected planes")
    rows = read_rows(atoms, found[0], n)
    return Planes(rows, read_numbers(found[1], rows.shape[0]))


def read_numbers(found: Any, n: int, finite: bool = True) -> Array:
    """Return an array of n numbers, or raise ValueError."""
    if not isinstance(found, np.ndarray) or found.dtype != np.float64 or found.shape != (n,):
        raise ValueError(f"expected {n} numbers")
    if finite and not np.isfinite(found).all():
        raise ValueError("expected finite numbers")
    return found


class LearntPlaneSizes(Learnt):
    """A field for the largest planes that an oracle has seen."""

    def left(self, value: PlaneSizes) -> Any:
        return [*value[:-1], value.atoms is not None]

    def refilled(self, found: Any, current: PlaneSizes, owner: Any) -> PlaneSizes:
        if not isinstance(found, list) or len(found) != 6 or not all(map(is_finite, found[:5])):
            raise ValueError("expected the sizes of planes")
        if min(found[:5]) < 0 or not is_whole(found[4]) or not isinstance(found[5], bool):
            raise ValueError("expected sizes of planes, none below 0")
        a, weight, whole, b, entries, known = found
        return PlaneSizes(a, weight, whole, b, entries, owner.plane_atoms if known else None)


class LearntMissedOutputs(Learnt):
    """A field for the planes that an oracle keeps to test the decoder."""

    def left(self, value: MissedOutputs) -> Any:
        return {"turn": value.turn, "kept": [[chunk, *plain_planes(planes)] for chunk, planes in value.kept]}

    def refilled(self, found: Any, current: MissedOutputs, owner: Any) -> MissedOutputs:
        if not isinstance(found, dict) or set(found) != {"turn", "kept"} or not isinstance(found["kept"], list):
            raise ValueError("expected the kept planes")
        missed, sizes = MissedOutputs(), owner.chunk_sizes
        if not is_whole(found["turn"]) or not 0 <= found["turn"] < len(sizes):
            raise ValueError(f"expected the number of a chunk below {len(sizes)}")
        missed.turn = int(found["turn"])
        for chunk, *planes in found["kept"]:
            if not is_whole(chunk) or not 0 <= chunk < len(sizes):
                raise ValueError(f"expected the planes of one of {len(sizes)} chunks")
            missed.kept.append((int(chunk), read_planes(owner.plane_atoms, planes, sizes[chunk])))
        return missed
