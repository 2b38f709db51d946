"""Mistakes in rows of a matrix: the features that contributed to them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array, Index
from maxmargin.report.findings import note
from maxmargin.report.html import Element, short
from maxmargin.report.sections import table

MOST_FEATURES = 8  # the most features that are shown
MOST_ASKED = 5000  # the most features whose contributions are computed


def row_of(X: Any, i: int) -> Array:
    """Return a row of a matrix, a table or a list of lists, as numbers."""
    row: Any = X.iloc[[i]] if hasattr(X, "iloc") else X[[i]] if hasattr(X, "shape") else [X[i]]
    return np.asarray(row.todense() if sparse.issparse(row) else row, dtype=float).ravel()


def parts_of_score(score: Callable[[Any], Array], row: Array) -> tuple[Index, Array]:
    """Return the features of a row, and the contribution of each to a score that is linear in them."""
    present = np.flatnonzero(row)[:MOST_ASKED]
    places = np.arange(len(present)), present
    alone = sparse.csr_array((row[present], places), shape=(len(present), len(row)))
    nothing = sparse.csr_array((1, len(row)))
    with warnings.catch_warnings():  # these rows have the right columns but no column names
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        found = np.asarray(score(sparse.vstack([nothing, alone], format="csr")), dtype=float)
    return present, found[1:] - found[0]


def spoken_by(score: Callable[[Any], Array], row: Array, names: Any, said: str) -> Any:
    """Return a table of the features of a row with the largest contributions to a linear score."""
    if not np.any(row):
        return note("All of its features are 0.")
    present, parts = parts_of_score(score, row)
    order = np.argsort(-np.abs(parts), kind="stable")[:MOST_FEATURES]
    longest = float(np.abs(parts[order]).max()) or 1.0
    rows = [
        [
            short(names[present[k]]),
            f"{row[present[k]]:.4g}",
            Element("td", f"{parts[k]:+.4g}", class_="number heat", shade=float(parts[k]) / longest),
        ]
        for k in order
    ]
    more = f" {len(present) - len(order)} more features have smaller parts." if len(present) > len(order) else ""
    return [table(["feature", "value", said], rows, numbers=[1, 2]), note(more) if more else None]
