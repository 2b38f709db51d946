"""Objectives that a MeasureSVC may be trained for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from maxmargin.kernels.functions import WithConstant
from maxmargin.problem.contract.task import Task
from maxmargin.structures.ranking.contingency import Contingency
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.measures import NAMES, Measure, measure_of
from maxmargin.structures.ranking.ranking import Ranking
from maxmargin.structures.ranking.soft_labels import SoftLabels
from maxmargin.training.parameters import task_from

INSTEAD = "modified_huber"  # the loss of SoftLabels: w = 0 is optimal only if no feature distinguishes the classes
RANKINGS = {"roc_auc": "roc_auc", "average_precision": "map"}  # measures of the order of scores: names in tasks.Ranking


class Objective(NamedTuple):
    """Training objective: a measure, or the loss of single rows."""

    name: Any  # the parameter `measure`, or the name of the loss
    constant: bool  # whether rows have the constant feature
    make_task: Callable[[], Task]  # creates the task of training

    def task_for(self, rows: Groups, labels: list[Any]) -> Task:
        """Return a task that is set up for these rows."""
        task = self.make_task()
        task.setup(rows, labels)
        return task


def objectives_of(model: Any) -> tuple[Objective, ...]:
    """Return the objectives of a MeasureSVC: its measure, and perhaps the loss of single rows.

    The loss of single rows is not offered for measures of order, nor if weights have bounds or a prior. The constant
    feature is left out if a measure only compares scores, because it could satisfy constraints without learning.
    """
    name, intercept, kernel = model.measure, bool(model.fit_intercept), model.kernel
    if is_of_order(name):
        ranking = partial(task_from, model, Ranking, measure=RANKINGS[name], k=None, kernel=kernel)
        return (Objective(name, False, ranking),)
    constant = intercept and table_measure(model).size is None
    own = Objective(name, constant, partial(task_from, model, Contingency, kernel=_with_constant(kernel, constant)))
    if model.train_for == "measure" or model.bounds is not None or model.prior is not None:
        return (own,)
    single_rows = partial(task_from, model, SoftLabels, kernel=_with_constant(kernel, intercept))
    return own, Objective(INSTEAD, intercept, single_rows)


def score_measure(model: Any) -> Measure | str:
    """Return the measure of a MeasureSVC: one of contingency tables, or the name of one of the order of scores."""
    return str(model.measure) if is_of_order(model.measure) else table_measure(model)


def table_measure(model: Any) -> Measure:
    """Return the measure of contingency tables of a MeasureSVC; ValueError if there is none of this name."""
    measure = model.measure
    if not callable(measure) and (not isinstance(measure, str) or measure not in NAMES):
        known = ", ".join(map(repr, (*NAMES, *RANKINGS)))
        raise ValueError(f"measure must be one of {known} or a function loss(tp, fp, fn, tn), got {measure!r}")
    return measure_of(measure, model.k, model.beta)


def is_of_order(measure: Any) -> bool:
    """Return whether a measure is one of the order of all scores."""
    return isinstance(measure, str) and measure in RANKINGS


def _with_constant(kernel: Any, constant: bool) -> Any:
    return WithConstant(kernel) if kernel is not None and constant else kernel
