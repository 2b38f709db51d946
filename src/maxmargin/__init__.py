"""maxmargin: large-margin learning for structured outputs, with a proof of how close to optimal each model is."""

from maxmargin import datasets, errors, executors, metrics, solvers, tasks
from maxmargin.estimators import (
    MeasureSVC,
    MulticlassSVC,
    OrdinalSVC,
    Ranker,
    SequenceLabeler,
    StructuredSVM,
    TaxonomySVC,
)
from maxmargin.objective import Certificate
from maxmargin.task import Batch, Planes, Task

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Certificate",
    "MeasureSVC",
    "MulticlassSVC",
    "OrdinalSVC",
    "Planes",
    "Ranker",
    "SequenceLabeler",
    "StructuredSVM",
    "Task",
    "TaxonomySVC",
    "datasets",
    "errors",
    "executors",
    "metrics",
    "solvers",
    "tasks",
]
