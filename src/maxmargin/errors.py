"""The exceptions and warnings that maxmargin raises on its own account."""

from __future__ import annotations


class TaskError(ValueError):
    """A task broke a promise of the contract: the message names the example, what was found and what was expected."""


class NotSeparable(ValueError):  # noqa: N818 - named for the situation
    """A hard margin (C = inf) was asked for, but no weights satisfy all constraints of the data."""


class TrainingInterrupted(UserWarning):
    """Training was stopped from outside (Ctrl-C); the model is the best one found until then."""


class NothingLearnt(UserWarning):
    """The optimum is w = 0: for this measure, these features and this C, no weights are worth their length."""


class InvalidLabels(UserWarning):
    """Training labels that may not follow each other were repaired, or their sequences were left out."""


class LossReplaced(UserWarning):
    """For some examples the loss that was asked for is too expensive to search; training used another one there."""
