"""Eigenspaces with distinct eigenvalues, from closed forms or from a small matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import linalg

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.output_set import Eigenspace

EQUAL = 1e-12  # eigenvalues closer than this, relative to the largest, count as equal
FEW = 16  # the most eigenvalues for which the closed form is used, because its cost grows with their number
DENSE = 1000  # the most features for which a covariance is decomposed


class Subspace(NamedTuple):
    """An eigenspace of the covariance, which may be empty for small sizes."""

    value: float  # the eigenvalue
    dimension: int  # the dimensions of all eigenspaces add up to d
    project: Callable[[Array], Array]  # projects (k, d) rows onto this space


def distinct(parts: Iterable[Subspace]) -> list[Eigenspace]:
    """Return the spectrum with one space per eigenvalue, largest first, without empty spaces."""
    present = sorted((part for part in parts if part.dimension > 0), key=lambda part: -part.value)
    groups: list[list[Subspace]] = []
    for part in present:
        if groups and groups[-1][0].value - part.value <= EQUAL * present[0].value:
            groups[-1].append(part)
        else:
            groups.append([part])
    return [Eigenspace(float(group[0].value), _together([part.project for part in group])) for group in groups]


def averaged(rows: Array) -> Array:
    """Project rows onto the constant vectors."""
    return np.repeat(rows.mean(1, keepdims=True), rows.shape[1], axis=1)


def centred(rows: Array) -> Array:
    """Project rows onto the vectors of sum 0."""
    return rows - rows.mean(1, keepdims=True)


def decomposed(S: Array) -> list[Eigenspace] | None:
    """Return the spectrum of a small covariance matrix if it has few distinct eigenvalues; otherwise None."""
    values, vectors = linalg.eigh((S + S.T) / 2)
    largest = max(float(values[-1]), 0.0)
    bounds = [0, *(np.flatnonzero(np.diff(values) > 1e3 * EQUAL * largest) + 1).tolist(), len(values)]
    if len(bounds) - 1 > FEW:
        return None
    parts = []
    for begin, end in pairwise(bounds):
        value, basis = float(values[begin:end].mean()), vectors[:, begin:end]
        zero = abs(value) <= 1e3 * EQUAL * largest  # zero up to rounding, as in all sets that do not span R^d
        parts.append(Subspace(0.0 if zero else value, end - begin, _onto(basis)))
    return distinct(parts)


def _onto(basis: Array) -> Callable[[Array], Array]:
    return lambda rows: (rows @ basis) @ basis.T


def _together(projections: list[Callable[[Array], Array]]) -> Callable[[Array], Array]:
    if len(projections) == 1:
        return projections[0]

    def project(rows: Array) -> Array:
        result = projections[0](rows)
        for further in projections[1:]:
            result = result + further(rows)
        return result

    return project
