"""Kernels: inner products of inputs in feature spaces that are never written out."""

from __future__ import annotations

from maxmargin.kernels.auto import Auto
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import RBF, Cosine, Function, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.kernels.map import KernelMap
from maxmargin.kernels.named import as_kernel

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
