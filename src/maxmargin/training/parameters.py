"""Make the task of an estimator from the estimator's parameters."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from maxmargin.problem.contract.task import Task

T = TypeVar("T", bound=Task)


def task_from(estimator: BaseEstimator, kind: type[T], **others: Any) -> T:
    """Return a task of a class with the parameters of an estimator.

    A parameter of the task gets the value of the estimator's parameter of the same name, unless `others` contains it.
    """
    names = set(inspect.signature(kind).parameters) & set(estimator.get_params(deep=False))
    return kind(**{name: getattr(estimator, name) for name in names} | others)
