"""Kernels: inner products of inputs in feature spaces that are never written out."""

from __future__ import annotations

from maxmargin.kernels.auto import Auto
from maxmargin.kernels.functions import (
    RBF,
    Cosine,
    Function,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
)
from maxmargin.kernels.map import KernelMap

__all__ = [
    "RBF",
    "Auto",
    "Cosine",
    "Function",
    "Kernel",
    "KernelMap",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "as_kernel",
]
