"""Comparisons for the checks: values up to rounding, and rows of any kind as dense ones."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.task import Task
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes


def check(condition: Any, message: str) -> None:
    """Raise an AssertionError with the message unless the condition holds; python -O does not remove this check."""
    if not condition:
        raise AssertionError(message)


def below(a: float, b: float, *terms: Array) -> bool:
    """Return whether a <= b up to rounding; the terms are two vectors whose product was part of a or b."""
    size = 1 + abs(a) + abs(b) + (float(np.abs(terms[0]) @ np.abs(terms[1])) if terms else 0.0)
    return bool(a <= b + 1e-9 * size) if isfinite(size) else bool(a <= b)


def dense(rows: Any) -> Array:
    """Return rows of planes as a dense array."""
    return rows.toarray() if isinstance(rows, AtomRows) or sparse.issparse(rows) else np.asarray(rows)


def explicit(features: Any, dim: int, i: int) -> Array:
    """Return Ψ as a dense vector, given in either accepted form."""
    if not isinstance(features, tuple):
        full = np.asarray(features, dtype=float)
        check(full.shape == (dim,), f"example {i}: psi has shape {full.shape}; expected ({dim},)")
        return full
    full = np.zeros(dim)
    np.add.at(full, np.asarray(features[0], dtype=int), features[1])
    return full


def close(some: Array, others: Array) -> bool:
    """Return whether two arrays have the same shape and, up to rounding, the same numbers."""
    return some.shape == others.shape and np.allclose(some, others, rtol=1e-9, atol=1e-9)


def check_same_rows(some: Planes, all_: Planes, index: Any, message: str) -> None:
    """Check that the planes `some` equal the planes of `all_` at these indices."""
    same = close(dense(some.dpsi), dense(all_.dpsi)[index])
    check(same and np.allclose(some.loss, all_.loss[index], rtol=1e-9, atol=1e-9), message)


def length(X: Any) -> int:
    """Return the number of examples."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def ready(task: Task, X: Any, Y: Any) -> Task:
    """Return a copy of the task that is set up on these data; the original is not changed."""
    task = clone(task)
    task.setup(X, Y)
    return task
