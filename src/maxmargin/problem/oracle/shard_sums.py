"""What a pass over a part of the data comes to, summed up where it is: one vector returns instead of all planes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.placement import chunks_of
from maxmargin.problem.oracle.violations import looked_at
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.plane_sizes import CutSize, PlaneSizes


class Asked(NamedTuple):
    """What a part is told beside w."""

    shares: Array  # the weight of every example in the mean
    reach: PlaneSizes  # of its planes so far, without atoms
    lam: Array | None  # where its rescaling searches begin
    cut: bool  # whether the mean plane is wanted, and not only slacks


class ShardSum(NamedTuple):
    """The sum over one part, or over several: of lists, one entry for each."""

    a: Array | None  # the plane
    offset: float
    size: CutSize
    slacks: list[Array]  # of the examples, as the objective is measured
    proved: list[Array]  # bounds on them
    truths: list[Array]  # see MeanPlane
    relaxed: list[NDArray[np.bool_] | None]
    lam: list[Array | None]
    reach: list[PlaneSizes]
    unsure: float  # what rounding may hide, at most


def shard_sum(batch: Batch, asked: Asked, w: Array, formulation: Formulation) -> ShardSum:
    """A pass over all examples of a part."""
    a = np.zeros(len(w)) if asked.cut else None
    offset, size, reach = 0.0, CutSize(0.0, 0.0, 0), asked.reach
    slacks, proved, truths, relaxed, lam = [], [], [], [], []
    for index in chunks_of(np.arange(len(batch))):
        begin = None if asked.lam is None else asked.lam[index]
        look = looked_at(batch, (index, begin), w, formulation, asked.cut)
        reach = reach.joined([look.reach])
        slacks.append(look.slacks)
        proved.append(look.proved)
        relaxed.append(look.relaxed)
        lam.append(look.lam)
        found = look.found
        if a is None or found is None:
            continue
        heights = np.maximum(found.heights, 0.0)
        share = asked.shares[index] * (heights > 0)  # a cut below the truth's 0 is no cut
        spent = 0.0
        if formulation.squared:
            share = share * heights
            spent = 0.5 * float(np.dot(share, heights))
        paid = float(np.dot(share, found.planes.loss))
        offset += paid - spent
        truths.append(share * formulation.truths(found.planes.loss))
        rows = AtomRows.of(found.planes.dpsi)
        rows.add_to(a, share)
        size = size.plus(float(np.dot(share, rows.sizes)), paid + spent, int(rows.indptr[-1]) + len(index))
    return ShardSum(
        a,
        offset,
        size,
        [np.concatenate(slacks)],
        [np.concatenate(proved)],
        [np.concatenate(truths)] if truths else [],
        [None if relaxed[0] is None else np.concatenate([each for each in relaxed if each is not None])],
        [None if lam[0] is None else np.concatenate([each for each in lam if each is not None])],
        [reach._replace(atoms=None)],
        reach.unsure(w),
    )


def joined_sums(one: ShardSum, other: ShardSum) -> ShardSum:
    """Of the parts of both."""
    return ShardSum(
        None if one.a is None or other.a is None else one.a + other.a,
        one.offset + other.offset,
        one.size.plus(*other.size),
        one.slacks + other.slacks,
        one.proved + other.proved,
        one.truths + other.truths,
        one.relaxed + other.relaxed,
        one.lam + other.lam,
        one.reach + other.reach,
        max(one.unsure, other.unsure),
    )
