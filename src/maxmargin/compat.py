"""Estimators with the parameters of other packages, for programs that change one import."""

from maxmargin.structures.sequences.crf import CRF

__all__ = ["CRF"]
