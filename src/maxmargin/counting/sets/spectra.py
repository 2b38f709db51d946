"""Eigenspaces with distinct eigenvalues, from those that a family knows in closed form or from a small matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import linalg

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.output_set import Eigenspace

EQUAL = 1e-12  # eigenvalues nearer to each other than this, relative to the largest, are one
FEW = 16  # eigenvalues up to which the closed form, whose cost grows with their number, is worth its while
DENSE = 1000  # features up to which a covariance is decomposed to find out


class Subspace(NamedTuple):
    """One of the spaces that together are R^d; it may be empty for small sizes."""

    value: float
    dimension: int
    project: Callable[[Array], Array]


def distinct(parts: Iterable[Subspace]) -> list[Eigenspace]:
    """The spectrum with one space per eigenvalue, largest first: no empty spaces, equal eigenvalues together."""
    present = sorted((part for part in parts if part.dimension > 0), key=lambda part: -part.value)
    groups: list[list[Subspace]] = []
    for part in present:
        if groups and groups[-1][0].value - part.value <= EQUAL * present[0].value:
            groups[-1].append(part)
        else:
            groups.append([part])
    return [Eigenspace(float(group[0].value), _together([part.project for part in group])) for group in groups]


def averaged(rows: Array) -> Array:
    """The projection onto the constant vectors."""
    return np.repeat(rows.mean(1, keepdims=True), rows.shape[1], axis=1)


def centred(rows: Array) -> Array:
    """The projection onto the vectors of sum 0."""
    return rows - rows.mean(1, keepdims=True)


def decomposed(S: Array) -> list[Eigenspace] | None:
    """The spectrum of a small covariance matrix, if symmetries of the set leave it few eigenvalues; else None."""
    values, vectors = linalg.eigh((S + S.T) / 2)
    largest = max(float(values[-1]), 0.0)
    bounds = [0, *(np.flatnonzero(np.diff(values) > 1e3 * EQUAL * largest) + 1).tolist(), len(values)]
    if len(bounds) - 1 > FEW:
        return None
    parts = []
    for begin, end in pairwise(bounds):
        value, basis = float(values[begin:end].mean()), vectors[:, begin:end]
        zero = abs(value) <= 1e3 * EQUAL * largest  # up to rounding, as in all sets that do not span R^d
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
