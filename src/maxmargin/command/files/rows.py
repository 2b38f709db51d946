"""Rows of numbered features: classes, measures and rankings. Feature j of a file is column j."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.command.files.base import FileExamples, opened
from maxmargin.inputs.svmlight import SvmlightRows, read_svmlight
from maxmargin.inputs.text_file import TextFile


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Rows of all files, one after the other; queries of different files are different ones."""
    parts = [read_svmlight(opened(name), zero_based=True) for name in sources]
    width = max(part.X.shape[1] for part in parts)
    if like is not None or hasattr(estimator, "n_features_in_"):
        width = estimator.n_features_in_ if like is None else like.X.shape[1]
    X = sparse.vstack([_as_wide(part.X, width) for part in parts], format="csr")
    y = np.concatenate([part.y for part in parts])
    if X.shape[0] == 0:
        raise ValueError(f"there is no row in {', '.join(sources)}")
    others = {}
    if _ranks(estimator):
        others["qid"] = _queries(parts, sources)
    else:
        y = _plain(y)
    return FileExamples(X, y, others)


def predicted(model: Any, source: TextFile, settings: Any) -> Iterator[tuple[str, Any]]:
    """A line for every row: its class or, of rankings and with --scores, its score or scores."""
    X = _as_wide(read_svmlight(source, zero_based=True).X, model.n_features_in_)
    if not X.shape[0]:
        return
    values = model.decision_function(X) if settings.scores and not _ranks(model) else model.predict(X)
    for value in np.asarray(values).tolist():
        yield " ".join(map(str, value if isinstance(value, list) else [value])) + "\n", value


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """The score of the estimator: of classes the share of right ones, of the others their measure."""
    name = str(model.measure) if hasattr(model, "k") else "right classes"
    if getattr(model, "k", None) is not None:
        name = f"{name} ({model.k})"
    return {name: float(model.score(examples.X, examples.Y, **examples.others))}


def _ranks(estimator: Any) -> bool:
    return type(estimator).__name__ == "Ranker"


def _queries(parts: list[SvmlightRows], sources: list[str]) -> Array:
    numbers, before = [], 0
    for part, name in zip(parts, sources, strict=True):
        if part.qid is None:
            raise ValueError(f"{name} has no queries; expected qid:NUMBER after the relevance of every row")
        _, number = np.unique(part.qid, return_inverse=True)
        numbers.append(number + before)
        before += int(number.max(initial=-1)) + 1
    return np.concatenate(numbers)


def _plain(y: Array) -> Any:
    """Labels as whole numbers where all are, so that 3 is not written as 3.0."""
    whole = y.astype(np.int64)
    return whole if (whole == y).all() else y


def _as_wide(X: sparse.csr_array, width: int) -> sparse.csr_array:
    """The same rows with so many columns; features that training has not seen are ignored."""
    if X.shape[1] > width:
        new = len(np.unique(X.indices[X.indices >= width]))
        if new:
            print(f"maxmargin: {new} features that training has not seen are ignored", file=sys.stderr)
        return X[:, :width]
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
