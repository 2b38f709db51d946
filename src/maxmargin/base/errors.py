"""The exceptions and warnings that maxmargin raises itself."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TaskError(ValueError):
    """A task violates its contract. The message names the example, what was found and what was expected."""


class SolverError(RuntimeError):
    """A solver reports something impossible: a lower bound above a measured objective."""


class NotSeparable(ValueError):  # noqa: N818 - named for the situation
    """A hard margin (C = inf) was requested, but no weights satisfy all constraints of the data."""


class WorkersLost(RuntimeError):  # noqa: N818 - named for the situation
    """The workers of an executor have died, and so have their replacements, so the work cannot be repeated."""


class PartsLate(RuntimeError):  # noqa: N818 - named for the situation
    """Some shards of the data were not finished within the deadline of an executor; the message names them."""


class TrainingInterrupted(UserWarning):
    """Training was interrupted (Ctrl-C). The model is the best one so far, or for the perceptron the last one."""


class NothingLearnt(UserWarning):
    """Training ended at w = 0. The message says whether this is proved to be optimal."""


class CutNotValidated(UserWarning):
    """A class has a single example, so the threshold is the one of training instead of a cross-validated one."""


class InvalidLabels(UserWarning):
    """Training labels conflict with forbidden transitions.

    They were repaired, their sequences were left out, or they do not follow the chunk scheme that `forbidden` names.
    """


class LossReplaced(UserWarning):
    """The requested loss is too expensive to search for some examples; training uses another loss for these."""


class Uncalibrated(UserWarning):
    """Probabilities were requested from a model whose temperature was not calibrated on data."""


class SetCutOff(UserWarning):
    """A prediction set with guaranteed coverage has too many members to list and was truncated."""


class DenseFeatures(UserWarning):
    """Ψ of a task in plain Python is a long array of mostly zeros; (indices, values) would need less memory."""


class LargeModel(UserWarning):
    """The parameters make a model that takes much memory and has far more weights than the data can determine."""


class CheckpointDamaged(UserWarning):
    """A checkpoint could not be read, so the previous one was used; or a checkpoint could not be written."""


class CheckpointMoved(UserWarning):
    """A checkpoint was written by other software or on another processor, or its finished model has changed.

    In the first case the last bits of results may differ. In the second case the model has another objective now, and
    is trained again.
    """


# Frames of these packages may lie between the user's line and the warning.
LIBRARIES = ("maxmargin", "contextlib", "sklearn", "joblib")

# Warnings arise anywhere below a fit or a prediction: in tasks, in solvers, in readers of the data. An argument would
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
