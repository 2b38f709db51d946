"""The most violated cuts of some examples, found where their data are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.promises import check_above_truth
from maxmargin.problem.oracle.rescaling import search_rescaled
from maxmargin.problem.planes.plane_sizes import PlaneSizes
from maxmargin.problem.planes.planes import Planes

SearchRequest = tuple[Index, Array | None]  # positions in the batch, and the λ that their rescaled searches begin with


class Violations(NamedTuple):
    """Planes whose height is the violation.

    With an undergenerating search, solvers measure the objective by the outputs found, the only ones that they can act
    on; otherwise by proved bounds.
    """

    planes: Planes  # the most violated plane found for each example
    heights: Array  # heights of the planes at w
    measured: Array  # each example's largest violation, as used in the objective
    proved: Array  # upper bounds on it; inf if nothing is proved
    lam: Array | None = None  # the final λ of a rescaling search, with which the next one begins
    relaxed: NDArray[np.bool_] | None = None  # see Planes


class ChunkResult(NamedTuple):
    """The slacks of a chunk of examples, and other results of a pass over the data."""

    slacks: Array  # as used in the objective
    proved: Array  # upper bounds on the slacks; inf if nothing is proved
    lam: Array | None  # the final λ of rescaling searches
    relaxed: NDArray[np.bool_] | None  # see Planes
    sizes: PlaneSizes  # bounds on the sizes of the planes
    found: Violations | None  # the planes themselves, if requested


def most_violated(batch: Batch, request: SearchRequest, w: Array, scale: float, formulation: Formulation) -> Violations:
    """Find the most violated cuts of these examples of a batch at scale·w."""
    index, lam = request
    part = batch.take(index)
    estimates = part.search.estimates
    if formulation.plain:
        planes = part.planes(w, 1.0 / scale).over_atoms()
        heights = planes.loss - scale * (planes.dpsi @ w)
        check_above_truth(part, planes, heights, w, scale)
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
        check_above_truth(part, planes, heights, w)
        proved = heights if exact.upper is None else np.maximum(exact.upper, heights)
        return Violations(planes, heights, heights if estimates else proved, proved, relaxed=exact.relaxed)
    assert lam is not None
    found = search_rescaled(part, formulation, w, lam)
    heights = found.cuts.values(w)
    check_above_truth(part, found.cuts, found.upper, w)
    measured = heights if estimates else found.upper
    return Violations(found.cuts, heights, measured, found.upper, found.lam, found.relaxed)


def search_chunk(
    batch: Batch, request: SearchRequest, w: Array, formulation: Formulation, wants_planes: bool
) -> ChunkResult:
    """Find the slacks of these examples of a batch at w, and their most violated planes if requested."""
    found = most_violated(batch, request, w, 1.0, formulation)
    return ChunkResult(
        np.maximum(found.measured, 0.0),
        np.maximum(found.proved, 0.0),
        found.lam,
        found.relaxed,
        PlaneSizes().with_planes(found.planes),
        found if wants_planes else None,
    )


def predicted(batch: Batch, index: Index, w: Array, hint: float) -> Violations:
    """Find the cuts of plain predictions, in which a hint of loss decides ties."""
    planes = batch.take(index).planes(w, hint).over_atoms()
    heights = np.zeros(len(index))  # not used
    return Violations(planes, heights, heights, heights, relaxed=planes.relaxed)


def joined(parts: list[Violations], order: Index | None) -> Violations:
    """Join the results of several workers, in the order of the requested examples."""
    if len(parts) == 1 and order is None:
        return parts[0]
    planes = Planes.stack([part.planes for part in parts])
    if order is not None:
        rows: Any = planes.dpsi
        lengths = None if planes.lengths is None else planes.lengths[order]
        planes = Planes(rows.take(order), planes.loss[order], lengths=lengths)
    return Violations(planes, *_columns([part[1:] for part in parts], order))


def joined_chunk(parts: list[ChunkResult], order: Index | None) -> ChunkResult:
    """Join the results of several workers for one chunk, in the order of its examples."""
    if len(parts) == 1 and order is None:
        return parts[0]
    found = [each.found for each in parts if each.found is not None]
    slacks, proved, lam, relaxed = _columns([each[:4] for each in parts], order)
    sizes = parts[0].sizes.joined([each.sizes for each in parts[1:]])
    return ChunkResult(slacks, proved, lam, relaxed, sizes, joined(found, order) if found else None)


def _columns(parts: list[tuple[Any, ...]], order: Index | None) -> Any:
    """Concatenate the fields of several tuples of arrays, or of None."""
    columns = [None if each[0] is None else np.concatenate(each) for each in zip(*parts, strict=True)]
    return columns if order is None else [None if column is None else column[order] for column in columns]
