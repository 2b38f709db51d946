"""Estimators in scikit-learn's sense: one file each."""

from maxmargin.estimators.measure import MeasureSVC
from maxmargin.estimators.multiclass import MulticlassSVC
from maxmargin.estimators.ordinal import OrdinalSVC
from maxmargin.estimators.ranker import Ranker
from maxmargin.estimators.sequence import SequenceLabeler
from maxmargin.estimators.structured import StructuredSVM
from maxmargin.estimators.taxonomy import TaxonomySVC

__all__ = ["MeasureSVC", "MulticlassSVC", "OrdinalSVC", "Ranker", "SequenceLabeler", "StructuredSVM", "TaxonomySVC"]
