"""Estimators with the parameters of other packages, for programs that change one import."""

from maxmargin.compat.crf import CRF

__all__ = ["CRF"]
