"""Estimators in scikit-learn's sense: one file each."""

from maxmargin.estimators.aligner import Aligner
from maxmargin.estimators.clusterer import Clusterer
from maxmargin.estimators.counting import CountingPredictor
from maxmargin.estimators.counting_flat import CountingClassifier, CountingMultilabel
from maxmargin.estimators.diversifier import Diversifier
from maxmargin.estimators.graph import GraphLabeler
from maxmargin.estimators.homolog_ranker import HomologRanker
from maxmargin.estimators.measure import MeasureSVC
from maxmargin.estimators.motif_finder import MotifFinder
from maxmargin.estimators.multiclass import MulticlassSVC
from maxmargin.estimators.ordinal import OrdinalSVC
from maxmargin.estimators.parser import Parser
from maxmargin.estimators.pcfg import PCFG
from maxmargin.estimators.ranker import Ranker
from maxmargin.estimators.route import RoutePredictor
from maxmargin.estimators.sequence import SequenceLabeler
from maxmargin.estimators.structured import StructuredSVM
from maxmargin.estimators.taxonomy import TaxonomySVC

__all__ = [
    "PCFG",
    "Aligner",
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
    "Parser",
    "Ranker",
    "RoutePredictor",
    "SequenceLabeler",
    "StructuredSVM",
    "TaxonomySVC",
]
