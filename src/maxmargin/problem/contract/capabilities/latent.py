"""Latent: truths with hidden parts."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.planes.planes import Rows


@runtime_checkable
class Latent(Protocol):
    """A batch whose labels leave parts of the true outputs open.

    A truth is completed to an output that explains its label, and training alternates between completing and solving a
    convex problem (solvers/cccp.py).

    Order of calls: first `completed` (there are weights) or `guessed` (there are none yet). Each returns a new batch of
    the same examples, on which `planes` may be called; the batch itself stays as it is. Then `shifts_to` compares two
    completions of the same batch.
    """

    def completed(self, w: Array) -> Batch:
        """Return these examples with every truth replaced by the output that explains its label best at w."""

    def guessed(self, rng: np.random.Generator) -> Batch:
        """Return these examples with every truth replaced by a random output that explains its label."""

    def shifts_to(self, after: Any) -> Rows:
        """Return Ψ(x, truth in `after`) - Ψ(x, truth in self) of every example; `after` is another completion."""


def latent_of(batch: Batch) -> Latent:
    """Return the batch as one with hidden parts, or raise a TaskError that names the missing methods."""
    latent = batch.offers(Latent)
    if latent is None:
        raise TaskError(
            f"{batch.name} packs a {type(batch).__name__}, which does not support hidden parts: latent = True "
            "in the task, and completed(w), guessed(rng) and shifts_to(after) in the batch"
        )
    return latent


def is_latent(batch: Batch) -> bool:
    """Return whether the labels of a batch have hidden parts."""
    return batch.offers(Latent) is not None
