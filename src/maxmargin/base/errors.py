"""The exceptions and warnings that maxmargin raises on its own account."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TaskError(ValueError):
    """A task broke a promise of the contract: the message names the example, what was found and what was expected."""


class SolverError(RuntimeError):
    """What a solver states cannot be true: a lower bound above an objective that was measured."""


class NotSeparable(ValueError):  # noqa: N818 - named for the situation
    """A hard margin (C = inf) was asked for, but no weights satisfy all constraints of the data."""


class WorkersLost(RuntimeError):  # noqa: N818 - named for the situation
    """Those who should do the work are gone, and so are those who took their place: nothing can be done anew."""


class PartsLate(RuntimeError):  # noqa: N818 - named for the situation
    """Some parts of the data were not worked on within the deadline of an executor; the message names them."""


class TrainingInterrupted(UserWarning):
    """Training was stopped from outside (Ctrl-C); the model is the best until then (of the perceptron, the last)."""


class NothingLearnt(UserWarning):
    """Training has ended at w = 0. The message says what is proved of that: an optimum within the gap, or nothing."""


class CutNotValidated(UserWarning):
    """A class has one example only, so that scores are cut as in training and not by cross-validation."""


class InvalidLabels(UserWarning):
    """Training labels that may not follow each other were repaired, or their sequences were left out."""


class LossReplaced(UserWarning):
    """For some examples the loss that was asked for is too expensive to search; training used another one there."""


class Uncalibrated(UserWarning):
    """Probabilities were asked of a model whose temperature no data have set."""


class SetCutOff(UserWarning):
    """A set of outputs that was to have a promised coverage has too many members to list."""


class DenseFeatures(UserWarning):
    """Ψ of a task in plain Python is a long array of mostly zeros; (indices, values) would take a fraction of it."""


class CheckpointDamaged(UserWarning):
    """A checkpoint could not be read, and the one before it was taken; or one could not be written."""


class CheckpointMoved(UserWarning):
    """A checkpoint was written by other software or on another processor: the last bits of results may differ."""


LIBRARIES = ("maxmargin", "contextlib", "sklearn", "joblib")  # between a user's line and what it caused


# Warnings arise anywhere below a fit or a prediction: in tasks, in solvers, in what reads the data. An argument would
# have to pass through all of these, and the classes of users among them; and warnings.catch_warnings is not safe where
# several folds are trained in threads.
_heard: ContextVar[list[tuple[type[Warning], str]] | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[list[tuple[type[Warning], str]]]:
    """Collect the warnings of this thread instead of issuing them, for a caller that reports them once for all."""
    heard: list[tuple[type[Warning], str]] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code that caused it, unless `hearing` collects warnings."""
    heard = _heard.get()
    if heard is not None:
        heard.append((category, message))
        return
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] in LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
