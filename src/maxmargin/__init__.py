"""maxmargin: large-margin learning for structured outputs, with a proof of how close to optimal each model is."""

from maxmargin import datasets, errors, executors, formats, metrics, solvers, tasks
from maxmargin.alignments import PairwiseAlignment
from maxmargin.estimators import (
    PCFG,
    Aligner,
    HomologRanker,
    MeasureSVC,
    MulticlassSVC,
    OrdinalSVC,
    Parser,
    Ranker,
    SequenceLabeler,
    StructuredSVM,
    TaxonomySVC,
)
from maxmargin.objective import Certificate
from maxmargin.task import Batch, Planes, Task
from maxmargin.trees import Tree

__version__ = "0.1.0"

__all__ = [
    "PCFG",
    "Aligner",
    "Batch",
    "Certificate",
    "HomologRanker",
    "MeasureSVC",
    "MulticlassSVC",
    "OrdinalSVC",
    "PairwiseAlignment",
    "Parser",
    "Planes",
    "Ranker",
    "SequenceLabeler",
    "StructuredSVM",
    "Task",
    "TaxonomySVC",
    "Tree",
    "datasets",
    "errors",
    "executors",
    "formats",
    "metrics",
    "solvers",
    "tasks",
]
