"""Oracles of problems with hidden parts: the same examples with other truths.

Order of calls: `completed` or `guessed` returns an oracle whose truths are whole outputs; `shifts` compares two such
oracles. `resumed` takes up an oracle of an earlier run again. None of them counts decoder calls or changes the given
oracle.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.latent import latent_of
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.placement import Placement
from maxmargin.problem.oracle.promises import promise_broken_on
from maxmargin.problem.planes.atoms import AtomRows


def completed(oracle: Oracle, w: Array) -> Oracle:
    """Return the oracle of the data with every label completed to the output that explains it best at w."""
    if len(w) != oracle.dim:
        raise ValueError(f"expected {oracle.dim} weights, got {len(w)}")
    placement, executor = oracle.placement, oracle.placement.executor
    if placement.in_this_process:
        return oracle.with_placement(Placement(completed_batch(oracle.batch, w), executor))
    placed = executor.derive(completed_batch, placement.shards, w)
    return oracle.with_placement(Placement(oracle.batch, executor, placed))


def guessed(oracle: Oracle, rng: np.random.Generator) -> Oracle:
    """Return the oracle of the data with every label completed to a random output that explains it.

    Guesses are made in this process, because all examples share one stream of random numbers.
    """
    return oracle.with_placement(Placement(latent_of(oracle.batch).guessed(rng), oracle.placement.executor))


def shifts(before: Oracle, after: Oracle) -> AtomRows:
    """Return the change of Ψ of every truth from one completion to another."""
    placement = before.placement
    if placement.in_this_process:
        return shifted_rows(before.batch, after.batch)
    return AtomRows.stack(list(placement.map(shifted_rows, placement.shards, after.placement.shards))).take(
        placement.order
    )


def resumed(oracle: Oracle, earlier: Oracle) -> Oracle | None:
    """Return an earlier completion of the same data on the workers of this oracle; None if its shards are gone."""
    placed, executor = earlier.placement.placed, oracle.placement.executor
    if placed is not None and (earlier.placement.executor is not executor or not executor.alive(placed)):
        return None
    return oracle.with_placement(Placement(earlier.batch, executor, placed))


def worse_completion(oracle: Oracle, position: int, worse: float) -> TaskError:
    """Return the error of a task that completed a label to a worse output than it had found before."""
    return TaskError(
        f"{promise_broken_on(oracle.batch, position)}: complete(w, x, y) returned an output whose score is lower than "
        f"that of its last completion by {worse:.6g}"
    )


# --- functions that run where the data are


def completed_batch(batch: Batch, w: Array) -> Batch:
    """Return a batch or shard with its truths completed at w."""
    return latent_of(batch).completed(w)


def shifted_rows(before: Batch, after: Batch) -> AtomRows:
    """Return the difference in Ψ between two completions of a batch or shard."""
    return AtomRows.of(latent_of(before).shifts_to(after))
