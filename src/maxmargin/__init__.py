"""maxmargin: large-margin learning for structured outputs, with a proof of how close to optimal each model is."""

from maxmargin import (
    baselines,
    counting,
    datasets,
    errors,
    executors,
    formats,
    inference,
    kernels,
    metrics,
    solvers,
    tasks,
)
from maxmargin.batch import Batch
from maxmargin.counting.classifier import CountingClassifier
from maxmargin.counting.multilabel import CountingMultilabel
from maxmargin.counting.predictor import CountingPredictor
from maxmargin.counting.route_predictor import RoutePredictor
from maxmargin.objective import Certificate
from maxmargin.planes import Planes
from maxmargin.search import Search
from maxmargin.structured import StructuredSVM
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.estimator import Aligner
from maxmargin.structures.alignment.homolog_ranker import HomologRanker
from maxmargin.structures.classes.multiclass_svc import MulticlassSVC
from maxmargin.structures.classes.ordinal_svc import OrdinalSVC
from maxmargin.structures.classes.taxonomy_svc import TaxonomySVC
from maxmargin.structures.clustering.estimator import Clusterer
from maxmargin.structures.diversity.estimator import Diversifier
from maxmargin.structures.graphs.estimator import GraphLabeler
from maxmargin.structures.motifs.estimator import MotifFinder
from maxmargin.structures.parsing.estimator import Parser
from maxmargin.structures.parsing.pcfg import PCFG
from maxmargin.structures.parsing.trees import Tree
from maxmargin.structures.ranking.measure_svc import MeasureSVC
from maxmargin.structures.ranking.ranker import Ranker
from maxmargin.structures.sequences.estimator import SequenceLabeler
from maxmargin.task import Task

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
    "Search",
    "SequenceLabeler",
    "StructuredSVM",
    "Task",
    "TaxonomySVC",
    "Tree",
    "baselines",
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
