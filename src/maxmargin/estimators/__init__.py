"""Estimators in scikit-learn's sense: one file each."""

from maxmargin.estimators.multiclass import MulticlassSVC
from maxmargin.estimators.sequence import SequenceLabeler
from maxmargin.estimators.structured import StructuredSVM

__all__ = ["MulticlassSVC", "SequenceLabeler", "StructuredSVM"]
