"""The most violated cuts of some examples, found where their data are, and the promise that they are >= 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.errors import TaskError
from maxmargin.base.rounding import gamma
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.rescaling import search_rescaled
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.plane_sizes import PlaneSizes
from maxmargin.problem.planes.planes import Planes


class Violations(NamedTuple):
    """Planes whose height is the violation.

    Solvers measure the objective by what an undergenerating search found, which is all that they can act on, and by
    what is proved otherwise.
    """

    planes: Planes
    heights: Array  # of the planes where they were asked for
    measured: Array  # each example's largest violation, as the objective is measured
    proved: Array  # upper bounds on it; inf where nothing is proved
    lam: Array | None = None  # where a rescaling search ended: the next one begins there
    relaxed: NDArray[np.bool_] | None = None  # see Planes


class Look(NamedTuple):
    """What a pass needs to know of some examples."""

    slacks: Array  # as the objective is measured
    proved: Array  # bounds on them
    lam: Array | None
    relaxed: NDArray[np.bool_] | None
    reach: PlaneSizes  # of the planes
    found: Violations | None  # where the planes themselves are wanted


def most_violated(
    batch: Batch, asked: tuple[Index, Array | None], w: Array, scale: float, formulation: Formulation
) -> Violations:
    """The most violated cuts of these examples of a batch at scale·w; the λ of rescaling searches begin as given."""
    index, lam = asked
    part = batch.take(index)
    estimates = part.search.estimates
    if formulation.plain:
        planes = part.planes(w, 1.0 / scale).over_atoms()
        heights = planes.loss - scale * (planes.dpsi @ w)
        _check_promise(part, planes, heights, w, scale)
        if planes.upper is None:
            proved = np.full(len(heights), np.inf) if estimates else heights
            return Violations(planes, heights, heights, proved, relaxed=planes.relaxed)
        proved = np.maximum(scale * planes.upper, heights)
        return Violations(planes, heights, heights if estimates else proved, proved, relaxed=planes.relaxed)
    rescaled = part.offers(RescaledSearch)
    if rescaled is not None:
        exact = rescaled.rescaled_planes(w, formulation)
        planes = formulation.cuts(exact.over_atoms())
        heights = planes.values(w)
        _check_promise(part, planes, heights, w)
        proved = heights if exact.upper is None else np.maximum(exact.upper, heights)
        return Violations(planes, heights, heights if estimates else proved, proved, relaxed=exact.relaxed)
    assert lam is not None
    found = search_rescaled(part, formulation, w, lam)
    heights = found.cuts.values(w)
    _check_promise(part, found.cuts, found.upper, w)
    measured = heights if estimates else found.upper
    return Violations(found.cuts, heights, measured, found.upper, found.lam, found.relaxed)


def looked_at(
    batch: Batch, asked: tuple[Index, Array | None], w: Array, formulation: Formulation, wants_planes: bool
) -> Look:
    """The same at w for a pass, with whatever of it can be worked out example by example."""
    found = most_violated(batch, asked, w, 1.0, formulation)
    return Look(
        np.maximum(found.measured, 0.0),
        np.maximum(found.proved, 0.0),
        found.lam,
        found.relaxed,
        PlaneSizes().with_planes(found.planes),
        found if wants_planes else None,
    )


def predicted(batch: Batch, index: Index, w: Array, hint: float) -> Violations:
    """The cuts of plain predictions, in which a hint of loss decides ties."""
    planes = batch.take(index).planes(w, hint).over_atoms()
    heights = np.zeros(len(index))  # which nobody asks for
    return Violations(planes, heights, heights, heights, relaxed=planes.relaxed)


def joined(parts: list[Violations], order: Index | None) -> Violations:
    """What was found in several places, in the order of the examples that were asked for."""
    if len(parts) == 1 and order is None:
        return parts[0]
    planes = Planes.stack([part.planes for part in parts])
    if order is not None:
        rows: Any = planes.dpsi
        reach = None if planes.reach is None else planes.reach[order]
        planes = Planes(rows.take(order), planes.loss[order], reach=reach)
    return Violations(planes, *_columns([part[1:] for part in parts], order))


def joined_looks(parts: list[Look], order: Index | None) -> Look:
    """The same of several looks."""
    if len(parts) == 1 and order is None:
        return parts[0]
    found = [each.found for each in parts if each.found is not None]
    slacks, proved, lam, relaxed = _columns([each[:4] for each in parts], order)
    reach = parts[0].reach.joined([each.reach for each in parts[1:]])
    return Look(slacks, proved, lam, relaxed, reach, joined(found, order) if found else None)


def _columns(parts: list[tuple[Any, ...]], order: Index | None) -> Any:
    """Fields of arrays, or of None, one after the other."""
    columns = [None if each[0] is None else np.concatenate(each) for each in zip(*parts, strict=True)]
    return columns if order is None else [None if column is None else column[order] for column in columns]


def _check_promise(batch: Batch, planes: Planes, heights: Array, w: Array, scale: float = 1.0) -> None:
    """The truth has height 0, so an exact decoder never returns less: anything else is the task's fault."""
    if heights.min(initial=0.0) >= 0:  # the usual case; false for NaN
        return
    if np.isnan(heights).any():
        i = batch.ids[int(np.flatnonzero(np.isnan(heights))[0])]
        raise TaskError(f"the plane of example {i} is NaN: psi or loss is not finite, or the weights overflowed")
    if batch.search is not Search.EXACT:
        return
    allowed = -1e-7 * (1 + 2 * np.abs(planes.loss) + np.abs(heights))
    if (heights < allowed).any():
        # Scores of large features may cancel: what rounding can do to them is no fault. Seldom needed, hence here.
        rows = AtomRows.of(planes.dpsi)
        terms = rows.atoms.terms + max(int(np.max(np.diff(rows.indptr))), 64) + 8
        lengths = rows.sizes if planes.reach is None else np.maximum(rows.sizes, planes.reach)
        allowed -= 4 * gamma(terms) * scale * lengths * rows.atoms.size_of(w)
    if (heights < allowed).any():
        j = int(np.argmin(heights - allowed))
        raise TaskError(
            f"{batch.name} broke its promise on example {batch.ids[j]}: argmax(w, x, y) "
            f"returned an output with ⟨w, psi⟩ + loss lower than the truth's by {-heights[j]:.6g}. "
            "It must maximise that sum (or the task must declare search = Search.UNDERGENERATING)"
        )
