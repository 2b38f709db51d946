"""The exception and warning classes of maxmargin."""

from maxmargin.base.errors import (
    CheckpointDamaged,
    CheckpointMoved,
    CutNotValidated,
    DenseFeatures,
    InvalidLabels,
    LargeModel,
    LossReplaced,
    NothingLearnt,
    NotSeparable,
    PartsLate,
    SetCutOff,
    SolverError,
    TaskError,
    TrainingInterrupted,
    Uncalibrated,
    WorkersLost,
)

__all__ = [
    "CheckpointDamaged",
    "CheckpointMoved",
    "CutNotValidated",
    "DenseFeatures",
    "InvalidLabels",
    "LargeModel",
    "LossReplaced",
    "NotSeparable",
    "NothingLearnt",
    "PartsLate",
    "SetCutOff",
    "SolverError",
    "TaskError",
    "TrainingInterrupted",
    "Uncalibrated",
    "WorkersLost",
]
