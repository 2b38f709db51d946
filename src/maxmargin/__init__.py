"""maxmargin: large-margin learning for structured outputs, with a proof of how close to optimal each model is."""

from maxmargin import counting, datasets, errors, executors, formats, inference, kernels, metrics, solvers, tasks
from maxmargin.alignments import PairwiseAlignment
from maxmargin.estimators import (
    PCFG,
    Aligner,
    Clusterer,
    CountingClassifier,
    CountingMultilabel,
    CountingPredictor,
    Diversifier,
    GraphLabeler,
    HomologRanker,
    MeasureSVC,
    MotifFinder,
    MulticlassSVC,
    OrdinalSVC,
    Parser,
    Ranker,
    RoutePredictor,
    SequenceLabeler,
    StructuredSVM,
    TaxonomySVC,
)
from maxmargin.objective import Certificate
from maxmargin.task import Batch, Planes, Task
from maxmargin.trees import Tree

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """plotting and testing, which are imported only when they are used."""
    from importlib import import_module

    if name in ("plotting", "testing"):
        return import_module(f"maxmargin.{name}")
    raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")


__all__ = [
    "PCFG",
    "Aligner",
    "Batch",
    "Certificate",
    "Clusterer",
    "CountingClassifier",
    "CountingMultilabel",
    "CountingPredictor",
    "Diversifier",
    "GraphLabeler",
    "HomologRanker",
    "MeasureSVC",
    "MotifFinder",
    "MulticlassSVC",
    "OrdinalSVC",
    "PairwiseAlignment",
    "Parser",
    "Planes",
    "Ranker",
    "RoutePredictor",
    "SequenceLabeler",
    "StructuredSVM",
    "Task",
    "TaxonomySVC",
    "Tree",
    "counting",
    "datasets",
    "errors",
    "executors",
    "formats",
    "inference",
    "kernels",
    "metrics",
    "solvers",
    "tasks",
]
