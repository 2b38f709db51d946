"""How the checks compare: values but for rounding, rows of any kind as dense ones."""

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
    """Like assert, but not left out under -O."""
    if not condition:
        raise AssertionError(message)


def below(a: float, b: float, *terms: Array) -> bool:
    """a <= b, but for rounding; the terms are two vectors whose product was part of it."""
    size = 1 + abs(a) + abs(b) + (float(np.abs(terms[0]) @ np.abs(terms[1])) if terms else 0.0)
    return bool(a <= b + 1e-9 * size) if isfinite(size) else bool(a <= b)


def dense(rows: Any) -> Array:
    """Rows of planes written out."""
    return rows.toarray() if isinstance(rows, AtomRows) or sparse.issparse(rows) else np.asarray(rows)


def explicit(features: Any, dim: int, i: int) -> Array:
    """Ψ as a dense vector, whichever way it was spelt."""
    if not isinstance(features, tuple):
        full = np.asarray(features, dtype=float)
        check(full.shape == (dim,), f"example {i}: psi has shape {full.shape}; expected ({dim},)")
        return full
    full = np.zeros(dim)
    np.add.at(full, np.asarray(features[0], dtype=int), features[1])
    return full


def close(some: Array, others: Array) -> bool:
    """The same shape, and the same numbers but for rounding."""
    return some.shape == others.shape and np.allclose(some, others, rtol=1e-9, atol=1e-9)


def check_same_rows(some: Planes, all_: Planes, index: Any, message: str) -> None:
    """The planes `some` are those of `all_` at these places."""
    same = close(dense(some.dpsi), dense(all_.dpsi)[index])
    check(same and np.allclose(some.loss, all_.loss[index], rtol=1e-9, atol=1e-9), message)


def length(X: Any) -> int:
    """The number of examples."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def ready(task: Task, X: Any, Y: Any) -> Task:
    """A copy of the task that is set up on these data; the user's own stays as it is."""
    task = clone(task)
    task.setup(X, Y)
    return task
