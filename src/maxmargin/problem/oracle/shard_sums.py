"""Sums over a shard of the data, computed by its worker: one vector is returned instead of all planes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.mean_plane import CutSum
from maxmargin.problem.oracle.placement import chunks_of
from maxmargin.problem.oracle.violations import search_chunk
from maxmargin.problem.planes.plane_sizes import CutSize, PlaneSizes


class ShardRequest(NamedTuple):
    """The request to a shard, besides w."""

    weights: Array  # weights of the examples in the mean
    sizes: PlaneSizes  # sizes of its planes so far, without atoms
    lam: Array | None  # the λ with which its rescaling searches begin
    cut: bool  # True if the mean plane is needed, not only slacks


class ShardSum(NamedTuple):
    """The sum of the planes of one shard or of several shards; lists have one entry for each shard."""

    a: Array | None  # the sum of the vectors of the planes
    offset: float  # the sum of their constants
    size: CutSize  # bounds the rounding errors of both sums
    slacks: list[Array]  # the slacks of the examples, measured like the objective
    proved: list[Array]  # upper bounds on the slacks
    truths: list[Array]  # see MeanPlane
    relaxed: list[NDArray[np.bool_] | None]  # see Planes
    lam: list[Array | None]  # see Violations
    sizes: list[PlaneSizes]  # the sizes of the largest planes
    unsure: float  # an upper bound on the error that rounding may hide


def shard_sum(batch: Batch, request: ShardRequest, w: Array, formulation: Formulation) -> ShardSum:
    """Make a pass over all examples of a shard."""
    total = CutSum(len(w), formulation, keeps_rows=False)
    sizes = request.sizes
    slacks, proved, truths, relaxed, lam = [], [], [], [], []
    for index in chunks_of(np.arange(len(batch))):
        begin = None if request.lam is None else request.lam[index]
        chunk = search_chunk(batch, (index, begin), w, formulation, request.cut)
        sizes = sizes.joined([chunk.sizes])
        slacks.append(chunk.slacks)
        proved.append(chunk.proved)
        relaxed.append(chunk.relaxed)
        lam.append(chunk.lam)
        if chunk.found is not None:
            share = total.add(chunk.found, request.weights[index])
            truths.append(share * formulation.truths(chunk.found.planes.loss))
    return ShardSum(
        total.a if request.cut else None,
        total.offset,
        total.size,
        [np.concatenate(slacks)],
        [np.concatenate(proved)],
        [np.concatenate(truths)] if truths else [],
        [None if relaxed[0] is None else np.concatenate([each for each in relaxed if each is not None])],
        [None if lam[0] is None else np.concatenate([each for each in lam if each is not None])],
        [sizes._replace(atoms=None)],
        sizes.unsure(w),
    )


def joined_sums(one: ShardSum, other: ShardSum) -> ShardSum:
    """Add the sums of two groups of shards."""
    return ShardSum(
        None if one.a is None or other.a is None else one.a + other.a,
        one.offset + other.offset,
        one.size.plus(*other.size),
        one.slacks + other.slacks,
        one.proved + other.proved,
        one.truths + other.truths,
        one.relaxed + other.relaxed,
        one.lam + other.lam,
        one.sizes + other.sizes,
        max(one.unsure, other.unsure),
    )
