"""PredictionForm: a task and weights, reduced to the parts that prediction needs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch


class TrainedModel(NamedTuple):
    """The task and the weights that prediction uses after training."""

    task: Any
    w: Array  # the weights
    attributes: Mapping[str, Any] = MappingProxyType({})  # further attributes of a fitted estimator, by name


@runtime_checkable
class PredictionForm(Protocol):
    """A batch whose task or weights change after training, or that adds attributes to the fitted estimator.

    Order of calls: `trained_model` once, at the end of a training. Nothing is set.
    """

    def trained_model(self, w: Array) -> TrainedModel:
        """Return the task and the weights that prediction needs, and further attributes of the estimator."""


def trained_model_of(batch: Batch, w: Array) -> TrainedModel:
    """Return the task and the weights that prediction needs, given the final w of training on this batch."""
    form = batch.offers(PredictionForm)
    return TrainedModel(batch.task, w) if form is None else form.trained_model(w)
