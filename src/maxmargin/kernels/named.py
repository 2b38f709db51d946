"""Kernels by name, and the kernel that a user's argument stands for."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import RBF, Cosine, Function, Linear, Polynomial, Precomputed, Sigmoid

NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": RBF,
    "cosine": Cosine,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}


def as_kernel(kernel: Any) -> Kernel:
    """Return a new kernel object, given a name, a function f(A, B) or a kernel object.

    Parameters
    ----------
    kernel : str, callable or Kernel
        "linear", "rbf", "poly", "cosine", "sigmoid" or "precomputed"; a function f(A, B); or a Kernel.

    Returns
    -------
    Kernel, not fitted.

    Examples
    --------
    >>> from maxmargin.kernels import as_kernel
    >>> as_kernel("rbf")
    RBF()
    """
    if isinstance(kernel, Kernel):
        return clone(kernel)
    if isinstance(kernel, str) and kernel in NAMES:
        return NAMES[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    raise ValueError(
        f"kernel must be None, one of {', '.join(map(repr, NAMES))}, a function f(A, B) or an object of "
        f"maxmargin.kernels, got {kernel!r}"
    )


def is_precomputed(kernel: Any) -> bool:
    """Return whether the inputs are rows of a kernel matrix; also for an object that has such a kernel."""
    if not isinstance(kernel, str) and hasattr(kernel, "kernel"):
        return is_precomputed(kernel.kernel)
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")
