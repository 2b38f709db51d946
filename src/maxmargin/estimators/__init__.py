"""Estimators in scikit-learn's sense: one file each."""

from maxmargin.estimators.aligner import Aligner
from maxmargin.estimators.homolog_ranker import HomologRanker
from maxmargin.estimators.measure import MeasureSVC
from maxmargin.estimators.multiclass import MulticlassSVC
from maxmargin.estimators.ordinal import OrdinalSVC
from maxmargin.estimators.parser import Parser
from maxmargin.estimators.pcfg import PCFG
from maxmargin.estimators.ranker import Ranker
from maxmargin.estimators.sequence import SequenceLabeler
from maxmargin.estimators.structured import StructuredSVM
from maxmargin.estimators.taxonomy import TaxonomySVC

__all__ = [
    "PCFG",
    "Aligner",
    "HomologRanker",
    "MeasureSVC",
    "MulticlassSVC",
    "OrdinalSVC",
    "Parser",
    "Ranker",
    "SequenceLabeler",
    "StructuredSVM",
    "TaxonomySVC",
]
