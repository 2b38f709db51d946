"""Tiny problems with a kernel beside the same ones with its features written out."""

from __future__ import annotations

import numpy as np

from maxmargin.inputs.tokens.tokens import Sequences
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.tasks import Chain, Multiclass, Ordinal, Taxonomy

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]


def exact_map(gram):
    """Features whose inner products are this matrix."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def multiclass_data(n=14, n_classes=3, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, 3)).astype(float) if ties else rng.normal(size=(n, 3))
    return X, _planted(X, n_classes, rng)


def chain_data(lengths=(1, 3, 2, 3, 2), n_classes=2, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-2, 3, (sum(lengths), 2)).astype(float) if ties else rng.normal(size=(sum(lengths), 2))
    X = Sequences(matrix, np.append(0, np.cumsum(lengths)))
    labels = np.array(_planted(matrix, n_classes, rng))
    return X, [labels[a:b].tolist() for a, b in zip(X.offsets[:-1], X.offsets[1:], strict=True)]


def _planted(rows, n_classes, rng):
    """Labels by the place on a line, with some noise; every class occurs."""
    places = np.argsort(np.argsort(rows[:, 0] - 0.5 * rows[:, 1] ** 2 + 0.7 * rng.normal(size=len(rows))))
    return (places * n_classes // len(rows)).tolist()


TREE = {0: "low", 1: "low", 2: "high", "low": None, "high": None}
TASKS = {
    "multiclass": (lambda kernel: Multiclass(kernel=kernel), multiclass_data),
    "costs": (lambda kernel: Multiclass(costs=[[0, 1, 3], [2, 0, 1], [0.5, 1, 0]], kernel=kernel), multiclass_data),
    "taxonomy": (lambda kernel: Taxonomy(TREE, kernel=kernel), multiclass_data),
    "ordinal": (lambda kernel: Ordinal(kernel=kernel), multiclass_data),
    "chain": (lambda kernel: Chain(kernel=kernel), chain_data),
}


def units_of(X):
    return X.matrix if isinstance(X, Sequences) else X


def with_units(X, units):
    """The same data with other features."""
    return Sequences(units, X.offsets) if isinstance(X, Sequences) else units


def oracle_of(task, X, Y, formulation=None, sample_weight=None):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), formulation, sample_weight)
