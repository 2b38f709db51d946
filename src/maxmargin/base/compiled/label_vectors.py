"""Sums and maxima over rows of numbers, for all labels at once.

    label_sums:    row[k] = Σ_p values[p] · w[places[p] + k]          scores of labels, with weights clipped to limits
    column_sums:   row[k] = Σ_p values[p & every] · w[first + K · columns[p] + k]      the same of atoms (atoms.py)
    label_maxima:  row[k] = max_p values[p] + w[p, k]                 best paths into labels
    label_masses:  row[k] = Σ_p values[p] · w[p, k]                   all paths into labels
    weight:        w[j] within its limits

There are at least two labels, K >= 2. The sum of a label is computed as in a plain loop over p, row after row, with the
same bits on every machine, here and in vector_instructions.py, which is used if it works.

Limits are None, or a pair (low, high): two numbers for all weights, or two arrays. Weights are clipped when they are
read, so that code that adds to them can ignore limits. The form of the limits is known when a kernel is compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from maxmargin.base.compiled.accelerated import ACCELERATED
from maxmargin.base.compiled.kernel import kernel


@register_jitable
def _clipped(x, low, high):
    x = x if x > low else low
    return x if x < high else high


def plain_weight(w, limits, j):
    """Return w[j] clipped to its limits."""
    if limits is None:
        return w[j]
    low, high = (limit if np.isscalar(limit) else limit[j] for limit in limits)
    return _clipped(w[j], low, high)


@overload(plain_weight)
def _plain_weight(w, limits, j):
    """Choose the compiled form of plain_weight by the type of the limits."""
    if isinstance(limits, types.NoneType):
        return lambda w, limits, j: w[j]
    if isinstance(limits[0], types.Array):
        return lambda w, limits, j: _clipped(w[j], limits[0][j], limits[1][j])
    return lambda w, limits, j: _clipped(w[j], limits[0], limits[1])


@kernel
def plain_sums(values, places, begin, end, w, limits, K, row):
    """Compute row[k] = Σ values[p] · w[places[p] + k] over p in begin : end."""
    for k in range(K):
        row[k] = 0.0
    for p in range(begin, end):
        value, place = values[p], np.uint64(places[p])
        for k in range(K):
            row[k] += value * plain_weight(w, limits, place + np.uint64(k))


@kernel
def plain_column_sums(values, every, columns, first, begin, end, w, limits, K, row):
    """Compute row[k] = Σ values[p & every] · w[first + K · columns[p] + k] over p in begin : end."""
    for k in range(K):
        row[k] = 0.0
    for p in range(begin, end):
        value, place = values[np.uint64(p) & every], first + K * np.uint64(columns[p])
        for k in range(K):
            row[k] += value * plain_weight(w, limits, place + np.uint64(k))


@kernel
def plain_maxima(values, end, w, K, row):
    """Compute row[k] = max values[p] + w[p, k] over p < end."""
    for k in range(K):
        row[k] = -np.inf
    for p in range(end):
        for k in range(K):
            row[k] = max(row[k], values[p] + w[p, k])


@kernel
def plain_masses(values, end, w, K, row):
    """Compute row[k] = Σ values[p] · w[p, k] over p < end."""
    for k in range(K):
        row[k] = 0.0
    for p in range(end):
        for k in range(K):
            row[k] += values[p] * w[p, k]


weight: Any = plain_weight
label_sums: Any = plain_sums
column_sums: Any = plain_column_sums
label_maxima: Any = plain_maxima
label_masses: Any = plain_masses

if ACCELERATED:
    from maxmargin.base.compiled import vector_instructions

    weight = vector_instructions.weight
    label_sums, column_sums = vector_instructions.label_sums, vector_instructions.column_sums
    label_maxima, label_masses = vector_instructions.label_maxima, vector_instructions.label_masses
