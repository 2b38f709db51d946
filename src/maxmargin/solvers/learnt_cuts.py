"""Cuts of the whole risk in a checkpoint."""

from __future__ import annotations

from typing import Any

from maxmargin.base.checks import is_finite, is_whole
from maxmargin.base.files.learnt import Learnt
from maxmargin.problem.oracle.learnt_planes import plain_planes, read_numbers, read_planes
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.planes.atoms import read_rows
from maxmargin.problem.planes.plane_sizes import CutSize


class LearntCut(Learnt):
    """A MeanPlane, or None, of an owner with an oracle."""

    def left(self, value: MeanPlane | None) -> Any:
        if value is None:
            return None
        return {
            "a": value.a,
            "offset": float(value.offset),
            "risk": float(value.risk),
            "row": None if value.row is None else value.row.plain,
            "truths": value.truths,
            "planes": None if value.planes is None else plain_planes(value.planes),
            "size": list(value.size),
        }

    def refilled(self, found: Any, current: Any, owner: Any) -> MeanPlane | None:
        if found is None:
            return None
        if not isinstance(found, dict) or set(found) != set(MeanPlane._fields):
            raise ValueError("expected a cut")
        if not is_finite(found["offset"]) or not is_finite(found["risk"]):
            raise ValueError("expected a finite cut")
        oracle, row, truths, planes = owner.oracle, found["row"], found["truths"], found["planes"]
        return MeanPlane(
            read_numbers(found["a"], oracle.dim),
            found["offset"],
            found["risk"],
            None if row is None else read_rows(oracle.batch.plane_atoms, row, 1),
            None if truths is None else read_numbers(truths, oracle.n),
            None if planes is None else read_planes(oracle.batch.plane_atoms, planes),
            read_size(found["size"]),
        )


def read_size(found: Any) -> CutSize:
    """Read the size of a cut from a checkpoint."""
    fits = isinstance(found, list) and len(found) == 3 and all(map(is_finite, found)) and min(found) >= 0
    if not fits or not is_whole(found[2]):
        raise ValueError("expected the size of a cut")
    return CutSize(float(found[0]), float(found[1]), int(found[2]))
