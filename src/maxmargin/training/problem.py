"""Problem: the data of a training in the form that solvers work on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.progress_line import LiveLine
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.missing_labels import MissingLabels
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.training.checkpoints.identity import Identity
from maxmargin.training.options import n_examples


class Problem(NamedTuple):
    """The data that a training runs on, while they are open."""

    batch: Batch  # the packed examples
    oracle: RiskOracle  # the oracle of the training problem
    identity: Identity | None  # set if a later fit may have to recognise this problem
    line: LiveLine  # shows the progress of training


def check_pairs(X: Any, Y: Any) -> None:
    """Raise a ValueError unless there are as many outputs as inputs, and at least one of each."""
    n, n_outputs = n_examples(X, "X"), n_examples(Y, "Y")
    if n != n_outputs:
        raise ValueError(f"X has {n} examples but Y has {n_outputs}: example {min(n, n_outputs)} has no partner")
    if n == 0:
        raise ValueError("no examples given: X and Y are empty")


def informative_examples(batch: Batch, sample_weight: Any) -> tuple[Batch, Any]:
    """Return the examples with informative labels, and their weights; raise a ValueError if there are none."""
    n, labels = len(batch), batch.offers(MissingLabels)
    if labels is None:
        return batch, sample_weight
    informative = labels.informative()
    if len(informative) == 0:
        raise ValueError("no example has an informative label: there is nothing to learn from")
    if len(informative) == n:
        return batch, sample_weight
    if sample_weight is not None:
        normalised_weights(sample_weight, n)  # raises an error that names an invalid weight
        sample_weight = np.asarray(sample_weight, dtype=float)[informative]
    return batch.take(informative), sample_weight
