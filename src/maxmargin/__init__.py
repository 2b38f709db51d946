"""maxmargin: large-margin learning for structured outputs, with a proof of how close to optimal each model is."""

from maxmargin import datasets, errors, executors, metrics, solvers, tasks
from maxmargin.estimators import MulticlassSVC, SequenceLabeler, StructuredSVM
from maxmargin.objective import Certificate
from maxmargin.task import Batch, Planes, Task

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Certificate",
    "MulticlassSVC",
    "Planes",
    "SequenceLabeler",
    "StructuredSVM",
    "Task",
    "datasets",
    "errors",
    "executors",
    "metrics",
    "solvers",
    "tasks",
]
